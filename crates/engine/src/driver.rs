//! The process between a wrapper and a real agent: starts the agent, speaks its protocol, and prints what it does in
//! words that are the same for all agents.
//!
//! Runs under the wrapper like any agent, and so in the same sandbox; knows nothing of tasks, batches or git.

mod order;
mod protocol;

pub use order::{Order, Speaks};
pub(crate) use protocol::{Next, Out, Protocol};
