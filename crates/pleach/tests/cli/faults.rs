//! What must hold when the program is killed, has company, or finds no room to write.

mod crashes;
mod hostile;
mod killed;
mod no_room;
mod ordeal;
mod steps;
mod survived;
mod together;

use pleach_testkit::TestRepo;

/// What the branches below give together, without the second.
const STORY: &str = "ONCE\nupon\na\nTIME";

/// The words of a weaving of all branches.
const WEAVE: [&str; 8] = [
    "weave", "one", "two", "three", "--onto", "main", "--as", "hedge",
];

/// Checks that no object of a repository is missing or damaged.
#[track_caller]
fn check_objects(repo: &TestRepo, folder: &std::path::Path) {
    let fsck = ["fsck", "--full", "--strict", "--no-dangling"];
    assert_eq!(repo.git_in(folder, &fsck), "");
}
