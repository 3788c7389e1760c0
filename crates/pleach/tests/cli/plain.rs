//! Folders that are no git repository: tasks run in them one by one, and nothing else is done to them.

mod crashed;
mod kept;
mod refused;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::scene::{Gate, Running, Scene, WAIT};
use crate::{Answer, command, pleach};

/// A folder with a plan and an agent of shell, and no repository.
fn plain(settings: &str, plan: &str, shell: &str) -> Scene {
    let scene = Scene::with(settings, plan, shell);
    fs::remove_dir_all(scene.repo.path().join(".git")).unwrap();
    scene
}

const THREE: &str = "### 1. A\n**Status**: [NOT STARTED]\n\n### 2. B\n**Status**: [NOT STARTED]\n\n### 3. C\n**Status**: [NOT STARTED]\n";

const WRITE: &str = "echo \"$PLEACH_TASK\" > file-$PLEACH_TASK; echo $PLEACH_TASK >> BESIDE/order";

/// What is in a folder: names, modes, links and contents.
fn listing(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let what = if meta.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else if meta.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else {
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
            };
            let mode = meta.permissions().mode();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            found.insert(name, format!("{mode:o} {what}"));
        }
    }
    found
}

fn write(scene: &Scene, name: &str, text: &str) {
    let path = scene.repo.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn ask(scene: &Scene, words: &[&str]) -> Answer {
    pleach(scene.repo.path(), &scene.home(), words)
}

#[test]
fn three_tasks_run_in_the_folder_one_after_the_other() {
    let scene = plain("retries = 0", THREE, WRITE);
    let story = scene.story(&["--mode", "serial"]);
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(story.status(), "completed");
    assert_eq!(story.summary()["batchBranch"], serde_json::Value::Null);
    assert_eq!(scene.trace("order"), "1 2 3");
    for task in ["1", "2", "3"] {
        let text = fs::read_to_string(scene.repo.path().join(format!("file-{task}")));
        assert_eq!(text.unwrap(), format!("{task}\n"));
    }
    assert_eq!(scene.plan(), THREE.replace("NOT STARTED", "COMPLETED"));
}

#[test]
fn nothing_but_the_work_and_the_marks_of_the_plan_is_in_the_folder_afterwards() {
    let scene = plain("retries = 0", THREE, WRITE);
    write(&scene, "src/deep/a.txt", "kept\n");
    write(&scene, "crlf.txt", "a\r\nb\r\n");
    write(&scene, ".gitattributes", "* text=auto\n*.bin filter=lfs\n");
    write(&scene, "big.bin", "content in the place of a pointer\n");
    fs::set_permissions(
        scene.repo.path().join("crlf.txt"),
        fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    let mut expected = listing(scene.repo.path());
    scene
        .story(&["--mode", "serial"])
        .check(0, "1:merged 2:merged 3:merged");
    for task in ["1", "2", "3"] {
        expected.insert(format!("file-{task}").into(), format!("100644 {task}\n"));
    }
    let marked = THREE.replace("NOT STARTED", "COMPLETED");
    expected.insert("TODO.md".into(), format!("100644 {marked}"));
    assert_eq!(listing(scene.repo.path()), expected);
    scene.check_nobody_is_left();
}

#[test]
fn a_queue_waits_for_approval_between_tasks() {
    let scene = plain("retries = 0", THREE, WRITE);
    let mut run = scene.start(&["--mode", "queue"]);
    for task in ["2", "3"] {
        run.wait_for("batch:task:waiting");
        assert!(!scene.repo.path().join(format!("file-{task}")).exists());
        ask(&scene, &["approve", "1"]).good();
    }
    run.story().check(0, "1:merged 2:merged 3:merged");
    assert_eq!(scene.trace("order"), "1 2 3");
}

#[test]
fn a_mode_in_the_configuration_is_asking_for_it_too() {
    let settings = "retries = 0\nmode = \"queue\"\nqueue_auto_approve = true";
    let scene = plain(settings, "- [ ] A\n", WRITE);
    scene.story(&[]).check(0, "1:merged");
}

#[test]
fn agents_and_setup_stand_in_the_folder_and_setup_runs_once() {
    let shell = "echo \"$PWD $PLEACH_WORKTREE\" >> BESIDE/stood; echo x > f$PLEACH_TASK";
    let settings = "retries = 0\nsetup = \"echo ready >> ready\"";
    let scene = plain(settings, "- [ ] A\n- [ ] B\n- [ ] C\n", shell);
    scene
        .story(&["--mode", "serial"])
        .check(0, "1:merged 2:merged 3:merged");
    let folder = scene.repo.path().display().to_string();
    assert_eq!(scene.trace("stood"), vec![folder; 6].join(" "));
    let ready = fs::read_to_string(scene.repo.path().join("ready"));
    assert_eq!(ready.unwrap(), "ready\n");
}

#[test]
fn a_task_that_changes_nothing_says_so() {
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", "true");
    let story = scene.story(&["--mode", "serial"]);
    story.check(0, "1:no_changes 2:no_changes");
}

#[test]
fn what_a_failing_task_changed_stays_and_is_its_own() {
    let shell = "echo $PLEACH_TASK > f$PLEACH_TASK; test $PLEACH_TASK != 1";
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", shell);
    let story = scene.story(&["--mode", "serial"]);
    story.check(1, "1:failed 2:merged");
    assert!(scene.repo.path().join("f1").exists());
    let of = |task| ask(&scene, &["diff", "1", task]).good();
    assert!(of("1").contains("+++ b/f1") && !of("1").contains("f2"));
    assert!(of("2").contains("+++ b/f2") && !of("2").contains("f1"));
    let told = ask(&scene, &["diff", "1"]).good();
    assert!(told.contains("f1") && told.contains("f2"), "{told}");
}

#[test]
fn a_retry_goes_on_from_what_is_there_and_the_work_of_both_attempts_is_the_task_s() {
    let shell = "if test -e half; then echo more > rest; else echo half > half; exit 1; fi";
    let scene = plain("retries = 1\nretry_pause = \"1ms\"", "- [ ] A\n", shell);
    let story = scene.story(&["--mode", "serial"]);
    story.check(0, "1:merged");
    assert_eq!(story.attempts(), "1:2");
    assert_eq!(
        story.summary()["tasks"][0]["files"],
        serde_json::json!(["half", "rest"])
    );
}

#[test]
fn a_person_can_have_a_task_tried_again_after_others() {
    let shell = "echo $PLEACH_TASK$PLEACH_ATTEMPT > f$PLEACH_TASK$PLEACH_ATTEMPT; test $PLEACH_TASK$PLEACH_ATTEMPT != 11";
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", shell);
    scene
        .story(&["--mode", "serial"])
        .check(1, "1:failed 2:merged");
    ask(&scene, &["retry", "1", "1"]).good();
    assert_eq!(scene.plan(), "- [x] A\n- [x] B\n");
    let told = ask(&scene, &["diff", "1", "1"]).good();
    assert!(told.contains("f12") && !told.contains("f2"), "{told}");
}

#[test]
fn what_a_person_changes_between_two_tasks_is_in_neither_diff() {
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", WRITE);
    let mut run = scene.start(&["--mode", "queue"]);
    run.wait_for("batch:task:waiting");
    write(&scene, "mine.txt", "mine\n");
    ask(&scene, &["approve", "1"]).good();
    run.story().check(0, "1:merged 2:merged");
    for task in ["1", "2"] {
        let told = ask(&scene, &["diff", "1", task]).good();
        assert!(!told.contains("mine.txt"), "{told}");
    }
}

#[test]
fn a_task_that_is_cancelled_stops_and_the_queue_goes_on() {
    let shell = format!("echo half > half-$PLEACH_TASK; {WAIT}; echo done > done-$PLEACH_TASK");
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "serial"]);
    assert_eq!(gate.wait_for(1), "1");
    ask(&scene, &["cancel", "1", "1"]).good();
    assert_eq!(gate.wait_for(1), "2");
    gate.let_go(1);
    run.story().check(1, "1:cancelled 2:merged");
    assert!(scene.repo.path().join("half-1").exists());
    assert!(!scene.repo.path().join("done-1").exists());
    let told = ask(&scene, &["diff", "1", "1"]).good();
    assert!(told.contains("half-1") && !told.contains("-2"), "{told}");
}

#[test]
fn ctrl_c_stops_the_batch_and_leaves_what_is_there() {
    let shell = format!("echo half > half; {WAIT}");
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "serial"]);
    gate.wait_for(1);
    run.signal(Signal::INT);
    assert_eq!(run.answer().code, 130);
    assert!(scene.repo.path().join("half").exists());
    scene.check_nobody_is_left();
}

#[test]
fn tests_run_in_the_folder_after_the_last_task() {
    let settings =
        "retries = 0\nvalidate = \"test -e file-1 && test -e file-2 && pwd >> BESIDE/tested\"";
    let scene = plain(settings, "- [ ] A\n- [ ] B\n", WRITE);
    let story = scene.story(&["--mode", "serial"]);
    story.check(0, "1:merged 2:merged");
    assert_eq!(story.summary()["validation"]["verdict"], "proved");
    assert_eq!(
        scene.trace("tested"),
        scene.repo.path().display().to_string()
    );
    assert_eq!(scene.plan(), "- [x] A\n- [x] B\n");
}

#[test]
fn red_tests_fail_the_batch_and_undo_nothing() {
    let settings = "retries = 0\nvalidate = \"echo ran >> BESIDE/tested; test ! -e file-1\"";
    let scene = plain(settings, "- [ ] A\n- [ ] B\n", WRITE);
    let story = scene.story(&["--mode", "serial"]);
    assert_eq!((story.code, story.status()), (1, "failed"));
    let reason = story.summary()["validation"]["reason"].to_string();
    assert!(reason.contains("nothing is undone"), "{reason}");
    // Red counts once it was repeated, and no base is tried.
    assert_eq!(scene.trace("tested"), "ran ran");
    assert!(scene.repo.path().join("file-1").exists());
    assert_eq!(scene.plan(), "- [ ] A\n- [ ] B\n");
}

#[test]
fn the_folder_stays_whatever_the_settings_say_about_worktrees() {
    let settings = "retries = 0\nkeep_failed = false";
    let scene = plain(
        settings,
        "- [ ] A\n- [ ] B\n",
        "echo x > x$PLEACH_TASK; exit $((PLEACH_TASK - 1))",
    );
    scene
        .story(&["--mode", "serial"])
        .check(1, "1:merged 2:failed");
    for file in ["x1", "x2", "TODO.md"] {
        assert!(scene.repo.path().join(file).exists(), "{file}");
    }
}

#[test]
fn what_steers_agents_needs_consent_when_a_task_changed_it() {
    let shell = "echo $PLEACH_TASK >> BESIDE/ran; test $PLEACH_TASK = 2 || echo x >> AGENTS.md";
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", shell);
    let mut run = scene.start(&["--mode", "serial"]);
    run.wait_for("batch:task:waiting");
    assert_eq!(scene.trace("ran"), "1");
    let approved = ask(&scene, &["approve", "1"]).good();
    assert!(approved.contains("to AGENTS.md"), "{approved}");
    run.story().check(0, "1:merged 2:no_changes");
    assert_eq!(
        fs::read_to_string(scene.repo.path().join("AGENTS.md")).unwrap(),
        "x\n"
    );
}

#[test]
fn the_folder_is_never_handed_on_as_a_spare_one() {
    let settings = "retries = 0\ncache = [\"many\"]";
    let scene = plain(
        settings,
        THREE,
        "ls -di . >> BESIDE/where; echo x > x$PLEACH_TASK",
    );
    for number in 0..220 {
        write(&scene, &format!("many/{number}"), "x\n");
    }
    write(&scene, "empty/.keep", "");
    fs::remove_file(scene.repo.path().join("empty/.keep")).unwrap();
    scene
        .story(&["--mode", "serial"])
        .check(0, "1:merged 2:merged 3:merged");
    let seen = scene.trace("where");
    let (first, rest) = seen.split_once(" . ").unwrap();
    assert_eq!(seen, format!("{first} . {first} . {first} ."), "{rest}");
    for path in ["many/219", "empty", "x1", "x3", "TODO.md"] {
        assert!(scene.repo.path().join(path).exists(), "{path}");
    }
}

#[test]
fn an_agent_that_was_limited_goes_on_in_the_folder() {
    let shell = "if mkdir BESIDE/limit 2> /dev/null; then echo half > half; \
        echo 'usage limit reached, retry after 10ms'; exit 75; fi; \
        echo \"$PLEACH_CONTINUES$(cat half)\" >> BESIDE/found; echo x > x$PLEACH_TASK";
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", shell);
    let story = scene.story(&["--mode", "serial"]);
    story.check(0, "1:merged 2:merged");
    assert_eq!(scene.trace("found"), "1half half");
    assert_eq!(
        story.summary()["tasks"][0]["files"],
        serde_json::json!(["half", "x1"])
    );
}

#[test]
fn a_dry_run_says_what_would_be_done_and_makes_nothing() {
    let scene = plain("retries = 0", THREE, WRITE);
    write(&scene, "deep/AGENTS.md", "");
    let before = listing(scene.repo.path());
    let told = scene.run(&["--mode", "queue", "--dry-run"]).good();
    let folder = scene.repo.path().display().to_string();
    for part in [
        "not a git repository",
        "the folder as it is",
        &format!("1, in {folder}"),
        "needed for agents.shell.command, sandbox_write, deep/AGENTS.md, pleach.toml",
        "nothing was done",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("pleach/batch"), "{told}");
    let told = scene
        .run(&["--mode", "queue", "--dry-run", "--json"])
        .json();
    assert_eq!(told["folder"], folder);
    assert_eq!(told["base"], serde_json::Value::Null);
    assert_eq!(told["tasks"][0]["branch"], serde_json::Value::Null);
    assert_eq!(told["landing"]["kind"], "none");
    assert_eq!(listing(scene.repo.path()), before);
    assert!(!scene.state().exists());
}

#[test]
fn a_run_in_the_background_takes_the_folder_over() {
    let shell = format!("echo x > x; {WAIT}");
    let scene = plain("retries = 0", "- [ ] A\n", &shell);
    let mut gate = Gate::at(&scene);
    let told = scene.run(&["--mode", "queue", "--detach"]).good();
    assert!(
        told.contains("batch 1 is running in the background"),
        "{told}"
    );
    gate.wait_for(1);
    let watch = ["status", "1", "--watch"];
    let watch = Running::start(&mut command(scene.repo.path(), &scene.home(), &watch));
    gate.let_go(1);
    assert_eq!(watch.answer().code, 0);
    assert_eq!(scene.plan(), "- [x] A\n");
}

#[test]
fn several_folders_run_at_once() {
    let one = plain("retries = 0", "- [ ] A\n", WAIT);
    let mut gate = Gate::at(&one);
    let run = one.start(&["--mode", "queue"]);
    gate.wait_for(1);
    let other = one.repo.beside("other");
    fs::create_dir(&other).unwrap();
    fs::copy(one.repo.path().join("TODO.md"), other.join("TODO.md")).unwrap();
    fs::write(
        other.join("pleach.toml"),
        "[agents.a]\ncommand = [\"touch\", \"made\"]\n",
    )
    .unwrap();
    pleach(&other, &one.home(), &["run", "--yes", "--mode", "queue"]).good();
    assert!(other.join("made").exists());
    gate.let_go(1);
    run.story().check(0, "1:no_changes");
}
