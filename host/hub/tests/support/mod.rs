//! What the tests share: the server, a client without patience, small GGUF files.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

pub mod server;

use sha2::{Digest, Sha256};
use ssnail_gguf::GgufWriter;
use ssnail_hub::{Client, Event, Patience, Settings, Token, Url};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub fn settings(endpoint: &str) -> Settings {
    let mut settings = Settings::new(Url::parse(endpoint).unwrap());
    settings.patience =
        Patience { attempts: 4, first_wait: Duration::from_millis(5), longest_wait: Duration::from_millis(2500) };
    // No pause of a busy machine is taken for the server's silence.
    settings.connect = Duration::from_secs(20);
    settings.silence = Duration::from_secs(20);
    settings.answer = Duration::from_secs(60);
    settings
}

pub fn client(endpoint: &str) -> Client {
    Client::new(settings(endpoint), |_| {}).unwrap()
}

/// A client that soon gives up a server that is silent.
pub fn hasty_client(endpoint: &str, silence: Duration) -> Client {
    Client::new(Settings { silence, ..settings(endpoint) }, |_| {}).unwrap()
}

pub fn client_with_token(endpoint: &str, token: &str) -> Client {
    let mut settings = settings(endpoint);
    settings.token = Token::new(token);
    Client::new(settings, |_| {}).unwrap()
}

/// A client that writes down its pauses.
pub fn client_with_log(endpoint: &str) -> (Client, Arc<Mutex<Vec<Duration>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let pauses = Arc::clone(&log);
    let client = Client::new(settings(endpoint), move |event| match event {
        Event::Waiting { wait, .. } => pauses.lock().unwrap().push(*wait),
    });
    (client.unwrap(), log)
}

/// A GGUF file with an architecture and one tensor of `weights` F32 weights.
pub fn gguf(architecture: &str, weights: usize) -> Vec<u8> {
    let mut writer = GgufWriter::new();
    writer.key("general.architecture", architecture);
    let values: Vec<f32> = (0..weights).map(|n| n as f32).collect();
    writer.f32_tensor("token_embd.weight", &[weights as u64], &values);
    writer.to_vec()
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
