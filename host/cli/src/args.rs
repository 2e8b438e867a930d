//! The command line: one variant per subcommand, each with its own module in [`crate::commands`].

use crate::commands::{
    card, chat, completions, convert, disasm, disk, embed, fetch, findmodels, info, m65, run, rv45, tokcheck, tokenize,
};
use crate::exit::Outcome;
use clap::{Parser, Subcommand};

/// What `ssnail --help` says at the end.
const AFTER: &str = "\
Exit codes: 0 done; 1 a difference was found, or what was given was refused (and why is said);
2 wrong usage or an error of the machine (file not found, disk full).

`ssnail COMMAND --help` explains each command with examples.";

/// Small language models on the MEGA65: from a GGUF file to a told story.
#[derive(Debug, Parser)]
#[command(name = "ssnail", version, after_help = AFTER, max_term_width = 100)]
#[command(propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands. Each `about` is the line in the list; a doc comment here would also replace the long
/// help, and that stands with its examples at the `Args` of each module.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = "Make an image of a GGUF model")]
    Convert(convert::Args),
    #[command(about = "Describe a GGUF file or an image")]
    Info(info::Args),
    #[command(about = "Print the token ids of a text")]
    Tokenize(tokenize::Args),
    #[command(about = "Run a model once on a prompt")]
    Run(run::Args),
    #[command(about = "Talk to a model")]
    Chat(chat::Args),
    #[command(about = "Print the vectors of texts (encoder images)")]
    Embed(embed::Args),
    #[command(about = "Compare the tokenizers of an image and of its model")]
    Tokcheck(tokcheck::Args),
    #[command(about = "Print the script of an image")]
    Disasm(disasm::Args),
    #[command(about = "Make, list and check D81 disk images")]
    Disk(disk::Args),
    #[command(about = "Make, list and check SD card images, and fill real cards")]
    Card(card::Args),
    #[command(about = "Search Hugging Face for models that fit")]
    Findmodels(findmodels::Args),
    #[command(about = "Download a model")]
    Fetch(fetch::Args),
    #[command(about = "Run a MEGA65 program on an emulated machine")]
    M65(m65::Args),
    #[command(about = "Translate a RISC-V program to a MEGA65 program")]
    Rv45(rv45::Args),
    #[command(about = "Print a completion script for a shell")]
    Completions(completions::Args),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// Whatever the command's own module says; [`crate::exit`] turns it into an exit code.
    pub fn run(&self) -> anyhow::Result<Outcome> {
        match self {
            Self::Convert(args) => convert::run(args),
            Self::Info(args) => info::run(args),
            Self::Tokenize(args) => tokenize::run(args),
            Self::Run(args) => run::run(args),
            Self::Chat(args) => chat::run(args),
            Self::Embed(args) => embed::run(args),
            Self::Tokcheck(args) => tokcheck::run(args),
            Self::Disasm(args) => disasm::run(args),
            Self::Disk(args) => disk::run(args),
            Self::Card(args) => card::run(args),
            Self::Findmodels(args) => findmodels::run(args),
            Self::Fetch(args) => fetch::run(args),
            Self::M65(args) => m65::run(args),
            Self::Rv45(args) => rv45::run(args),
            Self::Completions(args) => completions::run(args),
        }
    }
}
