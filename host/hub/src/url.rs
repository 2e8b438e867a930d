//! Addresses: which ones are used at all, how a redirect is resolved, how a part is escaped.

use crate::{HubError, Result};
use std::fmt::{self, Display};
use std::net::IpAddr;
use std::str::FromStr;
use ureq::http::Uri;

/// An address that may be asked: `https`, or `http` on a loopback address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    uri: Uri,
}

impl Url {
    /// Checks an address.
    ///
    /// # Errors
    /// [`HubError::BadUrl`]: unreadable, not `https` (plain `http` only on loopback), or with a
    /// user name in it.
    pub fn parse(text: &str) -> Result<Self> {
        // What stands before an @ may be a password: it is not repeated in the message.
        let shown = without_user(text);
        let bad = |why| HubError::BadUrl { url: shown.clone(), why };
        let text = text.split('#').next().unwrap_or_default();
        let uri = Uri::from_str(text).map_err(|_| bad("this is not an address (URL)"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad("an address begins with https://"));
        };
        if authority.as_str().contains('@') {
            return Err(bad("no user name or password in an address; a token goes into HF_TOKEN"));
        }
        if authority.host().is_empty() {
            return Err(bad("the address has no host"));
        }
        match scheme {
            "https" => Ok(Self { uri }),
            "http" if loopback(authority.host()) => Ok(Self { uri }),
            "http" => Err(bad("plain http is used for loopback addresses only; write https://")),
            _ => Err(bad("only https:// addresses are used")),
        }
    }

    /// Where a `Location` header leads, seen from this address.
    ///
    /// # Errors
    /// [`HubError::Redirect`] when it leaves https, or points from elsewhere to this machine.
    pub fn redirect(&self, location: &str) -> Result<Self> {
        let refuse = |why| HubError::Redirect {
            from: self.to_string(),
            to: without_query(&without_user(location)).to_owned(),
            why,
        };
        let target = Self::parse(&self.resolve(location)).map_err(|error| match error {
            HubError::BadUrl { why, .. } => refuse(why),
            other => other,
        })?;
        if target.is_plain() && !self.is_plain() {
            return Err(refuse("only https is followed"));
        }
        Ok(target)
    }

    fn resolve(&self, location: &str) -> String {
        let scheme = self.uri.scheme_str().unwrap_or("https");
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        if location.contains("://") {
            location.to_owned()
        } else if location.starts_with("//") {
            format!("{scheme}:{location}")
        } else if location.starts_with('/') {
            format!("{scheme}://{authority}{location}")
        } else if location.starts_with('?') {
            format!("{scheme}://{authority}{}{location}", self.path())
        } else {
            let folder = self.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{scheme}://{authority}{folder}/{location}")
        }
    }

    /// This address with a path appended to its own; `path` is escaped already.
    ///
    /// # Errors
    /// The result is no address.
    pub fn join(&self, path: &str) -> Result<Self> {
        let text = self.uri.to_string();
        let base = without_query(&text).trim_end_matches('/');
        Self::parse(&format!("{base}/{}", path.trim_start_matches('/')))
    }

    /// The path, escaped, without the query.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// Host and port as written.
    pub fn authority(&self) -> &str {
        self.uri.authority().map_or("", |authority| authority.as_str())
    }

    /// True if both addresses are served by the same scheme, host and port.
    pub fn same_origin(&self, other: &Self) -> bool {
        self.uri.scheme() == other.uri.scheme() && self.authority().eq_ignore_ascii_case(other.authority())
    }

    /// True for plain HTTP, which is only ever a loopback address.
    pub fn is_plain(&self) -> bool {
        self.uri.scheme_str() == Some("http")
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }
}

/// Without the query, which may carry a signature.
impl Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(without_query(&self.uri.to_string()))
    }
}

fn without_query(text: &str) -> &str {
    text.split('?').next().unwrap_or_default()
}

fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, _)) => {
            format!("{scheme}://...{}", rest.get(user.len()..).unwrap_or_default())
        }
        None => text.to_owned(),
    }
}

fn loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Percent-encodes one part of an address; `/` stays if `slashes`.
pub fn escape(text: &str, slashes: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain || (slashes && byte == b'/') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Undoes [`escape`]; what is no escape stays as it is.
pub fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                plain.push(value);
                at += 3;
            }
            None => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_only_on_loopback() {
        for good in ["https://h.co/a", "http://127.0.0.1:80/", "http://[::1]:9", "http://localhost"] {
            assert!(Url::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://h.co/",
            "http://127.0.0.1.evil.com/",
            "http://localhost.evil.com",
            "ftp://h.co/",
            "file:///etc/passwd",
            "h.co/a",
            "https:///a",
            "",
            "https://h .co/",
            "http://128.0.0.1/",
        ] {
            assert!(Url::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        let error = Url::parse("https://me:s3cret@h.co/a").unwrap_err().to_string();
        assert!(!error.contains("s3cret") && error.contains("HF_TOKEN"), "{error}");
    }

    #[test]
    fn redirects_resolve_and_never_leave_https() {
        let from = Url::parse("https://h.co/a/b?c=d").unwrap();
        let to = |location| from.redirect(location).map(|url| url.uri.to_string());
        assert_eq!(to("/x?y").unwrap(), "https://h.co/x?y");
        assert_eq!(to("x").unwrap(), "https://h.co/a/x");
        assert_eq!(to("//k.co/x").unwrap(), "https://k.co/x");
        assert_eq!(to("https://k.co/x#z").unwrap(), "https://k.co/x");
        assert_eq!(to("?q=1").unwrap(), "https://h.co/a/b?q=1");
        for bad in ["http://h.co/x", "http://127.0.0.1/x", "ftp://h.co/", "https://a@b/"] {
            assert!(matches!(to(bad), Err(HubError::Redirect { .. })), "{bad}");
        }
        let local = Url::parse("http://127.0.0.1:1/").unwrap();
        assert!(local.redirect("http://localhost:2/").is_ok());
        assert!(local.redirect("http://h.co/").is_err());
    }

    #[test]
    fn escaping_is_undone() {
        let name = "Größe 50% (a+b)/ü.gguf";
        assert_eq!(unescape(&escape(name, false)), name);
        assert_eq!(unescape(&escape(name, true)), name);
        assert_eq!(escape("a b/c", true), "a%20b/c");
        assert_eq!(unescape("100%"), "100%");
        assert_eq!(unescape("%zz%é"), "%zz%é");
    }
}
