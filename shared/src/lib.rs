//! What both sides must agree on and what both sides run (no_std)
