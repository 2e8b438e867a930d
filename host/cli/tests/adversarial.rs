//! Images made to do harm, through the command: a refusal that names the field, a fault, or the limit; never a panic.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../convert/tests/common/adversarial.rs"]
mod adversarial;
mod support;
#[path = "../../convert/tests/common/mod.rs"]
mod tiny;

use adversarial::{Answer, CASES};
use ssnail_shared::registers::JobError;
use support::Test;
use tiny::Tiny;

#[test]
fn every_case_gets_its_answer() {
    let test = Test::new().image("m", &Tiny::llama().file(), &[]);
    let path = test.path("m.ssnail");
    let sound = std::fs::read(&path).unwrap();
    for case in CASES {
        std::fs::write(&path, case.of(&sound)).unwrap();
        let line =
            ["run", "m.ssnail", "--prompt", "abc ab", "-n", "2", "--max-instructions", "20000", "--threads", "1"];
        let output = test.command().args(line).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let (status, sentence) = match case.answer {
            Answer::Field(field) => (1, field),
            Answer::Stops(JobError::Address) => (1, "address fault"),
            Answer::Stops(JobError::Operand) => (1, "bad operand"),
            Answer::Stops(JobError::Misaligned) => (1, "alignment fault"),
            Answer::Stops(JobError::IllegalOpcode) => (1, "illegal opcode"),
            Answer::Endless => (1, "instruction limit"),
            Answer::Works => (0, ""),
        };
        assert_eq!(output.status.code(), Some(status), "{}: {stderr}", case.name);
        assert!(stderr.contains(sentence), "{}: {sentence} expected: {stderr}", case.name);
        // Whatever looks at images ends as well.
        for line in [&["info"][..], &["disasm"], &["tokenize"]] {
            let mut command = test.command();
            command.args(line).arg("m.ssnail");
            if line == ["tokenize"] {
                command.arg("abc");
            }
            let output = command.output().unwrap();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {line:?}: {:?}", case.name, output);
        }
    }
}
