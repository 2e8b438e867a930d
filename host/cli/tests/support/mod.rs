//! A builder for one run of `ssnail` in a folder of its own.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::panic)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program under test.
pub fn ssnail() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_ssnail"))
}

/// The test data, if it is there: `SSNAIL_DATA` or the folder beside the project.
pub fn data() -> Option<PathBuf> {
    let path = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    if path.join("models").is_dir() {
        return Some(path);
    }
    println!("skipped: no test data at {}", path.display());
    None
}

/// What one run of the program is given and what is expected of it.
#[must_use]
pub struct Test {
    folder: TempDir,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    stdin: Option<Vec<u8>>,
    status: i32,
    stdout: Option<String>,
    stderr: Option<String>,
    stdout_parts: Vec<String>,
    stderr_parts: Vec<String>,
}

impl Test {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            args: Vec::new(),
            env: Vec::new(),
            stdin: None,
            status: 0,
            stdout: None,
            stderr: None,
            stdout_parts: Vec::new(),
            stderr_parts: Vec::new(),
        }
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn env(mut self, key: &str, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.folder.path().join(name), content).unwrap();
        self
    }

    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    pub fn status(mut self, status: i32) -> Self {
        self.status = status;
        self
    }

    pub fn stdout(mut self, text: impl Into<String>) -> Self {
        self.stdout = Some(text.into());
        self
    }

    pub fn stderr(mut self, text: impl Into<String>) -> Self {
        self.stderr = Some(text.into());
        self
    }

    pub fn stdout_contains(mut self, part: impl Into<String>) -> Self {
        self.stdout_parts.push(part.into());
        self
    }

    pub fn stderr_contains(mut self, part: impl Into<String>) -> Self {
        self.stderr_parts.push(part.into());
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with arguments, environment and folder set, for tests that drive it themselves.
    pub fn command(&self) -> Command {
        let mut command = Command::new(ssnail());
        command.args(&self.args).current_dir(self.folder.path());
        // The environment of whoever runs the tests must not change them.
        for key in ["HF_TOKEN", "HF_TOKEN_PATH", "HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY"] {
            command.env_remove(key).env_remove(key.to_lowercase());
        }
        command.env("HF_HOME", self.folder.path().join("no-hf-home"));
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }

    /// Runs and checks; gives back what happened for further questions.
    #[track_caller]
    pub fn run(self) -> Ran {
        use std::io::Write;
        let mut command = self.command();
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().unwrap();
        let writer = self.stdin.clone().zip(child.stdin.take()).map(|(text, mut stdin)| {
            // A thread of its own: the program may answer before it has read everything.
            std::thread::spawn(move || drop(stdin.write_all(&text)))
        });
        let output = child.wait_with_output().unwrap();
        if let Some(writer) = writer {
            writer.join().unwrap();
        }
        self.check(&output);
        Ran { output, folder: self.folder }
    }

    #[track_caller]
    fn check(&self, output: &Output) {
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let shown = format!(
            "\nargs: {:?}\nstatus: {:?}\n--- stdout ---\n{stdout}\n--- stderr ---\n{stderr}\n",
            self.args, output.status
        );
        assert!(!stderr.contains("panicked"), "the program panicked{shown}");
        assert_eq!(output.status.code(), Some(self.status), "status{shown}");
        if let Some(text) = &self.stdout {
            assert_eq!(&stdout, text, "standard output{shown}");
        }
        if let Some(text) = &self.stderr {
            assert_eq!(&stderr, text, "standard error{shown}");
        }
        for part in &self.stdout_parts {
            assert!(stdout.contains(part), "standard output lacks {part:?}{shown}");
        }
        for part in &self.stderr_parts {
            assert!(stderr.contains(part), "standard error lacks {part:?}{shown}");
        }
    }
}

impl Test {
    /// Writes a file made by [`crate::tiny`] or the like and converts it to `name.ssnail`.
    #[track_caller]
    pub fn image(self, name: &str, gguf: &[u8], options: &[&str]) -> Self {
        let model = format!("{name}.gguf");
        let test = self.file(&model, gguf);
        let output = Command::new(ssnail())
            .args(["convert", &model, "-o", &format!("{name}.ssnail")])
            .args(options)
            .current_dir(test.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        test
    }

    /// Copies a file of the test data.
    pub fn copy(self, name: &str, from: &Path) -> Self {
        let content = fs::read(from).unwrap();
        self.file(name, content)
    }
}

/// What a finished run left.
pub struct Ran {
    pub output: Output,
    folder: TempDir,
}

impl Ran {
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).unwrap()
    }

    /// Names of the files that are there now, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.output.stdout).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.output.stderr.clone()).unwrap()
    }
}

/// Runs the project's Makefile in the test's folder with the program under test.
pub fn make(test: &Test, args: &[&str]) -> Output {
    make_with(test, Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Makefile")), &ssnail(), args)
}

/// The same with a Makefile and a program of one's own.
pub fn make_with(test: &Test, makefile: &Path, program: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("make");
    command.arg("-f").arg(makefile).arg(format!("SSNAIL={}", program.display())).args(args);
    // Variables of an outer make are not ours.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("MFLAGS");
    command.current_dir(test.folder.path()).stdin(Stdio::null()).output().unwrap()
}
