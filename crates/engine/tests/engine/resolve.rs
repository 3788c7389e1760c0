//! A person resolves a conflict: laid out as git would, taken as it is, or left as it was.

mod cleared;
mod kinds;
mod scene;

use std::fs;
use std::path::PathBuf;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;
use pleach_engine::resolve::{LeftMarker, Resolution, ResolutionStart, ResolveError};
use pleach_engine::stored_batch::LookupError;
use pleach_git::weave::ConflictKind;

use scene::{Scene, of_task};

#[test]
fn a_conflict_is_laid_out_as_git_merge_would_leave_it() {
    let scene = Scene::of_one_line();
    let before = scene.repo.fingerprint();
    let started = scene.start();
    assert_eq!(started.path, scene.folder());
    assert_eq!(started.begun, ResolutionStart::Now);
    assert_eq!(started.files, [("a.txt".into(), ConflictKind::Content)]);
    assert_eq!(
        scene.read("a.txt"),
        "<<<<<<< pleach/batch-1\nours\n=======\ntheirs\n>>>>>>> pleach/task-1/2\n"
    );
    assert_eq!(
        scene.git(&["status", "--porcelain"]),
        "UU a.txt\nA  new.txt"
    );
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), scene.tip.as_str());
    assert_eq!(
        scene.git(&["rev-parse", "MERGE_HEAD"]),
        scene.repo.git(&["rev-parse", "theirs"])
    );
    for (stage, content) in [(1, "a"), (2, "ours"), (3, "theirs")] {
        assert_eq!(scene.git(&["show", &format!(":{stage}:a.txt")]), content);
    }
    assert!(scene.git(&["diff"]).contains("++<<<<<<< pleach/batch-1"));
    assert_eq!(
        scene.git(&["branch", "--show-current"]),
        "pleach/resolve-1/2"
    );
    assert_eq!(scene.repo.fingerprint(), before);
}

#[test]
fn starting_twice_finds_the_same_folder_as_it_was_left() {
    let scene = Scene::of_one_line();
    let first = scene.start();
    scene.write("a.txt", "half done\n");
    let second = scene.start();
    assert_eq!(second.begun, ResolutionStart::Before);
    assert_eq!((second.path, second.files), (first.path, first.files));
    assert_eq!(scene.read("a.txt"), "half done\n");
}

#[test]
fn an_edited_file_is_taken_whether_or_not_git_was_told() {
    type Way = fn(&Scene);
    let ways: [(&str, Way); 4] = [
        ("edited", |_| {}),
        ("staged", |scene| drop(scene.git(&["add", "a.txt"]))),
        ("committed", |scene| {
            drop(scene.git(&["commit", "--quiet", "--all", "--no-edit"]));
        }),
        ("continued", |scene| {
            scene.git(&["add", "a.txt"]);
            scene.git(&["-c", "core.editor=true", "merge", "--continue"]);
        }),
    ];
    for (way, tell) in ways {
        let scene = Scene::of_one_line();
        scene.start();
        scene.write("a.txt", "both\n");
        tell(&scene);
        let resolved = scene.resolution().finish().unwrap();
        assert_eq!(resolved.basis, scene.tip, "{way}");
        assert_eq!(resolved.files, ["a.txt", "new.txt"], "{way}");
        assert_eq!(scene.file_at(&resolved.commit, "a.txt").unwrap(), "both\n");
        assert_eq!(scene.file_at(&resolved.commit, "new.txt").unwrap(), "new\n");
        let commit = resolved.commit.as_str();
        assert_eq!(
            scene
                .look(&["log", "-1", "--format=%P %an%n%B", commit])
                .trim_end(),
            format!(
                "{} Tess Tester\nTask 2: do 2\n\nResolved by hand: a.txt",
                scene.tip
            ),
            "{way}"
        );
        let kept = scene.look(&["rev-parse", "refs/pleach/keep/batch-1/task-2/resolve"]);
        assert_eq!(kept, commit, "{way}");
    }
}

#[test]
fn what_a_person_adds_and_deletes_besides_is_part_of_it() {
    let scene = Scene::of_one_line();
    scene.start();
    scene.write("a.txt", "both\n");
    scene.write("extra.txt", "extra\n");
    fs::remove_file(scene.folder().join("b.txt")).unwrap();
    scene.write("PLAN.md", "- [x] 2\n");
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["a.txt", "b.txt", "extra.txt", "new.txt"]);
    assert_eq!(resolved.left_out, [PathBuf::from("PLAN.md")]);
}

#[test]
fn marks_that_are_left_are_named_by_their_lines() {
    let scene = Scene::of_one_line();
    scene.start();
    let mark = |line| LeftMarker {
        path: "a.txt".into(),
        line,
    };
    let untouched = scene.resolution().finish().unwrap_err();
    let told = untouched.to_string();
    assert_eq!(
        told,
        "unresolved conflict markers in a.txt:1, a.txt:3, a.txt:5"
    );
    scene.write("a.txt", "both\n=======\n");
    scene.git(&["add", "a.txt"]);
    match scene.resolution().finish().unwrap_err() {
        ResolveError::Unfinished {
            marks, undecided, ..
        } => assert_eq!((marks, undecided), (vec![mark(2)], vec![])),
        other => panic!("{other}"),
    }
    // The person goes on where the refusal came.
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), scene.tip.as_str());
    scene.write("a.txt", "both\n");
    scene.resolution().finish().unwrap();
}

#[test]
fn nothing_but_what_is_woven_is_no_resolution() {
    let scene = Scene::of_one_line();
    scene.start();
    scene.git(&["merge", "--abort"]);
    let error = scene.resolution().finish().unwrap_err();
    assert!(matches!(error, ResolveError::Nothing { .. }), "{error}");
    assert!(error.hint().unwrap().contains("--abort"));
}

#[test]
fn only_its_own_changes_come_of_a_task_whose_basis_was_left_out() {
    let scene = Scene::with_basis(
        |repo| repo.write("a.txt", "a\n"),
        |repo| repo.write("a.txt", "ours\n"),
        |repo| {
            repo.write("left.txt", "left out\n");
            repo.write("a.txt", "basis\n");
        },
        |repo| repo.write("a.txt", "theirs\n"),
    );
    scene.start();
    assert_eq!(scene.git(&["status", "--porcelain"]), "UU a.txt");
    assert_eq!(scene.git(&["show", ":1:a.txt"]), "basis");
    scene.write("a.txt", "both\n");
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["a.txt"]);
    assert_eq!(scene.file_at(&resolved.commit, "left.txt"), None);
}

#[test]
fn wrong_uses_say_what_is_so() {
    let scene = Scene::of_one_line();
    let find = |batch, task: &str| Resolution::find(&scene.state, batch, &TaskId::new(task));
    let no_batch = find(9, "2").unwrap_err();
    assert!(matches!(
        no_batch,
        ResolveError::Lookup(LookupError::NoBatch(9))
    ));
    let no_task = find(1, "9").unwrap_err();
    assert!(matches!(
        no_task,
        ResolveError::Lookup(LookupError::NoTask { .. })
    ));
    let merged = find(1, "1").unwrap().start().unwrap_err();
    assert_eq!(
        merged.to_string(),
        "task 1 of batch 1 has no conflict: it is merged"
    );
    for early in [
        scene.resolution().finish().unwrap_err(),
        scene.resolution().abort().unwrap_err(),
    ] {
        assert!(matches!(early, ResolveError::NotBegun { .. }), "{early}");
        assert!(early.hint().unwrap().contains("`pleach resolve 1 2`"));
    }
}

#[test]
fn another_conflict_of_the_same_task_is_not_mistaken_for_the_first() {
    let scene = Scene::of_one_line();
    scene.start();
    scene.write("a.txt", "both\n");
    let basis = Commit(scene.repo.git(&["rev-parse", "main"]));
    let commit = Commit(scene.repo.git(&["rev-parse", "theirs~0"]));
    let (files, with) = (vec!["a.txt".to_owned()], vec![TaskId::new("1")]);
    let mut again = vec![
        Event::Batch(BatchEvent::Reopened),
        of_task("2", TaskEvent::Retried),
        of_task("2", TaskEvent::Started { attempt: 2, basis }),
    ];
    scene.append(&again);
    let running = scene.resolution().finish().unwrap_err();
    assert_eq!(
        running.to_string(),
        "task 2 of batch 1 has no conflict: it is running"
    );
    assert!(running.hint().unwrap().contains("--abort"), "{running:?}");
    scene.repo.git(&["switch", "--quiet", "theirs"]);
    scene.repo.write("a.txt", "other\n");
    let other = Commit(scene.repo.commit("another attempt"));
    assert_ne!(other, commit);
    again = vec![
        of_task(
            "2",
            TaskEvent::Built {
                commit: other,
                files: files.clone(),
            },
        ),
        of_task("2", TaskEvent::Conflicted { files, with }),
    ];
    scene.append(&again);
    let outdated = scene.resolution().finish().unwrap_err();
    assert!(
        matches!(outdated, ResolveError::Outdated { .. }),
        "{outdated}"
    );
    assert!(matches!(
        scene.resolution().start(),
        Err(ResolveError::Outdated { .. })
    ));
    scene.resolution().abort().unwrap();
}
