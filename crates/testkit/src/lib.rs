//! For tests only: hermetic repositories whose untouchedness can be proved, and a server for them.
//!
//! Knows nothing of Pleach itself, so that every crate may use it.

mod client;
mod crash;
mod effort;
mod fingerprint;
mod forge;
mod git_server;
mod hermetic;
mod http;
mod merge_loop;
mod model;
mod nasty;
mod repo;
mod tangle;
mod terminal;

pub use client::{Answered, Client, Heard, Listener, hear};
pub use crash::{
    Moments, Struck, children_of, find_below, locks_below, processes_of, run_to_end, strike,
};
pub use effort::{gate_or_night, seed};
pub use fingerprint::Fingerprint;
pub use forge::{Asking, Failure, Fault, ForgeServer, ForgeStep, ForgeStyle, Opened};
pub use git_server::{Access, GitServer, Request};
pub use merge_loop::{MergeLoop, merge_loop, merge_tree_loop};
pub use model::{ModelStub, Seen};
pub use nasty::{Nasty, cases};
pub use repo::TestRepo;
pub use tangle::{Form, Habit, Shares, Tangle, Tangled};
pub use terminal::{Screen, Span, Terminal};
