//! What landing needs: the text of the pull request, and a look at what would leave the machine.
//!
//! Knows no forge.

pub mod body;
pub mod effects;
pub(crate) mod job;
mod push_check;
pub mod scan;
