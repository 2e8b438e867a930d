//! One module per subcommand: `Args` (clap) and `run(&Args) -> anyhow::Result<Outcome>`.
//!
//! A command prints results through [`crate::out`], notes to standard error through
//! [`crate::out::note`], and writes files through [`crate::files`].

pub mod card;
pub mod chat;
pub mod completions;
pub mod convert;
pub mod disasm;
pub mod disk;
pub mod embed;
pub mod fetch;
pub mod findmodels;
pub mod info;
pub mod m65;
pub mod run;
pub mod rv45;
pub mod tokcheck;
pub mod tokenize;
