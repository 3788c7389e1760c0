//! The binary `pleach`.
fn main() {}
