//! What the engine does through its public face, with real git, files and processes; one program, so that it is
//! linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod board;
mod forge;
mod plan_file;
mod resolve;
