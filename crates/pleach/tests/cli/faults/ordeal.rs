//! A plan whose agents keep a diary, to be run by a program that dies again and again.
//!
//! Knows what must come of each task, and nothing of who kills whom.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pleach_log::database::{BatchFilter, Database};
use pleach_system::state_folder::StateFolder;
use pleach_testkit::{Fingerprint, TestRepo, run_to_end};

use crate::command;

/// Longer than any run takes; when it matters, something is broken.
pub(super) const LONG: Duration = Duration::from_mins(2);

/// What every agent does first: whoever finds its task held by a living process, of whatever attempt, tells.
const FIRST: &str = r#"exec 9>> "$d/$PLEACH_TASK.held"
flock -n 9 || echo "$PLEACH_TASK $PLEACH_ATTEMPT" >> "$d/twice"
note() { echo "$PLEACH_TASK $PLEACH_ATTEMPT $1" >> "$d/diary"; }
note began
"#;

/// What the agent of a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Write,
    Commit,
    /// Writes, and leaves a process behind.
    Leak,
    /// Adds a line to the file that all of its kind declare.
    Append,
    /// Changes nothing, and says why when it is asked.
    Nothing,
    FailOnce,
    FailAlways,
    /// Writes what another one writes otherwise.
    Fight,
}

impl Deed {
    fn shell(self) -> &'static str {
        match self {
            Self::Write => "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"; note wrote",
            Self::Commit => {
                "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"; git add -A; git commit -qm 'by the agent'; note wrote"
            }
            Self::Leak => {
                "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"; note wrote; setsid sleep 60 &"
            }
            Self::Append => "echo \"$PLEACH_TASK\" >> chain.txt; note wrote",
            Self::Nothing => {
                "if [ -n \"$PLEACH_CONTINUES\" ]; then echo 'NO CHANGES NEEDED: it is there'; fi"
            }
            Self::FailOnce => {
                "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"; note wrote\nmkdir \"$d/failed-$PLEACH_TASK\" 2>&- && exit 1"
            }
            Self::FailAlways => "echo half > \"half-$PLEACH_TASK\"; note wrote; exit 1",
            Self::Fight => "echo \"$PLEACH_TASK\" > fought.txt; note wrote",
        }
    }
}

/// How the plan writes a task down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Checkbox,
    Section,
}

#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) id: &'static str,
    pub(super) deed: Deed,
    pub(super) needs: &'static [&'static str],
    pub(super) form: Form,
    pub(super) milliseconds: u32,
}

impl Task {
    pub(super) const fn new(id: &'static str, deed: Deed, milliseconds: u32) -> Self {
        Self {
            id,
            deed,
            needs: &[],
            form: Form::Checkbox,
            milliseconds,
        }
    }

    pub(super) const fn needs(mut self, needs: &'static [&'static str]) -> Self {
        self.needs = needs;
        self
    }

    pub(super) const fn section(mut self) -> Self {
        self.form = Form::Section;
        self
    }

    /// How the plan says it, done or not.
    fn text(&self, is_done: bool) -> String {
        let Self { id, deed, .. } = self;
        let declared = if *deed == Deed::Append {
            " in `chain.txt`"
        } else {
            ""
        };
        let needs = self.needs.join(", ");
        match self.form {
            Form::Checkbox => {
                let mark = if is_done { 'x' } else { ' ' };
                let needs = if needs.is_empty() {
                    needs
                } else {
                    format!(" (depends: {needs})")
                };
                format!("- [{mark}] {id} {deed:?}{declared}{needs}\n")
            }
            Form::Section => {
                let status = if is_done { "COMPLETED" } else { "NOT STARTED" };
                let needs = if needs.is_empty() {
                    "None".to_owned()
                } else {
                    needs
                };
                format!(
                    "\n### {id}. {deed:?}\n**Status**: [{status}]\n**Dependencies**: {needs}\n\nDo it{declared}.\n"
                )
            }
        }
    }
}

/// What is set besides the agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variant {
    pub(super) keep_failed: &'static str,
    pub(super) on_conflict: &'static str,
    pub(super) merge: &'static str,
}

/// A repository with such a plan.
pub(super) struct Ordeal {
    pub(super) repo: TestRepo,
    pub(super) tasks: Vec<Task>,
    pub(super) variant: Variant,
    /// The user's repository as it was.
    pub(super) before: Fingerprint,
}

impl Ordeal {
    pub(super) fn new(tasks: &[Task], variant: Variant) -> Self {
        let repo = TestRepo::new();
        let Variant {
            keep_failed,
            on_conflict,
            merge,
        } = variant;
        let agent = repo.beside("agent.sh");
        repo.write(
            "pleach.toml",
            format!(
                "max_parallel = 4\nretries = 1\nretry_pause = \"10ms\"\ntask_timeout = \"60s\"\nsetup = \"true\"\n\
                 validate = \"true\"\nkeep_failed = {keep_failed}\non_conflict = \"{on_conflict}\"\nmerge = \"{merge}\"\n\
                 sandbox_write = [\"{}\"]\n[agents.shell]\ncommand = [\"sh\", \"{}\"]\n",
                repo.beside("diary").display(),
                agent.display()
            ),
        );
        repo.write("TODO.md", plan(tasks, |_| false));
        repo.commit("a plan");
        fs::create_dir(repo.beside("diary")).unwrap();
        fs::write(agent, script(&repo.beside("diary"), tasks)).unwrap();
        let before = repo.fingerprint();
        Self {
            repo,
            tasks: tasks.to_vec(),
            variant,
            before,
        }
    }

    /// Begins the batch, or goes on with it where a run before has begun it.
    pub(super) fn run(&self) -> Command {
        let has_begun = self.state_path().join("pleach.db").exists()
            && !self
                .database()
                .batches(BatchFilter::default())
                .unwrap()
                .is_empty();
        if has_begun {
            self.pleach(&["resume"])
        } else {
            self.pleach(&["run", "--yes"])
        }
    }

    pub(super) fn pleach(&self, words: &[&str]) -> Command {
        command(self.repo.path(), &self.repo.beside("home"), words)
    }

    /// What all runs have said.
    pub(super) fn said(&self) -> PathBuf {
        self.repo.beside("said")
    }

    /// Runs the plan, or what is left of it, to its end.
    #[track_caller]
    pub(super) fn end(&self) {
        let status = run_to_end(&mut self.run(), &self.said(), LONG).unwrap();
        assert_eq!(status.code(), Some(1), "some tasks fail: {}", self.story());
    }

    /// What was said and written down, for whoever has to find out what went wrong.
    pub(super) fn story(&self) -> String {
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        let diary = read(self.repo.beside("diary/diary"));
        format!("\n{}\n{diary}", read(self.said()))
    }

    pub(super) fn state_path(&self) -> PathBuf {
        self.repo.beside("home").join(".local/state/pleach")
    }

    pub(super) fn database(&self) -> Database {
        Database::open(&StateFolder::at(&self.state_path()).unwrap()).unwrap()
    }

    /// Whether the batch is over; what is restarted then is another one.
    pub(super) fn is_over(&self) -> bool {
        let batches = self.database().batches(BatchFilter::default()).unwrap();
        batches.iter().any(|batch| batch.ended_at.is_some())
    }

    pub(super) fn plan(&self, is_done: impl Fn(&Task) -> bool) -> String {
        plan(&self.tasks, is_done)
    }
}

fn plan(tasks: &[Task], is_done: impl Fn(&Task) -> bool) -> String {
    let mut text = "# A plan\r\n\nWith tasks.\n\n".to_owned();
    for form in [Form::Checkbox, Form::Section] {
        for task in tasks.iter().filter(|task| task.form == form) {
            text += &task.text(is_done(task));
        }
    }
    text + "\nThe end\u{2014}without a line break"
}

fn script(diary: &Path, tasks: &[Task]) -> String {
    let mut script = format!("d='{}'\n{FIRST}case $PLEACH_TASK in\n", diary.display());
    for task in tasks {
        let (id, shell) = (task.id, task.deed.shell());
        let seconds = f64::from(task.milliseconds) / 1000.0;
        writeln!(script, "{id}) sleep {seconds}\n{shell}\n;;").unwrap();
    }
    script + "*) echo more > more ;;\nesac\nnote ended\n"
}
