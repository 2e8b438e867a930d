//! The names of `tokenizer.ggml.pre`.

use ssnail_shared::tokenizer::Split;

/// What a vocabulary's pre-tokenizer name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreTokenizer {
    /// The splitting rule.
    pub split: Split,
    /// A chunk that is a token as it stands is that token, whatever the merges make of it.
    pub whole_chunks: bool,
    /// The text is brought to normal form C first.
    pub nfc: bool,
    /// The begin token goes before the text where the file does not say (`add_bos_token`): files of these families were
    /// long written without that key.
    pub begins: bool,
}

impl PreTokenizer {
    /// GPT-2's, which also stands in for names that are not known.
    pub const GPT2: Self = Self { split: Split::Gpt2, whole_chunks: false, nfc: false, begins: false };
}

/// Looks a name up; none if its rule is not known here.
#[must_use]
pub fn pre_tokenizer(name: &str) -> Option<PreTokenizer> {
    let plain = |split| PreTokenizer { split, ..PreTokenizer::GPT2 };
    Some(match name {
        "gpt-2" | "phi-2" | "jina-es" | "jina-de" | "jina-v2-es" | "jina-v2-de" | "gigachat" | "roberta-bpe"
        | "olmo" | "mpt" | "jais" | "trillion" | "granite-docling" | "exaone4" | "a.x-4.0" | "mellum"
        | "modern-bert" | "jina-v1-en" | "jina-v2-code" => plain(Split::Gpt2),
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" => plain(Split::Digits),
        "llama3" | "llama-v3" | "llama-bpe" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0" | "lfm2" => {
            PreTokenizer { whole_chunks: true, begins: true, ..plain(Split::Llama3) }
        }
        "dbrx" | "smaug-bpe" | "chatglm-bpe" | "glm4" => plain(Split::Llama3),
        "qwen2" => PreTokenizer { nfc: true, ..plain(Split::Qwen2) },
        "qwen35" => PreTokenizer { nfc: true, ..plain(Split::Qwen35) },
        "stablelm2" | "deepseek-r1-qwen" | "megrez" => plain(Split::Qwen2),
        "default" => plain(Split::Default),
        "falcon" => plain(Split::Falcon),
        "gpt-4o" | "llama4" => plain(Split::Gpt4o),
        "tekken" => PreTokenizer { whole_chunks: true, begins: true, ..plain(Split::Tekken) },
        "deepseek-v3" => plain(Split::DeepSeek3),
        _ => return None,
    })
}
