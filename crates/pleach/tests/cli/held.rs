//! Batches whose agents stand still until a test lets them go, to be looked at and acted on from outside.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

use crate::run::{Scene, make_pipe};
use crate::{Answer, command, pleach};

/// A repository with a plan. The agent of a task says who it is, leaves a file, waits at its pipe and does then what it
/// reads there.
pub(crate) struct Held {
    pub(crate) scene: Scene,
}

impl Held {
    pub(crate) fn new(plan: &str) -> Self {
        Self::with(plan, "", "")
    }

    /// With further settings, and something that agents do first; `GATES` is the folder of their pipes.
    pub(crate) fn with(plan: &str, settings: &str, first: &str) -> Self {
        let scene = Scene::new(plan, "");
        let gates = scene.repo.beside("gates");
        std::fs::create_dir(&gates).unwrap();
        for line in plan.lines() {
            let id = line.split(' ').nth(3).unwrap();
            make_pipe(&gates.join(id));
        }
        let first = first.replace("GATES", &gates.to_string_lossy());
        let shell = format!(
            "echo said $PLEACH_TASK $PLEACH_ATTEMPT; echo half > half-$PLEACH_TASK; {first}\n\
             read line < '{}'/$PLEACH_TASK; eval \"$line\"; echo done > done-$PLEACH_TASK",
            gates.display()
        );
        let command = serde_json::to_string(&["sh", "-c", &shell]).unwrap();
        let config = format!(
            "retries = 0\nretry_pause = \"1ms\"\ntask_timeout = \"60s\"\n{settings}\n[agents.shell]\ncommand = {command}\n"
        );
        scene.repo.write("pleach.toml", config);
        scene.repo.commit("settings");
        Self { scene }
    }

    pub(crate) fn pleach(&self, words: &[&str]) -> Answer {
        pleach(self.scene.repo.path(), &self.scene.home(), words)
    }

    /// Another process, with its output to be read.
    pub(crate) fn begin(&self, words: &[&str]) -> Running {
        let mut child = command(self.scene.repo.path(), &self.scene.home(), words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Running { child, output }
    }

    pub(crate) fn run(&self, words: &[&str]) -> Running {
        let words: Vec<&str> = ["run", "--yes"].iter().chain(words).copied().collect();
        self.begin(&words)
    }

    /// Waits until the agent of a task is at its pipe; it goes on when this is dropped.
    pub(crate) fn gate(&self, task: &str) -> File {
        let gate = self.scene.repo.beside("gates").join(task);
        OpenOptions::new().write(true).open(gate).unwrap()
    }

    /// Waits until the agent of a task is at its pipe and has it do something.
    pub(crate) fn tell(&self, task: &str, what: &str) {
        writeln!(self.gate(task), "{what}").unwrap();
    }

    /// A batch as programs see it.
    pub(crate) fn batch(&self, number: u32) -> Value {
        let answer = self.pleach(&["status", &number.to_string(), "--json"]);
        assert_eq!(answer.code, 0, "{}", answer.err);
        answer.json()["batches"][0].clone()
    }

    /// Where the tasks of a batch stand, as `1.1:merged 1.2:running`.
    pub(crate) fn states(&self, number: u32) -> String {
        let batch = self.batch(number);
        let tasks = batch["tasks"].as_array().unwrap().iter();
        let words = tasks.map(|task| {
            let word = |name: &str| task[name].as_str().unwrap().to_owned();
            format!("{}:{}", word("key"), word("state"))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// The same command on a terminal of that width, and what it wrote there.
    pub(crate) fn on_terminal(&self, columns: u16, words: &[&str]) -> String {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = openpt(flags).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize {
            ws_row: 40,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let peer = ioctl_tiocgptpeer(&terminal, flags).unwrap();
        let mut command = command(self.scene.repo.path(), &self.scene.home(), words);
        command.env("TERM", "xterm").env("PAGER", "cat");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(peer)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        drop(command);
        let mut written = Vec::new();
        // A terminal whose other end is closed ends with an error.
        let _ = File::from(terminal).read_to_end(&mut written);
        assert!(child.wait().unwrap().success());
        String::from_utf8(written).unwrap().replace("\r\n", "\n")
    }

    pub(crate) fn state_folder(&self) -> PathBuf {
        self.scene.home().join(".local/state/pleach")
    }
}

/// A process that was begun.
pub(crate) struct Running {
    pub(crate) child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// The next line that contains a word.
    #[track_caller]
    pub(crate) fn line_with(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            let count = self.output.read_line(&mut line).unwrap();
            assert!(count > 0, "it ended before it said {word}");
            if line.contains(word) {
                return line;
            }
        }
    }

    /// Its exit code and the rest of what it said.
    pub(crate) fn end(mut self) -> Answer {
        let mut out = String::new();
        self.output.read_to_string(&mut out).unwrap();
        let mut err = String::new();
        let errors = self.child.stderr.take().unwrap();
        BufReader::new(errors).read_to_string(&mut err).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Answer { code, out, err }
    }

    /// Ends it as a power cut would while an agent is at a pipe, and waits until that one is gone too.
    pub(crate) fn kill_at(self, gate: &File) {
        self.kill();
        let mut readers_gone = [PollFd::new(gate, PollFlags::empty())];
        poll(&mut readers_gone, None).unwrap();
        assert!(readers_gone[0].revents().contains(PollFlags::ERR));
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
