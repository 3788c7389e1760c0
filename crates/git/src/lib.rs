//! Everything that is done with git: the private store, worktrees, what agents left in them, and weaving.
//!
//! Knows nothing of agents, plans or batches.

pub mod capture;
pub mod git;
mod index;
pub mod radar;
pub mod weave;
pub mod worktree;
