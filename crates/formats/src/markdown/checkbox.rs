//! Makes something that may be a task of a checkbox and its text.
//!
//! Part of the reader; knows what the mark in a box means.

use std::ops::Range;

use pleach_domain::task::{Priority, TaskHold, TaskStatus};

use super::MarkdownReader;
use super::block::{Block, unguarded};
use super::candidate::{CandidateKind, TaskCandidate};
use super::depends::without_depends;
use super::leading_id::{bare_number, leading_id};
use super::size::without_sizes;
use super::title::{bold_number, first_line, without_id};
use crate::Mark;

/// The box of a task: the character in it, and where that stands.
#[derive(Debug)]
pub(super) struct Checkbox {
    mark: u8,
    at: Range<usize>,
}

impl MarkdownReader<'_> {
    pub(super) fn open_box(&mut self, mark: u8, at: Range<usize>) {
        let around = self.items.iter().rev().find_map(|item| item.raw);
        if let Some(task) = around {
            self.gathered.raws[task].nested.push(at.clone());
        }
        if let Some(item) = self.items.last_mut() {
            item.checkbox = Some(Checkbox { mark, at });
        }
    }

    pub(super) fn checkbox(&mut self, Checkbox { mark, at }: Checkbox, block: &Block) {
        let (plain, size) = without_sizes(&block.guarded());
        let (plain, needs) = without_depends(&plain);
        let title_line = unguarded(plain.lines().next().unwrap_or("").trim());
        let written = first_line(block, self.text);
        let found = leading_id(&title_line).or_else(|| bold_number(&written, &title_line));
        if found.is_none() && self.is_check(&title_line, &written) {
            return;
        }
        let line = self.lines.at(at.start);
        let raw_text = block.raw(self.text);
        let body = block.start + raw_text.find('\n').map_or(raw_text.len(), |at| at + 1);
        let mut raw = TaskCandidate::new(CandidateKind::Checkbox, line, body..body);
        raw.mark = Mark::Checkbox(at);
        raw.status = match mark {
            b'x' | b'X' => TaskStatus::Completed,
            b'~' | b'/' => TaskStatus::InProgress,
            _ => TaskStatus::Pending,
        };
        if matches!(mark, b'-' | b'>') {
            // Under way to some, given up to others.
            raw.hold = TaskHold::Blocked;
        }
        let title = found.map_or(title_line.as_str(), |found| found.rest);
        raw.written = found.map_or_else(|| written.clone(), |found| without_id(&written, found.id));
        raw.bare_number = bare_number(&title_line).map(Into::into);
        let first_of_prose = block.prose().lines().next().and_then(Priority::in_title);
        raw.priority = first_of_prose.unwrap_or(raw.priority);
        raw.title = match found.map(|found| found.ornament) {
            Some(ornament) if !ornament.is_empty() => format!("{ornament} {title}"),
            _ => title.to_owned(),
        };
        raw.id = found.map(|found| found.id.into());
        raw.add_needs(&needs, line);
        raw.add_size(size, line);
        raw.add_files(block);
        self.open(raw);
        if let Some(item) = self.items.last_mut() {
            item.raw = Some(self.gathered.raws.len() - 1);
        }
        for ((text, plain), line) in raw_text
            .lines()
            .zip(block.guarded().lines())
            .zip(line..)
            .skip(1)
        {
            // A line that is not indented is a lazy continuation to the parser, not to a person.
            if !text.starts_with([' ', '\t']) {
                self.free_line(plain, line);
            }
        }
    }
}
