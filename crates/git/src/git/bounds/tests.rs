//! What a git may write and read, tried with real gits and planted links.

use std::os::unix::fs::symlink;

use pleach_testkit::TestRepo;

use super::*;
use crate::git::{Call, CallPlace, Git, Store};

struct Scene {
    repo: TestRepo,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::new();
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        fs::create_dir(repo.beside("outside")).unwrap();
        fs::write(repo.beside("outside/precious"), "mine\n").unwrap();
        Self { repo, store }
    }

    /// Puts a link in the place of something in the store.
    fn plant(&self, place: &str, target: &str) {
        let place = self.store.git_dir().join(place);
        let _ = fs::remove_dir_all(&place);
        let _ = fs::remove_file(&place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(self.repo.beside(target), place).unwrap();
    }

    /// Checks that a call fails for want of permission, and that nothing came of it outside.
    #[track_caller]
    fn check_stays_inside(&self, call: Call) {
        let why = call.output().unwrap_err().to_string();
        assert!(why.contains("ermission"), "{why}");
        let outside = self.repo.beside("outside");
        let names = fs::read_dir(&outside).unwrap().flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["precious"]);
        let text = fs::read_to_string(outside.join("precious")).unwrap();
        assert_eq!(text, "mine\n");
    }
}

#[test]
fn git_writes_no_file_that_a_planted_link_leads_to() {
    if !holds_our_own() {
        return;
    }
    let head = |scene: &Scene| scene.repo.head();
    let update = |scene: &Scene, name: &str| {
        let words = ["update-ref", name, &head(scene)];
        scene.store.call().args(words)
    };
    let scene = Scene::new();
    scene.plant("logs/refs/heads", "outside");
    scene.check_stays_inside(update(&scene, "refs/heads/x"));
    scene.plant("logs/refs/tags/x", "outside/precious");
    scene.check_stays_inside(update(&scene, "refs/tags/x"));
    scene.plant("refs/notes", "outside");
    scene.check_stays_inside(update(&scene, "refs/notes/x"));

    let scene = Scene::new();
    scene.plant("packed-refs", "outside/precious");
    fs::write(scene.repo.beside("outside/precious"), "").unwrap();
    let pack = scene.store.call().args(["pack-refs", "--all"]);
    assert!(
        pack.output()
            .unwrap_err()
            .to_string()
            .contains("Permission denied")
    );
    assert!(!scene.repo.beside("outside/precious.lock").exists());
    assert_eq!(
        fs::read(scene.repo.beside("outside/precious")).unwrap(),
        b""
    );

    let scene = Scene::new();
    for number in 0..=u8::MAX {
        scene.plant(&format!("objects/{number:02x}"), "outside");
    }
    let write = ["hash-object", "-w", "--stdin"];
    scene.check_stays_inside(scene.store.call().args(write).stdin("new\n"));
}

#[test]
fn a_checkout_writes_to_its_own_folder_and_to_none_that_a_link_leads_to() {
    if !holds_our_own() {
        return;
    }
    let scene = Scene::new();
    let tree = scene.repo.beside("tree");
    fs::create_dir(&tree).unwrap();
    let scratch = scene.store.scratch().unwrap();
    let index = scratch.path().join("index");
    let read_tree = ["read-tree", "-m", "-u", &scene.repo.head()];
    let call = || scene.store.call().work_tree(&tree).args(read_tree);
    scene.check_stays_inside(call().index(&index));
    symlink(scene.repo.beside("outside/index"), &index).unwrap();
    scene.check_stays_inside(call().writing(&tree).index(&index));
    fs::remove_file(&index).unwrap();
    call().writing(&tree).index(&index).output().unwrap();
    assert_ne!(fs::read_dir(&tree).unwrap().count(), 0);
}

#[test]
fn a_question_to_the_users_repository_changes_nothing_there() {
    if !holds_our_own() {
        return;
    }
    let scene = Scene::new();
    let call = || scene.store.git.call(CallPlace::Users(scene.repo.path()));
    let branch = ["branch", "made"];
    let why = call().args(branch).output().unwrap_err().to_string();
    assert!(why.contains("Permission denied"), "{why}");
    let checkout = scene.store.checkout().unwrap();
    let writing = checkout.writing_call(&scene.store.git);
    writing.args(branch).output().unwrap();
}

#[test]
fn every_login_that_is_opened_is_closed_otherwise() {
    let all = keys_but(&[]);
    for login in LOGINS {
        assert!(keys_but(&[login]).len() < all.len(), "{login}");
    }
}

#[test]
fn a_local_git_has_neither_the_users_environment_nor_a_way_to_read_it() {
    let scene = Scene::new();
    let call = || scene.store.call();
    let names = |call: Call| {
        let printed = call.setting("alias.shown=!env").arg("shown");
        let printed = String::from_utf8(printed.output().unwrap()).unwrap();
        let names = printed.lines().filter_map(|line| line.split_once('='));
        let names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
        names
    };
    // Whoever runs the tests sets it.
    let set = "CARGO_MANIFEST_DIR".to_owned();
    assert!(names(call().with_servers()).contains(&set));
    let local = names(call());
    assert!(!local.contains(&set), "{local:?}");
    assert!(local.contains(&"PATH".to_owned()), "{local:?}");
    if holds_our_own() {
        let read = ["config", "--list", "--file", "/proc/self/environ"];
        let why = call().args(read).output().unwrap_err().to_string();
        assert!(why.contains("ermission"), "{why}");
    }
}

#[test]
fn what_is_readable_is_looked_up_again_once_something_came() {
    let folder = tempfile::tempdir().unwrap();
    let seen = vec![(folder.path().to_owned(), stamp(folder.path()))];
    let paths = Vec::new();
    let own = OwnFolders::find();
    let readable = Readable { paths, seen, own };
    assert!(readable.is_valid() && !readable.is_settled());
    // Folders are dated by a clock that stands still for a while.
    thread::sleep(Duration::from_millis(20));
    fs::write(folder.path().join("new"), "").unwrap();
    assert!(!readable.is_valid());
}

#[test]
fn what_a_local_git_may_read_depends_on_where_the_home_folder_is_and_not_on_what_lies_beside_it() {
    let mut readable = Readable::look(ReadScope::System);
    let home = home().unwrap();
    let above: Vec<&Path> = home.ancestors().skip(1).collect();
    let seen = readable.seen.iter().map(|(path, _)| path.as_path());
    let seen: Vec<&Path> = seen.filter(|path| above.contains(path)).collect();
    assert_eq!(seen, [Path::new("/")]);
    assert!(readable.is_valid());
    readable.own.home = Some(home.join("elsewhere"));
    assert!(!readable.is_valid());
}
