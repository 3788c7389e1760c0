//! A thousand results, taken into a store one after the other.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use pleach_git::git::{Git, Store};
use pleach_testkit::TestRepo;

use crate::measure;

const RESULTS: usize = 1_000;
const MOST_PACKS: f64 = 20.0;

pub(super) fn run() -> bool {
    let repo = TestRepo::new();
    let found = Git::find().expect("git is installed");
    let store = Store::open(found, &repo.beside("stores"), repo.path());
    let store = store.expect("the store can be made");
    let basis = store.resolve_base(None).expect("there is a commit");
    let node = repo.beside("node.git");
    let path = |path: &Path| path.display().to_string();
    repo.git(&[
        "clone",
        "--quiet",
        "--bare",
        &path(repo.path()),
        &path(&node),
    ]);
    import(&node, &work(basis.as_str()));
    let before = packs(&store);
    let not = format!("^{basis}");
    for number in 0..RESULTS {
        let (file, kept) = (repo.beside("work.bundle"), kept(number));
        repo.git(&[
            "-C",
            &path(&node),
            "bundle",
            "create",
            "--quiet",
            &path(&file),
            &not,
            &kept,
        ]);
        let taken = store.take_bundle(&file, &[&name(number)]);
        taken.expect("it is whole");
    }
    let more = packs(&store) - before;
    println!("{RESULTS} results taken in");
    measure::verdict("  packs more", more, MOST_PACKS)
}

fn name(number: usize) -> String {
    format!("batch-1/task-{number}/attempt-1")
}

fn kept(number: usize) -> String {
    format!("refs/pleach/keep/{}", name(number))
}

/// What each made of a commit: a file of its own.
fn work(basis: &str) -> String {
    let mut stream = String::new();
    for number in 0..RESULTS {
        let name = kept(number);
        let text = format!("what task {number} made\n").repeat(50);
        let length = text.len();
        let _ = write!(
            stream,
            "commit {name}\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\nfrom {basis}\n\
             M 100644 inline file-{number}\ndata {length}\n{text}\n"
        );
    }
    stream
}

fn import(folder: &Path, stream: &str) {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["fast-import", "--quiet"]);
    let mut child = git.stdin(Stdio::piped()).spawn().expect("git is installed");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    std::io::Write::write_all(&mut stdin, stream.as_bytes()).expect("it reads");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

fn packs(store: &Store) -> f64 {
    let folder = store.git_dir().join("objects/pack");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let packs = names.filter(|name| name.to_string_lossy().ends_with(".pack"));
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let count = packs.count() as f64;
    count
}
