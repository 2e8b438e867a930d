//! The client of the model hub as the command line and the environment describe it.

use crate::exit::refused;
use crate::out;
use ssnail_hub::{Client, Event, HubError, Settings, Token, Url};
use std::path::PathBuf;

/// Where models come from unless something else is said.
const HUGGING_FACE: &str = "https://huggingface.co";

/// Options of the commands that talk to the hub.
#[derive(Debug, clap::Args)]
pub struct HubArgs {
    /// Address of the hub or of a mirror of it [default: HF_ENDPOINT, else https://huggingface.co]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
}

/// A client for the hub. Retries are told on standard error.
///
/// # Errors
/// The address is unusable, or the file of root certificates cannot be read.
pub fn client(args: &HubArgs) -> anyhow::Result<Client> {
    let endpoint = args.base_url.clone().or_else(|| variable("HF_ENDPOINT"));
    let endpoint = endpoint.as_deref().unwrap_or(HUGGING_FACE);
    let mut settings = Settings::new(Url::parse(endpoint)?);
    settings.token = Token::find(variable);
    settings.roots = variable("SSL_CERT_FILE").map(PathBuf::from);
    Ok(Client::new(settings, |event| match event {
        Event::Waiting { error, wait } => {
            out::note(format_args!("{error}; again in {:.0} s", wait.as_secs_f64().ceil()));
        }
    })?)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// What came over the network is refused (exit code 1); a wrong address or a disk is an error (2).
pub fn classify(error: HubError) -> anyhow::Error {
    if error.is_local() || matches!(error, HubError::BadUrl { .. }) { error.into() } else { refused(error) }
}
