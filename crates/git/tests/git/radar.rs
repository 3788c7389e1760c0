//! The radar: coming conflicts of tasks that are under way, seen without touching anything of theirs.

mod scene;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use scene::Scene;

#[test]
fn edits_of_the_same_lines_are_a_coming_conflict() {
    let scene = Scene::new(&["1", "2", "3"]);
    scene.write("1", "a.txt", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    scene.write("2", "a.txt", "Two\ntwo\nthree\nfour\nfive\nsix\nseven\n");
    scene.write("3", "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n");
    assert_eq!(scene.look(), "1-2 a.txt");
}

#[test]
fn whatever_way_work_is_there_it_counts() {
    let scene = Scene::new(&["loose", "staged", "committed", "both", "apart"]);
    scene.write("loose", "new/file.txt", "loose\n");
    scene.write("staged", "new/file.txt", "staged\n");
    scene.git("staged", &["add", "--all"]);
    scene.write("committed", "new/file.txt", "committed\n");
    scene.commit("committed");
    scene.write("both", "new/file.txt", "committed\n");
    scene.commit("both");
    scene.write("both", "new/file.txt", "and changed since\n");
    scene.write("apart", "new/other.txt", "apart\n");
    let pairs = [
        "loose-staged",
        "loose-committed",
        "loose-both",
        "staged-committed",
        "staged-both",
        "committed-both",
    ];
    let expected: Vec<String> = pairs
        .iter()
        .map(|pair| format!("{pair} new/file.txt"))
        .collect();
    assert_eq!(scene.look(), expected.join(", "));
}

#[test]
fn a_file_that_one_deletes_and_the_other_changes_is_a_coming_conflict() {
    let scene = Scene::new(&["1", "2"]);
    fs::remove_file(scene.path("1", "a.txt")).unwrap();
    scene.write("2", "a.txt", "changed\n");
    assert_eq!(scene.look(), "1-2 a.txt");
}

#[test]
fn a_renamed_folder_meets_what_is_new_in_it() {
    let scene = Scene::new(&["1", "2", "3"]);
    fs::rename(scene.path("1", "dir"), scene.path("1", "moved")).unwrap();
    scene.write("2", "dir/new.txt", "new\n");
    scene.write("3", "dir/b.txt", "b\nb2\nb3\nb4\nb5\nB6\n");
    assert_eq!(
        scene.look(),
        "1-2 moved/new.txt",
        "the edit follows the file"
    );
}

#[test]
fn a_file_in_the_place_of_a_folder_is_a_coming_conflict() {
    let scene = Scene::new(&["1", "2"]);
    scene.write("1", "thing", "a file\n");
    scene.write("2", "thing/in/it", "a folder\n");
    assert_eq!(scene.look(), "1-2 thing");
}

#[test]
fn what_is_ignored_or_left_out_is_no_conflict() {
    let scene = Scene::new(&["1", "2"]);
    for task in ["1", "2"] {
        scene.write(task, "noise.log", task);
        scene.write(task, "PLAN.md", task);
    }
    assert_eq!(scene.look(), "");
}

#[test]
fn a_pair_goes_when_one_of_them_thinks_better_of_it_and_comes_back() {
    let scene = Scene::new(&["1", "2"]);
    scene.write("1", "a.txt", "1\n");
    scene.write("2", "a.txt", "2\n");
    let mut radar = scene.radar();
    let first = scene.look_with(&mut radar);
    scene.git("2", &["checkout", "--", "a.txt"]);
    let second = scene.look_with(&mut radar);
    scene.write("2", "a.txt", "3\n");
    let third = scene.look_with(&mut radar);
    assert_eq!([&*first, &*second, &*third], ["1-2 a.txt", "", "1-2 a.txt"]);
}

#[test]
fn a_later_edit_is_seen_however_soon_it_comes() {
    let scene = Scene::new(&["1", "2"]);
    let mut radar = scene.radar();
    scene.write("1", "a.txt", "1\n");
    for round in 0..30 {
        // As long as before, and often in the same moment.
        let (text, expected) = if round % 2 == 0 {
            ("2\n", "1-2 a.txt")
        } else {
            ("1\n", "")
        };
        scene.write("2", "a.txt", text);
        assert_eq!(scene.look_with(&mut radar), expected, "round {round}");
    }
}

#[test]
fn a_file_in_a_new_folder_that_held_nothing_but_ignored_ones_is_seen() {
    let scene = Scene::new(&["1", "2"]);
    scene.write("1", "new/deep/noise.log", "ignored");
    scene.write("2", "new/deep/file.txt", "2\n");
    let mut radar = scene.radar();
    for _ in 0..3 {
        assert_eq!(scene.look_with(&mut radar), "");
        scene.settle();
    }
    scene.write("1", "new/deep/file.txt", "1\n");
    assert_eq!(scene.look_with(&mut radar), "1-2 new/deep/file.txt");
    fs::write(scene.path("1", ".gitignore"), "new\n").unwrap();
    assert_eq!(scene.look_with(&mut radar), "", "it is ignored now");
}

#[test]
fn what_did_not_change_is_neither_read_nor_merged_again() {
    let scene = Scene::new(&["1", "2", "3"]);
    for task in ["1", "2", "3"] {
        scene.write(task, "a.txt", task);
    }
    let mut radar = scene.radar();
    let first = scene.look_with(&mut radar);
    scene.settle();
    assert_eq!((radar.merged(), radar.read()), (3, 3));
    scene.look_with(&mut radar);
    let read = radar.read();
    for _ in 0..3 {
        assert_eq!(scene.look_with(&mut radar), first);
    }
    assert_eq!((radar.merged(), radar.read()), (3, read));
    scene.write("3", "other.txt", "more\n");
    assert_eq!(scene.look_with(&mut radar), first);
    assert_eq!(radar.merged(), 5, "only the pairs of the third");
    assert_eq!(radar.read(), read + 1);
}

#[test]
fn nothing_of_an_agents_is_touched_or_run() {
    let scene = Scene::new(&["1", "2"]);
    let canary = scene.arm("1");
    for task in ["1", "2"] {
        scene.write(task, "a.txt", task);
        scene.write(
            task,
            ".gitattributes",
            "* filter=evil diff=evil merge=evil\n",
        );
        scene.git_of_agent(task, &["add", "--all"]);
        // Whoever wanted to write the index would have to make this file.
        fs::write(scene.admin(task).join("index.lock"), "an agent's").unwrap();
    }
    scene.write("1", "closed.txt", "secret");
    let closed = scene.path("1", "closed.txt");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    fs::remove_file(&canary).expect("the trap is armed");
    let before = scene.prints();
    let mut radar = scene.radar();
    for _ in 0..3 {
        assert_eq!(scene.look_with(&mut radar), "1-2 a.txt");
        scene.settle();
    }
    assert_eq!(scene.prints(), before);
    assert!(!canary.exists(), "nothing of the agent's was run");
    let mode = closed.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0, "it stays closed");
}

#[test]
fn nothing_is_left_in_the_store() {
    let scene = Scene::new(&["1", "2"]);
    let before = scene.stored();
    scene.write("1", "a.txt", "only in a worktree, 1\n");
    scene.write("2", "a.txt", "only in a worktree, 2\n");
    assert_eq!(scene.look(), "1-2 a.txt");
    assert_eq!(scene.stored(), before);
}

#[test]
fn a_worktree_that_cannot_be_read_does_not_spoil_the_round() {
    let scene = Scene::new(&["1", "2", "3"]);
    for task in ["1", "2", "3"] {
        scene.write(task, "a.txt", task);
    }
    let mut radar = scene.radar();
    let all = scene.look_with(&mut radar);
    fs::remove_dir_all(scene.path("3", "")).unwrap();
    assert_eq!(scene.look_with(&mut radar), all, "it counts as it was");
    assert_eq!(scene.look(), "1-2 a.txt", "nobody knows what it was");
}

#[test]
fn a_task_that_is_under_way_meets_what_is_woven() {
    let mut scene = Scene::new(&["1", "2", "3", "4"]);
    scene.write("1", "a.txt", "1\n");
    scene.write("2", "other.txt", "2\n");
    scene.weave("1");
    scene.weave("2");
    scene.write("3", "a.txt", "3\n");
    scene.write("4", "other.txt", "4\n");
    scene.write("4", "a.txt", "4\n");
    assert_eq!(
        scene.look(),
        "1-3 a.txt, 1-4 a.txt, 2-4 other.txt, 3-4 a.txt"
    );
}

#[test]
fn what_a_task_started_from_is_no_conflict() {
    let mut scene = Scene::new(&["1", "2"]);
    scene.write("1", "a.txt", "1\n");
    scene.weave("1");
    scene.start_on_tip("3", &[]);
    scene.write("3", "a.txt", "3, who knows of 1\n");
    scene.write("2", "other.txt", "2\n");
    assert_eq!(scene.look(), "");
    scene.write("2", "a.txt", "2, who does not\n");
    assert_eq!(scene.look(), "1-2 a.txt");
}

#[test]
fn tasks_that_began_apart_are_compared_on_the_woven_result() {
    let mut scene = Scene::new(&["1", "2"]);
    scene.write("1", "b.txt", "1\n");
    scene.weave("1");
    scene.start_on_tip("3", &[]);
    scene.write("2", "a.txt", "2\n");
    scene.write("3", "a.txt", "3\n");
    assert_eq!(scene.look(), "2-3 a.txt");
    scene.write("3", "a.txt", "2\n");
    assert_eq!(scene.look(), "");
}

#[test]
fn tasks_of_which_one_waited_for_the_other_are_no_pair() {
    let mut scene = Scene::new(&["1", "2"]);
    scene.start_on_tip("3", &["1"]);
    for task in ["1", "2", "3"] {
        scene.write(task, "a.txt", task);
    }
    assert_eq!(scene.look(), "1-2 a.txt, 2-3 a.txt");
}

#[test]
fn work_that_is_done_and_not_woven_counts_as_it_is() {
    let mut scene = Scene::new(&["1", "2"]);
    scene.write("1", "a.txt", "1\n");
    scene.write("2", "a.txt", "2\n");
    scene.build("1");
    scene.write("1", "a.txt", "2\n");
    assert_eq!(scene.look(), "1-2 a.txt");
}
