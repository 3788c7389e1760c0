//! What is done with git, through the public face of the crate and with real repositories; one program, so that it is
//! linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capture;
mod depot;
mod faults;
mod pairs_like_git;
mod radar;
mod recycle;
mod store;
mod weave;
mod weave_like_git;
mod worktree;
