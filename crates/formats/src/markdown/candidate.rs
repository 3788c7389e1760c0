//! What the reader gathers before it is known what is a task.
//!
//! Data as written; `finish` draws the conclusions.

use std::ops::Range;

use compact_str::CompactString;
use pleach_domain::id::PhaseNumber;
use pleach_domain::task::{Effort, Priority, SizeChoice, TaskHold, TaskStatus};

use super::block::Block;
use super::depends::DependsList;
use super::files;
use super::metadata::{DependencyPart, named_tasks};
use super::note::Statement;
use crate::Mark;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidateKind {
    Checkbox,
    Section,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The word Task before its number.
    TaskWord,
    /// Its form alone.
    Task,
    /// Its form, unless the tasks are those of the phases inside of it.
    Chapter,
    /// Its metadata, if it has any: a heading such as `## 2.1 Scope`.
    Metadata,
    /// Nothing: it is a heading beside tasks that say how far they are.
    Nothing,
}

#[derive(Debug)]
pub(super) struct TaskCandidate {
    pub(super) kind: CandidateKind,
    pub(super) id: Option<CompactString>,
    /// The number it opens with, which is an id where most boxes open with one.
    pub(super) bare_number: Option<CompactString>,
    pub(super) title: String,
    /// The title in its own Markdown.
    pub(super) written: String,
    pub(super) body: Range<usize>,
    pub(super) status: TaskStatus,
    pub(super) phase: Option<PhaseNumber>,
    pub(super) needs: Vec<RawNeed>,
    pub(super) blocking: Vec<RawNeed>,
    pub(super) files: Vec<String>,
    /// Bare words that may be paths.
    pub(super) mentions: Vec<String>,
    pub(super) priority: Priority,
    pub(super) effort: Option<Effort>,
    pub(super) size: Option<SizeChoice>,
    pub(super) labels: Vec<String>,
    pub(super) mark: Mark,
    pub(super) nested: Vec<Range<usize>>,
    pub(super) line: u32,
    pub(super) parent: Option<usize>,
    pub(super) has_metadata: bool,
    /// The lines that say things of the plan and are no part of what is asked.
    pub(super) metadata_lines: Vec<Range<usize>>,
    pub(super) has_status: bool,
    pub(super) hold: TaskHold,
    /// It stands below a heading such as "Success criteria".
    pub(super) is_criterion: bool,
    pub(super) claim: Claim,
}

impl TaskCandidate {
    /// Whether it is a section of which nothing but a number says that it is a task.
    pub(super) fn is_merely_numbered(&self) -> bool {
        let by_form = matches!(self.claim, Claim::Task | Claim::Chapter);
        self.kind == CandidateKind::Section && by_form && !self.has_metadata
    }

    /// Whether it says so, how far it is, or what it needs; a mere group may have a priority too.
    pub(super) fn is_surely_a_task(&self) -> bool {
        let has_edges = !(self.needs.is_empty() && self.blocking.is_empty());
        self.claim == Claim::TaskWord || self.has_status || has_edges
    }

    pub(super) fn new(kind: CandidateKind, line: u32, body: Range<usize>) -> Self {
        Self {
            kind,
            id: None,
            bare_number: None,
            title: String::new(),
            written: String::new(),
            body,
            status: TaskStatus::Pending,
            phase: None,
            needs: Vec::new(),
            blocking: Vec::new(),
            files: Vec::new(),
            mentions: Vec::new(),
            priority: Priority::Medium,
            effort: None,
            size: None,
            labels: Vec::new(),
            mark: Mark::None,
            nested: Vec::new(),
            line,
            parent: None,
            has_metadata: false,
            metadata_lines: Vec::new(),
            has_status: false,
            hold: TaskHold::None,
            is_criterion: false,
            claim: Claim::Task,
        }
    }

    pub(super) fn add_needs(&mut self, lists: &[DependsList], first_line: u32) {
        for found in lists {
            let line = first_line + found.lines_down;
            self.needs.extend(RawNeed::all(&found.list, line));
        }
    }

    /// What it says of its size, at so many lines below the first; what it said before counts.
    pub(super) fn add_size(&mut self, found: Option<SizeChoice>, first_line: u32) {
        let found = found.map(|size| SizeChoice {
            line: first_line + size.line,
            ..size
        });
        self.size = self.size.take().or(found);
    }

    pub(super) fn add_files(&mut self, block: &Block) {
        for span in block.code_spans() {
            self.add_file(files::declared(span));
        }
        for word in block.prose().split_whitespace() {
            if let Some(path) = files::mentioned(word) {
                self.add_mention(path);
            }
        }
    }

    pub(super) fn add_mention(&mut self, path: &str) {
        if !self.mentions.iter().any(|known| known == path) {
            self.mentions.push(path.to_owned());
        }
    }

    pub(super) fn add_file(&mut self, file: Option<&str>) {
        if let Some(file) = file.filter(|file| !self.files.iter().any(|known| known == file)) {
            self.files.push(file.to_owned());
        }
    }
}

#[derive(Debug)]
pub(super) struct RawNeed {
    pub(super) named: DependencyPart,
    pub(super) line: u32,
}

impl RawNeed {
    /// The dependencies of a list such as `61, Task 62`.
    pub(super) fn all(list: &str, line: u32) -> impl Iterator<Item = Self> {
        let named = named_tasks(list).into_iter();
        named.map(move |named| Self { named, line })
    }
}

#[derive(Debug)]
pub(super) enum RawNote {
    OfTasks {
        statement: Statement,
        line: u32,
    },
    OfPhase {
        number: PhaseNumber,
        reason: String,
        line: u32,
    },
}
