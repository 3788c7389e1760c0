//! For tests only: hermetic repositories whose untouchedness can be proved.
//!
//! Knows nothing of Pleach itself, so that every crate may use it.

mod fingerprint;
mod repo;

pub use fingerprint::Fingerprint;
pub use repo::TestRepo;
