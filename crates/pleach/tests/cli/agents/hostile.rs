//! Agents that will not end, hide, lie or break what they were given.

use std::io::{Read as _, Seek as _, SeekFrom};

use rustix::process::Signal;

use crate::scene::{Gate, Scene, Story, WAIT, make_pipe};

/// Whatever is hard to end, each with a trap of its own; they hold a pipe open for as long as they live.
const FAMILY: &str = "exec 9> BESIDE/held
    (trap '' TERM; while :; do sleep 600; done) &
    setsid sh -c '(trap \"\" TERM HUP; sleep 600; sleep 600) & (sleep 600) &'
    env -i PATH=\"$PATH\" setsid sh -c '(trap \"\" TERM; sleep 600; sleep 600) &'
    (cd /; env -i PATH=\"$PATH\" setsid setsid sh -c '(sleep 600; sleep 600) &')
";

/// A scene whose agents may leave a family behind.
struct Haunted {
    scene: Scene,
    held: std::fs::File,
}

impl Haunted {
    fn new(settings: &str, shell: &str) -> Self {
        let scene = Scene::of("1, 2", settings, shell);
        let path = scene.repo.beside("held");
        make_pipe(&path);
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
        let held = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
        Self {
            scene,
            held: held.into(),
        }
    }

    #[track_caller]
    fn check_nobody_is_left(&mut self) {
        let read = self.held.read(&mut [0]);
        assert_eq!(read.ok(), Some(0), "somebody holds the pipe");
        self.scene.check_nobody_is_left();
    }
}

/// Runs two tasks of which the first behaves and the second misbehaves.
fn beside_a_good_one(misbehave: &str) -> (Scene, Story) {
    let shell = format!("echo x > file-$PLEACH_TASK; [ $PLEACH_TASK = 1 ] && exit 0; {misbehave}");
    let scene = Scene::of("1, 2", "retries = 0", &shell);
    let story = scene.story(&["-j", "2"]);
    scene.check_nobody_is_left();
    (scene, story)
}

#[test]
fn an_agent_that_leaves_a_family_behind_is_taken_at_its_word_and_they_are_ended() {
    let mut haunted = Haunted::new("", &format!("{FAMILY} echo x > file-$PLEACH_TASK"));
    let story = haunted.scene.story(&["-j", "1", "1"]);
    story.check(0, "1:merged");
    assert!(
        story
            .notes()
            .contains("killed processes that the agent left running"),
        "{}",
        story.notes()
    );
    haunted.check_nobody_is_left();
}

#[test]
fn an_agent_that_ignores_sigterm_is_killed_with_its_family() {
    let shell = format!("trap '' TERM INT HUP; {FAMILY} echo half > half; {WAIT}; {WAIT}");
    let mut haunted = Haunted::new("", &shell);
    let mut gate = Gate::at(&haunted.scene);
    let run = haunted.scene.start(&["-j", "1"]);
    gate.wait_for(1);
    run.signal(Signal::INT);
    run.signal(Signal::INT);
    assert_eq!(run.answer().code, 130);
    haunted.check_nobody_is_left();
}

#[test]
fn a_family_that_scrubs_its_environment_and_forks_twice_ends_with_its_time() {
    let settings = "retries = 0\nstall_timeout = \"300ms\"";
    let mut haunted = Haunted::new(settings, &format!("{FAMILY} exec sleep 600"));
    let story = haunted.scene.story(&["-j", "2"]);
    story.check(1, "1:failed 2:failed");
    haunted.check_nobody_is_left();
}

#[test]
fn an_agent_that_floods_is_merged_and_its_log_has_an_end() {
    let flood = "head -c 300000000 /dev/zero; echo; echo the end";
    let (scene, story) = beside_a_good_one(flood);
    story.check(0, "1:merged 2:merged");
    let log = scene.state().join("batches/1/task-2/attempt-1/agent.log");
    let mut log = std::fs::File::open(log).unwrap();
    let length = log.seek(SeekFrom::End(-8)).unwrap();
    assert!(length < 280_000_000, "{length} bytes");
    let mut end = String::new();
    log.read_to_string(&mut end).unwrap();
    assert_eq!(end, "the end\n");
    assert!(story.notes().contains("is not logged"), "{}", story.notes());
}

#[test]
fn an_agent_that_hangs_without_a_word_is_stopped_and_the_others_are_merged() {
    let shell = "echo x > file-$PLEACH_TASK; [ $PLEACH_TASK = 1 ] || exec sleep 600";
    let scene = Scene::of("1, 2", "retries = 0\nstall_timeout = \"300ms\"", shell);
    let story = scene.story(&["-j", "2"]);
    story.check(1, "1:merged 2:failed");
    assert_eq!(scene.show("pleach/task-1/2", "file-2"), "x");
    scene.check_nobody_is_left();
}

#[test]
fn an_agent_that_closes_its_output_is_waited_for() {
    let (scene, story) = beside_a_good_one("exec >&- 2>&-; sleep 0.3; echo late > late");
    story.check(0, "1:merged 2:merged");
    assert_eq!(scene.show("pleach/batch-1", "late"), "late");
}

#[test]
fn an_agent_whose_child_holds_the_output_open_is_not_waited_for() {
    let (_, story) = beside_a_good_one("(setsid sleep 600) &");
    story.check(0, "1:merged 2:merged");
    let seconds = story.summary()["seconds"].as_f64().unwrap();
    assert!(seconds < 60.0, "{seconds}");
}

#[test]
fn an_agent_that_says_all_is_done_and_did_nothing_has_no_changes() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n",
        "[ $PLEACH_TASK = 1.1 ] && echo I did everything && exit 0; echo x > x",
    );
    let story = scene.story(&[]);
    story.check(0, "1.1:no_changes 1.2:merged");
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [x] 1.2 B (depends: 1.1)\n");
}

#[test]
fn an_agent_that_commits_on_another_branch_has_its_work_taken() {
    let elsewhere = "echo more > more; git checkout -q -b mine && git add . && git commit -qm mine && git branch -f main && git tag v1";
    let (scene, story) = beside_a_good_one(elsewhere);
    story.check(0, "1:merged 2:merged");
    assert_eq!(scene.show("pleach/batch-1", "more"), "more");
    let words = ["for-each-ref", "--format=%(refname:short)"];
    assert_eq!(
        scene.repo.git(&words),
        "main\npleach/batch-1",
        "nothing else came to the user"
    );
    let left = scene.repo.git_in(&scene.store(), &words);
    assert!(
        !left.lines().any(|name| name == "mine" || name == "v1"),
        "what others share is as it was: {left}"
    );
}

#[test]
fn an_agent_that_leaves_the_history_it_was_given_has_its_files_taken() {
    let orphan =
        "g() { git -c core.hooksPath=/nowhere \"$@\"; }
        g checkout -q --orphan new && g rm -rqf . && echo new > new && g add new && g commit -qm new";
    let (scene, story) = beside_a_good_one(orphan);
    story.check(0, "1:merged 2:merged");
    assert_eq!(scene.show("pleach/batch-1", "new"), "new");
    assert_eq!(scene.show("pleach/batch-1", "file-1"), "x");
    assert!(
        story.notes().contains("rewrote its branch"),
        "{}",
        story.notes()
    );
}

#[test]
fn an_agent_that_deletes_its_worktree_fails_and_what_it_committed_is_there() {
    let delete = "git add .; git commit -qm first; cd /; rm -rf \"$PLEACH_WORKTREE\"";
    let (scene, story) = beside_a_good_one(delete);
    story.check(1, "1:merged 2:failed");
    assert_eq!(scene.show("pleach/task-1/2", "file-2"), "x");
}

#[test]
fn an_agent_that_deletes_the_git_file_of_its_worktree_loses_no_file() {
    let (scene, story) = beside_a_good_one("rm -f .git");
    assert_eq!(story.outcomes().split(' ').next(), Some("1:merged"));
    let branch = if story.code == 0 {
        "pleach/batch-1"
    } else {
        "pleach/task-1/2"
    };
    assert_eq!(scene.show(branch, "file-2"), "x");
}

#[test]
fn an_agent_that_deletes_the_worktree_of_another_harms_that_one_only() {
    let shell = "[ $PLEACH_TASK = 3 ] && { echo x > file-3; exit 0; }
        [ $PLEACH_TASK = 2 ] && { until [ -e BESIDE/there ]; do sleep 0.01; done; rm -rf ../task-1
            touch BESIDE/gone; echo x > file-2; exit 0; }
        echo x > file-1; touch BESIDE/there; until [ -e BESIDE/gone ]; do sleep 0.01; done; exit 0";
    let scene = Scene::of("1, 2, 3", "retries = 0", shell);
    let story = scene.story(&["-j", "3"]);
    story.check(1, "1:failed 2:merged 3:merged");
    scene.check_nobody_is_left();
}
