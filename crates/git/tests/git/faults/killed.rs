//! Processes that are killed between any two steps of a life, and at any other moment.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use pleach_git::git::{Git, Store};
use pleach_git::worktree::{Worktree, finish_removals, sweep};
use pleach_testkit::{Fingerprint, TestRepo, gate_or_night, processes_of};
use rustix::process::{Pid, Signal, kill_process_group};

use super::life::{Life, plain_git, steps};

/// Stands between Pleach and git: counts calls, and kills whoever made a certain one.
///
/// Like git, it may write to no file that the call does not name, and gets no variable of ours; it notes numbers as the
/// dates of files, and what it is to do stands in its first line.
const WRAPPER: &str = r#"
number=$(($(stat -c %Y "$FAULT_COUNT") + 1))
touch -c -d @$number "$FAULT_COUNT"
touch -c -d @$$ "$FAULT_COUNT.pid"
if [ "$number" = "$FAULT_AT" ] && [ "$FAULT_WHEN" = before ]; then
    kill -9 $PPID
    exit 1
fi
"$FAULT_GIT" "$@"
code=$?
if [ "$number" = "$FAULT_AT" ]; then
    kill -9 $PPID
fi
exit $code
"#;

/// Half of the time of a life is waiting.
const AT_ONCE: usize = 4;

/// A project, and a git that kills.
struct Scene {
    repo: TestRepo,
    before: Fingerprint,
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::with_branches();
        let before = repo.fingerprint();
        Self { repo, before }
    }

    /// A life with a store of its own, so that making the store is part of it.
    fn life(&self, name: &str) -> Life {
        Life::new(&self.repo, &format!("stores-{name}"), name)
    }

    /// A process that is killed at a call of git; at call 0, never.
    fn process(&self, life: &Life, at: usize, when: &str) -> (Command, PathBuf) {
        let count = self.repo.beside(&format!("count-{}", life.name));
        for note in [&count, &count.with_added_extension("pid")] {
            let note = fs::File::create(note).unwrap();
            note.set_modified(UNIX_EPOCH).unwrap();
        }
        let wrapper = self.repo.beside(&format!("git-that-kills-{}", life.name));
        let (noted_at, git) = (count.display(), plain_git());
        let orders = format!(
            "#!/bin/sh\nFAULT_COUNT='{noted_at}' FAULT_AT={at} FAULT_WHEN={when} FAULT_GIT='{}'",
            git.display()
        );
        fs::write(&wrapper, format!("{orders}{WRAPPER}")).unwrap();
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        (life.process(&wrapper), count)
    }

    /// How many calls of git a life makes, and how long it takes.
    fn measure(&self) -> (usize, Duration) {
        let life = self.life("measured");
        let (mut command, count) = self.process(&life, 0, "never");
        let began = Instant::now();
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let calls = usize::try_from(noted(&count)).unwrap();
        (calls, began.elapsed())
    }

    /// Checks that nothing is lost or broken after a life was killed, and that the next one works.
    fn check_after(&self, life: &Life, killed: &Output) {
        let steps = steps(&killed.stdout);
        let told = format!("{} was killed after {steps:?}", life.name);
        self.check_repositories(life, &told);
        self.check_work(life, &steps, &told);
        let store = life.open(Git::find().unwrap());
        if let Some(left) = Worktree::existing(&store, &life.spec(&store)).unwrap() {
            left.retire(&store, &format!("left/{}", life.name)).unwrap();
        }
        // The next life writes the same, and would hide what was lost.
        self.check_work(life, &steps, &told);
        let (tip, published) = life.live(Git::find().unwrap(), &|_| ());
        life.check(&self.repo, &tip, &published);
        self.check_work(life, &steps, &told);
        assert_eq!(self.repo.fingerprint(), self.before, "{told}");
        check_nothing_is_left(life, &store, &told);
    }

    fn check_repositories(&self, life: &Life, told: &str) {
        let mut folders = vec![self.repo.path().to_owned()];
        folders.extend(store_of(life));
        for folder in folders {
            let fsck = ["fsck", "--full", "--strict", "--no-dangling"];
            if !self.repo.git_succeeds(&folder, &fsck) {
                // A git that outlived its process may have written behind its back; what is broken stays so.
                wait_for_gits(life);
            }
            let said = self.repo.git_in(&folder, &fsck);
            assert_eq!(said, "", "{told}: {}", folder.display());
        }
    }

    /// Checks that what a life told of is in the store, or still in its folder or git folder.
    fn check_work(&self, life: &Life, steps: &[String], told: &str) {
        let store = store_of(life);
        for step in steps {
            let words: Vec<&str> = step.split(' ').collect();
            match words[..] {
                ["commit", commit] => {
                    let store = store.as_ref().unwrap();
                    let agents = fs::read_dir(store.with_file_name("agents"));
                    let agents = agents.into_iter().flatten().flatten();
                    // What goes there may be gone the next moment.
                    let agents =
                        agents.filter(|entry| entry.file_name().as_encoded_bytes()[0] != b'.');
                    let mut folders = [store.clone()]
                        .into_iter()
                        .chain(agents.map(|entry| entry.path()));
                    let is_there = folders.any(|folder| {
                        let list = ["rev-list", "--all", "--quiet", commit];
                        self.repo.git_succeeds(&folder, &list)
                    });
                    assert!(is_there, "{told}: {commit} is lost");
                }
                ["published", commit, branch] => {
                    let at = self.repo.git(&["rev-parse", branch]);
                    assert_eq!(at, commit, "{told}");
                }
                ["wrote"] => {
                    let folder = life.stores.join("worktrees").join(&life.name);
                    let there = fs::read_to_string(folder.join("loose.txt"));
                    let is_kept = || self.is_kept(store.as_ref().unwrap(), &life.name);
                    assert!(
                        there.is_ok_and(|text| text == life.name) || is_kept(),
                        "{told}"
                    );
                }
                _ => {}
            }
        }
    }

    fn is_kept(&self, store: &Path, text: &str) -> bool {
        let list = ["for-each-ref", "--format=%(refname)", "refs/pleach/keep"];
        let refs = self.repo.git_in(store, &list);
        refs.lines().any(|name| {
            let file = format!("{name}:loose.txt");
            self.repo.git_succeeds(store, &["cat-file", "-e", &file])
                && self.repo.git_in(store, &["show", &file]) == text
        })
    }

    /// Kills a life at a call of git.
    fn kill_at(&self, at: usize, when: &str) {
        let life = self.life(&format!("{when}-{at}"));
        let killed = self.process(&life, at, when).0.output().unwrap();
        assert_eq!(killed.status.signal(), Some(9), "{at}: {killed:?}");
        self.check_after(&life, &killed);
    }

    /// Kills a life after a time, and sometimes the git that runs for it as well.
    fn kill_after(&self, time: Duration, number: usize) -> bool {
        let life = self.life(&format!("random-{number}"));
        let (mut command, count) = self.process(&life, 0, "never");
        let moment = Instant::now() + time;
        let mut child = command.spawn().unwrap();
        thread::sleep(moment.saturating_duration_since(Instant::now()));
        child.kill().unwrap();
        if number.is_multiple_of(2) {
            kill_git(&count);
        }
        let killed = child.wait_with_output().unwrap();
        self.check_after(&life, &killed);
        killed.status.signal() == Some(9)
    }
}

/// Waits until nothing works for a life any more.
fn wait_for_gits(life: &Life) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !processes_of(&life.stores).is_empty() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
}

fn noted(file: &Path) -> u64 {
    let date = file.metadata().unwrap().modified().unwrap();
    date.duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Kills the git that was called last, if it still runs, and whatever it started.
fn kill_git(count: &Path) {
    let pid = noted(&count.with_added_extension("pid"));
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    let command = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
    if String::from_utf8_lossy(&command).contains("git-that-kills") {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Does something for each number, several at a time, each with a project of its own.
fn for_each(numbers: &[usize], act: impl Fn(&Scene, usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let scene = Scene::new();
                let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::SeqCst))
                    .map_while(|place| numbers.get(place));
                numbers.for_each(|number| act(&scene, *number));
            });
        }
    });
}

/// Every other call does for the gate: what is after one is before the next, so that before and after
/// together still are at all of them.
fn kill_at_every_call(when: &str) {
    let (calls, _) = Scene::new().measure();
    assert!(calls > 20, "only {calls} calls of git");
    let calls: Vec<usize> = (1..=calls).step_by(gate_or_night(2, 1)).collect();
    for_each(&calls, |scene, at| scene.kill_at(at, when));
}

/// The git folder of the store of a life, if it got that far.
fn store_of(life: &Life) -> Option<PathBuf> {
    let entries = fs::read_dir(&life.stores).into_iter().flatten();
    let mut folders = entries.map(|entry| entry.unwrap().path().join("store.git"));
    folders.find(|folder| folder.exists())
}

fn check_nothing_is_left(life: &Life, store: &Store, told: &str) {
    sweep(store).unwrap();
    finish_removals();
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    };
    for folder in [
        "trash",
        "trees",
        "index",
        "store.git/worktrees",
        "store.git/wt-stage",
    ] {
        assert_eq!(
            names(&store.home().join(folder)),
            [""; 0],
            "{told}: {folder}"
        );
    }
    assert_eq!(names(&life.stores.join("worktrees")), [""; 0], "{told}");
    let is_waste = |name: &String| {
        let is_building = Path::new(name)
            .extension()
            .is_some_and(|ending| ending == "new");
        is_building || name.starts_with("scratch-") || name.starts_with('.')
    };
    let mut waste = names(store.home());
    waste.retain(is_waste);
    assert_eq!(waste, [""; 0], "{told}");
}

#[test]
fn a_process_can_be_killed_before_any_call_of_git() {
    kill_at_every_call("before");
}

#[test]
fn a_process_can_be_killed_after_any_call_of_git() {
    kill_at_every_call("after");
}

#[test]
fn a_process_can_be_killed_at_any_moment_and_its_git_as_well() {
    let (_, time) = Scene::new().measure();
    let interrupted = AtomicUsize::new(0);
    let kills = gate_or_night(10, 40);
    let all: Vec<usize> = (1..=kills).collect();
    for_each(&all, |scene, number| {
        let part = u32::try_from(number).unwrap();
        let time = time * part / u32::try_from(kills).unwrap();
        if scene.kill_after(time, number) {
            interrupted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let interrupted = interrupted.into_inner();
    assert!(
        interrupted > kills / 4,
        "only {interrupted} were interrupted"
    );
}
