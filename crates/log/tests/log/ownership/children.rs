//! Owners and askers in processes of their own, some of them killed.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pleach_log::ownership::{AskError, BatchLock, Door, Request, ask, is_owned};

use super::{Folder, LONG, Owner, done};

const ROLE: &str = "PLEACH_TEST_ROLE";
const FOLDER: &str = "PLEACH_TEST_FOLDER";

/// This program once more, playing `role`; by a path that needs no right to enter the build folder.
fn child(role: &str, folder: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .args([
            "--exact",
            "ownership::children::the_role_of_a_child",
            "--nocapture",
        ])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdout(Stdio::piped());
    command
}

#[test]
fn the_role_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    match role.as_str() {
        "owner" => own(&folder),
        "stranger" => {
            let error = ask(&folder, &Request::Approve).unwrap_err();
            assert!(matches!(error, AskError::Broken { .. }), "{error}");
        }
        _ => panic!("{role}"),
    }
}

/// Tells when it has the batch and what it hears; answers approvals and nothing else.
fn own(folder: &Path) {
    let owner = Owner::of(folder);
    let tell = |text: &str| std::io::stdout().write_all(text.as_bytes()).unwrap();
    tell("\nowned\n");
    let mut kept = Vec::new();
    loop {
        match owner.inbox.recv_timeout(LONG).unwrap() {
            (Request::Approve, reply) => reply.send(done("approved")),
            heard => {
                kept.push(heard);
                tell("heard\n");
            }
        }
    }
}

struct Spawned {
    child: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

impl Spawned {
    fn owner(folder: &Folder) -> Self {
        let mut child = child("owner", &folder.path).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let lines = Box::new(lines.map(Result::unwrap));
        let mut spawned = Self { child, lines };
        spawned.wait_for("owned");
        spawned
    }

    #[track_caller]
    fn wait_for(&mut self, word: &str) {
        assert!(self.lines.any(|line| line == word), "{word}");
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn another_process_owns_until_it_is_killed() {
    let folder = Folder::new();
    for _ in 0..5 {
        let mut owner = Spawned::owner(&folder);
        assert!(is_owned(&folder.path).unwrap());
        assert!(BatchLock::take(&folder.path).unwrap().is_none());
        assert_eq!(
            ask(&folder.path, &Request::Approve).unwrap(),
            done("approved")
        );
        owner.kill();
        assert!(folder.socket().exists(), "a killed owner cleans nothing up");
        assert!(!is_owned(&folder.path).unwrap());
        let error = ask(&folder.path, &Request::Approve).unwrap_err();
        assert!(matches!(error, AskError::NobodyThere(_)), "{error}");
    }
    let owner = Owner::of(&folder.path);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&folder.path, &Request::Approve).unwrap());
        owner.next().1.send(done("approved here"));
        assert_eq!(asked.join().unwrap(), done("approved here"));
    });
}

#[test]
fn an_owner_that_dies_before_it_answers_breaks_the_request() {
    let folder = Folder::new();
    let mut owner = Spawned::owner(&folder);
    std::thread::scope(|scope| {
        let retry = Request::Retry { tasks: Vec::new() };
        let path = &folder.path;
        let asked = scope.spawn(move || ask(path, &retry));
        owner.wait_for("heard");
        owner.kill();
        let error = asked.join().unwrap().unwrap_err();
        assert!(matches!(error, AskError::Broken { .. }), "{error}");
    });
}

#[test]
fn a_lock_is_not_inherited_by_what_the_owner_starts() {
    let folder = Folder::new();
    let owner = Owner::of(&folder.path);
    let mut started = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    drop(owner);
    let is_free = !is_owned(&folder.path).unwrap();
    drop(started.stdin.take());
    started.wait().unwrap();
    assert!(is_free);
}

/// Only root can play somebody else; everybody else is kept out by the mode alone, which another test sees.
#[test]
fn another_user_is_not_heard_even_where_the_folder_is_open() {
    let folder = Folder::new();
    let lock = folder.lock();
    let door = Door::open(&lock, |_, reply| reply.send(done("heard")), |_| ());
    let _door = door.unwrap();
    if fs::metadata(&folder.path).unwrap().uid() != 0 {
        return;
    }
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    for outer in folder.path.ancestors().take(3) {
        mode(outer, 0o755);
    }
    mode(&folder.socket(), 0o666);
    mode(&folder.path.join("lock"), 0o644);
    let mut stranger = child("stranger", &folder.path);
    let output = stranger.uid(65534).gid(65534).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
}

/// A child that an owner was starting when it was killed has the lock until it becomes its program.
#[test]
fn a_lock_that_outlives_its_owner_for_a_moment_is_waited_for() {
    let folder = Folder::new();
    let path = folder.path.join("lock");
    // No process has that number.
    std::fs::write(&path, "2147483647 1\n").unwrap();
    let moment = std::time::Duration::from_millis(100);
    for look in [true, false] {
        let child = std::fs::File::open(&path).unwrap();
        child.lock().unwrap();
        let ends = std::thread::spawn(move || {
            std::thread::sleep(moment);
            drop(child);
        });
        if look {
            assert!(!is_owned(&folder.path).unwrap());
        } else {
            assert!(BatchLock::take(&folder.path).unwrap().is_some());
        }
        ends.join().unwrap();
    }
}
