//! What is refused in a folder that is no repository, with nothing done.

use std::fs;

use super::{THREE, WRITE, ask, listing, plain};
use crate::scene::{Gate, Scene, WAIT};
use crate::{command, pleach};

#[test]
fn parallel_mode_is_refused_with_the_reason_and_nothing_is_done() {
    let scene = plain("retries = 0", THREE, WRITE);
    let before = listing(scene.repo.path());
    for words in [&[][..], &["--mode", "parallel"], &["--dry-run"]] {
        let error = scene.run(words).bad(3);
        for word in [
            "not a git repository",
            "parallel mode requires one",
            "git init",
            "--mode queue",
        ] {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
    let told = scene.run(&["--json"]).json();
    assert_eq!(told["error"]["code"], "needs_repository");
    assert_eq!(listing(scene.repo.path()), before);
    assert!(!scene.state().join("stores").exists());
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn what_needs_branches_or_a_server_is_refused() {
    let scene = plain("retries = 0", THREE, WRITE);
    let before = listing(scene.repo.path());
    for words in [
        &["--base", "main"][..],
        &["--fetch"],
        &["--pr"],
        &["--merge", "squash"],
        &["--waves"],
        &["-j", "4"],
    ] {
        let words: Vec<&str> = ["--mode", "queue"].iter().chain(words).copied().collect();
        let error = scene.run(&words).bad(2);
        assert!(error.contains("needs a git repository"), "{error}");
    }
    assert_eq!(listing(scene.repo.path()), before);
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn the_home_folder_and_what_holds_it_or_the_state_folder_are_refused() {
    let scene = plain("retries = 0", "- [ ] A\n", "touch BESIDE/ran");
    let home = scene.home();
    let beside = scene.repo.beside("");
    for (folder, word) in [
        (home.clone(), "home folder"),
        (beside.clone(), "home folder"),
        (home.join(".local"), "Pleach's own"),
        (scene.state().join("in"), "inside Pleach's own"),
    ] {
        fs::create_dir_all(&folder).unwrap();
        for file in ["TODO.md", "pleach.toml"] {
            fs::copy(scene.repo.path().join(file), folder.join(file)).unwrap();
        }
        let words = ["run", "--yes", "--mode", "queue"];
        let error = pleach(&folder, &home, &words).bad(3);
        assert!(error.contains(word), "{word}: {error}");
    }
    assert!(!beside.join("ran").exists());
}

#[test]
fn a_second_batch_in_the_same_folder_is_refused_while_one_runs() {
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", WAIT);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "queue", "1"]);
    gate.wait_for(1);
    let error = scene.run(&["--mode", "queue", "2"]).bad(2);
    assert!(error.contains("another batch is running"), "{error}");
    let below = scene.repo.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(below.join("TODO.md"), "- [ ] C\n").unwrap();
    fs::copy(
        scene.repo.path().join("pleach.toml"),
        below.join("pleach.toml"),
    )
    .unwrap();
    let words = ["run", "--yes", "--mode", "queue"];
    let error = pleach(&below, &scene.home(), &words).bad(2);
    assert!(error.contains("another batch is running"), "{error}");
    assert!(gate.is_empty());
    gate.let_go(1);
    assert_eq!(run.story().code, 0);
}

#[test]
fn there_is_nothing_to_land_and_nothing_to_take_back() {
    let scene = plain("retries = 0", "- [ ] A\n", &format!("echo x > x; {WAIT}"));
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "queue"]);
    gate.wait_for(1);
    let error = ask(&scene, &["cancel", "1", "--rollback"]).bad(2);
    assert!(error.contains("cannot be rolled back"), "{error}");
    gate.let_go(1);
    run.story().check(0, "1:merged");
    let error = ask(&scene, &["land", "1"]).bad(2);
    assert!(error.contains("no branch to land"), "{error}");
}

#[test]
fn a_broken_repository_is_an_error_and_no_plain_folder() {
    let scene = plain("retries = 0", "- [ ] A\n", "touch BESIDE/ran");
    fs::create_dir(scene.repo.path().join(".git")).unwrap();
    scene.run(&["--mode", "queue"]).bad(3);
    fs::remove_dir(scene.repo.path().join(".git")).unwrap();
    fs::write(scene.repo.path().join(".git"), "gitdir: nowhere\n").unwrap();
    scene.run(&["--mode", "queue"]).bad(3);
    assert!(!scene.repo.beside("ran").exists());
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn a_queue_in_a_repository_leaves_the_checkout_alone_as_ever() {
    let scene = Scene::with("retries = 0", "- [ ] A\n", "echo x > made");
    let story = scene.story(&["--mode", "queue"]);
    story.check(0, "1:merged");
    assert!(!scene.repo.path().join("made").exists());
    assert_eq!(scene.branches(), "pleach/batch-1");
}

#[test]
fn without_consent_nothing_runs() {
    let scene = plain("retries = 0", "- [ ] A\n", "touch BESIDE/ran");
    let words = ["run", "--mode", "queue"];
    let answer = command(scene.repo.path(), &scene.home(), &words).output();
    let error = crate::Answer::from(answer.unwrap()).bad(3);
    assert!(error.contains("--yes"), "{error}");
    assert!(!scene.repo.beside("ran").exists());
}
