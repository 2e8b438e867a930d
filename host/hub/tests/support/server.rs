//! A small HTTP server for tests: one thread per connection, answers from a closure, with the bad
//! habits that real servers have.
#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub path: String,
    headers: Vec<(String, String)>,
    /// How many requests for this path came before.
    pub earlier: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// First and last byte of a `Range` header.
    fn range(&self, length: usize) -> Option<(usize, usize)> {
        let (from, to) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        let last = to.parse().unwrap_or(usize::MAX).min(length.saturating_sub(1));
        Some((from.parse().ok()?, last))
    }
}

/// How the body is sent.
#[derive(Debug, Clone, Copy)]
pub enum Manner {
    Whole,
    /// The connection is closed after so many bytes of the body.
    CutAfter(usize),
    /// Nothing more is sent after so many bytes, the connection stays open.
    SilentAfter(usize),
    /// Without a length: the end of the connection is the end of the body.
    NoLength,
}

#[derive(Debug, Clone)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    manner: Manner,
    /// Serve ranges of the body.
    ranges: bool,
}

impl Answer {
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), manner: Manner::Whole, ranges: false }
    }

    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::status(200) }.header("Content-Type", "application/json")
    }

    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::status(200) }.header("Content-Type", "text/html")
    }

    /// A file that can be asked for in ranges.
    pub fn file(body: impl Into<Vec<u8>>, etag: &str) -> Self {
        let tag = format!("\"{etag}\"");
        Self { body: body.into(), ranges: true, ..Self::status(200) }.header("ETag", tag)
    }

    pub fn redirect(to: impl Into<String>) -> Self {
        Self::status(302).header("Location", to)
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn manner(mut self, manner: Manner) -> Self {
        self.manner = manner;
        self
    }

    pub fn without_ranges(mut self) -> Self {
        self.ranges = false;
        self
    }
}

/// A server on a loopback port of its own; stops with the process.
pub struct Server {
    address: String,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (answer, shared) = (Arc::new(answer), Arc::clone(&log));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&shared));
                std::thread::spawn(move || drop(serve(&stream, &*answer, &log)));
            }
        });
        Self { address, log }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    answer: &(dyn Fn(&Request) -> Answer + Send + Sync),
    log: &Mutex<Vec<Request>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(mut request) = read_request(&mut reader)? {
        {
            let mut log = log.lock().unwrap();
            request.earlier = log.iter().filter(|known| known.path == request.path).count();
            log.push(request.clone());
        }
        if !send(stream, &request, answer(&request))? {
            break;
        }
    }
    stream.shutdown(Shutdown::Both)
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((key, value)) => headers.push((key.to_owned(), value.to_owned())),
            None => return Ok(Some(Request { method, path, headers, earlier: 0 })),
        }
    }
}

/// Sends an answer; false when the connection is to be closed.
fn send(mut stream: &TcpStream, request: &Request, mut answer: Answer) -> std::io::Result<bool> {
    let whole = answer.body.len();
    if let Some((from, last)) = request.range(whole).filter(|_| answer.ranges) {
        if from >= whole {
            answer.status = 416;
            answer = answer.header("Content-Range", format!("bytes */{whole}"));
            answer.body.clear();
        } else {
            answer.status = 206;
            answer = answer.header("Content-Range", format!("bytes {from}-{last}/{whole}"));
            answer.body = answer.body[from..=last].to_vec();
        }
    }
    let mut head = format!("HTTP/1.1 {} Whatever\r\n", answer.status);
    for (key, value) in &answer.headers {
        head.push_str(&format!("{key}: {value}\r\n"));
    }
    let keep = match answer.manner {
        Manner::NoLength => {
            head.push_str("Connection: close\r\n");
            false
        }
        _ => {
            head.push_str(&format!("Content-Length: {}\r\n", answer.body.len()));
            matches!(answer.manner, Manner::Whole)
        }
    };
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    let sent = match answer.manner {
        Manner::CutAfter(count) | Manner::SilentAfter(count) => count.min(answer.body.len()),
        _ => answer.body.len(),
    };
    stream.write_all(&answer.body[..sent])?;
    stream.flush()?;
    if matches!(answer.manner, Manner::SilentAfter(_)) {
        // Longer than any test waits.
        std::thread::sleep(Duration::from_secs(20));
    }
    Ok(keep)
}
