//! Makes it happen: git, worktrees, weaving, agents, processes, plan files.

pub mod capture;
pub mod git;
pub mod plan_file;
pub mod process;
pub mod weave;
pub mod worktree;
