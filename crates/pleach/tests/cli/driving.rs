//! The driver of agents as a process of its own: what it does when an agent hangs, dies, or is to stop.
//!
//! The agents here are scripts that speak as Claude Code does, badly.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

/// A driver that drives a script.
struct Driver {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Driver {
    fn start(folder: &Path, script: &str) -> Self {
        let pleach = Command::new(env!("CARGO_BIN_EXE_pleach"));
        Self::start_by(pleach, folder, script)
    }

    fn start_by(mut pleach: Command, folder: &Path, script: &str) -> Self {
        let order = json!({
            "speaks": "claude",
            "words": ["/bin/sh", "-c", script],
            "prompt": "do it",
        });
        let mut child = pleach
            .arg("drive-agent")
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(order.to_string().as_bytes()).unwrap();
        drop(stdin);
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next entry; the driver says nothing else.
    fn entry(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        line["pleach"].clone()
    }

    /// All that comes until the end, with the exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        let mut entries = vec![self.entry()];
        while entries.last().unwrap()["type"] != "result" {
            entries.push(self.entry());
        }
        let status = self.child.wait().unwrap();
        (entries, status.code())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

fn is_alive(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    test_kill_process(pid).is_ok()
}

const RESULT: &str =
    r#"{"type":"result","is_error":false,"result":"done","permission_denials":[]}"#;

#[test]
fn what_an_agent_says_becomes_entries_and_its_end_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "read line; echo \"$line\" > asked; echo nonsense; echo oops >&2; echo '{RESULT}'; cat"
    );
    let (entries, code) = Driver::start(folder.path(), &script).end();
    assert_eq!(code, Some(0));
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(asked.contains("do it"), "{asked}");
    let last = entries.last().unwrap();
    assert_eq!(
        (&last["outcome"], &last["message"]),
        (&json!("completed"), &json!("done"))
    );
    for text in ["nonsense", "oops"] {
        let is_raw = |entry: &&Value| entry["type"] == "raw" && entry["text"] == text;
        assert!(
            entries.iter().any(|entry| is_raw(&entry)),
            "{text} in {entries:?}"
        );
    }
}

#[test]
fn an_agent_that_dies_without_a_word_broke_off_whatever_it_exits_with() {
    let folder = tempfile::tempdir().unwrap();
    for (script, code) in [("exit 0", 0), ("echo no luck >&2; exit 3", 3)] {
        let (entries, exit) = Driver::start(folder.path(), script).end();
        let last = entries.last().unwrap();
        assert_eq!(last["outcome"], json!({"failed": "crash"}), "{code}");
        assert_eq!(exit, Some(1));
    }
    let (entries, exit) = Driver::start(folder.path(), "no-such-program-anywhere").end();
    assert!(
        entries.last().unwrap()["message"]
            .as_str()
            .unwrap()
            .contains("not found"),
        "{entries:?}"
    );
    assert_eq!(exit, Some(1));
}

#[test]
fn an_agent_that_does_not_leave_when_it_is_done_is_made_to() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "trap '' TERM; echo $$ > pid; echo '{RESULT}'; while :; do read line || sleep 0.1; done"
    );
    let began = Instant::now();
    let (entries, code) = Driver::start(folder.path(), &script).end();
    assert_eq!(entries.last().unwrap()["outcome"], "completed");
    assert_eq!(code, Some(0));
    assert!(began.elapsed() < Duration::from_secs(30));
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(!is_alive(&pid), "the agent is still there");
}

#[test]
fn a_stop_is_said_by_the_protocol_and_then_by_signals() {
    let folder = tempfile::tempdir().unwrap();
    let polite = r#"read prompt; echo '{"type":"system","subtype":"init","session_id":"s1"}'; read line; echo "$line" > asked;
        echo '{"type":"result","is_error":true,"subtype":"error_during_execution","terminal_reason":"aborted_tools"}'"#;
    let mut driver = Driver::start(folder.path(), polite);
    assert_eq!(driver.entry()["id"], "s1");
    driver.signal(Signal::TERM);
    let (entries, code) = driver.end();
    assert_eq!(
        (&entries.last().unwrap()["outcome"], code),
        (&json!("interrupted"), Some(130))
    );
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(asked.contains("interrupt"), "{asked}");

    let deaf = r#"trap '' TERM INT; echo $$ > pid; echo '{"type":"system","subtype":"init","session_id":"s2"}'; while :; do sleep 0.1; done"#;
    let mut driver = Driver::start(folder.path(), deaf);
    assert_eq!(driver.entry()["id"], "s2");
    driver.signal(Signal::TERM);
    driver.signal(Signal::TERM);
    let (entries, _) = driver.end();
    assert_eq!(entries.last().unwrap()["outcome"], "interrupted");
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(!is_alive(&pid), "the agent is still there");
}

#[test]
fn what_an_agent_leaves_running_does_not_keep_the_driver() {
    let folder = tempfile::tempdir().unwrap();
    // It holds the agent's output open.
    let script = format!("sleep 60 & echo $! > pid; echo '{RESULT}'");
    let began = Instant::now();
    let (entries, _) = Driver::start(folder.path(), &script).end();
    assert_eq!(entries.last().unwrap()["outcome"], "completed");
    assert!(began.elapsed() < Duration::from_secs(20));
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[test]
fn an_agent_that_says_very_much_is_heard_piece_by_piece() {
    let folder = tempfile::tempdir().unwrap();
    let line = "x".repeat(40_000);
    let script = format!("yes {line} | head -n 10000; echo '{RESULT}'");
    let mut pleach = Command::new("/bin/sh");
    // Kilobytes: far less than is said.
    let held = "ulimit -d 150000; exec \"$0\" \"$@\"";
    pleach.args(["-c", held, env!("CARGO_BIN_EXE_pleach")]);
    let mut driver = Driver::start_by(pleach, folder.path(), &script);
    let (mut count, mut last) = (0, driver.entry());
    while last["type"] != "result" {
        count += 1;
        last = driver.entry();
    }
    assert_eq!((count, &last["outcome"]), (10_000, &json!("completed")));
    assert_eq!(driver.child.wait().unwrap().code(), Some(0));
}

#[test]
fn an_agent_that_never_falls_silent_is_made_to_leave_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        format!("trap '' TERM; echo $$ > pid; echo '{RESULT}'; while :; do echo and on; done");
    let began = Instant::now();
    let (entries, code) = Driver::start(folder.path(), &script).end();
    assert_eq!(entries.last().unwrap()["outcome"], "completed");
    assert_eq!(code, Some(0));
    assert!(began.elapsed() < Duration::from_mins(1));

    let script = format!("yes and on & echo $! > pid; echo '{RESULT}'");
    let (entries, code) = Driver::start(folder.path(), &script).end();
    assert_eq!(entries.last().unwrap()["outcome"], "completed");
    assert_eq!(code, Some(0));
}

#[test]
fn an_agent_whose_work_nobody_hears_of_does_not_go_on_alone() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo '{"type":"system","subtype":"init","session_id":"s1"}'
        (while :; do echo and on; sleep 0.05; done) & talker=$!
        while read -r line; do
            case "$line" in *interrupt*) echo "$line" > asked; kill $talker; exit;; esac
        done"#;
    let mut driver = Driver::start(folder.path(), script);
    assert_eq!(driver.entry()["id"], "s1");
    let Driver { mut child, lines } = driver;
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(asked.contains("interrupt"), "{asked}");
}

#[test]
fn an_order_that_makes_no_sense_is_told_as_such() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pleach"))
        .arg("drive-agent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("malformed order"), "{line}");
    assert_eq!(child.wait().unwrap().code(), Some(78));
}
