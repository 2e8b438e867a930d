//! How long one request is insisted on.

use crate::{HubError, Result};
use std::time::{Duration, SystemTime};

/// Attempts and waits for answers that may be better the next time (429, 5xx, broken connections).
#[derive(Debug, Clone)]
pub struct Patience {
    /// Attempts in all.
    pub attempts: u32,
    /// Wait before the second attempt; doubled each time.
    pub first_wait: Duration,
    /// No single wait is longer; a `Retry-After` beyond it ends the attempts at once.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts: 5, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(90) }
    }
}

/// Why an attempt failed, and whether another one makes sense.
pub enum Failure {
    /// Nothing changes by asking again.
    Final(HubError),
    /// Worth another attempt, after `wait` if the server says so.
    Again {
        /// The error if no attempt is left.
        error: HubError,
        /// The server's own wish.
        wait: Option<Duration>,
    },
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        Self::Final(error)
    }
}

impl Patience {
    /// Calls `attempt` until it succeeds, fails for good, or the patience is used up. `waiting` is
    /// told the reason and the pause before each further attempt.
    ///
    /// # Errors
    /// The last attempt's, with the number of attempts.
    pub fn run<T>(
        &self,
        mut attempt: impl FnMut() -> std::result::Result<T, Failure>,
        waiting: impl Fn(&HubError, Duration),
    ) -> Result<T> {
        let mut pause = self.first_wait;
        let mut number = 1;
        loop {
            let (error, wait) = match attempt() {
                Ok(value) => return Ok(value),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Again { error, wait }) => (error, wait),
            };
            let wait = wait.unwrap_or(pause.min(self.longest_wait));
            if number >= self.attempts || wait > self.longest_wait {
                return Err(counted(error, number));
            }
            waiting(&error, wait);
            std::thread::sleep(wait);
            pause = pause.saturating_mul(2);
            number += 1;
        }
    }
}

fn counted(error: HubError, number: u32) -> HubError {
    match error {
        HubError::Busy { url, status, retry_after, .. } => {
            HubError::Busy { url, status, retry_after, attempts: number }
        }
        HubError::Broken { url, why, .. } => HubError::Broken { url, why, attempts: number },
        other => other,
    }
}

/// Reads a `Retry-After` header: seconds, or a date of which `now` is taken away.
pub fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(header).ok()?;
    let wait = date.duration_since(now).unwrap_or(Duration::ZERO);
    // A date has whole seconds: half of one too early would be refused again.
    Some(Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let seconds = |header| retry_after(header, now).map(|wait| wait.as_secs());
        assert_eq!(seconds(" 7 "), Some(7));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:00 GMT"), Some(23));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("-3"), None);
    }
}
