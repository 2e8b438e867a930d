//! `ssnail chat`: a conversation that goes on from turn to turn.

mod decoder;
mod encoder;
mod lines;

use crate::exit::{Outcome, Refused, refused};
use crate::image::{self, MachineArgs};
use crate::sampling::SamplingArgs;
use crate::{interrupt, out};
use anyhow::{Result, bail};
use decoder::Conversation;
use encoder::Memories;
use lines::Lines;
use ssnail_machine::{Accelerator, Numerics};
use ssnail_shared::command::{Command, HELP, HELP_HOST, Thousandths, parse};
use ssnail_shared::sampler::{Candidate, Settings};
use std::io::Write;
use std::path::PathBuf;

/// Talks to a model. It goes on from what you type, and from everything said before. Models that
/// write no text (bert) show which of your earlier lines are most similar to the new one.
///
///   ssnail chat
///   ssnail chat story.ssnail
///   ssnail chat story.ssnail --temp 0 --prompt "Once upon a time"     one turn, then leave
///   ssnail chat story.ssnail --seed 7 < turns.txt                     a turn per line
///
/// Ctrl-C stops the answer after the current token; the conversation stays. /help lists the
/// commands. Typed text is folded to ASCII as on the MEGA65; --ascii folds the answers as well.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Image [default: the storyteller that comes with the program]
    image: Option<PathBuf>,
    /// Say this, show the answer, leave
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Most tokens in an answer
    #[arg(short, value_name = "N", default_value_t = 120)]
    n: u32,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Always the likeliest token (temperature 0, penalty 1)
    #[arg(long, conflicts_with = "temp")]
    greedy: bool,
    /// Show how likely the end is, where it is 5 % or more
    #[arg(long)]
    eos: bool,
    /// Show answers in ASCII, as the MEGA65 does
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

/// What a line of input leads to.
enum Next {
    Stay,
    Leave,
}

/// Converses until the input ends.
///
/// # Errors
/// A refusal where the image cannot be used, or the only turn (`--prompt`) fails.
pub fn run(args: &Args) -> Result<Outcome> {
    if args.image.as_deref().is_some_and(crate::files::is_dash) {
        bail!("the image must be a file: standard input is the conversation");
    }
    let name = image::name(args.image.as_deref());
    let mut accelerator = image::load(args.image.as_deref(), &args.machine)?;
    let settings = if args.greedy { Settings::GREEDY } else { args.sampling.settings(Settings::CHAT) };
    let seed = args.sampling.seed();
    introduce(&accelerator, &settings, seed)?;
    if accelerator.header().is_encoder() {
        let mut memories = Memories::default();
        return converse(args, |line| encoder_line(&mut accelerator, &name, &mut memories, line));
    }
    let mut room = vec![Candidate::default(); accelerator.header().output_len as usize];
    let mut conversation = Conversation::new(accelerator, &name, settings, seed, &mut room)?;
    conversation.n = args.n;
    conversation.show_eos = args.eos;
    conversation.ascii = args.ascii;
    converse(args, |line| decoder_line(&mut conversation, line))
}

/// Feeds lines to `say`. In a conversation a line that is refused is explained, and it goes on.
fn converse(args: &Args, mut say: impl FnMut(&str) -> Result<Next>) -> Result<Outcome> {
    if let Some(prompt) = &args.prompt {
        let name = image::name(args.image.as_deref());
        say(prompt).map_err(|error| if error.is::<Refused>() { error.context(name) } else { error })?;
        return Ok(Outcome::Done);
    }
    let mut lines = Lines::new();
    if lines.is_interactive() {
        writeln!(out::stdout(), "Type a text to go on from; /help lists the commands.")?;
    }
    while let Some(line) = lines.next()? {
        // From here on Ctrl-C is meant for the answer, even before it begins.
        let _listening = lines.is_interactive().then(interrupt::listen);
        match say(&line) {
            Ok(Next::Stay) => {}
            Ok(Next::Leave) => break,
            Err(error) if error.is::<Refused>() => writeln!(out::stdout(), "[{}]", out::plain(&error.to_string()))?,
            Err(error) => return Err(error),
        }
    }
    Ok(Outcome::Done)
}

fn introduce(accelerator: &Accelerator, settings: &Settings, seed: u32) -> Result<()> {
    let mut out = out::stdout();
    let header = accelerator.header();
    let description = image::description(header);
    if !description.is_empty() {
        writeln!(out, "[{description}]")?;
    }
    let (name, context, vocab) = (header.architecture.name(), header.context, header.n_vocab);
    if header.is_encoder() {
        writeln!(out, "[{name} encoder, context {context}, vocab {vocab}]")?;
        return Ok(());
    }
    writeln!(out, "[{name} decoder, context {context}, vocab {vocab}]")?;
    let numerics = numerics_name(accelerator.machine().numerics());
    writeln!(out, "[{numerics} numerics, {}]", chosen(settings, seed))?;
    Ok(())
}

fn chosen(settings: &Settings, seed: u32) -> String {
    if settings.is_greedy() {
        return "greedy".to_owned();
    }
    let (t, p) = (Thousandths(settings.temperature), Thousandths(settings.penalty));
    let k = if settings.top_k == 0 { "all".to_owned() } else { settings.top_k.to_string() };
    format!("temperature {t}, top-k {k}, penalty {p}, seed {seed}")
}

fn numerics_name(numerics: Numerics) -> &'static str {
    match numerics {
        Numerics::Float => "float",
        Numerics::Hardware => "hardware",
    }
}

/// The numerics that `/numerics` asks for; without an argument the other ones.
fn numerics(argument: &[u8], now: Numerics) -> Numerics {
    match (argument, now) {
        (b"float", _) | (b"", Numerics::Hardware) => Numerics::Float,
        _ => Numerics::Hardware,
    }
}

fn print_help() -> Result<()> {
    let mut out = out::stdout();
    for (command, meaning) in HELP.iter().chain(HELP_HOST) {
        writeln!(out, "{command:12} {meaning}")?;
    }
    Ok(())
}

fn decoder_line(conversation: &mut Conversation<'_>, line: &str) -> Result<Next> {
    let Some(command) = parse(line.as_bytes()) else {
        conversation.turn(line)?;
        return Ok(Next::Stay);
    };
    let command = command.map_err(refused)?;
    let settings = &mut conversation.session.settings;
    let said = match command {
        Command::N(n) => {
            conversation.n = n;
            format!("up to {n} tokens")
        }
        Command::Temp(t) => {
            settings.temperature = t;
            chosen(settings, conversation.seed)
        }
        Command::TopK(k) => {
            settings.top_k = k;
            chosen(settings, conversation.seed)
        }
        Command::Penalty(p) => {
            settings.penalty = p;
            chosen(settings, conversation.seed)
        }
        Command::Greedy => {
            *settings = Settings { top_k: settings.top_k, ..Settings::GREEDY };
            chosen(settings, conversation.seed)
        }
        Command::Seed(seed) => {
            conversation.reseed(seed);
            format!("seed {seed}")
        }
        Command::Numerics(argument) => {
            let machine = conversation.accelerator.machine_mut();
            machine.set_numerics(numerics(argument, machine.numerics()));
            format!("{} numerics", numerics_name(machine.numerics()))
        }
        Command::Eos => {
            conversation.show_eos = !conversation.show_eos;
            format!("the end is {}shown", if conversation.show_eos { "" } else { "not " })
        }
        Command::Stats => conversation.statistics(),
        Command::Reset => {
            conversation.session.reset();
            "a fresh context".to_owned()
        }
        other => return common(other),
    };
    writeln!(out::stdout(), "[{said}]")?;
    Ok(Next::Stay)
}

fn encoder_line(accelerator: &mut Accelerator, name: &str, memories: &mut Memories, line: &str) -> Result<Next> {
    let Some(command) = parse(line.as_bytes()) else {
        memories.compare(accelerator, name, line)?;
        return Ok(Next::Stay);
    };
    let said = match command.map_err(refused)? {
        Command::Numerics(argument) => {
            let machine = accelerator.machine_mut();
            machine.set_numerics(numerics(argument, machine.numerics()));
            format!("{} numerics", numerics_name(machine.numerics()))
        }
        Command::Stats => {
            let stats = accelerator.stats();
            format!(
                "{} instructions, {:.1} MB moved, {}",
                stats.instructions,
                stats.bytes() as f64 / 1e6,
                memories.count()
            )
        }
        Command::Reset => {
            *memories = Memories::default();
            "all lines forgotten".to_owned()
        }
        Command::N(_) | Command::Temp(_) | Command::TopK(_) | Command::Penalty(_) => NOT_HERE.to_owned(),
        Command::Greedy | Command::Seed(_) | Command::Eos => NOT_HERE.to_owned(),
        other => return common(other),
    };
    writeln!(out::stdout(), "[{said}]")?;
    Ok(Next::Stay)
}

const NOT_HERE: &str = "this model writes no text, there is nothing to set";

/// Commands that are the same for both kinds of models.
fn common(command: Command<'_>) -> Result<Next> {
    match command {
        Command::Quit => return Ok(Next::Leave),
        Command::Model(_) | Command::Save(_) | Command::Core(_) => {
            writeln!(out::stdout(), "[this command is for the MEGA65]")?;
        }
        _ => print_help()?,
    }
    Ok(Next::Stay)
}
