//! Surroundings that are not fit: told with an exit code and a hint before anything starts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pleach_testkit::TestRepo;

use crate::ordinary_user::OrdinaryUser;
use crate::scene::Scene;
use crate::{Answer, command, pleach};

fn run_with_path(scene: &Scene, path: &Path) -> Answer {
    let mut command = command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
    command.env("PATH", path).output().unwrap().into()
}

/// Checks what is told, and that nothing was started for it.
#[track_caller]
fn check(scene: &Scene, answer: Answer, code: i32, expected: &[&str]) {
    let error = answer.bad(code);
    for word in ["error: ", "hint: "].iter().chain(expected) {
        assert!(error.contains(word), "{word}: {error}");
    }
    check_nothing_was_done(scene);
}

#[track_caller]
fn check_nothing_was_done(scene: &Scene) {
    assert_eq!(scene.branches(), "");
    assert_eq!(scene.plan(), PLAN);
    assert!(!scene.state().join("batches/1").exists());
    assert!(!scene.repo.beside("ran").exists());
}

const PLAN: &str = "### 1. A\n**Status**: [NOT STARTED]\n";

fn scene() -> Scene {
    Scene::new(PLAN, "touch BESIDE/ran")
}

#[test]
fn no_git() {
    let scene = scene();
    let folder = scene.repo.beside("empty");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.join("sh")).unwrap();
    let answer = run_with_path(&scene, &folder);
    check(&scene, answer, 3, &["git", "install git"]);
}

#[test]
fn git_too_old() {
    let scene = scene();
    let folder = scene.repo.beside("old");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.join("sh")).unwrap();
    let git = folder.join("git");
    fs::write(&git, "#!/bin/sh\necho git version 2.25.1\n").unwrap();
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
    let answer = run_with_path(&scene, &folder);
    check(&scene, answer, 3, &["git 2.25.1 is too old", "or newer"]);
}

#[test]
fn no_agent() {
    let scene = scene();
    scene.repo.write("pleach.toml", "");
    check(&scene, scene.run(&[]), 3, &["no agent is configured"]);
    let ghost = "[agents.ghost]\ncommand = [\"ghost-agent\"]\n";
    scene.repo.write("pleach.toml", ghost);
    check(&scene, scene.run(&[]), 3, &["\"ghost-agent\" not found"]);
}

#[test]
fn the_program_of_an_agent_that_is_missing_or_not_executable() {
    let scene = scene();
    let program = scene.repo.beside("agent.sh");
    let config = format!(
        "[agents.mine]\ncommand = [{:?}]\n",
        program.to_str().unwrap()
    );
    scene.repo.write("pleach.toml", config);
    check(&scene, scene.run(&[]), 3, &["not found", "agent.sh"]);
    fs::write(&program, "#!/bin/sh\n").unwrap();
    check(&scene, scene.run(&[]), 3, &["not executable", "chmod +x"]);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    scene.run(&["--dry-run"]).good();
}

#[test]
fn an_agent_of_no_such_name_is_wrong_usage_and_the_others_are_named() {
    let scene = scene();
    let answer = scene.run(&["--agent", "nobody"]);
    check(&scene, answer, 2, &["unknown agent \"nobody\"", "shell"]);
}

#[test]
fn a_repository_that_can_not_be_written_is_found_before_anything_starts() {
    let scene = scene();
    let heads = scene.repo.path().join(".git/refs/heads");
    let user = OrdinaryUser::of(&scene);
    let close = |mode| fs::set_permissions(&heads, fs::Permissions::from_mode(mode)).unwrap();
    close(0o555);
    for words in [&["run", "--yes"][..], &["run", "--yes", "--dry-run"]] {
        let answer: Answer = user.command(words).output().unwrap().into();
        let error = answer.bad(3);
        assert!(
            error.contains("not writable") && error.contains("hint: "),
            "{error}"
        );
    }
    let doctor: Answer = user.command(&["doctor"]).output().unwrap().into();
    close(0o755);
    drop(user);
    check_nothing_was_done(&scene);
    assert_eq!(doctor.code, 3, "{}", doctor.out);
    assert!(doctor.out.contains("not writable"), "{}", doctor.out);
}

#[test]
fn an_unborn_repository() {
    let repo = TestRepo::empty();
    repo.write("TODO.md", PLAN);
    repo.write("pleach.toml", "[agents.a]\ncommand = [\"true\"]\n");
    let error = pleach(repo.path(), &repo.beside("home"), &["run", "--yes"]).bad(3);
    assert!(
        error.contains("no commit") && error.contains("hint: "),
        "{error}"
    );
}

#[test]
fn a_base_that_does_not_exist() {
    let scene = scene();
    let answer = scene.run(&["--base", "nowhere"]);
    check(&scene, answer, 2, &["nowhere"]);
}

#[test]
fn an_empty_selection() {
    let scene = scene();
    for words in [&["7"][..], &["phase:3"], &["67-65"], &["a-"], &[","]] {
        check(&scene, scene.run(words), 2, &[]);
    }
    scene.repo.write("TODO.md", "- [x] 1.1 A\n");
    let told = scene.run(&[]).bad(0);
    assert!(told.contains("the only task of the plan is done"), "{told}");
}

#[test]
fn programs_are_told_what_is_wrong_as_json() {
    let scene = scene();
    for (words, code, name) in [
        (&["--json", "--base", "nowhere"][..], 2, "base_not_found"),
        (&["--json", "--agent", "nobody"], 2, "unknown_agent"),
        (&["--json", "67-65"], 2, "bad_selection"),
    ] {
        let answer = scene.run(words);
        let error = answer.json()["error"].clone();
        assert_eq!((answer.code, error["code"].as_str()), (code, Some(name)));
        assert!(error["message"].is_string() && error["hint"].is_string());
        check_nothing_was_done(&scene);
    }
}

#[test]
fn no_consent() {
    let scene = scene();
    let answer = pleach(scene.repo.path(), &scene.home(), &["run"]);
    check(&scene, answer, 3, &["pass --yes"]);
}

#[test]
fn a_state_folder_that_can_not_be_written() {
    let scene = scene();
    fs::create_dir_all(scene.state().parent().unwrap()).unwrap();
    fs::write(scene.state(), "a file\n").unwrap();
    let error = scene.run(&[]).bad(3);
    assert!(
        error.contains(scene.state().to_str().unwrap()) && error.contains("PLEACH_HOME"),
        "{error}"
    );
    let mut homeless = command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
    let error = Answer::from(homeless.env_remove("HOME").output().unwrap()).bad(3);
    assert!(error.contains("set PLEACH_HOME"), "{error}");
    assert_eq!(scene.plan(), PLAN);
}

#[test]
fn a_database_of_a_newer_version() {
    let scene = scene();
    let database = scene.state().join("pleach.db");
    make_database(&scene);
    let mut bytes = fs::read(&database).unwrap();
    // Where SQLite keeps what `PRAGMA user_version` says.
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    fs::write(&database, bytes).unwrap();
    check(&scene, scene.run(&[]), 3, &["has version 9999"]);
}

#[test]
fn a_damaged_database() {
    let scene = scene();
    let database = scene.state().join("pleach.db");
    make_database(&scene);
    fs::write(
        &database,
        "this is no database, and never was one\n".repeat(200),
    )
    .unwrap();
    check(&scene, scene.run(&[]), 3, &["is damaged"]);
}

/// A run that is refused late leaves a database without a batch.
#[track_caller]
fn make_database(scene: &Scene) {
    pleach(scene.repo.path(), &scene.home(), &["run"]).bad(3);
    let database = scene.state().join("pleach.db");
    assert!(database.exists());
    for beside in ["pleach.db-wal", "pleach.db-shm"] {
        let _ = fs::remove_file(scene.state().join(beside));
    }
}
