//! What a plan and a batch are, which moves are legal and what to do next.
//!
//! Plain functions over plain data: no files, no clock, no processes, no randomness.

pub mod batch;
pub mod bisect;
pub mod choice;
pub mod estimate;
pub mod event;
pub mod governor;
pub mod graph;
pub mod history;
pub mod id;
pub mod next;
pub mod phase;
pub mod plan;
pub mod problem;
pub mod schedule;
pub mod select;
pub mod standing;
pub mod task;
pub mod task_state;
pub mod task_status_word;
mod words;
pub mod work;
