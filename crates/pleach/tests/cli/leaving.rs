//! Batches that run inside another program, and are left for the next process to go on with.

use std::time::Duration;

use pleach_engine::config::{Config, Settings};
use pleach_engine::host::{Begun, Host, HostError, Running};
use pleach_engine::plan_to_run::{PlanOrigin, PlanToRun};
use pleach_engine::run::{Prepared, RunRequest, prepare, take_up};
use pleach_log::database::{Database, Provenance, RequestKey};
use pleach_loop::run_batch;
use pleach_system::state_folder::StateFolder;

use crate::scene::{Gate, Scene, WAIT};

const SOON: Duration = Duration::from_mins(1);

/// Arrives, waits and adds a file; when it is let go at once, it only adds the file.
fn patient() -> String {
    format!("echo half > half-$PLEACH_TASK; {WAIT}; echo x > file-$PLEACH_TASK; rm half-*")
}

fn state(scene: &Scene) -> StateFolder {
    StateFolder::at(&scene.state()).unwrap()
}

/// All tasks of a scene's plan, ready to run in this very process.
fn prepared(scene: &Scene) -> Prepared {
    let folder = scene.repo.path();
    let path = folder.join("plan.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let document = pleach_formats::read(&text);
    let chosen = (0..document.plan.tasks.len()).collect();
    let plan = PlanToRun::new(PlanOrigin::File(path), text, document);
    // Nothing but the repository's own file, so that no setting of this machine reaches it.
    let settings = Settings::of([Config::load(folder).unwrap()], folder).unwrap();
    let (folder, program) = (folder.to_owned(), env!("CARGO_BIN_EXE_pleach").into());
    let request = RunRequest::new(folder, plan, chosen, settings, state(scene), program);
    let request = request.unwrap().said_now(&Config::default(), None);
    let mut prepared = prepare(request.unwrap()).unwrap();
    prepared.confirm_push().unwrap();
    prepared
}

#[track_caller]
fn number(running: &Running) -> u32 {
    match running.begun(SOON) {
        Some(Begun::Number(number)) => number,
        other => panic!("{other:?}"),
    }
}

fn hosted(host: &Host, scene: &Scene) -> Running {
    let running = host.run(prepared(scene)).unwrap();
    assert_eq!(number(&running), 1);
    running
}

/// Leaves everything, and checks that the batch is open and nobody is at work.
#[track_caller]
fn leave(host: &Host, scene: &Scene, running: &Running) {
    host.leave();
    assert!(host.wait_until_idle(SOON), "it does not leave");
    let ended = running.wait(SOON).expect("it has left");
    let summary = ended.unwrap();
    assert!(!summary.status.is_over(), "{:?}", summary.status);
    scene.check_nobody_is_left();
    let status = crate::pleach(scene.repo.path(), &scene.home(), &["status", "1", "--json"]);
    assert_eq!(status.json()["batches"][0]["interrupted"], true);
}

/// Has another process go on to the end.
#[track_caller]
fn go_on(scene: &Scene, outcomes: &str, attempts: &str) {
    let story = scene.story(&["--resume", "1"]);
    story.check(0, outcomes);
    assert_eq!(story.attempts(), attempts, "what was left is begun again");
    scene.check_nobody_is_left();
    scene.check_no_worktree_is_left();
}

#[test]
fn agents_that_run_are_stopped_and_their_tasks_begin_again() {
    let scene = Scene::of("1, 2, 3 1", "retries = 0", &patient());
    let mut gate = Gate::at(&scene);
    let host = Host::new(run_batch, |_, _| {});
    let running = hosted(&host, &scene);
    assert_eq!(gate.wait_for(2), "1 2");
    leave(&host, &scene, &running);
    let store = format!("--git-dir={}", scene.store().display());
    let kept = scene
        .repo
        .git(&[&store, "for-each-ref", "refs/pleach/keep/"]);
    assert_eq!(kept.lines().count(), 2, "their work is kept: {kept}");
    gate.let_go(3);
    // With `retries = 0`: leaving spends none.
    go_on(&scene, "1:merged 2:merged 3:merged", "1:2 2:2 3:1");
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-2 file-3");
}

#[test]
fn an_agent_that_does_not_listen_is_ended_all_the_same() {
    let shell = format!("trap '' TERM; {WAIT}; read again < BESIDE/gate; echo x > file");
    let scene = Scene::of("1", "retries = 0", &shell);
    let mut gate = Gate::at(&scene);
    let host = Host::new(run_batch, |_, _| {});
    let running = hosted(&host, &scene);
    gate.wait_for(1);
    leave(&host, &scene, &running);
    gate.let_go(2);
    go_on(&scene, "1:merged", "1:2");
}

#[test]
fn a_task_that_rests_goes_on_resting_elsewhere() {
    let shell =
        "if test -e BESIDE/failed; then echo x > file; else touch BESIDE/failed; exit 1; fi";
    let scene = Scene::of("1", "retries = 1\nretry_pause = \"3s\"", shell);
    let (say, told) = std::sync::mpsc::channel();
    let host = Host::new(run_batch, move |_, told| {
        let _ = say.send(format!("{told:?}"));
    });
    let running = hosted(&host, &scene);
    while !told.recv_timeout(SOON).unwrap().contains("AttemptFailed") {}
    leave(&host, &scene, &running);
    go_on(&scene, "1:merged", "1:2");
}

#[test]
fn tests_that_run_are_stopped_and_run_again() {
    let validate = "echo tests > BESIDE/arrived; read go < BESIDE/gate";
    let settings = format!("validate = \"{validate}\"");
    let scene = Scene::of("1, 2", &settings, "echo x > file-$PLEACH_TASK");
    let mut gate = Gate::at(&scene);
    let host = Host::new(run_batch, |_, _| {});
    let running = hosted(&host, &scene);
    assert_eq!(gate.wait_for(1), "tests");
    leave(&host, &scene, &running);
    gate.let_go(1);
    go_on(&scene, "1:merged 2:merged", "1:1 2:1");
}

#[test]
fn a_push_that_hangs_is_stopped_and_made_again() {
    let settings = "land = \"push\"";
    let scene = Scene::of("1", settings, "echo x > file-$PLEACH_TASK");
    let remote = scene.repo.beside("remote.git");
    let there = remote.to_str().unwrap();
    scene.repo.git(&["add", "--all"]);
    scene.repo.commit("everything");
    scene.repo.git(&["clone", "--bare", ".", there]);
    scene.repo.git(&["remote", "add", "origin", there]);
    let mut gate = Gate::at(&scene);
    let hook = remote.join("hooks/pre-receive");
    let beside = scene.repo.beside("");
    let text = format!("#!/bin/sh\n{WAIT}\n").replace("BESIDE", beside.to_str().unwrap());
    std::fs::write(&hook, text).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, executable).unwrap();
    let host = Host::new(run_batch, |_, _| {});
    let running = hosted(&host, &scene);
    gate.wait_for(1);
    leave(&host, &scene, &running);
    let pushed = || scene.repo.git(&["ls-remote", there, "refs/heads/pleach/*"]);
    assert_eq!(pushed(), "");
    gate.let_go(1);
    go_on(&scene, "1:merged", "1:1");
    assert!(pushed().ends_with("refs/heads/pleach/batch-1"));
}

#[test]
fn a_queue_that_waits_for_a_person_is_left_at_once() {
    let scene = Scene::of("1, 2", "mode = \"queue\"", "echo x > file-$PLEACH_TASK");
    let (say, told) = std::sync::mpsc::channel();
    let host = Host::new(run_batch, move |_, told| {
        let _ = say.send(format!("{told:?}"));
    });
    let running = hosted(&host, &scene);
    while !told.recv_timeout(SOON).unwrap().contains("Waiting") {}
    leave(&host, &scene, &running);
    let mut resumed = scene.start(&["--resume", "1"]);
    resumed.wait_for("batch:");
    let approved = crate::pleach(scene.repo.path(), &scene.home(), &["approve", "1"]);
    approved.good();
    resumed.story().check(0, "1:merged 2:merged");
}

#[test]
fn a_place_that_is_left_begins_nothing_new() {
    let scene = Scene::of("1", "", "echo x > file");
    let host = Host::new(run_batch, |_, _| {});
    host.leave();
    assert!(matches!(
        host.run(prepared(&scene)),
        Err(HostError::Leaving)
    ));
    assert!(host.is_idle());
}

#[test]
fn a_batch_is_taken_up_in_the_same_place_and_ends_there() {
    let scene = Scene::of("1", "retries = 0", &patient());
    let mut gate = Gate::at(&scene);
    let host = Host::new(run_batch, |_, _| {});
    let running = hosted(&host, &scene);
    gate.wait_for(1);
    leave(&host, &scene, &running);
    gate.let_go(1);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_pleach"));
    let again = take_up(&state(&scene), 1, program, None).unwrap().unwrap();
    let running = Host::new(run_batch, |_, _| {}).run(again).unwrap();
    assert_eq!(number(&running), 1);
    let ended = running.wait(SOON).unwrap();
    assert!(ended.unwrap().status.is_over());
}

#[test]
fn a_request_that_is_repeated_makes_no_second_batch() {
    let scene = Scene::of("1", "", "echo x > file");
    let repeated = || Provenance {
        key: RequestKey::new("once", "the same"),
        ..Provenance::default()
    };
    let host = Host::new(run_batch, |_, _| {});
    let first = host.run(prepared(&scene).made_for(repeated())).unwrap();
    assert_eq!(number(&first), 1);
    first.wait(SOON).unwrap().unwrap();
    let second = host.run(prepared(&scene).made_for(repeated())).unwrap();
    let Some(Begun::Never(Some(refused))) = second.begun(SOON) else {
        panic!("it has begun");
    };
    let why = &refused.into_vec()[0].message;
    assert_eq!(why, "this request already created batch 1");
    let database = Database::open(&state(&scene)).unwrap();
    assert!(database.load(2).unwrap().is_none());
    let batches = std::fs::read_dir(scene.state().join("batches")).unwrap();
    assert_eq!(batches.count(), 1, "nothing is left of the second");
}

#[test]
fn consent_is_to_exactly_what_was_shown() {
    let scene = Scene::of("1", "", "echo x > file");
    let mut shown = prepared(&scene);
    assert!(!shown.unconsented().unwrap().is_empty());
    let fingerprint = shown.fingerprint().unwrap();
    assert!(!shown.consent_to("another").unwrap());
    scene.configure("setup = \"true\"\nplan = \"plan.json\"", "echo x > file");
    let mut changed = prepared(&scene);
    assert!(!changed.consent_to(&fingerprint).unwrap());
    assert!(!changed.unconsented().unwrap().is_empty());
    assert!(shown.consent_to(&fingerprint).unwrap());
    assert!(shown.unconsented().unwrap().is_empty());
}
