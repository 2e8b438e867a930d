//! `ssnail findmodels`: what there is to fetch, and which memory it fits.

use crate::exit::Outcome;
use crate::hub::{self, HubArgs};
use crate::out;
use serde_json::{Value, json};
use ssnail_hub::find::{DEFAULT_QUERIES, Found, Progress, Search, find};
use ssnail_hub::fit::MEMORIES;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Searches Hugging Face for GGUF models and says which memory they fit (8 MB: any MEGA65 with the
/// core; 64 and 72 MB: with the memory expansion) and in which weight format. The header of each
/// candidate is read, so that its size is known and not guessed.
///
///   ssnail findmodels                       the usual small models
///   ssnail findmodels tinystories --mem 8   what fits 8 MB
///   ssnail findmodels --json smollm | jq .  for programs
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Words to search for; each is a search of its own
    queries: Vec<String>,
    /// Only models that fit this memory (MB)
    #[arg(long, value_name = "MB", value_parser = ["8", "64", "72"])]
    mem: Option<String>,
    /// Repositories per search
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Also models that cannot be converted or fit nowhere
    #[arg(long)]
    all_arch: bool,
    /// Do not read the files' headers; estimate from names and sizes (faster)
    #[arg(long)]
    estimate: bool,
    /// Print a JSON array instead of a table
    #[arg(long)]
    json: bool,
    /// Say of every repository why it is left out
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    hub: HubArgs,
}

/// Searches and prints.
///
/// # Errors
/// Refused when a search fails; a repository that fails is only left out.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let client = hub::client(&args.hub)?;
    let queries =
        if args.queries.is_empty() { DEFAULT_QUERIES.map(str::to_owned).to_vec() } else { args.queries.clone() };
    let search = Search {
        queries,
        limit: args.limit as usize,
        all_arch: args.all_arch,
        memory: args.mem.as_deref().and_then(|mb| mb.parse().ok()),
        exact: !args.estimate,
    };
    let left = AtomicUsize::new(0);
    let found = find(&client, &search, &|progress| match progress {
        Progress::Query { words } => out::note(format_args!("searching {words}")),
        Progress::Answered { repositories } => out::note(format_args!("  {repositories} new")),
        Progress::Kept(found) => {
            out::note(format_args!("  {} {} {}", found.repository.id, architecture(found), count(found)))
        }
        Progress::Left { repository, why } => {
            left.fetch_add(1, Ordering::Relaxed);
            if args.verbose {
                out::note(format_args!("  not {repository}: {why}"));
            }
        }
    })
    .map_err(hub::classify)?;
    let left = left.into_inner();
    if left > 0 {
        let how = if args.verbose { "" } else { " (--verbose says why)" };
        out::note(format_args!("{} found, {left} left out{how}", found.len()));
    }
    if args.json {
        print_json(&found)?
    } else {
        print_table(&found)?
    }
    Ok(Outcome::Done)
}

fn print_table(found: &[Found]) -> anyhow::Result<()> {
    let mut out = out::stdout();
    if found.is_empty() {
        writeln!(out, "No model found that fits.")?;
        return Ok(());
    }
    let line = |cells: [&str; 9]| {
        let [repository, arch, params, small, middle, large, memory, downloads, license] = cells;
        let row = format!(
            "{repository:48} {arch:7} {params:>8} {small:>4} {middle:>4} {large:>4} {memory:>11} {downloads:>9}  {license}"
        );
        out::name(&row).trim_end().to_owned()
    };
    writeln!(
        out,
        "{}",
        line(["repository", "arch", "params", "8MB", "64MB", "72MB", "MB q8/q4", "downloads", "license"])
    )?;
    for found in found {
        let repository: String = found.repository.id.chars().take(48).collect();
        let [small, middle, large] = found.fits.map(|fit| fit.map_or("-", ssnail_hub::fit::Format::short));
        let license = found.repository.license.as_deref().unwrap_or("?");
        let (arch, params) = (architecture(found), count(found));
        let downloads = found.repository.downloads.to_string();
        writeln!(
            out,
            "{}",
            line([&repository, &arch, &params, small, middle, large, &memory(found), &downloads, license])
        )?;
    }
    print_notes(&mut out, found)?;
    writeln!(out)?;
    for found in found.iter().filter(|found| found.model.parts == 1) {
        let name = found.model.first.path.rsplit('/').next().unwrap_or_default();
        writeln!(out, "make fetch URL={}  # {}", found.url, out::name(name))?;
    }
    Ok(())
}

fn print_notes(out: &mut impl Write, found: &[Found]) -> anyhow::Result<()> {
    writeln!(out)?;
    writeln!(out, "q8, q4: weights in Q8_0 or Q4_0 fit; -: does not fit.")?;
    if found.iter().any(|found| !found.measured) {
        writeln!(out, "~: estimated; the file's header was not read.")?;
    }
    for found in found {
        if let Some(reason) = &found.refused {
            writeln!(out, "{}", out::name(&format!("{}: cannot be converted: {reason}", found.repository.id)))?;
        }
        for note in &found.notes {
            writeln!(out, "{}", out::name(&format!("{}: {note}", found.repository.id)))?;
        }
    }
    Ok(())
}

/// Megabytes that the image needs in Q8_0 and in Q4_0, where they are known.
fn memory(found: &Found) -> String {
    let needed = |name: &str| {
        let (_, bytes) = found.needs.iter().find(|(policy, _)| policy.to_string() == name)?;
        Some(format!("{:.1}", *bytes as f64 / f64::from(1 << 20)))
    };
    match (needed("q8_0"), needed("q4_0")) {
        (Some(large), Some(small)) => format!("{large}/{small}"),
        _ => "?".to_owned(),
    }
}

fn architecture(found: &Found) -> String {
    let name = found.architecture.as_deref().unwrap_or("?");
    if found.guessed { format!("{name}?") } else { name.to_owned() }.chars().take(7).collect()
}

/// `15.2M`; `~` marks what was not read from the file.
fn count(found: &Found) -> String {
    let Some(n) = found.parameters else { return "?".to_owned() };
    let mark = if found.measured { "" } else { "~" };
    let n = n as f64;
    match n {
        _ if n >= 1e9 => format!("{mark}{:.1}B", n / 1e9),
        _ if n >= 1e6 => format!("{mark}{:.1}M", n / 1e6),
        _ => format!("{mark}{:.1}K", n / 1e3),
    }
}

fn print_json(found: &[Found]) -> anyhow::Result<()> {
    let list: Vec<Value> = found.iter().map(as_json).collect();
    let mut out = out::stdout();
    serde_json::to_writer_pretty(&mut out, &list)?;
    writeln!(out)?;
    Ok(())
}

fn as_json(found: &Found) -> Value {
    let fits: serde_json::Map<String, Value> = MEMORIES
        .iter()
        .zip(found.fits)
        .map(|(mb, fit)| (mb.to_string(), fit.map(ssnail_hub::fit::Format::name).into()))
        .collect();
    let needs: serde_json::Map<String, Value> =
        found.needs.iter().map(|(policy, bytes)| (policy.to_string(), (*bytes).into())).collect();
    json!({
        "repository": found.repository.id,
        "file": found.model.first.path,
        "url": found.url.to_string(),
        "bytes": found.model.size,
        "parts": found.model.parts,
        "sha256": found.model.first.sha256,
        "architecture": found.architecture,
        "architecture_guessed": found.guessed,
        "parameters": found.parameters,
        "measured": found.measured,
        "memory_needed": needs,
        "fits": fits,
        "refused": found.refused,
        "license": found.repository.license,
        "gated": found.repository.gated,
        "downloads": found.repository.downloads,
        "likes": found.repository.likes,
        "notes": found.notes,
    })
}
