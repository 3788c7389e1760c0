//! How a new store gets its objects.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use pleach_git::git::{Git, Store};
use pleach_testkit::TestRepo;

use crate::store::{id, open, open_at};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn check_whole(repo: &TestRepo, store: &Store) {
    repo.git_in(&store.git_dir(), &["fsck", "--full", "--strict"]);
    let base = store.resolve_base(None).unwrap();
    assert!(!store.list_files_at(&base).unwrap().is_empty());
}

#[test]
fn packs_nearby_are_shared_and_loose_objects_are_copied() {
    let repo = TestRepo::new();
    repo.git(&["repack", "-q", "-a", "-d"]);
    repo.write("loose", "x");
    repo.commit("loose");
    let store = open(&repo);
    let objects = repo.path().join(".git/objects");
    let (mut shared, mut copied) = (0, 0);
    for file in files_below(&objects) {
        let name = file.strip_prefix(&objects).unwrap();
        let Ok(here) = store.git_dir().join("objects").join(name).metadata() else {
            assert!(name.starts_with("info"), "{} is missing", name.display());
            continue;
        };
        let is_same = here.ino() == file.metadata().unwrap().ino();
        // Agents write to where loose objects are, and must not reach the user's.
        assert_eq!(is_same, name.starts_with("pack"), "{}", name.display());
        if is_same {
            shared += 1;
        } else {
            copied += 1;
        }
    }
    assert!(shared > 1 && copied == 3, "{shared} {copied}");
    check_whole(&repo, &store);
    let linked = files_below(&store.git_dir().join("objects")).len();
    assert_eq!(linked, shared + copied, "nothing was fetched besides");
}

#[test]
fn a_repository_that_borrows_objects_is_copied_as_a_whole() {
    let lender = TestRepo::new();
    let borrower = lender.beside("borrower");
    let name = borrower.to_str().unwrap();
    let from = lender.path().to_str().unwrap();
    lender.git(&["clone", "--quiet", "--shared", from, name]);
    let store = open_at(&lender, &borrower).unwrap();
    fs::remove_dir_all(lender.path().join(".git/objects")).unwrap();
    assert!(!store.git_dir().join("objects/info/alternates").exists());
    lender.git_in(&store.git_dir(), &["fsck", "--full", "--strict"]);
    let main = store.ref_commit("refs/remotes/local/main").unwrap();
    assert!(!store.list_files_at(&main.unwrap()).unwrap().is_empty());
}

#[test]
fn objects_that_cannot_be_linked_are_fetched() {
    let repo = TestRepo::new();
    let object = repo.git(&["rev-parse", "HEAD:README.md"]);
    let object = repo
        .path()
        .join(".git/objects")
        .join(&object[..2])
        .join(&object[2..]);
    let aside = repo.beside("object");
    fs::rename(&object, &aside).unwrap();
    symlink(&aside, &object).unwrap();
    check_whole(&repo, &open(&repo));
}

#[test]
fn a_store_on_another_file_system_is_filled_by_copies() {
    let repo = TestRepo::new();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let store = Store::open(Git::find().unwrap(), elsewhere.path(), repo.path()).unwrap();
    check_whole(&repo, &store);
}

#[test]
fn what_a_killed_process_left_half_made_is_made_anew() {
    let repo = TestRepo::new();
    let home = open(&repo).home().to_owned();
    let folder = home.join("store.git");
    fs::rename(&folder, folder.with_extension("new")).unwrap();
    fs::remove_file(home.join("store.new/HEAD")).unwrap();
    let store = open(&repo);
    check_whole(&repo, &store);
    assert!(!home.join("store.new").exists());
}

#[test]
fn later_commits_come_by_a_fetch() {
    let repo = TestRepo::new();
    open(&repo);
    repo.write("new", "x");
    let second = id(&repo.commit("second"));
    repo.git(&["repack", "-q", "-a", "-d"]);
    let store = open(&repo);
    assert_eq!(store.resolve_base(None).unwrap(), second);
    check_whole(&repo, &store);
}
