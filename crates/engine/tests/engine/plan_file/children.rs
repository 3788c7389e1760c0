//! Rewrites in another process: as an ordinary user, and killed at any moment.

use std::convert::Infallible;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pleach_engine::plan_file::{PlanFile, PlanFileError, RewriteError};

use super::{Folder, random, tick};

const ROLE: &str = "PLEACH_TEST_ROLE";
const PLAN: &str = "PLEACH_TEST_PLAN";

/// Permissions mean nothing to root, so root checks them as another user.
#[test]
fn permissions_are_respected() {
    let (folder, plan) = Folder::with_plan("- [ ] a\n");
    let secret = plan.with_file_name("SECRET.md");
    fs::write(&secret, "- [ ] b\n").unwrap();
    fs::set_permissions(&plan, Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(folder.0.path(), Permissions::from_mode(0o555)).unwrap();
    let mut child = child("ordinary user", folder.0.path());
    if fs::metadata(&plan).unwrap().uid() == 0 {
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert_eq!(fs::read_to_string(&plan).unwrap(), "- [ ] a\n");
    folder.check_names(&["SECRET.md", "TODO.md"]);
    fs::set_permissions(folder.0.path(), Permissions::from_mode(0o755)).unwrap();
}

fn meet_permissions(folder: &Path) {
    let secret = PlanFile::load(&folder.join("SECRET.md")).unwrap_err();
    assert!(matches!(secret, PlanFileError::Denied { .. }), "{secret}");
    let started = Instant::now();
    let error = PlanFile::rewrite(&folder.join("TODO.md"), tick).unwrap_err();
    assert!(
        matches!(
            error,
            RewriteError::File(PlanFileError::FolderReadOnly { .. })
        ),
        "{error}"
    );
    assert!(
        started.elapsed() < Duration::from_millis(300),
        "it was tried again"
    );
}

const KILLS: usize = 50;
const LINES: usize = 1000;

fn version(number: usize) -> String {
    format!("line of version {number}\n").repeat(LINES)
}

fn version_of(text: &str) -> usize {
    let first = text.lines().next().unwrap();
    let number = first
        .strip_prefix("line of version ")
        .unwrap()
        .parse()
        .unwrap();
    assert!(text == version(number), "a torn version {number}");
    number
}

#[test]
fn a_killed_rewrite_leaves_one_complete_version() {
    let (_folder, plan) = Folder::with_plan(version(0));
    let mut seed = 0x1ce;
    for _ in 0..KILLS {
        let before = version_of(&fs::read_to_string(&plan).unwrap());
        let mut writer = child("writer", &plan)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let written = BufReader::new(writer.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let mut written = written.filter(|line| line.contains("written"));
        written.by_ref().nth(random(&mut seed) % 8).unwrap();
        let moment = Instant::now() + Duration::from_micros(random(&mut seed) as u64 % 3000);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        assert!(version_of(&fs::read_to_string(&plan).unwrap()) > before);
    }
    assert_eq!(PlanFile::leftovers(&plan), Vec::<PathBuf>::new());
}

fn rewrite_until_killed(plan: &Path) {
    loop {
        let next = |text: &str| Ok::<_, Infallible>(Some(version(version_of(text) + 1)));
        drop(PlanFile::rewrite(plan, next).unwrap());
        std::io::stdout().write_all(b"written\n").unwrap();
    }
}

/// This program once more, playing `role`; by a path that needs no right to enter the build folder.
fn child(role: &str, path: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command
        .args([
            "--exact",
            "plan_file::children::the_role_of_a_child",
            "--nocapture",
        ])
        .env(ROLE, role)
        .env(PLAN, path);
    command
}

#[test]
fn the_role_of_a_child() {
    let path = std::env::var_os(PLAN)
        .map(PathBuf::from)
        .unwrap_or_default();
    match std::env::var(ROLE).as_deref() {
        Ok("writer") => rewrite_until_killed(&path),
        Ok("ordinary user") => meet_permissions(&path),
        _ => {}
    }
}
