//! Landing: what a push would send away, and a branch of the user that moves ahead.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "landing/deeds.rs"]
mod deeds;
#[path = "landing/fast_forward.rs"]
mod fast_forward;
#[path = "landing/scan.rs"]
mod scan;

use pleach_engine::git::{CommitId, Git, Store};
use pleach_testkit::TestRepo;

fn open(repo: &TestRepo) -> Store {
    Store::open(Git::find().unwrap(), &repo.beside("stores"), repo.path()).unwrap()
}

fn id(text: &str) -> CommitId {
    text.parse().unwrap()
}
