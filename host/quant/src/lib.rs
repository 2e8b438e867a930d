//! ggml block formats: decode and encode
