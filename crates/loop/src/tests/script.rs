//! What attempts and runs of the tests come to in a story, and what people want meanwhile.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::channel;

use pleach_domain::batch::{AttemptEnding, Message};
use pleach_domain::bisect::TestResult;
use pleach_domain::event::Rollback;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;
use pleach_system::process::Cancel;

use crate::LoopInput;
use crate::attempt::{Attempt, Finished, Probe, ProbeEnded};
use crate::executor::{Executor, LoopHandle, tell_when_cleared};
use crate::run_loop::Loop;
use pleach_engine::validate::RunEnding;
use pleach_engine::worktree_programs::AttemptObserver as _;
use pleach_git::git::CommitId;
use pleach_log::agent_report::AgentReport;

/// What is to happen, and what is under way.
#[derive(Debug, Default)]
pub(super) struct Script {
    steps: VecDeque<String>,
    open: Vec<(Attempt, LoopHandle)>,
    pub(super) most_open: usize,
    /// Attempts that were begun by a process that died.
    stale: Vec<(Attempt, LoopHandle)>,
    /// The tests fail with these.
    guilty: Vec<TaskId>,
    /// What the tests were run on, in order.
    pub(super) judged: Vec<String>,
}

/// Begins what the loop sends out, and leaves its end to the script.
pub(super) struct ScriptedExecutor {
    pub(super) script: Rc<RefCell<Script>>,
}

impl Executor for ScriptedExecutor {
    fn attend(&self, attempt: Box<Attempt>, handle: LoopHandle) {
        let mut script = self.script.borrow_mut();
        script.open.push((*attempt, handle));
        script.most_open = script.most_open.max(script.open.len());
    }

    fn judge(&self, probe: Box<Probe>, handle: LoopHandle) {
        let mut script = self.script.borrow_mut();
        let names: Vec<&str> = probe.tasks.iter().map(TaskId::as_str).collect();
        script.judged.push(names.join(" "));
        let is_red = probe.tasks.iter().any(|task| script.guilty.contains(task));
        let result = if is_red {
            TestResult::Failed
        } else {
            TestResult::Passed
        };
        let ended = ProbeEnded::new(&probe, RunEnding::Ran(result));
        handle.tell(LoopInput::Judged(Box::new(ended)));
    }
}

impl Script {
    /// Steps, of which `guilty:2` says beforehand that the tests fail with task 2.
    pub(super) fn new(steps: &str) -> Self {
        let (guilty, steps): (Vec<&str>, Vec<&str>) = steps
            .split_whitespace()
            .partition(|step| step.starts_with("guilty:"));
        let guilty = guilty.iter().filter_map(|step| step.split_once(':'));
        Self {
            guilty: guilty.map(|(_, task)| TaskId::new(task)).collect(),
            steps: steps.into_iter().map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// Takes over everything that is under way.
    pub(super) fn take_all(&mut self) -> Vec<(Attempt, LoopHandle)> {
        std::mem::take(&mut self.open)
    }

    /// A process died, and with it everything that it ran.
    pub(super) fn forget_what_ran(&mut self) {
        self.stale.append(&mut self.open);
    }

    /// Takes the next step; whether there was anything to do.
    pub(super) fn go_on(&mut self, run: &mut Loop<'_>, is_resting: bool) -> bool {
        let git_dir = run.context.store.git_dir();
        let Some(step) = self.steps.pop_front() else {
            return !is_resting && self.end_what_is_open(&git_dir);
        };
        let (task, word) = step.split_once(':').unwrap_or(("", &step));
        let id = TaskId::new(task);
        match (task, word) {
            ("", "cancel") => {
                run.decide(Message::Cancel(Rollback::Keep));
            }
            ("", "rollback") => {
                run.decide(Message::Cancel(Rollback::Remove));
            }
            ("", "stop") => {
                run.decide(Message::Stop);
            }
            ("", "approve") => {
                run.decide(Message::Approve);
            }
            ("", "crash") => std::panic::resume_unwind(Box::new(super::Crash)),
            (_, "cancel") => {
                run.decide(Message::CancelTask(id));
            }
            (_, "retry") => {
                run.decide(Message::Retry(vec![id]));
            }
            _ => {
                let (word, attempt) = match word.split_once('@') {
                    Some((word, attempt)) => (word, Some(attempt.parse().unwrap())),
                    None => (word, None),
                };
                let Some((attempt, handle)) = self.take(&id, attempt) else {
                    // It is to rest first.
                    self.steps.push_front(step);
                    return false;
                };
                end(&git_dir, &attempt, &handle, word);
            }
        }
        true
    }

    fn take(&mut self, task: &TaskId, number: Option<u32>) -> Option<(Attempt, LoopHandle)> {
        let is_it = |(attempt, _): &(Attempt, LoopHandle)| {
            attempt.task == *task && number.is_none_or(|number| attempt.number == number)
        };
        if let Some(place) = self.open.iter().position(is_it) {
            return Some(self.open.remove(place));
        }
        let place = self
            .stale
            .iter()
            .position(is_it)
            .filter(|_| number.is_some())?;
        Some(self.stale.remove(place))
    }

    /// What nobody says anything of stops when it is asked to, and is built otherwise.
    fn end_what_is_open(&mut self, git_dir: &Path) -> bool {
        let is_any = !self.open.is_empty();
        for (attempt, handle) in std::mem::take(&mut self.open) {
            let is_stopped = Cancel::is_cancelled(handle.cancel());
            let word = if is_stopped { "stopped" } else { "built" };
            end(git_dir, &attempt, &handle, word);
        }
        is_any
    }
}

/// Ends an attempt in a word: `built`, or `writes-a` for work on a file of that name.
fn end(git_dir: &Path, attempt: &Attempt, handle: &LoopHandle, word: &str) {
    let error = || "exit 1".to_owned();
    let own = format!("{}.txt", attempt.task);
    let ending = match word {
        "says" => {
            let said = AgentReport {
                session: Some(format!("session {}", attempt.number)),
                ..AgentReport::default()
            };
            return handle.said(&said);
        }
        "built" => work(git_dir, attempt, &own),
        "failed" => AttemptEnding::Failed(error()),
        "hopeless" => AttemptEnding::Hopeless(error()),
        "late" => AttemptEnding::TimedOut,
        "stopped" => AttemptEnding::Stopped,
        "lost" => AttemptEnding::Lost("n7 went down".into()),
        "limited" => AttemptEnding::Limited(error(), Some(1)),
        "overloaded" => AttemptEnding::Overloaded(error(), Some(1)),
        "noplace" => AttemptEnding::NoWorktree(error()),
        "interrupted" => AttemptEnding::Interrupted,
        "same" => AttemptEnding::Unchanged(Some("it is there already".into())),
        "idle" => AttemptEnding::Unchanged(None),
        word => work(
            git_dir,
            attempt,
            word.strip_prefix("writes-").expect("a word"),
        ),
    };
    let finished = Finished::new(attempt, ending);
    let (say, disposal) = channel();
    handle.tell(LoopInput::Finished(Box::new(finished), say));
    let (task, inbox) = (attempt.task.clone(), handle.inbox.clone());
    // There is no worktree, and so nothing to do about it; the loop waits to hear that.
    std::thread::spawn(move || {
        tell_when_cleared(&task, &inbox, || {
            let _ = disposal.recv();
            Vec::new()
        });
    });
}

/// A commit with the attempt's words in a file.
fn work(git_dir: &Path, attempt: &Attempt, file: &str) -> AttemptEnding {
    let text = format!("by {}\n", attempt.task);
    let commit = commit(git_dir, &attempt.basis, file, &text);
    AttemptEnding::Built {
        commit: Commit(commit),
        files: vec![file.to_owned()],
    }
}

fn commit(git_dir: &Path, basis: &CommitId, file: &str, text: &str) -> String {
    let mut git = Command::new("git")
        .arg("--git-dir")
        .arg(git_dir)
        .args(["fast-import", "--quiet", "--force"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let length = text.len();
    let input = format!(
        "commit refs/pleach/story\nmark :1\ncommitter T <t@example.org> 1 +0000\ndata 4\nwork\nfrom {basis}\n\
         M 644 inline {file}\ndata {length}\n{text}\nget-mark :1\n"
    );
    git.stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let made = git.wait_with_output().unwrap();
    assert!(made.status.success());
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}
