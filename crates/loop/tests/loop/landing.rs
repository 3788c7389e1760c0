//! Landing: what a push would send away, and a branch of the user that moves ahead.

mod deeds;
mod fast_forward;
mod scan;

use pleach_git::git::{CommitId, Git, Store};
use pleach_testkit::TestRepo;

fn open(repo: &TestRepo) -> Store {
    Store::open(Git::find().unwrap(), &repo.beside("stores"), repo.path()).unwrap()
}

fn id(text: &str) -> CommitId {
    text.parse().unwrap()
}
