//! Processes that are killed at any moment while they make and remove worktrees.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pleach_git::git::{Git, Store, ref_segment};
use pleach_git::worktree::{TreeState, Worktree, WorktreeSpec, finish_removals, list, sweep};
use pleach_testkit::{TestRepo, gate_or_night};

use super::{open, spec};

const PROJECT: &str = "PLEACH_TEST_PROJECT";

#[test]
fn whatever_instant_a_process_is_killed_at_the_next_one_works_and_no_work_is_lost() {
    let repo = project();
    let (store, basis) = open(&repo);
    let spec = spec(&repo, "1", &basis);
    let mut seed = 0x5eed;
    let mut half_way = 0;
    let kills = gate_or_night(8, 30);
    for round in 0..kills {
        let mut worker = child(&repo).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(worker.stdout.take().unwrap()).lines();
        let mut lines = lines
            .map(Result::unwrap)
            .filter(|line| line.starts_with("step "));
        let steps = random(&mut seed) % 6;
        let mut last = lines.by_ref().nth(usize::try_from(steps).unwrap()).unwrap();
        let moment = Instant::now() + Duration::from_micros(random(&mut seed) % 30_000);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        worker.kill().unwrap();
        worker.wait().unwrap();
        last = lines.last().unwrap_or(last);
        half_way += u64::from(!last.starts_with("step gone"));
        // What was written must be in the folder or kept.
        let found = Worktree::existing(&store, &spec).unwrap();
        let in_folder = fs::read_to_string(spec.path.join("work.txt")).unwrap_or_default();
        if let Some(worktree) = found {
            worktree.retire(&store, &format!("round-{round}")).unwrap();
        }
        if let Some(work) = last.strip_prefix("step wrote ") {
            assert!(in_folder == work || is_kept(&repo, &store, work), "{last}");
        }
        let fresh = Worktree::create(&store, &spec).unwrap();
        let status = repo.git_in(fresh.path(), &["status", "--porcelain"]);
        assert_eq!(status, "", "after {last}");
        fresh.retire(&store, "fresh").unwrap();
    }
    assert!(half_way > kills / 4, "hardly anything was interrupted");
    check_nothing_is_left(&repo, &store);
}

/// Git may still be at work for a killed process, so that it takes a moment.
#[track_caller]
fn check_nothing_is_left(repo: &TestRepo, store: &Store) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let left = || {
        sweep(store).unwrap();
        finish_removals();
        let mut names = super::leftovers(repo);
        for folder in [
            "trash",
            "trees",
            "index",
            "store.git/worktrees",
            "store.git/wt-stage",
        ] {
            let entries = fs::read_dir(store.home().join(folder))
                .into_iter()
                .flatten();
            names.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let home = fs::read_dir(store.home()).unwrap();
        let home = home.map(|entry| entry.unwrap().path());
        names.extend(home.filter(|path| path.display().to_string().contains("scratch-")));
        names
    };
    while !left().is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", left());
        std::thread::yield_now();
    }
    let signs = fs::read_dir(store.home().join("live")).unwrap();
    assert_eq!(signs.count(), 1, "only this process lives");
}

fn is_kept(repo: &TestRepo, store: &Store, work: &str) -> bool {
    let list = ["for-each-ref", "--format=%(refname)", "refs/pleach/keep"];
    let refs = repo.git_in(&store.git_dir(), &list);
    refs.lines().any(|name| {
        let file = format!("{name}:work.txt");
        repo.git_succeeds(&store.git_dir(), &["cat-file", "-e", &file])
            && repo.git_in(&store.git_dir(), &["show", &file]) == work
    })
}

fn project() -> TestRepo {
    let repo = TestRepo::new();
    for n in 0..150 {
        repo.write(format!("src/{n}.txt"), format!("{n}\n").repeat(200));
    }
    repo.commit("files");
    repo
}

fn child(repo: &TestRepo) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .args([
            "--exact",
            "worktree::killed::the_role_of_a_child",
            "--nocapture",
        ])
        .env(PROJECT, repo.path());
    command
}

#[test]
fn the_role_of_a_child() {
    if let Some(project) = std::env::var_os(PROJECT) {
        make_and_remove_until_killed(Path::new(&project));
    }
}

fn make_and_remove_until_killed(project: &Path) {
    let beside = project.parent().unwrap();
    let store = Store::open(Git::find().unwrap(), &beside.join("stores"), project).unwrap();
    let spec = WorktreeSpec {
        path: beside.join("worktrees/task-1"),
        branch: "pleach/task-1/1".into(),
        basis: store.resolve_base(None).unwrap(),
    };
    let tell = |what: &str| {
        let line = format!("\nstep {what}\n");
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    };
    for turn in 0.. {
        tell("making");
        let worktree = Worktree::create(&store, &spec).unwrap();
        let work = format!("{} {turn}", std::process::id());
        fs::write(worktree.path().join("work.txt"), &work).unwrap();
        tell(&format!("wrote {work}"));
        worktree.retire(&store, &format!("turn-{turn}")).unwrap();
        tell("gone");
    }
}

/// A small linear congruential generator.
fn random(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[test]
fn what_lives_and_what_may_hold_work_is_not_swept() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let spec = spec(&repo, "1", &basis);
    let worktree = Worktree::create(&store, &spec).unwrap();
    fs::write(worktree.path().join("work.txt"), "unkept").unwrap();
    let state = || list(&store).unwrap().remove(0).state;
    assert_eq!(state(), TreeState::InUse);
    // The process that made it is gone, and so is git's knowledge of it.
    let id = ref_segment(&spec.branch);
    let record = store.home().join("trees").join(&id);
    let text = String::from_utf8(fs::read(&record).unwrap()).unwrap();
    let sign = text.split('\0').nth(1).unwrap().to_owned();
    fs::write(&record, text.replace(&sign, "1-gone")).unwrap();
    fs::write(store.home().join("live/1-gone"), "").unwrap();
    fs::remove_dir_all(store.home().join("agents").join(id)).unwrap();
    assert_eq!(sweep(&store).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(state(), TreeState::Unregistered);
    assert_eq!(
        fs::read_to_string(spec.path.join("work.txt")).unwrap(),
        "unkept"
    );
    // Half made by somebody who lives: in the way, and left alone.
    fs::write(&record, text.replace("made\0", "making\0")).unwrap();
    assert_eq!(sweep(&store).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(state(), TreeState::HalfMade);
    Worktree::create(&store, &spec).unwrap_err();
    assert!(spec.path.join("work.txt").exists());
    // Half made by somebody who is dead: nobody ever worked there.
    let made_by_the_dead = text.replace("made\0", "making\0").replace(&sign, "2-gone");
    fs::write(&record, made_by_the_dead).unwrap();
    fs::write(store.home().join("live/2-gone"), "").unwrap();
    assert_eq!(sweep(&store).unwrap(), std::slice::from_ref(&spec.path));
    assert!(!spec.path.exists());
}
