//! What the engine does through its public face, with real git, files and processes; one program, so that it is
//! linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod board;
mod capture;
mod database;
mod faults;
mod forge;
mod landing;
mod leases;
mod ownership;
mod pairs_like_git;
mod plan_file;
mod radar;
mod recycle;
mod resolve;
mod store;
mod view;
mod weave;
mod weave_like_git;
mod worktree;
