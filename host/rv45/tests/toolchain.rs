//! `toolchain.sh`, which finds the compiler, with stand-ins for all programs: what it says must reach cargo as it was
//! meant, whatever the folders are called.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn folders_may_have_spaces_and_quotes() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plain", "with a space", "it's \"quoted\" $HOME * \\"] {
        let here = folder.path().join(name);
        fs::create_dir(&here).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("toolchain.sh");
        fs::copy(source, here.join("toolchain.sh")).unwrap();
        fs::write(here.join("libcore-1.rlib"), "").unwrap();
        let (rustc, cargo) = (here.join("rustc"), here.join("cargo"));
        script(
            &rustc,
            "#!/bin/sh\nhere=$(dirname \"$0\")\ncase \"$*\" in\n*target-libdir*) echo \"$here\" ;;\n*sysroot*) echo \"$here\" ;;\n*) echo 'host: x' ;;\nesac\n",
        );
        fs::create_dir_all(here.join("lib/rustlib/x/bin")).unwrap();
        let lld = here.join("lib/rustlib/x/bin/rust-lld");
        script(&lld, "#!/bin/sh\n");
        script(
            &cargo,
            "#!/bin/sh\nprintf '%s\\n' \"$RUSTC\"\nprintf '%s\\n' \"$CARGO_ENCODED_RUSTFLAGS\" | tr '\\037' '\\n'\nprintf '[%s]\\n' \"$@\"\n",
        );
        let ran = Command::new("sh")
            .args(["-eu", "-c", "settings=$(\"$0/toolchain.sh\"); eval \"$settings\"; rv45_cargo build \"$0\"; printf '%s\\n' \"$RV45_LLD\""])
            .arg(&here)
            .env("RUSTC", &rustc)
            .env("CARGO", &cargo)
            .env_remove("RV45_DEBIAN")
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        let complaint = String::from_utf8_lossy(&ran.stderr).into_owned();
        let lines: Vec<&str> = said.lines().collect();
        let place = here.display().to_string();
        assert_eq!(lines.first(), Some(&&*rustc.display().to_string()), "{name}: {complaint}");
        assert!(lines.contains(&&*format!("-Clink-arg=-T{place}/rv45.ld")), "{name}: {said}");
        assert!(lines.contains(&&*format!("-Clinker={}", lld.display())), "{name}: {said}");
        assert!(lines.contains(&"-Clink-arg=--emit-relocs"), "{name}: {said}");
        assert_eq!(lines[lines.len() - 3..], ["[build]", &format!("[{place}]"), &lld.display().to_string()], "{name}");
    }
}
