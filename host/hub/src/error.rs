//! Everything that can go wrong between here and a model, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the network, of what came over it, or of the file it is written to.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// Not an address that can be used.
    #[error("{url}: {why}")]
    BadUrl {
        /// The address as given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A server sent us somewhere we do not go.
    #[error("{from}: redirected to {to}: {why}")]
    Redirect {
        /// Address that answered.
        from: String,
        /// Where it pointed.
        to: String,
        /// Why that is refused.
        why: &'static str,
    },
    /// No connection: offline, wrong name, refused, TLS.
    #[error("cannot reach {host}: {why}")]
    Unreachable {
        /// Host and port.
        host: String,
        /// What the system said.
        why: String,
    },
    /// The connection broke or stood still.
    #[error("{url}: {why}{}", tried(*attempts))]
    Broken {
        /// Address.
        url: String,
        /// What happened.
        why: String,
        /// How often it was tried.
        attempts: u32,
    },
    /// Too many requests or a server in trouble, after all patience.
    #[error("{url}: the server answers {status}{}{}", tried(*attempts), asked(*retry_after))]
    Busy {
        /// Address.
        url: String,
        /// HTTP status.
        status: u16,
        /// How often it was tried.
        attempts: u32,
        /// Seconds the server asks to wait, if it says so.
        retry_after: Option<u64>,
    },
    /// 401 or 403: the repository wants an account that has accepted its licence.
    #[error("{url}: access refused ({status}): {}", access(*with_token))]
    Gated {
        /// Address.
        url: String,
        /// HTTP status.
        status: u16,
        /// True if a token was sent.
        with_token: bool,
    },
    /// 404.
    #[error("{url}: not found (404): check the name; a private repository needs a token in HF_TOKEN")]
    NotFound {
        /// Address.
        url: String,
    },
    /// Any other status.
    #[error("{url}: unexpected answer, HTTP status {status}")]
    Status {
        /// Address.
        url: String,
        /// HTTP status.
        status: u16,
    },
    /// The body is not what the interface promises.
    #[error("{url}: {why}")]
    NotJson {
        /// Address.
        url: String,
        /// What it is instead.
        why: String,
    },
    /// The repository holds no file that could be fetched.
    #[error("{repo}: {why}")]
    NoFile {
        /// Repository.
        repo: String,
        /// What was found instead, and what to type.
        why: String,
    },
    /// What was downloaded is not a (whole) GGUF file.
    #[error("{name}: {why}")]
    NotGguf {
        /// File name.
        name: String,
        /// The reason.
        why: String,
    },
    /// Length or checksum differs from what was promised.
    #[error("{name}: {what} differs: expected {expected}, got {got}; {next}")]
    Mismatch {
        /// File name.
        name: String,
        /// Size or SHA-256.
        what: &'static str,
        /// Promised.
        expected: String,
        /// Received.
        got: String,
        /// What was done and what to do.
        next: &'static str,
    },
    /// The target is there already.
    #[error("{} exists; --force replaces it, -o OTHER writes elsewhere", .0.display())]
    Exists(PathBuf),
    /// Another process downloads the same file now.
    #[error("{} is being written by another fetch; wait for it or stop it", .0.display())]
    Locked(PathBuf),
    /// The system has no thread left; looking up a name takes one.
    #[error("the system gives no thread to work with")]
    NoThread(#[source] io::Error),
    /// The disk said no.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl HubError {
    /// True when the fault is on this machine (a disk, a folder), not on the network or in what
    /// came from it.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::NoThread(_))
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_path_buf(), source }
    }
}

fn tried(attempts: u32) -> String {
    if attempts > 1 { format!(", tried {attempts} times") } else { String::new() }
}

fn asked(retry_after: Option<u64>) -> String {
    match retry_after {
        Some(seconds) => format!("; it asks to come back in {seconds} s (Retry-After)"),
        None => "; try again later".to_owned(),
    }
}

fn access(with_token: bool) -> &'static str {
    if with_token {
        "the token that was sent does not open it; accept the licence on the model's page with \
         that account, or check the token"
    } else {
        "it is gated, private or misspelt; accept its licence on the model's page and put a token in \
         HF_TOKEN (or log in with the huggingface-cli)"
    }
}
