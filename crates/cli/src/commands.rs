//! One file a command, named as the user names it.

pub(crate) mod approve;
pub(crate) mod cancel;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod demo_agent;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod gc;
pub(crate) mod git_credential;
pub(crate) mod init;
pub(crate) mod land;
pub(crate) mod logs;
pub(crate) mod mark;
pub(crate) mod next;
pub(crate) mod plan;
pub(crate) mod progress;
pub(crate) mod recover;
pub(crate) mod resolve;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod watch;
pub(crate) mod weave;
pub(crate) mod worktrees;
