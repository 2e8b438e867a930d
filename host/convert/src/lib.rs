//! GGUF model to SSNAIL image
