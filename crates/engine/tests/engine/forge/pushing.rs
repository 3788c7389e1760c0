//! Pushes to a real repository, over HTTP and to a folder.

use std::path::Path;

use pleach_engine::forge::{ForgeProject, connect};
use pleach_git::git::{CommitId, Git, Logins, PushError, Pushed, Store};
use pleach_testkit::{Failure, ForgeFault, ForgeStep, ForgeStyle, TestRepo};

use crate::forge::scene::{HEAD, PROJECT, Scene, TOKEN, assert_push_error, pauses};

fn scene() -> Scene {
    Scene::new(ForgeStyle::GitHub)
}

/// A commit of the server's own on a branch of it.
fn foreign_commit(scene: &Scene, branch: &str) -> CommitId {
    let words = ["commit-tree", "-m", "foreign", "-p", "main", "main^{tree}"];
    let commit = scene.on_server(&words);
    let name = format!("refs/heads/{branch}");
    scene.on_server(&["update-ref", &name, &commit]);
    commit.parse().unwrap()
}

#[test]
fn exactly_the_commit_is_pushed_and_nothing_else() {
    let scene = scene();
    scene.repo.git(&["tag", "v1", scene.commit.as_str()]);
    let before = scene.repo.fingerprint();
    assert_eq!(scene.push(None).unwrap(), Pushed::Done);
    assert_eq!(scene.server_branch(HEAD).unwrap(), scene.commit.as_str());
    let refs = scene.on_server(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, format!("refs/heads/main\nrefs/heads/{HEAD}"));
    assert_eq!(scene.push(None).unwrap(), Pushed::AlreadyThere);
    assert_eq!(scene.forge.count(ForgeStep::Push), 1);
    assert_eq!(scene.repo.fingerprint(), before);
    scene.forge.assert_well_asked();
}

#[test]
fn a_branch_moves_on_from_what_was_pushed_before() {
    let mut scene = scene();
    scene.push(None).unwrap();
    let first = scene.commit.clone();
    let words = [
        "commit-tree",
        "-m",
        "more",
        "-p",
        first.as_str(),
        "work^{tree}",
    ];
    let second = scene.repo.git(&words);
    scene.repo.git(&["update-ref", "refs/heads/work", &second]);
    scene.store = Store::open(
        Git::find().unwrap(),
        &scene.repo.beside("stores"),
        scene.repo.path(),
    )
    .unwrap();
    scene.commit = second.parse().unwrap();
    let error = scene.push(None).unwrap_err();
    let told = assert_push_error(&error, "branch_taken");
    assert!(told.contains(&first.as_str()[..12]), "{told}");
    assert_eq!(scene.push(Some(&first)).unwrap(), Pushed::Done);
    assert_eq!(scene.server_branch(HEAD).unwrap(), second);
}

#[test]
fn what_others_put_there_is_never_overwritten() {
    let scene = scene();
    let foreign = foreign_commit(&scene, HEAD);
    let error = scene.push(None).unwrap_err();
    assert_push_error(&error, "branch_taken");
    assert!(matches!(&error, PushError::Taken { found, .. } if *found == foreign));
    let main: CommitId = scene.repo.head().parse().unwrap();
    let error = scene.push(Some(&main)).unwrap_err();
    assert!(matches!(&error, PushError::Taken { found, .. } if *found == foreign));
    assert_eq!(scene.server_branch(HEAD).unwrap(), foreign.as_str());
    assert_eq!(scene.forge.count(ForgeStep::Push), 0, "seen before");
}

#[test]
fn a_commit_that_would_lose_something_is_not_pushed() {
    let scene = scene();
    let tip = scene.push(None).map(|_| scene.commit.clone()).unwrap();
    let other = scene
        .repo
        .git(&["commit-tree", "-m", "other", "-p", "main", "main^{tree}"]);
    scene.repo.git(&["branch", "other", &other]);
    let stores = scene.repo.beside("stores");
    let store = Store::open(Git::find().unwrap(), &stores, scene.repo.path()).unwrap();
    let other: CommitId = other.parse().unwrap();
    let logins = scene.logins(Some(TOKEN));
    let pushed = store.push(&other, HEAD, Some(&tip), &logins, &pauses());
    let error = pushed.unwrap_err();
    let told = assert_push_error(&error, "branch_taken");
    assert!(told.contains("never force-pushes"), "{told}");
    assert_eq!(scene.server_branch(HEAD).unwrap(), tip.as_str());
}

#[test]
fn somebody_who_is_faster_keeps_the_branch() {
    let scene = scene();
    let foreign = foreign_commit(&scene, "aside");
    let name = format!("refs/heads/{HEAD}");
    let take = ["update-ref", &name, foreign.as_str()];
    for step in [ForgeStep::AnnouncePush, ForgeStep::Push] {
        scene.forge.meanwhile(step, PROJECT, &take);
        let error = scene.push(None).unwrap_err();
        assert_push_error(&error, "branch_taken");
        assert!(matches!(&error, PushError::Taken { found, .. } if *found == foreign));
        assert_eq!(
            scene.server_branch(HEAD).unwrap(),
            foreign.as_str(),
            "{step:?}"
        );
        scene.on_server(&["update-ref", "-d", &name]);
    }
}

#[test]
fn a_branch_that_went_away_is_told_and_can_be_made_again() {
    let scene = scene();
    let old: CommitId = scene.repo.head().parse().unwrap();
    let error = scene.push(Some(&old)).unwrap_err();
    assert_push_error(&error, "branch_gone");
    assert_eq!(scene.server_branch(HEAD), None);
    assert_eq!(scene.push(None).unwrap(), Pushed::Done);
}

#[test]
fn a_protected_branch_is_told_in_the_servers_words() {
    let scene = scene();
    scene.forge.protect(PROJECT, HEAD);
    let error = scene.push(None).unwrap_err();
    let told = assert_push_error(&error, "declined");
    assert!(
        told.contains("GH006: Protected branch update failed."),
        "{told}"
    );
    assert!(told.contains("branch_prefix"), "{told}");
    assert_eq!(scene.forge.count(ForgeStep::Push), 1, "not tried again");
}

#[test]
fn logins_that_lack_or_do_not_fit_are_told_apart() {
    let scene = scene();
    let error = scene.push_with(None, &scene.logins(None)).unwrap_err();
    let told = assert_push_error(&error, "no_login");
    assert!(told.contains("write to the repository"), "{told}");
    let wrong = scene.logins(Some("wrong-t0ken"));
    let error = scene.push_with(None, &wrong).unwrap_err();
    let told = assert_push_error(&error, "login_rejected");
    assert!(told.contains("PLEACH_GIT_TOKEN"), "{told}");
    assert!(!told.contains("wrong-t0ken"), "{told}");
    scene.forge.make_private();
    let error = scene.push_with(None, &scene.logins(None)).unwrap_err();
    assert_push_error(&error, "no_login");
    assert_eq!(scene.push(None).unwrap(), Pushed::Done);
    scene.forge.assert_well_asked();
}

#[test]
fn a_login_without_the_right_to_push_is_told() {
    let scene = scene();
    let forbidden = Failure::Before(ForgeFault::Status(403));
    scene.forge.fail(ForgeStep::AnnouncePush, forbidden);
    let error = scene.push(None).unwrap_err();
    let told = assert_push_error(&error, "no_rights");
    assert!(told.contains("fork"), "{told}");
    assert_eq!(
        scene.forge.count(ForgeStep::AnnouncePush),
        2,
        "401, then 403"
    );
}

#[test]
fn a_network_that_comes_back_is_outlasted() {
    for step in [ForgeStep::Fetch, ForgeStep::AnnouncePush, ForgeStep::Push] {
        for fault in [ForgeFault::Cut, ForgeFault::Status(502)] {
            for failure in [
                Failure::Before(fault.clone()),
                Failure::After(fault.clone()),
            ] {
                let scene = scene();
                scene.forge.fail(step, failure.clone());
                let pushed = scene.push(None);
                let pushed = pushed.unwrap_or_else(|error| panic!("{step:?} {failure:?}: {error}"));
                assert_eq!(pushed, Pushed::Done, "{step:?} {failure:?}");
                assert_eq!(scene.server_branch(HEAD).unwrap(), scene.commit.as_str());
            }
        }
    }
}

#[test]
fn a_network_that_stays_away_is_told_after_the_last_pause() {
    let scene = scene();
    for _ in 0..9 {
        scene
            .forge
            .fail(ForgeStep::Push, Failure::Before(ForgeFault::Cut));
    }
    let error = scene.push(None).unwrap_err();
    let told = assert_push_error(&error, "unreachable");
    assert!(told.contains("land again"), "{told}");
    assert_eq!(scene.server_branch(HEAD), None);
    assert_eq!(scene.forge.count(ForgeStep::Push), 3);
}

#[test]
fn a_repository_that_is_gone_is_told_at_once() {
    let scene = scene();
    let gone = scene.forge.url("acme/gone");
    scene.repo.git(&["remote", "set-url", "origin", &gone]);
    let error = scene.push(None).unwrap_err();
    let told = assert_push_error(&error, "unreachable");
    assert!(told.contains("not found"), "{told}");
    assert_eq!(scene.forge.count(ForgeStep::Fetch), 1);
}

#[test]
fn what_a_branch_is_at_is_asked_without_fetching() {
    let scene = scene();
    let logins = scene.logins(Some(TOKEN));
    let at = |branch: &str| scene.store.remote_branch(branch, &logins).unwrap();
    let main = scene.repo.head();
    assert_eq!(at("main").unwrap().as_str(), main);
    assert_eq!(at("nothing"), None);
    scene.on_server(&["branch", "deep/main", "main"]);
    scene.on_server(&["branch", "-m", "main", "trunk"]);
    assert_eq!(at("main"), None, "another branch ends like this");
    let foreign = foreign_commit_at(&scene, "trunk");
    assert_eq!(at("trunk"), Some(foreign));
}

fn foreign_commit_at(scene: &Scene, branch: &str) -> CommitId {
    let tree = format!("{branch}^{{tree}}");
    let commit = scene.on_server(&["commit-tree", "-m", "foreign", "-p", branch, &tree]);
    scene.on_server(&["update-ref", &format!("refs/heads/{branch}"), &commit]);
    commit.parse().unwrap()
}

#[test]
fn folders_and_file_addresses_are_pushed_to_as_well() {
    let repo = TestRepo::new();
    repo.git(&["clone", "--quiet", "--bare", ".", "../up.git"]);
    let up = repo.beside("up.git");
    let nobody = Logins::new(Path::new("/bin/false"), []);
    let commit: CommitId = repo.head().parse().unwrap();
    let file = format!("file://{}", up.display());
    for (number, address) in ["../up.git", up.to_str().unwrap(), &file]
        .iter()
        .enumerate()
    {
        let _ = repo.git_succeeds(repo.path(), &["remote", "remove", "origin"]);
        repo.git(&["remote", "add", "origin", address]);
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        let branch = format!("pleach/batch-{number}");
        let pushed = store
            .push(&commit, &branch, None, &nobody, &pauses())
            .unwrap();
        assert_eq!(pushed, Pushed::Done, "{address}");
        let there = store.remote_branch(&branch, &nobody).unwrap();
        assert_eq!(there, Some(commit.clone()), "{address}");
    }
    std::fs::remove_dir_all(&up).unwrap();
    let stores = repo.beside("stores");
    let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
    let pushed = store.push(&commit, "pleach/batch-9", None, &nobody, &pauses());
    assert_push_error(&pushed.unwrap_err(), "unreachable");
}

#[test]
fn without_a_remote_it_says_how_to_get_one() {
    let repo = TestRepo::new();
    let stores = repo.beside("stores");
    let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
    assert_eq!(store.remote().unwrap(), None);
    let nobody = Logins::new(Path::new("/bin/false"), []);
    let commit: CommitId = repo.head().parse().unwrap();
    let pushed = store.push(&commit, HEAD, None, &nobody, &pauses());
    let told = assert_push_error(&pushed.unwrap_err(), "no_remote");
    assert!(told.contains("git remote add origin"), "{told}");
}

#[test]
fn a_name_that_could_mean_more_is_refused() {
    let scene = scene();
    let logins = scene.logins(Some(TOKEN));
    for branch in ["a:refs/heads/main", "a b", "*", "", "../main"] {
        let pushed = scene
            .store
            .push(&scene.commit, branch, None, &logins, &pauses());
        assert_push_error(&pushed.unwrap_err(), "bad_branch_name");
    }
    assert_eq!(scene.forge.requests().len(), 0);
}

#[test]
fn a_project_that_is_an_address_is_pushed_with_the_login_in_it() {
    let scene = scene();
    scene.forge.make_private();
    let address = scene
        .forge
        .url(PROJECT)
        .replacen("//", &format!("//ann:{TOKEN}@"), 1);
    let logins = scene.logins(None);
    let stores = scene.repo.beside("stores");
    let store = Store::open_url(Git::find().unwrap(), &stores, &address, &logins).unwrap();
    let commit = store.resolve_base(None).unwrap();
    let pushed = store.push(&commit, HEAD, None, &logins, &pauses()).unwrap();
    assert_eq!(pushed, Pushed::Done);
    assert_eq!(scene.server_branch(HEAD).unwrap(), commit.as_str());
    let project = ForgeProject::recognise(&store, Some(scene.kind()))
        .unwrap()
        .unwrap();
    let login = project.login(&store, &logins).unwrap();
    let forge = connect(&project, login).unwrap();
    assert_eq!(forge.find(HEAD, "main").unwrap(), None);
    scene.forge.assert_well_asked();
}
