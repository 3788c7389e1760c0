//! `pleach resolve`: a person resolves a conflict, or leaves it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::held::Held;
use crate::scene::Scene;
use crate::{Answer, command, pleach};

/// Tasks 1 and 2 write the same line; what needs them copies it.
const SHELL: &str = "case $PLEACH_TASK in 1|2|4) echo $PLEACH_TASK > shared;; esac; \
                     echo $PLEACH_TASK > own-$PLEACH_TASK; [ $PLEACH_TASK != 3 ] || cp shared seen";

/// A batch that is over: 1 is merged, 2 conflicts with it, and 3 needs 2.
struct Conflict {
    scene: Scene,
}

impl Conflict {
    fn new() -> Self {
        Self::with("", "1, 2, 3 1 2", "1:merged 2:conflicted 3:blocked")
    }

    #[track_caller]
    fn with(settings: &str, tasks: &str, outcomes: &str) -> Self {
        let scene = Scene::of(tasks, &format!("retries = 0\n{settings}"), SHELL);
        scene.repo.write("shared", "nobody\n");
        scene.repo.commit("a file that all write");
        scene.story(&["-j", "1"]).check(1, outcomes);
        Self { scene }
    }

    fn pleach(&self, words: &[&str]) -> Answer {
        pleach(self.scene.repo.path(), &self.scene.home(), words)
    }

    fn resolve(&self, words: &[&str]) -> Answer {
        let words: Vec<&str> = ["resolve", "1", "2"].iter().chain(words).copied().collect();
        self.pleach(&words)
    }

    /// Lays the conflict of a task out.
    #[track_caller]
    fn start(&self, task: &str) -> PathBuf {
        let answer = self.pleach(&["resolve", "1", task, "--json"]);
        assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
        answer.json()["path"].as_str().unwrap().into()
    }

    /// Where the tasks stand, as `1:merged 2:conflicted`.
    #[track_caller]
    fn states(&self) -> String {
        let answer = self.pleach(&["status", "1", "--json"]);
        let batch = answer.json()["batches"][0].clone();
        let tasks = batch["tasks"].as_array().unwrap().iter();
        let word = |task: &Value, name: &str| task[name].as_str().unwrap().to_owned();
        let words = tasks.map(|task| format!("{}:{}", word(task, "key"), word(task, "state")));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The refs of the user's repository and of the store, but for work that is kept.
    fn refs(&self) -> String {
        let stored = self
            .scene
            .repo
            .git_in(&self.scene.store(), &["for-each-ref"]);
        let stored = stored.lines().filter(|line| !line.contains("/keep/"));
        let stored: Vec<&str> = stored.collect();
        format!(
            "{}\n{}",
            self.scene.repo.git(&["for-each-ref"]),
            stored.join("\n")
        )
    }

    /// What `pleach worktrees` lists, by name and state.
    fn worktrees(&self) -> String {
        let answer = self.pleach(&["worktrees", "--json"]).json();
        let trees = answer["worktrees"].as_array().unwrap().iter();
        let trees = trees.map(|tree| format!("{}:{}", tree["id"], tree["state"]));
        trees.collect::<Vec<_>>().join(" ").replace('"', "")
    }
}

#[test]
fn what_a_person_made_is_woven_and_what_was_blocked_goes_on() {
    let conflict = Conflict::new();
    let started = conflict.resolve(&[]).good();
    let path = conflict.start("2");
    for part in [
        "Task 2 of batch 1: 1 file to resolve",
        path.to_str().unwrap(),
        "shared  both changed the same lines",
        "pleach resolve 1 2 --edit",
        "pleach resolve 1 2 --done",
        "pleach resolve 1 2 --abort",
    ] {
        assert!(started.contains(part), "{part}: {started}");
    }
    assert!(conflict.resolve(&[]).good().contains("already started"));
    assert!(conflict.worktrees().contains("batch-1/resolve-2:resolving"));
    fs::write(path.join("shared"), "1 and 2\n").unwrap();
    conflict.resolve(&["--done"]).good();
    assert_eq!(conflict.states(), "1:merged 2:merged 3:merged");
    let scene = &conflict.scene;
    assert_eq!(scene.show("pleach/batch-1", "shared"), "1 and 2");
    assert_eq!(scene.show("pleach/batch-1", "seen"), "1 and 2");
    assert_eq!(scene.show("pleach/batch-1", "own-2"), "2");
    assert_eq!(scene.branches(), "pleach/batch-1");
    scene.check_no_worktree_is_left();
    assert_eq!(conflict.worktrees(), "");
    let log = scene
        .repo
        .git(&["log", "--format=%s%n%b", "pleach/batch-1"]);
    assert!(
        log.contains("Task 2: T2\nResolved by hand: shared"),
        "{log}"
    );
    let again = conflict.resolve(&["--done"]).bad(2);
    assert!(again.contains("has no conflict: it is merged"), "{again}");
}

#[test]
fn leaving_it_out_leaves_everything_as_it_was() {
    let conflict = Conflict::new();
    let before = (conflict.refs(), conflict.worktrees(), conflict.states());
    let user = conflict.scene.repo.fingerprint();
    let path = conflict.start("2");
    fs::write(path.join("shared"), "half done\n").unwrap();
    let told = conflict.resolve(&["--abort"]).good();
    assert!(
        told.contains("task 2 remains left out; the files of its worktree are kept as"),
        "{told}"
    );
    assert!(!path.exists());
    let after = (conflict.refs(), conflict.worktrees(), conflict.states());
    assert_eq!(after, before);
    assert_eq!(conflict.scene.repo.fingerprint(), user);
    let kept = conflict.pleach(&["recover"]).good();
    assert!(kept.contains("batch 1  2  by hand"), "{kept}");
    conflict.pleach(&["recover", "1", "2"]).good();
    let agents = conflict.scene.show("pleach/recovered-1/2", "shared");
    assert_eq!(agents, "2", "what the agent left");
    let by_hand = ["recover", "1", "2", "--by-hand"];
    let told = conflict.pleach(&by_hand).good();
    assert!(told.contains("task 2, by hand"), "{told}");
    let mine = conflict.scene.show("pleach/recovered-1/2-2", "shared");
    assert_eq!(mine, "half done");
}

#[test]
fn marks_that_are_left_are_told_by_file_and_line() {
    let conflict = Conflict::new();
    let path = conflict.start("2");
    let told = conflict.resolve(&["--done"]).bad(1);
    assert!(
        told.contains("unresolved conflict markers in shared:1, shared:3, shared:5"),
        "{told}"
    );
    assert!(told.contains(path.to_str().unwrap()), "{told}");
    let answer = conflict.resolve(&["--done", "--json"]);
    assert_eq!(answer.json()["error"]["code"], "unresolved");
    assert_eq!(conflict.states(), "1:merged 2:conflicted 3:blocked");
}

#[test]
fn an_editor_is_given_the_files_and_waited_for() {
    let conflict = Conflict::new();
    let answer = conflict.scene.repo.beside("answer");
    fs::write(&answer, "edited\n").unwrap();
    let run = |editor: &str| -> Answer {
        let words = ["resolve", "1", "2", "--edit"];
        command(conflict.scene.repo.path(), &conflict.scene.home(), &words)
            .env("EDITOR", editor)
            .output()
            .unwrap()
            .into()
    };
    let nobody = conflict.resolve(&["--edit"]).bad(3);
    assert!(nobody.contains("set EDITOR"), "{nobody}");
    assert!(
        !conflict.worktrees().contains("resolve-2"),
        "nothing is laid out for nobody"
    );
    let broken = run("false").bad(3);
    assert!(broken.contains("edit the files in"), "{broken}");
    run(&format!("cp {}", answer.display())).good();
    conflict.resolve(&["--done"]).good();
    assert_eq!(conflict.scene.show("pleach/batch-1", "seen"), "edited");
}

#[test]
fn a_person_may_commit_there_and_branch() {
    let conflict = Conflict::new();
    let path = conflict.start("2");
    fs::write(path.join("shared"), "committed\n").unwrap();
    let repo = &conflict.scene.repo;
    repo.git_in(&path, &["add", "shared"]);
    repo.git_in(&path, &["-c", "core.editor=true", "merge", "--continue"]);
    repo.git_in(&path, &["branch", "another"]);
    conflict.resolve(&["--done"]).good();
    assert_eq!(conflict.scene.show("pleach/batch-1", "seen"), "committed");
}

#[test]
fn what_a_person_made_is_proved_like_everything_else() {
    let settings = "validate = \"! grep -q broken shared\"";
    let conflict = Conflict::with(settings, "1, 2, 3 1 2", "1:merged 2:conflicted 3:blocked");
    let path = conflict.start("2");
    fs::write(path.join("shared"), "broken\n").unwrap();
    let answer = conflict.resolve(&["--done"]);
    assert_eq!(answer.code, 1, "{}{}", answer.out, answer.err);
    assert_eq!(conflict.states(), "1:merged 2:invalid 3:blocked");
    assert_eq!(conflict.scene.show("pleach/batch-1", "shared"), "1");
}

#[test]
fn what_conflicts_with_another_resolution_is_resolved_once_more() {
    let conflict = Conflict::with("", "1, 2, 4", "1:merged 2:conflicted 4:conflicted");
    let (second, fourth) = (conflict.start("2"), conflict.start("4"));
    fs::write(second.join("shared"), "1 and 2\n").unwrap();
    fs::write(fourth.join("shared"), "1 and 4\n").unwrap();
    assert_eq!(conflict.resolve(&["--done"]).code, 1, "4 is still left out");
    let again = conflict.pleach(&["resolve", "1", "4", "--done"]);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
    assert_eq!(conflict.states(), "1:merged 2:merged 4:conflicted");
    let fourth = conflict.start("4");
    let text = fs::read_to_string(fourth.join("shared")).unwrap();
    assert!(
        text.contains("1 and 2") && text.contains("1 and 4"),
        "{text}"
    );
    fs::write(fourth.join("shared"), "all\n").unwrap();
    conflict.pleach(&["resolve", "1", "4", "--done"]).good();
    assert_eq!(conflict.scene.show("pleach/batch-1", "shared"), "all");
    assert_eq!(conflict.worktrees(), "");
    conflict.scene.check_no_worktree_is_left();
}

#[test]
fn a_process_that_dies_with_the_result_loses_nothing_of_it() {
    for step in ["FilesMovedAway", "BranchWoven", "WeavingStored"] {
        let conflict = Conflict::new();
        let path = conflict.start("2");
        fs::write(path.join("shared"), "1 and 2\n").unwrap();
        let words = ["resolve", "1", "2", "--done"];
        let died = command(conflict.scene.repo.path(), &conflict.scene.home(), &words)
            .env("PLEACH_DIE_AT", step)
            .output()
            .unwrap();
        assert_eq!(died.status.code(), None, "{step}");
        conflict.pleach(&["run", "--resume", "1", "--yes"]).good();
        assert_eq!(conflict.states(), "1:merged 2:merged 3:merged", "{step}");
        assert_eq!(conflict.scene.show("pleach/batch-1", "seen"), "1 and 2");
        conflict.scene.check_no_worktree_is_left();
        assert!(!conflict.refs().contains("pleach/resolve-"), "{step}");
    }
}

#[test]
fn wrong_uses_say_what_is_so_and_what_to_do() {
    let conflict = Conflict::new();
    let bad = |words: &[&str], parts: [&str; 2]| {
        let told = conflict.pleach(words).bad(2);
        for part in parts {
            assert!(told.contains(part), "{part}: {told}");
        }
    };
    bad(
        &["resolve", "9", "2"],
        ["batch 9 not found", "pleach status --all"],
    );
    bad(
        &["resolve", "1", "9"],
        ["task 9 not found in batch 1", "its tasks are 1, 2, 3"],
    );
    bad(
        &["resolve", "1", "1"],
        [
            "task 1 of batch 1 has no conflict: it is merged",
            "pleach status 1",
        ],
    );
    bad(&["resolve", "1", "3"], ["it is blocked", "pleach status 1"]);
    for flag in ["--done", "--abort"] {
        let nobody = [
            "task 2 of batch 1 is not being resolved",
            "`pleach resolve 1 2`",
        ];
        bad(&["resolve", "1", "2", flag], nobody);
    }
    conflict.start("2");
    conflict
        .scene
        .repo
        .git_in(&conflict.start("2"), &["merge", "--abort"]);
    let nothing = ["differs from what is already woven", "--abort"];
    bad(&["resolve", "1", "2", "--done"], nothing);
}

#[test]
fn a_running_batch_takes_the_result_and_goes_on() {
    let plan = "- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C (depends: 1.2)\n- [ ] 1.4 D\n";
    let held = Held::new(plan);
    let mut run = held.run(&["-j", "4", "--json"]);
    held.tell("1.1", "echo a > shared");
    run.line_with("batch:task:completed");
    held.tell("1.2", "echo b > shared");
    run.line_with("batch:task:skipped");
    let fourth = held.gate("1.4");
    let answer = held.pleach(&["resolve", "1", "1.2", "--json"]);
    let path = PathBuf::from(answer.json()["path"].as_str().unwrap());
    fs::write(path.join("shared"), "a and b\n").unwrap();
    let told = held.pleach(&["resolve", "1", "1.2", "--done"]).good();
    assert_eq!(told, "task 1.2 is merged\n");
    assert!(!path.exists());
    let third = held.gate("1.3");
    assert_eq!(
        held.states(1),
        "1.1:merged 1.2:merged 1.3:running 1.4:running"
    );
    let again = held.pleach(&["resolve", "1", "1.2"]).bad(2);
    assert!(again.contains("it is merged"), "{again}");
    drop((third, fourth));
    assert_eq!(run.end().code, 0);
    assert_eq!(held.scene.show("pleach/batch-1", "shared"), "a and b");
    assert_eq!(held.scene.plan(), plan.replace("[ ]", "[x]"));
    held.scene.check_no_worktree_is_left();
}

#[test]
fn a_batch_goes_on_in_the_background_with_the_result() {
    let conflict = Conflict::new();
    let path = conflict.start("2");
    fs::write(path.join("shared"), "1 and 2\n").unwrap();
    let told = conflict.resolve(&["--done", "--detach"]).good();
    assert!(
        told.contains("batch 1 is running in the background"),
        "{told}"
    );
    conflict.pleach(&["status", "1", "--watch"]).good();
    assert_eq!(conflict.states(), "1:merged 2:merged 3:merged");
    let kept = [
        "for-each-ref",
        "--format=%(refname)",
        "refs/pleach/keep/batch-1/task-2",
    ];
    let kept = conflict.scene.repo.git_in(&conflict.scene.store(), &kept);
    assert_eq!(
        kept.lines().filter(|name| name.contains("resolve")).count(),
        1,
        "{kept}"
    );
}
