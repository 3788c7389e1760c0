//! A server that runs while a test speaks to it.
//!
//! Knows nothing of what a test wants to prove with it.

use std::io::{BufRead as _, BufReader};
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pleach_testkit::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::scene::Scene;
use crate::{Answer, command};

/// `pleach serve` on a port of its own; ended when dropped.
pub(crate) struct Serving {
    child: Option<Child>,
    client: Client,
    /// What it said when it began.
    pub(crate) said: Value,
}

impl Serving {
    /// Serves in the repository of a scene, with its state folder.
    pub(crate) fn of(scene: &Scene, words: &[&str]) -> Self {
        Self::start(scene.repo.path(), &scene.home(), words)
    }

    /// Serves in a folder with a home; `--port 0` unless the words choose one.
    #[track_caller]
    pub(crate) fn start(folder: &Path, home: &Path, words: &[&str]) -> Self {
        let port = if words.contains(&"--port") {
            &[][..]
        } else {
            &["--port", "0"]
        };
        let all = [&["serve"], port, words].concat();
        Self::by(&mut command(folder, home, &all))
    }

    /// Serves by a command of one's own.
    #[track_caller]
    pub(crate) fn by(command: &mut Command) -> Self {
        trust_what_is_served(command);
        let mut child = command
            .args(["--json", "--log", "off"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        if line.is_empty() {
            let output = child.wait_with_output().unwrap();
            panic!(
                "it did not begin: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["address"].as_str().unwrap();
        let token = std::fs::read_to_string(said["tokenFile"].as_str().unwrap()).unwrap();
        let address = address.strip_prefix("http://").unwrap();
        let client = Client::new(address.parse().unwrap(), &token);
        Self {
            child: Some(child),
            client,
            said,
        }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(self.child.as_ref().unwrap())
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Asks it to stop and waits for its end.
    pub(crate) fn stop(mut self) -> Answer {
        self.signal(Signal::TERM);
        let child = self.child.take().unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// Ends it without a word, as a power cut would.
    pub(crate) fn kill(mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Scenes open what is beside them to their agents, as nobody may by a request alone.
fn trust_what_is_served(serve: &Command) {
    let folder = serve.get_current_dir().unwrap();
    let mut variables = serve.get_envs();
    let home = variables.find_map(|(name, value)| value.filter(|_| name == "HOME"));
    let mut trust = command(folder, Path::new(home.unwrap()), &["trust", "--yes"]);
    trust.envs(
        serve
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    // A scene whose settings are wrong on purpose has nothing to trust.
    let _ = trust.output().unwrap();
}

impl Deref for Serving {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
