//! GGUF reader, safe on hostile input
