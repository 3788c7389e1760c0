//! For tests only: hermetic repositories whose untouchedness can be proved, servers and clients for them, and scenes.
//!
//! Uses nothing of Pleach's own crates, so that every one of them may use it.

mod api_calls;
mod client;
mod connection;
mod crash;
mod effort;
mod event_stream;
mod fingerprint;
mod forge;
mod gate;
mod git_server;
mod hermetic;
mod http;
mod merge_cases;
mod merge_loop;
mod model;
mod own_process;
mod repo;
mod scene;
mod slurm;
mod tangle;
mod terminal;
mod transport;

pub use api_calls::{
    check_no_worktree_is_left, import_tasks, outcomes, start_batch, until_over, with,
};
pub use client::{Client, hear};
pub use crash::{
    KillOutcome, Moments, children_of, find_below, locks_below, processes_of, run_to_end, strike,
};
pub use effort::{gate_or_night, seed};
pub use event_stream::{EventStream, ReceivedEvent};
pub use fingerprint::Fingerprint;
pub use forge::{Failure, ForgeFault, ForgeRequest, ForgeServer, ForgeStep, ForgeStyle, Opened};
pub use gate::{ADDS_A_FILE, Gate, LIMITED, WAIT, make_pipe, patient};
pub use git_server::{Access, GitServer, Request};
pub use merge_cases::{MergeCase, cases};
pub use merge_loop::{MergeLoop, merge_loop, merge_tree_loop};
pub use model::{ModelStub, Seen};
pub use own_process::{in_own_process, own_home};
pub use repo::TestRepo;
pub use scene::Scene;
pub use slurm::{Frozen, SlurmCluster, await_that};
pub use tangle::{Form, Habit, Shares, Tangle, Tangled};
pub use terminal::{Screen, Span, Terminal};
pub use transport::{PATIENCE, PendingResponse, Response, Transport};
