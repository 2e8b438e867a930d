//! One HTTP client for everything: time limits, redirects, status codes, retries, the token.

use crate::reply::{Linked, Reply, text};
use crate::retry::{self, Failure};
use crate::{HubError, Patience, Result, Token, Url};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use ureq::tls::{PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Timeout};

/// A file of root certificates has a few hundred thousand bytes.
const CERTIFICATES: u64 = 64 << 20;
/// Redirects that are followed for one request.
const REDIRECTS: u32 = 8;
/// Name under which this program introduces itself.
const USER_AGENT: &str = concat!("ssnail/", env!("CARGO_PKG_VERSION"));

/// Whom to ask, and how patiently.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The hub or a mirror of it; only this origin ever gets the token.
    pub endpoint: Url,
    /// Access token.
    pub token: Option<Token>,
    /// Retries.
    pub patience: Patience,
    /// Limit for making a connection.
    pub connect: Duration,
    /// Limit for a silence while something is being read.
    pub silence: Duration,
    /// Limit for a whole answer of the API.
    pub answer: Duration,
    /// PEM file with the roots to trust instead of the built-in ones (`SSL_CERT_FILE`).
    pub roots: Option<std::path::PathBuf>,
}

impl Settings {
    /// Ordinary settings for an endpoint.
    pub fn new(endpoint: Url) -> Self {
        Self {
            endpoint,
            token: None,
            patience: Patience::default(),
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(30),
            answer: Duration::from_secs(90),
            roots: None,
        }
    }
}

/// What happens while a request is being made.
#[derive(Debug)]
pub enum Event<'a> {
    /// The request failed and is repeated after the pause.
    Waiting {
        /// Why.
        error: &'a HubError,
        /// Pause before the next attempt.
        wait: Duration,
    },
}

/// Talks to the hub.
pub struct Client {
    settings: Settings,
    direct: Agent,
    proxied: Agent,
    events: Box<dyn Fn(&Event<'_>) + Send + Sync>,
}

impl Client {
    /// A client; `events` hears of retries.
    ///
    /// # Errors
    /// The file of root certificates cannot be read, or there are no threads.
    pub fn new(settings: Settings, events: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Result<Self> {
        let tls = tls(settings.roots.as_deref())?;
        // The library that looks up names would panic without one.
        std::thread::Builder::new().spawn(|| ()).map_err(HubError::NoThread)?;
        let config = || {
            Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .user_agent(USER_AGENT)
                .tls_config(tls.clone())
                .timeout_resolve(Some(settings.connect))
                .timeout_connect(Some(settings.connect))
                .timeout_recv_response(Some(settings.silence))
                .timeout_per_read(Some(settings.silence))
                .timeout_per_write(Some(settings.silence))
        };
        // Agents take proxies from the environment by themselves; loopback needs none.
        let proxied = config().build().new_agent();
        let direct = config().proxy(None).build().new_agent();
        Ok(Self { settings, direct, proxied, events: Box::new(events) })
    }

    /// The hub's address.
    pub fn endpoint(&self) -> &Url {
        &self.settings.endpoint
    }

    /// Attempts and waits.
    pub fn patience(&self) -> &Patience {
        &self.settings.patience
    }

    pub(crate) fn tell(&self, error: &HubError, wait: Duration) {
        (self.events)(&Event::Waiting { error, wait });
    }

    /// Asks for a file, from byte `from` on (and for `length` bytes if given), with retries.
    ///
    /// # Errors
    /// See [`HubError`]; a status other than 200, 206 or 416 is one.
    pub fn get(&self, url: &Url, from: u64, length: Option<u64>) -> Result<Reply> {
        let range = match length {
            Some(length) => Some(format!("bytes={from}-{}", from + length.max(1) - 1)),
            None if from > 0 => Some(format!("bytes={from}-")),
            None => None,
        };
        self.settings.patience.run(|| self.exchange(url, range.as_deref(), None), |error, wait| self.tell(error, wait))
    }

    /// The first `length` bytes of a file, or fewer if it is shorter, and its whole size if the
    /// server says so. Servers that ignore ranges are not read further than that.
    ///
    /// # Errors
    /// See [`HubError`].
    pub fn prefix(&self, url: &Url, length: u64) -> Result<(Vec<u8>, Option<u64>)> {
        let range = format!("bytes=0-{}", length.max(1) - 1);
        self.settings.patience.run(
            || {
                let reply = self.exchange(url, Some(&range), Some(self.settings.answer))?;
                let (size, status) = (reply.size, reply.status);
                let mut bytes = Vec::new();
                if status != 416 {
                    let reader = reply.reader().take(length);
                    read_all(reader, &mut bytes).map_err(|error| broken(url, &error))?;
                }
                Ok((bytes, size))
            },
            |error, wait| self.tell(error, wait),
        )
    }

    /// A whole answer of at most `limit` bytes and the address of the next page if there is one.
    pub(crate) fn page<T>(
        &self,
        url: &Url,
        limit: u64,
        read: impl Fn(&[u8]) -> std::result::Result<T, Failure>,
    ) -> Result<(T, Option<Url>)> {
        self.settings.patience.run(
            || {
                let mut reply = self.exchange(url, None, Some(self.settings.answer))?;
                let next = reply.next.take().and_then(|link| url.redirect(&link).ok());
                let mut bytes = Vec::new();
                read_all(reply.reader().take(limit + 1), &mut bytes).map_err(|error| broken(url, &error))?;
                if bytes.len() as u64 > limit {
                    let why = format!("the answer is longer than {limit} bytes");
                    return Err(HubError::NotJson { url: url.to_string(), why }.into());
                }
                Ok((read(&bytes)?, next))
            },
            |error, wait| self.tell(error, wait),
        )
    }

    /// One request with its redirects.
    fn exchange(
        &self,
        start: &Url,
        range: Option<&str>,
        limit: Option<Duration>,
    ) -> std::result::Result<Reply, Failure> {
        let mut url = start.clone();
        let mut linked = Linked::default();
        for _ in 0..=REDIRECTS {
            let with_token = self.settings.token.as_ref().filter(|_| url.same_origin(&self.settings.endpoint));
            let agent = if url.is_plain() { &self.direct } else { &self.proxied };
            let mut request = agent.get(url.uri()).config().timeout_global(limit).build();
            if let Some(range) = range {
                request = request.header("Range", range);
            }
            if let Some(token) = with_token {
                request = request.header("Authorization", token.header());
            }
            let response = request.call().map_err(|error| failed(&url, error))?;
            let (parts, body) = response.into_parts();
            linked.note(&parts.headers);
            let shown = || url.to_string();
            match parts.status.as_u16() {
                status @ (200 | 206 | 416) => return Ok(linked.reply(status, &parts.headers, body)),
                301 | 302 | 303 | 307 | 308 => {
                    let location = text(&parts.headers, "location").unwrap_or_default();
                    url = url.redirect(&location)?;
                }
                status @ (401 | 403) => {
                    let with_token = with_token.is_some();
                    return Err(HubError::Gated { url: shown(), status, with_token }.into());
                }
                404 => return Err(HubError::NotFound { url: shown() }.into()),
                status @ (408 | 425 | 429 | 500 | 502 | 503 | 504) => {
                    let wait = text(&parts.headers, "retry-after")
                        .and_then(|header| retry::retry_after(&header, SystemTime::now()));
                    let retry_after = wait.map(|wait| wait.as_secs());
                    let error = HubError::Busy { url: shown(), status, attempts: 1, retry_after };
                    return Err(Failure::Again { error, wait });
                }
                status => return Err(HubError::Status { url: shown(), status }.into()),
            }
        }
        let why = "too many redirects";
        let (from, to) = (start.to_string(), url.to_string());
        Err(HubError::Redirect { from, to, why }.into())
    }
}

fn read_all(mut reader: impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    reader.read_to_end(bytes).map(drop)
}

/// A failure in the middle of a body: worth another attempt.
pub fn broken(url: &Url, error: &io::Error) -> Failure {
    let why = match error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
        Some(ureq::Error::Timeout(_)) => "the server fell silent".to_owned(),
        _ if error.kind() == io::ErrorKind::TimedOut => "the server fell silent".to_owned(),
        _ => format!("the connection broke ({error})"),
    };
    Failure::Again { error: HubError::Broken { url: url.to_string(), why, attempts: 1 }, wait: None }
}

/// Sorts an error of the request itself.
fn failed(url: &Url, error: ureq::Error) -> Failure {
    let host = url.authority().to_owned();
    let unreachable = |why: String| HubError::Unreachable { host: host.clone(), why }.into();
    match error {
        ureq::Error::HostNotFound => unreachable("no such host; is this computer online?".to_owned()),
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => unreachable("no answer in time".to_owned()),
        ureq::Error::Timeout(_) => broken(url, &io::Error::from(io::ErrorKind::TimedOut)),
        ureq::Error::Io(error) if never_connected(error.kind()) => unreachable(error.to_string()),
        // The standard library has no kind for it; asking again at once changes nothing.
        ureq::Error::Io(error) if error.to_string().starts_with(NO_SUCH_NAME) => {
            unreachable(format!("{error}; is this computer online?"))
        }
        ureq::Error::Io(error) => broken(url, &error),
        ureq::Error::ConnectProxyFailed(why) => unreachable(format!("the proxy refuses: {why}")),
        ureq::Error::Protocol(error) => broken(url, &io::Error::other(error.to_string())),
        other => unreachable(other.to_string()),
    }
}

/// How the standard library begins an error of the name service.
const NO_SUCH_NAME: &str = "failed to lookup address information";

fn never_connected(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound, PermissionDenied,
    };
    matches!(
        kind,
        ConnectionRefused | HostUnreachable | NetworkUnreachable | AddrNotAvailable | NotFound | PermissionDenied
    )
}

fn tls(roots: Option<&std::path::Path>) -> Result<TlsConfig> {
    let Some(path) = roots else { return Ok(TlsConfig::default()) };
    let pem = ssnail_gguf::read_bounded(path, CERTIFICATES).map_err(HubError::io("read the certificates of", path))?;
    let certificates: Vec<_> = ureq::tls::parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    Ok(TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(certificates))).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_found_is_said_at_once() {
        let url = Url::parse("https://h.invalid/a").expect("an address");
        let error = io::Error::other("failed to lookup address information: Name or service not known");
        match failed(&url, ureq::Error::Io(error)) {
            Failure::Final(error @ HubError::Unreachable { .. }) => {
                assert!(error.to_string().contains("is this computer online?"), "{error}");
            }
            Failure::Final(error) | Failure::Again { error, .. } => unreachable!("{error}"),
        }
    }
}
