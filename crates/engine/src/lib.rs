//! Makes it happen: git, worktrees, weaving, agents, processes, plan files.

pub mod agent;
pub mod capture;
pub mod causes;
pub mod config;
pub mod consent;
pub mod database;
pub mod demo;
pub mod detach;
pub mod git;
pub mod ownership;
mod path_text;
mod placeholder;
pub mod plan_file;
pub mod plan_in_use;
pub mod ports;
pub mod process;
pub mod prompt;
pub mod run;
pub mod settings;
pub mod slots;
pub mod state_folder;
pub mod step;
pub mod view;
pub mod weave;
pub mod worktree;
