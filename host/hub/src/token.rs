//! The access token: where it comes from, and that it is never printed.

use std::fmt;
use std::path::PathBuf;

/// No token is longer.
const LONGEST: u64 = 64 << 10;

/// A token for the hub. Its text goes into one request header and nowhere else.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes a token as typed; nothing when it is empty or cannot stand in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let usable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        usable.then(|| Self(text.to_owned()))
    }

    /// The token that the hub's own tools use: `HF_TOKEN`, else the file `HF_TOKEN_PATH`, else
    /// `token` in `HF_HOME`, in `$XDG_CACHE_HOME/huggingface` or in `~/.cache/huggingface`.
    /// `variable` looks up an environment variable.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        if let Some(token) = variable("HF_TOKEN").and_then(|text| Self::new(&text)) {
            return Some(token);
        }
        let path = |name: &str| variable(name).filter(|text| !text.is_empty()).map(PathBuf::from);
        let file = path("HF_TOKEN_PATH")
            .or_else(|| path("HF_HOME").map(|home| home.join("token")))
            .or_else(|| path("XDG_CACHE_HOME").map(|cache| cache.join("huggingface/token")))
            .or_else(|| path("HOME").map(|home| home.join(".cache/huggingface/token")))?;
        let bytes = ssnail_gguf::read_bounded(&file, LONGEST).ok()?;
        Self::new(std::str::from_utf8(&bytes).ok()?)
    }

    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn find(pairs: &[(&str, &str)]) -> Option<String> {
        Token::find(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
            .map(|token| token.0)
    }

    #[test]
    fn the_variable_comes_before_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("token"), "hf_file\n").unwrap();
        let home = folder.path().to_str().unwrap();
        assert_eq!(find(&[("HF_TOKEN", " hf_env "), ("HF_HOME", home)]).unwrap(), "hf_env");
        assert_eq!(find(&[("HF_TOKEN", ""), ("HF_HOME", home)]).unwrap(), "hf_file");
        assert_eq!(find(&[("HF_HOME", "/nowhere"), ("HOME", home)]), None);
        assert_eq!(find(&[]), None);
    }

    #[test]
    fn a_token_cannot_break_out_of_its_header() {
        assert!(Token::new("a\r\nX: y").is_none());
        assert!(Token::new("a b").is_none());
        assert!(Token::new(" \n").is_none());
    }

    #[test]
    fn a_token_is_not_printed() {
        assert!(!format!("{:?}", Token::new("hf_secret").unwrap()).contains("secret"));
    }
}
