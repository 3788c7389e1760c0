//! Marks the plans while a batch runs: what began, what is done, and everything else as it was.
//!
//! Collects changes and writes those of one moment together; a failed write is told and the run goes on.

use std::path::PathBuf;
use std::thread::JoinHandle;

use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use pleach_formats::{Change, Marker, set_markers};

use super::LoopNotice;

use pleach_git::git::Store;
use pleach_log::batch_paths::project_name;
use pleach_log::database::Database;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;

use super::TickedTask;
use pleach_engine::batch_record::{BatchRecord, Marking};
use pleach_engine::plan_file::{DisplacedOutcome, PlanFile, PlanFileError, RewriteError};
use pleach_engine::plan_to_run::PlanOrigin;

/// How often marks are made again at the end of a run.
const MOST_REPEATS: usize = 5;

/// The marks of all tasks of a batch, wherever they are kept.
pub(super) struct Marks {
    /// That of the batch's plan is the first.
    files: Vec<FileMarks>,
    board: BoardMarks,
}

impl Marks {
    pub(super) fn new(record: &BatchRecord, state: &StateFolder, store: &Store) -> Self {
        let files = record.plans().into_iter().filter_map(PlanOrigin::path);
        Self {
            files: files.map(|path| FileMarks::new(path.to_owned())).collect(),
            board: BoardMarks {
                state: state.clone(),
                project: project_name(store),
                waiting: Vec::new(),
            },
        }
    }

    /// Takes a mark; what began and ended at once is written once.
    pub(super) fn set(&mut self, mark: Option<Marking>) {
        match mark {
            Some(Marking::InFile(path, change)) => {
                let is_meant =
                    |marks: &&mut FileMarks| path.as_ref().is_none_or(|path| marks.path == *path);
                if let Some(marks) = self.files.iter_mut().find(is_meant) {
                    marks.set(change);
                }
            }
            Some(Marking::OnBoard(task, status)) => self.board.set(task, status),
            None => {}
        }
    }

    pub(super) fn write(&mut self, told: &mut dyn FnMut(LoopNotice<'_>)) {
        for marks in &mut self.files {
            marks.write(told);
        }
        self.board.write(told);
    }

    /// What was ticked in files, with the lines that it stands in by now.
    pub(super) fn ticked(&self) -> Vec<TickedTask> {
        self.files.iter().flat_map(FileMarks::ticked).collect()
    }

    /// Waits for the last looks, and marks again where a person's save undid a mark.
    pub(super) fn settle(&mut self, told: &mut dyn FnMut(LoopNotice<'_>)) {
        for marks in &mut self.files {
            marks.settle(told);
        }
    }
}

pub(super) struct BoardMarks {
    state: StateFolder,
    project: String,
    waiting: Vec<(TaskId, TaskStatus)>,
}

impl BoardMarks {
    fn set(&mut self, task: TaskId, status: TaskStatus) {
        self.waiting.retain(|(other, _)| *other != task);
        self.waiting.push((task, status));
    }

    fn write(&mut self, told: &mut dyn FnMut(LoopNotice<'_>)) {
        let states = std::mem::take(&mut self.waiting);
        if states.is_empty() {
            return;
        }
        let written = Database::open(&self.state).and_then(|mut database| {
            pleach_engine::board::mark_on_board(&mut database, &self.project, &states)
        });
        if let Err(error) = written {
            let why = with_causes(&error);
            told(LoopNotice::Note(format!(
                "could not update the board: {why}"
            )));
        }
        crash_point(CrashPoint::PlanMarked);
    }
}

pub(super) struct FileMarks {
    path: PathBuf,
    waiting: Vec<Change>,
    /// The last change of each task that was written.
    written: Vec<Change>,
    /// One thread a write, each looking a moment later for people who were just saving.
    settling: Vec<JoinHandle<Result<DisplacedOutcome, PlanFileError>>>,
}

impl FileMarks {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            waiting: Vec::new(),
            written: Vec::new(),
            settling: Vec::new(),
        }
    }

    fn set(&mut self, change: Change) {
        self.waiting.retain(|other| other.id != change.id);
        self.waiting.push(change);
    }

    fn write(&mut self, told: &mut dyn FnMut(LoopNotice<'_>)) {
        if self.waiting.is_empty() {
            return;
        }
        while !self.waiting.is_empty() {
            let result = PlanFile::rewrite(&self.path, |text| set_markers(text, &self.waiting));
            match result {
                Ok(written) => {
                    let displaced = written.displaced;
                    self.settling
                        .push(std::thread::spawn(|| displaced.settle()));
                    let again =
                        |change: &Change| self.waiting.iter().any(|new| new.id == change.id);
                    self.written.retain(|change| !again(change));
                    self.written.append(&mut self.waiting);
                }
                Err(RewriteError::Edit(error)) => {
                    let id = error.task().clone();
                    told(LoopNotice::Note(format!(
                        "could not mark the plan: {error}"
                    )));
                    self.waiting.retain(|change| change.id != id);
                }
                Err(RewriteError::File(error)) => {
                    told(LoopNotice::Note(format!(
                        "could not mark the plan: {error}; {}",
                        error.hint()
                    )));
                    self.waiting.clear();
                }
            }
        }
        crash_point(CrashPoint::PlanMarked);
    }

    fn ticked(&self) -> Vec<TickedTask> {
        let is_tick = |change: &&Change| change.to == Marker::Completed;
        let ticked: Vec<&TaskId> = self
            .written
            .iter()
            .filter(is_tick)
            .map(|change| &change.id)
            .collect();
        if ticked.is_empty() {
            return Vec::new();
        }
        let Ok(plan) = PlanFile::load(&self.path) else {
            return Vec::new();
        };
        let tasks = pleach_formats::read(plan.text()).plan.tasks;
        let done = tasks
            .into_iter()
            .filter(|task| task.status == TaskStatus::Completed);
        done.filter(|task| ticked.contains(&&task.id))
            .map(|task| TickedTask {
                file: self.path.clone(),
                task: task.id,
                line: task.line,
            })
            .collect()
    }

    /// Whether somebody saved an older text over ours, which no look at what we displaced can show.
    fn is_undone(&self) -> bool {
        let Ok(plan) = PlanFile::load(&self.path) else {
            return false;
        };
        let mut changes = self.written.clone();
        loop {
            match set_markers(plan.text(), &changes) {
                Ok(marked) => return marked.is_some_and(|marked| marked != plan.text()),
                // It was taken out of the plan, and nobody needs to be told.
                Err(error) => changes.retain(|change| change.id != *error.task()),
            }
        }
    }

    fn settle(&mut self, told: &mut dyn FnMut(LoopNotice<'_>)) {
        for _ in 0..MOST_REPEATS {
            let mut undone = false;
            for look in std::mem::take(&mut self.settling) {
                match look.join() {
                    Ok(Ok(settled)) => undone |= settled == DisplacedOutcome::Merged,
                    Ok(Err(error)) => told(LoopNotice::Note(format!("{error}; {}", error.hint()))),
                    Err(_) => told(LoopNotice::Note(
                        "bug in Pleach: reading the plan panicked".to_owned(),
                    )),
                }
            }
            if !undone && !self.is_undone() {
                break;
            }
            self.waiting = std::mem::take(&mut self.written);
            self.write(told);
        }
        // Of a run that was killed and taken up again, perhaps a moment ago.
        PlanFile::clear_leftovers(&self.path);
    }
}
