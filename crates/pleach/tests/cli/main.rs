//! The program as people use it: real files, real git, real processes.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]

mod agents;
mod agents_known;
mod as_meant;
mod background;
mod bad_input;
mod base_check;
mod branches;
mod by_name;
mod canary;
mod cluster;
mod cluster_refusals;
mod cluster_sizes;
mod consent;
mod control;
mod demo;
mod driving;
mod earlier_batches;
mod fallback;
mod faults;
mod fetch;
mod given;
mod governors;
mod held;
mod hostile;
mod kept_status;
mod landing;
mod leaving;
mod logs;
mod mark;
mod more_agents;
mod next;
mod no_changes;
mod not_followed;
mod numbers;
mod order;
mod ordinary_user;
mod own_git_folder;
mod plain;
mod plan;
mod processes;
mod radar;
mod real_agents;
mod recover;
mod recycling;
mod rehearsal;
mod resolve;
mod retries;
mod rules;
mod run;
mod sandbox;
mod scene;
mod serve_batches;
mod serve_door;
mod serve_events;
mod serve_first_push;
mod serve_from_nothing;
mod serve_guide;
mod serve_imported;
mod serve_interrupted;
mod serve_mixed;
mod serve_patches;
mod serve_patience;
mod serve_refusals;
mod serve_transcript;
mod serving;
mod settings;
mod setup;
mod several;
mod status;
mod stopping;
mod store_damage;
mod table;
mod taken_over;
mod task_consent;
mod terminal;
mod two_evenings;
mod unfit;
mod validation;
mod weave;
mod worktrees;
mod write_back;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder to stand in, with a home and a state folder beside it.
struct Place {
    folder: TempDir,
}

/// What a call of the program gave.
struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("here")).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("here")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn pleach(&self, words: &[&str]) -> Answer {
        pleach(&self.path(), &self.folder.path().join("home"), words)
    }
}

/// The program in a folder, with an environment of its own.
fn command(folder: &Path, home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // Most tests know how often theirs run.
        .env(pleach_loop::BASE_CHECK, "off");
    command
}

fn pleach(folder: &Path, home: &Path, words: &[&str]) -> Answer {
    command(folder, home, words).output().unwrap().into()
}

impl From<Output> for Answer {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Answer {
    /// The answer of a call that went well.
    #[track_caller]
    fn good(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// The words of a call that failed with a code.
    #[track_caller]
    fn bad(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self.err
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}
