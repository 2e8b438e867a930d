//! The tokenizers of GGUF vocabularies
