//! Disks that are full, and folders that cannot be written to.
//!
//! A limit on the size of files stands in for a full disk: writing fails then as it does there, for
//! Pleach and for git, whoever runs the test.

use std::fs;
use std::process::Command;

use pleach_testkit::TestRepo;

use super::{STORY, WEAVE, check_objects};
use crate::run::Scene;
use crate::{Answer, command, pleach};

/// The sizes, in units of 512 bytes or more, at which files are full.
const ROOMS: [&str; 6] = ["0", "1", "2", "4", "8", "64"];

const RUN: [&str; 2] = ["run", "--yes"];

/// The program where files can grow to a certain size only.
fn with_room(repo: &TestRepo, room: &str, words: &[&str]) -> Answer {
    let limited = command(repo.path(), &repo.beside("home"), words);
    let shell = format!("ulimit -f {room}; trap '' XFSZ; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &shell])
        .arg(limited.get_program())
        .args(limited.get_args())
        .current_dir(repo.path())
        .env_clear();
    for (name, value) in limited.get_envs() {
        command.env(name, value.unwrap());
    }
    command.output().unwrap().into()
}

#[track_caller]
fn check_told(answer: &Answer, told: &str) {
    assert_eq!(answer.code, 3, "{told}: {}{}", answer.out, answer.err);
    for word in ["error: ", "hint: "] {
        assert!(answer.err.contains(word), "{told}: {}", answer.err);
    }
}

/// A repository with two branches whose merge is a file of many bytes.
fn long_story() -> TestRepo {
    let repo = TestRepo::with_branches();
    let noise = |n: u32| format!("{:x}\n", n.wrapping_mul(2_654_435_761));
    let noise: String = (0..4000).map(noise).collect();
    repo.write("long.txt", &noise);
    repo.commit("noise");
    for (branch, text) in [
        ("first", format!("first\n{noise}")),
        ("last", format!("{noise}last\n")),
    ] {
        repo.git(&["switch", "--quiet", "--create", branch, "main"]);
        repo.write("long.txt", text);
        repo.commit(branch);
    }
    repo.git(&["switch", "--quiet", "main"]);
    repo
}

#[test]
fn weaving_on_a_full_disk_changes_nothing_and_works_when_there_is_room() {
    let repo = long_story();
    let before = repo.fingerprint();
    let words = ["weave", "first", "last", "--onto", "main", "--as", "hedge"];
    let mut failures = 0;
    for room in ROOMS {
        let answer = with_room(&repo, room, &words);
        check_objects(&repo, repo.path());
        if answer.code == 0 {
            repo.git(&["branch", "--quiet", "-D", "hedge"]);
        } else {
            check_told(&answer, room);
            failures += 1;
        }
        assert_eq!(repo.fingerprint(), before, "{room}");
    }
    assert!(failures > 3, "only {failures} disks were full");
    with_room(&repo, "unlimited", &words).good();
    let woven = repo.git(&["show", "hedge:long.txt"]);
    assert!(woven.starts_with("first\n") && woven.ends_with("\nlast"));
}

#[test]
fn a_run_on_a_full_disk_loses_nothing_and_works_when_there_is_room() {
    let agent = "seq 1 20000 > file-$PLEACH_TASK";
    let scene = Scene::new("- [ ] 1.1 A\n- [ ] 1.2 B\n", agent);
    let (before, plan) = (scene.repo.fingerprint(), scene.plan());
    let mut failures = 0;
    for room in ROOMS {
        let answer = with_room(&scene.repo, room, &RUN);
        check_objects(&scene.repo, scene.repo.path());
        assert_ne!(answer.code, 0, "{room}: {}{}", answer.out, answer.err);
        if answer.code == 1 {
            // The agents found no room, which is their failure.
            assert!(answer.out.contains("1.1"), "{room}: {}", answer.out);
        } else {
            check_told(&answer, room);
            failures += 1;
        }
        assert_eq!(scene.plan(), plan, "{room}");
        assert_eq!(scene.repo.fingerprint(), before, "{room}");
    }
    assert!(failures > 0, "the program itself had room each time");
    with_room(&scene.repo, "unlimited", &RUN).good();
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [x] 1.2 B\n");
}

/// Runs as whoever: nobody can make a folder below a file.
#[test]
fn a_state_folder_that_cannot_be_written_to_is_told_before_anything_happens() {
    let scene = Scene::new("- [ ] 1.1 A\n", "echo x > file");
    let before = scene.repo.fingerprint();
    let file = scene.repo.beside("file");
    fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("below"), "/proc/pleach".into()] {
        let output = command(scene.repo.path(), &scene.home(), &RUN)
            .env("PLEACH_HOME", &place)
            .output();
        let told = place.display().to_string();
        let answer = Answer::from(output.unwrap());
        check_told(&answer, &told);
        assert!(answer.err.contains("PLEACH_HOME"), "{}", answer.err);
        assert_eq!(scene.repo.fingerprint(), before, "{told}");
    }
    assert!(!scene.home().join(".local").exists());
}

#[test]
fn a_temporary_folder_that_cannot_be_written_to_is_told_and_nothing_is_woven() {
    let repo = TestRepo::with_branches();
    let before = repo.fingerprint();
    let file = repo.beside("file");
    fs::write(&file, "").unwrap();
    for place in [repo.beside("missing"), file, "/proc".into()] {
        let output = command(repo.path(), &repo.beside("home"), &WEAVE)
            .env("TMPDIR", &place)
            .output();
        let answer = Answer::from(output.unwrap());
        let told = place.display().to_string();
        check_told(&answer, &told);
        assert!(answer.err.contains("TMPDIR"), "{}", answer.err);
        assert_eq!(repo.fingerprint(), before, "{told}");
    }
}

/// A file in the place of each folder that new objects go to, for those whom no mode keeps out.
#[test]
fn objects_that_cannot_be_written_are_told_and_no_branch_is_made() {
    let repo = TestRepo::with_branches();
    repo.git(&["repack", "-a", "-d", "-q"]);
    repo.git(&["prune-packed"]);
    let objects = repo.path().join(".git/objects");
    let before = repo.fingerprint();
    for number in 0..256 {
        let folder = objects.join(format!("{number:02x}"));
        fs::remove_dir(&folder).unwrap_or_default();
        fs::write(folder, "").unwrap();
    }
    let answer = pleach(repo.path(), &repo.beside("home"), &WEAVE);
    check_told(&answer, "objects");
    assert_eq!(repo.fingerprint(), before);
    for number in 0..256 {
        fs::remove_file(objects.join(format!("{number:02x}"))).unwrap();
    }
    let answer = pleach(repo.path(), &repo.beside("home"), &WEAVE);
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert_eq!(repo.git(&["show", "hedge:story.txt"]), STORY);
}

#[test]
fn a_store_that_git_cannot_write_to_is_told_with_a_hint() {
    let scene = Scene::new("- [ ] 1.1 A\n- [ ] 1.2 B\n", "echo x > file");
    scene.run(&["1.1"]).good();
    let stores = scene.home().join(".local/state/pleach/stores");
    let mut homes = fs::read_dir(stores).unwrap();
    // What stands at the top of a store is mended before git is asked to write.
    let logs = homes.next().unwrap().unwrap().path();
    let logs = logs.join("store.git/logs/refs");
    fs::remove_dir_all(&logs).unwrap();
    fs::write(&logs, "").unwrap();
    scene.repo.commit("news that the store has to fetch");
    let before = scene.repo.fingerprint();
    check_told(&scene.run(&["1.2"]), "logs");
    assert_eq!(scene.repo.fingerprint(), before);
    fs::remove_file(&logs).unwrap();
    fs::create_dir(&logs).unwrap();
    scene.run(&["1.2"]).good();
}
