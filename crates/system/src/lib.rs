//! What the operating system is asked for: files, processes, what holds them, locks, and the small tools of text that
//! all others share.
//!
//! Everything that only Linux has is here; knows nothing of git, plans or batches.

pub mod crash_point;
pub mod detach;
pub mod files;
pub mod machine;
pub mod pace;
pub mod ports;
pub mod process;
pub mod sandbox;
pub mod secrets;
pub mod slots;
pub mod stand_in;
pub mod state_folder;
pub mod text;
pub mod variables;
