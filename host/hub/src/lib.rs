//! Finding and fetching GGUF models
