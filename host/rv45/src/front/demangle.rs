//! Readable names.

/// A readable name: the path of legacy-mangled Rust symbols, everything else unchanged.
pub fn demangle(name: &str) -> String {
    let Some(mut rest) = name.strip_prefix("_ZN") else { return name.to_string() };
    let mut parts: Vec<String> = Vec::new();
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|&n| n > 0) {
        let Ok(len) = rest[..digits].parse::<usize>() else { break };
        let Some((part, tail)) = rest[digits..].split_at_checked(len) else { return name.to_string() };
        parts.push(part.to_string());
        rest = tail;
    }
    // The last part is a hash.
    if parts.len() > 1 && parts.last().is_some_and(|p| p.len() == 17 && p.starts_with('h')) {
        parts.pop();
    }
    let text = parts.join("::");
    [("$LT$", "<"), ("$GT$", ">"), ("$u20$", "_"), ("$RF$", "&"), ("$C$", ","), ("..", "::")]
        .iter()
        .fold(text, |t, (from, to)| t.replace(from, to))
}
