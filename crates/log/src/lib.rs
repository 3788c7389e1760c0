//! The log of all batches: stored, owned by one process each, and read again as people and programs see it.
//!
//! Runs nothing, and knows nothing of how agents are chosen or batches are made.

pub mod agent_report;
pub mod batch_paths;
pub mod branches;
pub mod database;
pub mod earlier;
pub mod outlook;
pub mod ownership;
pub mod queue_report;
pub mod scope;
pub mod tails;
pub mod task_ids;
pub mod transcript;
pub mod view;
