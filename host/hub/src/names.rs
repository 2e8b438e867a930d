//! What names say: architecture of a repository, weight format of a file, parts of a split one.

use crate::api::RemoteFile;
use std::collections::HashMap;

/// Architectures by parts of a repository's name, in order (spec section 15).
const BY_NAME: [(&str, &[&str]); 3] = [
    ("bert", &["bert", "minilm", "mpnet", "e5-", "bge"]),
    ("gpt2", &["gpt2", "gpt-2", "tinystories-gpt"]),
    ("llama?", &["llama", "smollm", "stories", "tinyllama", "mistral", "qwen"]),
];

/// Weight formats by tags in file names and their bits per weight, in order (spec section 15).
const TAGS: [(&[&str], f64); 18] = [
    (&["f32", "fp32"], 32.0),
    (&["bf16", "f16", "fp16"], 16.0),
    (&["q8_0"], 8.5),
    (&["q6_k"], 6.56),
    (&["q5_k"], 5.5),
    (&["q5_1"], 6.0),
    (&["q5_0"], 5.5),
    (&["q4_k"], 4.5),
    (&["q4_1"], 5.0),
    (&["q4_0"], 4.5),
    (&["iq4"], 4.5),
    (&["q3_k"], 3.44),
    (&["iq3"], 3.4),
    (&["q2_k"], 2.63),
    (&["iq2"], 2.3),
    (&["iq1"], 1.8),
    (&["tq1_0"], 1.69),
    (&["tq2_0"], 2.06),
];

/// Architecture that the name of a repository suggests; `llama?` is a guess.
pub fn architecture(repo: &str) -> Option<&'static str> {
    let repo = repo.to_ascii_lowercase();
    BY_NAME
        .iter()
        .find(|(_, parts)| parts.iter().any(|part| repo.contains(part)))
        .map(|(architecture, _)| *architecture)
}

/// Bits per weight that the name of a file states.
pub fn bits_per_weight(path: &str) -> Option<f64> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let tagged = |tag: &str| {
        name.match_indices(tag)
            .any(|(at, _)| at == 0 || name.as_bytes().get(at - 1).is_some_and(|byte| b".-_".contains(byte)))
    };
    TAGS.iter().find(|(tags, _)| tags.iter().any(|tag| tagged(tag))).map(|(_, bits)| *bits)
}

/// One model of a repository: a file, or all parts of a split one.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its file; of a split model the first part.
    pub first: RemoteFile,
    /// Bytes of all parts; unknown if one part's size is.
    pub size: Option<u64>,
    /// Parts that the name announces; 1 for an ordinary file.
    pub parts: u32,
    /// False if parts are missing from the list.
    pub complete: bool,
    /// Bits per weight by its name.
    pub bits: Option<f64>,
}

/// Groups the files of a repository into models. Files that accompany a model (projectors,
/// importance matrices, vocabularies) are left out.
pub fn models(files: &[RemoteFile]) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    // All parts of each split model, found once: lists can have hundreds of thousands of names.
    let mut split: HashMap<(&str, u32), Vec<&RemoteFile>> = HashMap::new();
    for file in files {
        if let Some((stem, _, parts)) = split_name(&file.path) {
            split.entry((stem, parts)).or_default().push(file);
        }
    }
    for file in files.iter().filter(|file| !is_companion(&file.path)) {
        let (members, parts) = match split_name(&file.path) {
            // Taken out: the model is listed where its first part in the list stands.
            Some((stem, _, parts)) => match split.remove(&(stem, parts)) {
                Some(mut members) => {
                    members.sort_by(|a, b| a.path.cmp(&b.path));
                    (members, parts)
                }
                None => continue,
            },
            None => (vec![file], 1),
        };
        let Some(first) = members.first() else { continue };
        models.push(Model {
            first: (*first).clone(),
            size: members.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.size?)),
            parts,
            complete: members.len() == parts as usize,
            bits: bits_per_weight(&file.path),
        });
    }
    models
}

/// The model with the most bits per weight (so nothing is lost twice when it is converted); among
/// equals whole files before split ones, then the smaller. Names without a tag come last.
pub fn best(models: &[Model]) -> Option<&Model> {
    models.iter().min_by(|a, b| {
        let key = |model: &Model| (-model.bits.unwrap_or(0.0), model.parts, model.size);
        let ((bits_a, parts_a, size_a), (bits_b, parts_b, size_b)) = (key(a), key(b));
        bits_a.total_cmp(&bits_b).then(parts_a.cmp(&parts_b)).then(size_a.cmp(&size_b))
    })
}

/// `stem`, part and parts of `stem-00002-of-00003.gguf`.
pub fn split_name(path: &str) -> Option<(&str, u32, u32)> {
    let stem = path.get(..path.len().checked_sub(5)?)?;
    let (rest, parts) = stem.rsplit_once("-of-")?;
    let (name, part) = rest.rsplit_once('-')?;
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(part) || !digits(parts) {
        return None;
    }
    let (part, parts) = (part.parse().ok()?, parts.parse().ok()?);
    (parts > 1 && part >= 1 && part <= parts).then_some((name, part, parts))
}

fn is_companion(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["mmproj", "imatrix", "ggml-vocab"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn file(path: &str, size: u64) -> RemoteFile {
        RemoteFile { path: path.to_owned(), size: Some(size), sha256: None }
    }

    #[test]
    fn tags_stand_at_the_start_or_after_a_separator() {
        assert_eq!(bits_per_weight("a/model-Q8_0.gguf"), Some(8.5));
        assert_eq!(bits_per_weight("model.f16.gguf"), Some(16.0));
        assert_eq!(bits_per_weight("F32.gguf"), Some(32.0));
        assert_eq!(bits_per_weight("model-Q4_K_M.gguf"), Some(4.5));
        assert_eq!(bits_per_weight("model-TQ2_0.gguf"), Some(2.06));
        assert_eq!(bits_per_weight("model-IQ4_XS.gguf"), Some(4.5));
        assert_eq!(bits_per_weight("halff16.gguf"), None);
        assert_eq!(bits_per_weight("f16/model.gguf"), None);
    }

    #[test]
    fn architectures_are_guessed_in_order() {
        assert_eq!(architecture("x/all-MiniLM-L6-v2"), Some("bert"));
        assert_eq!(architecture("x/roberta-gpt2"), Some("bert"));
        assert_eq!(architecture("x/TinyStories-GPT2-3M"), Some("gpt2"));
        assert_eq!(architecture("x/SmolLM2-135M"), Some("llama?"));
        assert_eq!(architecture("x/mamba-130m"), None);
    }

    #[test]
    fn split_files_are_one_model_with_the_size_of_all_parts() {
        let files = [
            file("m-f16-00002-of-00003.gguf", 20),
            file("m-f16-00001-of-00003.gguf", 10),
            file("m-q8_0.gguf", 7),
            file("m-f16-00003-of-00003.gguf", 30),
            file("mmproj-f32.gguf", 1),
        ];
        let models = models(&files);
        assert_eq!(models.len(), 2);
        let best = best(&models).unwrap();
        assert_eq!((best.size, best.parts, best.complete), (Some(60), 3, true));
        assert_eq!(best.first.path, "m-f16-00001-of-00003.gguf");
    }

    #[test]
    fn a_list_of_many_split_models_takes_no_longer_than_its_length() {
        // Each compared with each would take minutes.
        let files: Vec<_> = (0..200_000).map(|n| file(&format!("{n}-00001-of-00002.gguf"), 1)).collect();
        let models = models(&files);
        assert_eq!(models.len(), files.len());
        assert!(models.iter().zip(&files).all(|(model, file)| model.first.path == file.path && !model.complete));
    }

    #[test]
    fn a_missing_part_is_noticed() {
        let models = models(&[file("m-00001-of-00002.gguf", 5)]);
        assert!(!models[0].complete);
        assert_eq!(split_name("m-00003-of-00002.gguf"), None);
        assert_eq!(split_name("m-1-of-2.gguf"), None);
        assert_eq!(split_name(".gguf"), None);
        assert_eq!(split_name("é-of"), None);
    }

    #[test]
    fn names_without_a_tag_come_last() {
        let models = models(&[file("a.gguf", 1), file("a-q2_k.gguf", 9)]);
        assert_eq!(best(&models).unwrap().first.path, "a-q2_k.gguf");
    }
}
