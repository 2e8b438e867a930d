//! What is typed: arguments of the command, parts of arguments, commands in a chat, lines of CONFIG.TXT.

use ssnail_disk::spec::{CardItem, DiskItem, card_size, cluster_size, host_name};
use ssnail_shared::{command, config::Config};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

pub fn run(data: &[u8]) {
    let words = data.split(|&b| b == 0).map(OsStr::from_bytes);
    if let Err(error) = ssnail_cli::parse([OsStr::new("ssnail")].into_iter().chain(words.clone())) {
        assert!(!error.to_string().is_empty());
    }
    for word in words {
        let _ = (CardItem::parse(word), DiskItem::parse(word));
        let text = word.to_string_lossy();
        let _ = (card_size(&text), cluster_size(&text));
        let name = host_name(&text);
        assert!(!name.is_empty() && !name.contains('/') && name != "." && name != "..", "{name:?}");
        let _ = text.parse::<ssnail_convert::WeightPolicy>();
    }
    let _ = command::parse(data);
    let _ = (command::parse_u32(data), command::parse_decimal(data));
    let _ = Config::read(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let lines = [
        "convert model.gguf -o x.ssnail --wtype auto --mem-mb 64 --ctx -1 --kv f32 --fallback q4_0 --type Story --yes",
        "info x.ssnail",
        "tokenize x.ssnail text",
        "run x.ssnail --prompt Lily -n 20 --temp 0.5 --seed 1 --numerics hardware --threads 2 --max-instructions 9",
        "chat x.ssnail -n 99999999999999999999 --temp nan",
        "embed x.ssnail a b",
        "tokcheck x.ssnail x.gguf text.txt",
        "disasm x.ssnail",
        "disk create d.d81 a.prg=NAME,S =---- b.seq",
        "disk demo d.d81 --prg p --model m --readme r --force",
        "card create c.img --size 64M --cluster 4K x.ssnail=/SSNAIL/X.SSN",
        "findmodels tiny --mem 8",
        "fetch owner/name",
        "m65 d.d81 --card c.img",
        "rv45 a.elf -o b.prg --hot x,y",
        "completions bash",
        "--help",
        "--version",
        "",
    ];
    let mut seeds: Vec<Vec<u8>> = lines.iter().map(|l| l.replace(' ', "\0").into_bytes()).collect();
    seeds.extend(
        ["/temp 0.75", "/seed 4294967296", "/help", "/reset now", "temp=0.5\nmodel=STORY.SSN\n# x\nseed=1\r\n"]
            .map(|t| t.as_bytes().to_vec()),
    );
    seeds
}
