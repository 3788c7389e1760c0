//! Agents that do not end by themselves, or not in time.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::super::driven::Driven;
use super::super::stage::Stage;
use crate::scene::make_pipe;

const SOON: Duration = Duration::from_secs(30);

/// A tool that leaves a file, says that it is there, and then takes long; the second time it is done at once.
fn long_work() -> Value {
    let python = "import os, time; held = os.open(\\\"BESIDE/held\\\", os.O_WRONLY); \
                  os.write(held, b\\\"here\\\"); time.sleep(300)";
    let shell = format!(
        "echo half > half.txt; if mkdir BESIDE/once; then python3 -c \"{python}\"; fi; echo x > done.txt"
    );
    json!([{"say": "It takes long."}, {"run": shell}, {"say": "Done."}])
}

/// The reading end of a pipe that the tool holds open as long as it lives.
struct Held(File);

impl Held {
    fn at(stage: &Stage) -> Self {
        let path = stage.scene.repo.beside("held");
        make_pipe(&path);
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Self(
            rustix::fs::open(&path, flags, Mode::empty())
                .unwrap()
                .into(),
        )
    }

    /// Waits until the tool is there.
    #[track_caller]
    fn wait_until_held(&mut self) {
        assert_eq!(self.wait(), "here");
    }

    /// Waits until it has gone.
    #[track_caller]
    fn wait_until_free(&mut self) {
        assert_eq!(self.wait(), "");
    }

    #[track_caller]
    fn wait(&mut self) -> String {
        let soon = Timespec::try_from(SOON).unwrap();
        let ready = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&soon)).unwrap();
        assert!(ready > 0, "nothing happens");
        let mut bytes = [0; 16];
        let length = self.0.read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// Whether nobody holds it now.
    fn is_free(&mut self) -> bool {
        match self.0.read(&mut [0; 16]) {
            Ok(length) => length == 0,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                false
            }
        }
    }
}

pub(crate) fn a_stop_in_mid_work_leaves_nobody_and_keeps_the_work(agent: &'static Driven) {
    let stage = Stage::of(agent, &long_work());
    let mut held = Held::at(&stage);
    let run = stage.start(&[]);
    held.wait_until_held();
    let told = stage.pleach(&["cancel", "1"]).good();
    assert!(held.is_free(), "its tool lives");
    assert_eq!(told, "batch 1 is cancelled; its work is kept\n");
    run.story().check(130, "1:cancelled");
    stage.check_nobody_is_left();
    assert_eq!(stage.scene.show("pleach/task-1/1", "half.txt"), "half");
    let kept = stage.pleach(&["recover"]).good();
    assert!(kept.contains("batch 1  1  attempt 1"), "{kept}");
    let transcript = stage.transcript("1");
    let result = transcript.last("result");
    assert_eq!(result["outcome"], "interrupted", "{transcript:#?}");
}

pub(crate) fn a_killed_run_leaves_no_agent_and_goes_on(agent: &'static Driven) {
    let stage = Stage::of(agent, &long_work());
    let mut held = Held::at(&stage);
    let run = stage.start(&[]);
    held.wait_until_held();
    run.signal(Signal::KILL);
    assert_eq!(run.answer().code, -1);
    held.wait_until_free();
    stage.story(&["--resume", "1"]).check(0, "1:merged");
    stage.check_nobody_is_left();
    assert_eq!(stage.changes(), "A done.txt A half.txt");
}

pub(crate) fn a_model_that_hangs_is_not_waited_for(agent: &'static Driven) {
    let stage = Stage::of(agent, &json!([])).failing("fail=hang");
    let stall = agent.starts_within;
    let stage = stage.settings(&format!("retries = 0\nstall_timeout = \"{stall}s\""));
    let story = stage.story(&[]);
    story.check(1, "1:failed");
    let error = format!("the agent printed nothing for {stall} s (stall_timeout)");
    assert_eq!(story.error_of("1"), error);
    assert!(!stage.requests().is_empty(), "it asked");
    stage.check_nobody_is_left();
}

pub(crate) fn a_model_that_never_stops_is_timed_out(agent: &'static Driven) {
    let stage = Stage::of(agent, &json!([])).failing("fail=endless");
    let time = agent.starts_within + 1;
    let stage = stage.settings(&format!("retries = 0\ntask_timeout = \"{time}s\""));
    let story = stage.story(&[]);
    story.check(1, "1:timed_out");
    assert!(!stage.requests().is_empty(), "it asked");
    stage.check_nobody_is_left();
}
