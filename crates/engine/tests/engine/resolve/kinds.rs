//! Conflicts that are more than lines.

use std::fs;

use pleach_engine::resolve::ResolveError;
use pleach_git::weave::ConflictKind;
use pleach_testkit::TestRepo;

use super::scene::Scene;

fn lines(repo: &TestRepo, name: &str, first: &str) {
    let rest = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    repo.write(name, format!("{first}\n{rest}"));
}

fn delete(repo: &TestRepo, name: &str) {
    fs::remove_file(repo.path().join(name)).unwrap();
}

/// Task 1 deleted what task 2 changed.
fn modify_delete() -> Scene {
    Scene::new(
        |repo| {
            repo.write("a.txt", "a\n");
            repo.write("b.txt", "b\n");
        },
        |repo| delete(repo, "a.txt"),
        |repo| {
            repo.write("a.txt", "theirs\n");
            repo.write("b.txt", "B\n");
        },
    )
}

#[track_caller]
fn undecided(scene: &Scene) -> Vec<String> {
    match scene.resolution().finish().unwrap_err() {
        ResolveError::Unfinished {
            marks, undecided, ..
        } => {
            assert_eq!(marks, []);
            let files = undecided.iter().map(|file| file.display().to_string());
            files.collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_file_that_one_side_deleted_wants_a_decision() {
    let scene = modify_delete();
    let started = scene.start();
    assert_eq!(
        started.files,
        [("a.txt".into(), ConflictKind::ModifyDelete)]
    );
    assert_eq!(scene.git(&["status", "--porcelain"]), "DU a.txt\nM  b.txt");
    assert_eq!(undecided(&scene), ["a.txt"]);
    let error = scene.resolution().finish().unwrap_err();
    assert!(error.hint().unwrap().contains("`git rm a.txt`"));
    scene.git(&["add", "a.txt"]);
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["a.txt", "b.txt"]);
    assert_eq!(
        scene.file_at(&resolved.commit, "a.txt").unwrap(),
        "theirs\n"
    );
}

#[test]
fn deleting_or_changing_such_a_file_is_a_decision() {
    let scene = modify_delete();
    scene.start();
    delete_in(&scene, "a.txt");
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["b.txt"]);
    scene.write("a.txt", "changed\n");
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["a.txt", "b.txt"]);
}

fn delete_in(scene: &Scene, name: &str) {
    fs::remove_file(scene.folder().join(name)).unwrap();
}

#[test]
fn a_file_renamed_two_ways_is_there_under_both_names() {
    let scene = Scene::new(
        |repo| lines(repo, "a.txt", "0"),
        |repo| {
            delete(repo, "a.txt");
            lines(repo, "one.txt", "0");
        },
        |repo| {
            delete(repo, "a.txt");
            lines(repo, "two.txt", "zero");
        },
    );
    scene.start();
    assert_eq!(
        scene.git(&["status", "--porcelain"]),
        "DD a.txt\nAU one.txt\nUA two.txt"
    );
    delete_in(&scene, "one.txt");
    scene.git(&["add", "two.txt"]);
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["one.txt", "two.txt"]);
    let content = scene.file_at(&resolved.commit, "two.txt").unwrap();
    assert!(content.starts_with("zero\n"), "{content}");
}

#[test]
fn a_file_in_the_place_of_a_folder_is_beside_it() {
    let scene = Scene::new(
        |repo| repo.write("a.txt", "a\n"),
        |repo| repo.write("x/inner.txt", "inner\n"),
        |repo| repo.write("x", "a file\n"),
    );
    scene.start();
    assert_eq!(scene.read("x~pleach_task-1_2"), "a file\n");
    assert_eq!(undecided(&scene), ["x~pleach_task-1_2"]);
    let odd = scene.folder().join("x~pleach_task-1_2");
    fs::rename(odd, scene.folder().join("x.txt")).unwrap();
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["x.txt"]);
}

#[test]
fn lines_that_look_like_marks_and_were_there_before_are_none() {
    let text = "<<<<<<< left\n=======\n>>>>>>> right\n";
    let scene = Scene::new(
        |repo| repo.write("a.txt", format!("a\n{text}")),
        |repo| repo.write("a.txt", format!("ours\n{text}")),
        |repo| repo.write("a.txt", format!("theirs\n{text}")),
    );
    scene.start();
    let error = scene.resolution().finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unresolved conflict markers in a.txt:1, a.txt:5"
    );
    scene.write("a.txt", &format!("both\n{text}"));
    scene.resolution().finish().unwrap();
}

#[test]
fn a_file_without_lines_wants_a_decision() {
    let scene = Scene::new(
        |repo| repo.write("a.bin", b"\0a"),
        |repo| repo.write("a.bin", b"\0ours"),
        |repo| {
            repo.write("a.bin", b"\0theirs");
            repo.write("b.txt", "b\n");
        },
    );
    let started = scene.start();
    assert_eq!(started.files, [("a.bin".into(), ConflictKind::Binary)]);
    assert_eq!(undecided(&scene), ["a.bin"]);
    scene.git(&["checkout", "--quiet", "--theirs", "a.bin"]);
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["a.bin", "b.txt"]);
}

#[test]
fn what_merges_by_now_only_wants_to_be_taken() {
    let scene = Scene::new(
        |repo| repo.write("a.txt", "a\n"),
        |repo| repo.write("b.txt", "b\n"),
        |repo| repo.write("a.txt", "theirs\n"),
    );
    let started = scene.start();
    assert_eq!(started.files, []);
    assert_eq!(scene.git(&["status", "--porcelain"]), "M  a.txt");
    let resolved = scene.resolution().finish().unwrap();
    assert_eq!(resolved.files, ["a.txt"]);
}

#[test]
fn names_of_all_kinds_are_laid_out() {
    let name = " odd\t\"näme\".txt";
    let scene = Scene::new(
        |repo| repo.write(name, "a\n"),
        |repo| repo.write(name, "ours\n"),
        |repo| repo.write(name, "theirs\n"),
    );
    let started = scene.start();
    assert_eq!(started.files, [(name.into(), ConflictKind::Content)]);
    assert_eq!(
        scene.git(&["diff", "--name-only", "-z", "--diff-filter=U"]),
        format!("{name}\0")
    );
    scene.write(name, "both\n");
    assert_eq!(scene.resolution().finish().unwrap().files, [name]);
}
