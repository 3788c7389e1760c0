//! Reads a plan from Markdown by its own structure.
//!
//! Walks the events of a `CommonMark` parser once and gathers checkboxes, sections, phases and notes
//! with their byte ranges; `finish` decides which of them are tasks.

mod block;
mod candidate;
mod checkbox;
mod checks;
mod depends;
mod files;
mod finish;
mod front_matter;
mod leading_id;
mod metadata;
mod note;
mod phase_label;
mod pieces;
mod ranges;
mod section;
mod size;
mod task_index;
mod title;

use std::collections::HashMap;
use std::ops::Range;

use pleach_domain::id::PhaseNumber;
use pleach_domain::plan::Phase;
use pleach_domain::task::{Priority, TaskStatus};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use self::block::{Block, unguarded};
use self::candidate::{CandidateKind, Claim, RawNote, TaskCandidate};
use self::checkbox::Checkbox;
use self::checks::{ChecksPhase, Criteria};
use self::depends::without_depends;
use self::front_matter::body_start;
use self::leading_id::{IdSeparator, leading_id};
use self::metadata::MetadataKey;
pub(crate) use self::phase_label::phase_title;
use self::phase_label::{PhaseName, is_criteria_label, named_phase_title};
use self::phase_label::{numbered_phase_title, verify_label};
use self::pieces::pieces;
use self::size::without_sizes;
use self::title::{bold_number, first_line, without_id};
use crate::Document;
use crate::lines::Lines;

/// How much of a large text is parsed at once.
const PIECE: usize = 512 << 10;

pub(crate) fn read(text: &str) -> Document {
    read_in_pieces(text, PIECE)
}

fn read_in_pieces(text: &str, size: usize) -> Document {
    let mut reader = MarkdownReader::new(text);
    for piece in pieces(text, body_start(text), size) {
        let start = piece.start;
        for (event, range) in parser(&text[piece]) {
            reader.take(&event, range.start + start..range.end + start);
        }
        reader.flush();
    }
    reader.close_sections(0, text.len());
    finish::document(text, reader.gathered)
}

/// Runs the parser over a text and throws everything away: what reading costs at least.
pub fn events_alone(text: &str) -> usize {
    parser(text).count()
}

fn parser(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    Parser::new_ext(text, Options::ENABLE_TASKLISTS).into_offset_iter()
}

#[derive(Debug, Default)]
struct Gathered {
    raws: Vec<TaskCandidate>,
    phases: Vec<Phase>,
    notes: Vec<RawNote>,
}

#[derive(Debug, Default)]
struct OpenItem {
    checkbox: Option<Checkbox>,
    raw: Option<usize>,
    has_text: bool,
}

struct MarkdownReader<'t> {
    text: &'t str,
    lines: Lines<'t>,
    gathered: Gathered,
    block: Block,
    items: Vec<OpenItem>,
    /// Depth of code and comments, which say nothing.
    aside: u32,
    /// Depth of block quotes, in which only notes count.
    quotes: u32,
    sections: Vec<(HeadingLevel, usize)>,
    phases: Vec<(HeadingLevel, PhaseNumber)>,
    named_phases: HashMap<String, PhaseNumber>,
    verifying: Option<ChecksPhase>,
    /// What this part of the file is, if it lists what must be true in the end.
    criteria: Option<Criteria>,
    /// A key whose value is the list below it, and the depth it stands at.
    list_key: Option<(MetadataKey, usize)>,
}

impl<'t> MarkdownReader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            lines: Lines::new(text),
            gathered: Gathered::default(),
            block: Block::default(),
            items: Vec::new(),
            aside: 0,
            quotes: 0,
            sections: Vec::new(),
            phases: Vec::new(),
            named_phases: HashMap::new(),
            verifying: None,
            criteria: None,
            list_key: None,
        }
    }

    fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                self.flush();
                self.aside += 1;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => self.aside -= 1,
            _ if self.aside > 0 => {}
            Event::Start(Tag::BlockQuote(_)) => {
                self.flush();
                self.quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                self.flush();
                self.quotes -= 1;
            }
            Event::Text(text) => self.block.push_text(text, &range),
            Event::Code(code) => self.block.push_code(code, &range),
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => self.block.open_link(&range),
            Event::End(TagEnd::Link | TagEnd::Image) => self.block.close_link(),
            Event::SoftBreak | Event::HardBreak => self.block.push_text("\n", &range),
            // Generic types in a title look like tags to a parser.
            Event::InlineHtml(html) if !html.starts_with("<!--") => {
                self.block.push_text(html, &range);
            }
            Event::Start(Tag::Paragraph | Tag::List(_))
            | Event::End(TagEnd::Paragraph | TagEnd::List(_))
            | Event::Rule => self.flush(),
            _ if self.quotes > 0 => {}
            Event::Start(Tag::Item) => {
                self.flush();
                self.items.push(OpenItem::default());
            }
            Event::End(TagEnd::Item) => {
                self.flush();
                if let Some(raw) = self.items.pop().and_then(|item| item.raw) {
                    self.gathered.raws[raw].body.end = range.end;
                }
            }
            Event::TaskListMarker(checked) => {
                let mark = if *checked { b'x' } else { b' ' };
                self.open_box(mark, range.start + 1..range.end - 1);
            }
            Event::Start(Tag::Heading { .. }) => self.flush(),
            Event::End(TagEnd::Heading(level)) => self.heading(*level, range),
            Event::Start(_) | Event::End(_) => self.block.cover(&range),
            _ => {}
        }
    }

    /// Ends the block of text under way and gives it to whom it belongs.
    fn flush(&mut self) {
        let mut block = std::mem::take(&mut self.block);
        if block.is_empty() || self.quotes > 0 {
            if self.quotes > 0 {
                self.quoted_text(&block);
            }
            self.block = block.emptied();
            return;
        }
        let item = self.items.last_mut();
        let is_first = item.is_some_and(|item| !std::mem::replace(&mut item.has_text, true));
        if is_first && let Some((mark, at)) = block.take_odd_box(self.text) {
            self.open_box(mark, at);
        }
        let owner = self.items.iter().rev().find_map(|item| item.raw);
        let checkbox = self.items.last_mut().and_then(|item| item.checkbox.take());
        match (owner, checkbox, self.sections.last().copied()) {
            (Some(task), _, _) => self.details(task, &block),
            (None, Some(checkbox), _) => self.checkbox(checkbox, &block),
            (None, None, Some((level, section))) if !self.is_text_of_phase(level, section) => {
                self.section_text(section, &block);
            }
            (None, None, _) => self.free_text(&block),
        }
        self.block = block.emptied();
    }

    /// Whether the text here belongs to a phase inside a section that only groups phases.
    fn is_text_of_phase(&self, level: HeadingLevel, section: usize) -> bool {
        let is_inside = self.phases.last().is_some_and(|(phase, _)| *phase > level);
        is_inside && self.gathered.raws[section].is_merely_numbered()
    }

    fn heading(&mut self, level: HeadingLevel, range: Range<usize>) {
        let is_underlined = !self.text[range.clone()].starts_with('#');
        let block = &self.block;
        let holds_metadata = || {
            block
                .raw(self.text)
                .lines()
                .any(|line| metadata::entry(line).is_some())
        };
        // A rule right below metadata makes a heading of it in CommonMark; nobody means that.
        if !self.items.is_empty() || (is_underlined && holds_metadata()) {
            self.flush();
            return;
        }
        let block = std::mem::take(&mut self.block);
        self.verifying = None;
        self.list_key = None;
        self.close_sections(level as usize, range.start);
        while self.phases.pop_if(|(open, _)| *open >= level).is_some() {}
        let title = block.guarded();
        let title = title.trim();
        let numbered = numbered_phase_title(title);
        let opened = phase_title(title).or(numbered);
        let opened = opened.or_else(|| self.named_phase(title));
        // A heading about the phase that is open anyway opens none.
        let is_of_phase = opened.is_some_and(|(number, _)| self.phase() != Some(number));
        self.criteria_at_heading(level as usize, if is_of_phase { "" } else { title });
        if let Some((number, title)) = opened {
            if numbered.is_some() {
                self.numbered_heading(level, &range, &block);
            }
            if is_of_phase {
                let title = unguarded(title);
                self.open_phase(level, number, &title, range.start);
            }
        } else if verify_label(title).is_some() {
            let line = self.lines.at(range.start);
            self.free_line(title, line);
        } else {
            self.numbered_heading(level, &range, &block);
        }
        self.block = block.emptied();
    }

    fn numbered_heading(&mut self, level: HeadingLevel, range: &Range<usize>, block: &Block) {
        let title = block.plain.trim();
        let written = first_line(block, self.text);
        let found = leading_id(title).or_else(|| bold_number(&written, title));
        let Some(found) = found else { return };
        let line = self.lines.at(range.start);
        let mut raw = TaskCandidate::new(CandidateKind::Section, line, range.end..range.end);
        raw.id = Some(found.id.into());
        raw.claim = match found.set_off {
            IdSeparator::TaskWord => Claim::TaskWord,
            IdSeparator::Mark => Claim::Task,
            IdSeparator::Space => Claim::Metadata,
        };
        let mut plain = format!("{} {}", found.ornament, found.rest);
        let mut written = without_id(&written, found.id);
        if title.contains('✅') {
            raw.status = TaskStatus::Completed;
            raw.has_status = true;
            plain = plain.replace('✅', "");
            written = written.replace('✅', "");
        }
        plain.trim().clone_into(&mut raw.title);
        written.trim().clone_into(&mut raw.written);
        raw.priority = Priority::in_title(&block.prose()).unwrap_or(raw.priority);
        self.open(raw);
        self.sections.push((level, self.gathered.raws.len() - 1));
    }

    fn phase(&self) -> Option<PhaseNumber> {
        self.phases.last().map(|(_, number)| *number)
    }

    fn open(&mut self, mut raw: TaskCandidate) {
        raw.phase = self.phase();
        raw.is_criterion = match self.criteria {
            Some(Criteria::Heading(_)) => true,
            Some(Criteria::Label) => raw.id.is_none(),
            None => false,
        };
        raw.parent = self.sections.last().map(|(_, section)| *section);
        self.gathered.raws.push(raw);
    }

    /// The phase that a heading without a number for it opens.
    fn named_phase<'h>(&mut self, heading: &'h str) -> Option<(PhaseNumber, &'h str)> {
        let (name, title) = named_phase_title(heading)?;
        let number = match name {
            PhaseName::PartOf(number) => number,
            PhaseName::Word(word) => {
                let last = self.gathered.phases.last();
                let next = last.map_or(1, |phase| phase.number.0.saturating_add(1));
                let named = self.named_phases.entry(word.to_owned());
                *named.or_insert(PhaseNumber(next))
            }
        };
        Some((number, title))
    }

    fn open_phase(&mut self, level: HeadingLevel, number: PhaseNumber, title: &str, start: usize) {
        let line = self.lines.at(start);
        let mut title = title.to_owned();
        if note::has_tag(&title) {
            let (bare, reason) = note::without_tag(&title);
            title = bare;
            self.gathered.notes.push(RawNote::OfPhase {
                number,
                reason,
                line,
            });
        }
        for (_, section) in &self.sections {
            let claim = &mut self.gathered.raws[*section].claim;
            if *claim == Claim::Task {
                *claim = Claim::Chapter;
            }
        }
        self.phases.push((level, number));
        let phase = self.gathered.phase(number);
        if phase.line == 0 {
            phase.line = line;
            phase.title = title;
        }
    }

    fn close_sections(&mut self, level: usize, end: usize) {
        while let Some((_, raw)) = self.sections.pop_if(|(open, _)| *open as usize >= level) {
            self.gathered.raws[raw].body.end = end;
        }
    }

    fn details(&mut self, task: usize, block: &Block) {
        let line = self.lines.at(block.start);
        let guarded = block.guarded();
        let raw = &mut self.gathered.raws[task];
        // Most text has no bracket.
        if guarded.contains('(') {
            raw.add_needs(&without_depends(&guarded).1, line);
            raw.add_size(without_sizes(&guarded).1, line);
        }
        raw.add_files(block);
    }

    fn free_text(&mut self, block: &Block) {
        let first = self.lines.at(block.start);
        for (text, line) in block.guarded().lines().zip(first..) {
            self.free_line(text, line);
        }
    }

    /// A note may stand in a quote for emphasis; tasks in a quote are somebody else's.
    fn quoted_text(&mut self, block: &Block) {
        let first = self.lines.at(block.start);
        for (text, line) in block.guarded().lines().zip(first..) {
            if text.trim().starts_with("Execution Note") {
                self.free_line(text, line);
            }
        }
    }

    /// Reads a line that belongs to no task.
    fn free_line(&mut self, text: &str, line: u32) {
        let text = text.trim();
        if let Some((named, check)) = verify_label(text) {
            let checks = ChecksPhase(named.or(self.phase()));
            self.verifying = Some(checks);
            self.add_check(checks, check);
        } else if note::has_tag(text) {
            self.note(text, line);
        } else if is_criteria_label(text) {
            self.criteria.get_or_insert(Criteria::Label);
        }
    }

    fn note(&mut self, text: &str, line: u32) {
        let statements = note::statements(text);
        if let (true, Some(number)) = (statements.is_empty(), self.phase()) {
            let reason = unguarded(&note::reason_of_phase(text));
            let note = RawNote::OfPhase {
                number,
                reason,
                line,
            };
            self.gathered.notes.push(note);
        }
        let notes = statements.into_iter().map(|mut statement| {
            statement.reason = unguarded(&statement.reason);
            RawNote::OfTasks { statement, line }
        });
        self.gathered.notes.extend(notes);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn a_text_in_pieces_reads_as_it_does_whole(parts in proptest::collection::vec(part(), 0..40)) {
            let text = parts.concat();
            prop_assert_eq!(read_in_pieces(&text, 1), read_in_pieces(&text, usize::MAX));
        }
    }

    fn part() -> impl Strategy<Value = String> {
        let fixed = prop::sample::select(vec![
            "# A\n",
            "## Phase 2: B\n",
            "### 7. C\n",
            "- [ ] 1.1 d\n",
            "  more\n",
            "  - [x] e\n",
            "```\n",
            "  ```\n",
            "~~~\n",
            "> ",
            "- ",
            "\n",
            "**Status**: [DONE]\n",
            "**VERIFY Phase 2:**\n",
            "text\n",
            "---\n",
            "===\n",
            "\r\n",
            "<!--\n",
            "-->\n",
            "[x]: /y\n",
            "    code\n",
            "\t",
            "1. [ ] f\n",
            "#",
            "####### g\n",
            "`",
            "(depends: 1.1)\n",
        ]);
        fixed.prop_map(str::to_owned)
    }
}
