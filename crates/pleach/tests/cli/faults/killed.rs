//! `pleach weave`, killed before and after each of its calls of git.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pleach_testkit::TestRepo;

use super::{STORY, WEAVE, check_objects};
use crate::{Answer, command};

/// Is found as `git`: counts calls, and kills whoever made a certain one.
///
/// Like git, it may write to no file that the call does not name, and gets no variable of ours; it notes the number as
/// the date of a file, and what it is to do stands in its first line.
const WRAPPER: &str = r#"
number=$(($(stat -c %Y "$FAULT_COUNT") + 1))
touch -c -d @$number "$FAULT_COUNT"
if [ "$number" = "$FAULT_AT" ] && [ "$FAULT_WHEN" = before ]; then
    kill -9 $PPID
    exit 1
fi
PATH=$FAULT_PATH git "$@"
code=$?
if [ "$number" = "$FAULT_AT" ]; then
    kill -9 $PPID
fi
exit $code
"#;

/// Spread over the time that weaving takes.
const MOMENTS: u32 = 20;

/// More calls than weaving makes.
const MOST_CALLS: usize = 60;

struct Scene {
    repo: TestRepo,
    temporary: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::with_branches();
        let folder = repo.beside("wrapper");
        fs::create_dir(&folder).unwrap();
        let temporary = repo.beside("temporary");
        fs::create_dir(&temporary).unwrap();
        Self { repo, temporary }
    }

    fn weave(&self) -> Command {
        let mut weave = command(self.repo.path(), &self.repo.beside("home"), &WEAVE);
        weave.env("TMPDIR", &self.temporary);
        weave
    }

    /// Weaves until a call of git; says whether it was killed there.
    fn is_killed_at(&self, at: usize, when: &str) -> bool {
        let count = self.repo.beside("count");
        let note = fs::File::create(&count).unwrap();
        note.set_modified(UNIX_EPOCH).unwrap();
        let path = std::env::var("PATH").unwrap();
        let wrapper = self.repo.beside("wrapper");
        let git = wrapper.join("git");
        let noted_at = count.display();
        let orders = format!(
            "#!/bin/sh\nFAULT_COUNT='{noted_at}' FAULT_AT={at} FAULT_WHEN={when} FAULT_PATH='{path}'"
        );
        fs::write(&git, format!("{orders}{WRAPPER}")).unwrap();
        fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        let output = self
            .weave()
            .env("PATH", format!("{}:{path}", wrapper.display()))
            .output()
            .unwrap();
        output.status.signal() == Some(9)
    }

    #[track_caller]
    fn check_branch(&self) {
        assert_eq!(self.repo.git(&["show", "hedge:story.txt"]), STORY);
        let commits = self.repo.git(&["rev-list", "--count", "main..hedge"]);
        assert_eq!(commits, "4", "two branches and their merges");
    }

    /// Makes everything in the temporary folder old.
    fn let_time_pass(&self) {
        let earlier = SystemTime::now() - Duration::from_hours(1);
        for entry in fs::read_dir(&self.temporary).unwrap() {
            // The git of a killed process may keep it young.
            let folder = fs::File::open(entry.unwrap().path()).unwrap();
            folder.set_modified(earlier).unwrap();
        }
    }

    /// The git of a killed process may go on for a moment, and write to a folder that is swept.
    #[track_caller]
    fn check_nothing_is_left(&self) {
        let is_empty = || fs::read_dir(&self.temporary).unwrap().count() == 0;
        let is_swept = |_| {
            is_empty() || {
                self.let_time_pass();
                self.weave().output().unwrap();
                is_empty()
            }
        };
        assert!((0..20).any(is_swept), "something is left");
    }

    fn has_branch(&self) -> bool {
        let verify = ["rev-parse", "--verify", "--quiet", "refs/heads/hedge"];
        self.repo.git_succeeds(self.repo.path(), &verify)
    }
}

#[test]
fn a_killed_weaving_leaves_the_whole_branch_or_none_and_can_be_repeated() {
    let scene = Scene::new();
    let before = scene.repo.fingerprint();
    let mut found = [false, false];
    for when in ["before", "after"] {
        let mut at = 1;
        while scene.is_killed_at(at, when) {
            let told = format!("{when} call {at}");
            check_objects(&scene.repo, scene.repo.path());
            found[usize::from(scene.has_branch())] = true;
            if scene.has_branch() {
                scene.check_branch();
            } else {
                assert_eq!(scene.repo.fingerprint(), before, "{told}");
            }
            let again = Answer::from(scene.weave().output().unwrap());
            assert_eq!(again.code, 1, "{told}: {}{}", again.out, again.err);
            scene.check_branch();
            let left = fs::read_dir(&scene.temporary).unwrap();
            assert_eq!(left.count(), 0, "{told}: something is left");
            scene.repo.git(&["branch", "--quiet", "-D", "hedge"]);
            assert_eq!(scene.repo.fingerprint(), before, "{told}");
            at += 1;
            assert!(at < MOST_CALLS, "it is killed for ever");
        }
        assert!(at > 5, "only {at} calls of git");
        scene.check_branch();
        scene.repo.git(&["branch", "--quiet", "-D", "hedge"]);
    }
    assert_eq!(found, [true, true], "both were seen");
}

#[test]
fn a_weaving_can_be_killed_at_any_moment() {
    let scene = Scene::new();
    let before = scene.repo.fingerprint();
    let began = Instant::now();
    assert_eq!(scene.weave().output().unwrap().status.code(), Some(1));
    let time = began.elapsed();
    for moment in 1..=MOMENTS {
        scene.repo.git(&["branch", "--quiet", "-D", "hedge"]);
        let until = Instant::now() + time * moment / MOMENTS;
        let mut child = scene.weave().stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        child.kill().unwrap();
        child.wait().unwrap();
        if scene.has_branch() {
            scene.check_branch();
        }
        scene.let_time_pass();
        // A git that goes on for the killed one may put the branch meanwhile.
        let again = Answer::from(scene.weave().output().unwrap());
        assert_eq!(again.code, 1, "{moment}: {}{}", again.out, again.err);
        scene.check_branch();
        check_objects(&scene.repo, scene.repo.path());
        scene.check_nothing_is_left();
    }
    scene.repo.git(&["branch", "--quiet", "-D", "hedge"]);
    assert_eq!(scene.repo.fingerprint(), before);
}

#[test]
fn a_folder_that_was_killed_before_it_was_marked_is_swept_when_it_is_old() {
    let scene = Scene::new();
    let folder = scene.temporary.join("pleach-weave-unmarked");
    fs::create_dir(&folder).unwrap();
    scene.weave().output().unwrap();
    assert!(folder.exists(), "somebody may be about to mark it");
    scene.let_time_pass();
    scene.weave().output().unwrap();
    assert!(!folder.exists());
}
