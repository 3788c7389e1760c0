//! Reads a plan from Markdown by its own structure.
//!
//! Walks the events of a `CommonMark` parser once and gathers checkboxes, sections, phases and notes
//! with their byte ranges; `finish` decides which of them are tasks.

mod block;
mod depends;
mod files;
mod finish;
mod leading_id;
mod metadata;
mod note;
mod phase_label;
mod raw;

use std::ops::Range;

use pleach_domain::id::PhaseNumber;
use pleach_domain::plan::Phase;
use pleach_domain::task::{Effort, Priority, TaskStatus};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use self::block::Block;
use self::depends::without_depends;
use self::leading_id::{SetOff, leading_id};
use self::metadata::Key;
use self::phase_label::named_phase;
pub(crate) use self::phase_label::phase_title;
use self::raw::{Kind, Raw, RawNeed, RawNote};
use crate::lines::Lines;
use crate::{Document, Mark};

/// Reads a plan.
pub(crate) fn read(text: &str) -> Document {
    let start = body_start(text);
    let mut reader = Reader::new(text);
    for (event, range) in parser(&text[start..]) {
        reader.take(&event, range.start + start..range.end + start);
    }
    reader.flush();
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

/// Where the Markdown begins, behind a byte order mark and front matter.
fn body_start(text: &str) -> usize {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = &text[bom..];
    let fence = if body.starts_with("---") {
        "---"
    } else {
        "+++"
    };
    let mut lines = body.split_inclusive('\n');
    let opens = lines.next().is_some_and(|line| line.trim_end() == fence);
    // A file may also just begin with a rule; front matter begins with a key.
    let mut rest = lines.clone();
    let has_key = rest
        .next()
        .is_some_and(|line| line.contains(':') || line.contains('='));
    if !(opens && has_key) {
        return bom;
    }
    let mut offset = bom + body.find('\n').map_or(body.len(), |at| at + 1);
    for line in lines {
        offset += line.len();
        if line.trim_end() == fence {
            return offset;
        }
    }
    bom
}

/// What was gathered from the text, in its order.
#[derive(Debug, Default)]
struct Gathered {
    raws: Vec<Raw>,
    phases: Vec<Phase>,
    notes: Vec<RawNote>,
}

/// A list item that is open.
#[derive(Debug, Default)]
struct Item {
    checkbox: Option<(bool, Range<usize>)>,
    raw: Option<usize>,
}

/// The phase that checks belong to, if it has a number.
#[derive(Debug, Clone, Copy)]
struct ChecksOf(Option<PhaseNumber>);

struct Reader<'t> {
    text: &'t str,
    lines: Lines<'t>,
    gathered: Gathered,
    block: Block,
    items: Vec<Item>,
    /// Depth of block quotes, code and other text that holds no tasks.
    aside: u32,
    sections: Vec<(HeadingLevel, usize)>,
    phase: Option<(HeadingLevel, PhaseNumber)>,
    verifying: Option<ChecksOf>,
    /// A key whose value is the list below it, and the depth it stands at.
    list_key: Option<(Key, usize)>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            lines: Lines::new(text),
            gathered: Gathered::default(),
            block: Block::default(),
            items: Vec::new(),
            aside: 0,
            sections: Vec::new(),
            phase: None,
            verifying: None,
            list_key: None,
        }
    }

    fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock) => {
                self.flush();
                self.aside += 1;
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                self.aside -= 1;
            }
            _ if self.aside > 0 => {}
            Event::Start(Tag::Item) => {
                self.flush();
                self.items.push(Item::default());
            }
            Event::End(TagEnd::Item) => {
                self.flush();
                if let Some(raw) = self.items.pop().and_then(|item| item.raw) {
                    self.gathered.raws[raw].body.end = range.end;
                }
            }
            Event::TaskListMarker(checked) => {
                if let Some(item) = self.items.last_mut() {
                    item.checkbox = Some((*checked, range.start + 1..range.end - 1));
                }
            }
            Event::Start(Tag::Heading { .. } | Tag::Paragraph | Tag::List(_))
            | Event::End(TagEnd::Paragraph | TagEnd::List(_))
            | Event::Rule => self.flush(),
            Event::End(TagEnd::Heading(level)) => self.heading(*level, range),
            Event::Text(text) => self.block.push_text(text, &range),
            Event::Code(code) => self.block.push_code(code, &range),
            Event::SoftBreak | Event::HardBreak => self.block.push_text("\n", &range),
            Event::Start(_) | Event::End(_) => self.block.cover(&range),
            _ => {}
        }
    }

    /// Ends the block of text under way and gives it to whom it belongs.
    fn flush(&mut self) {
        if self.block.is_empty() {
            return;
        }
        let block = std::mem::take(&mut self.block);
        let owner = self.items.iter().rev().find_map(|item| item.raw);
        let checkbox = self.items.last_mut().and_then(|item| item.checkbox.take());
        match (owner, checkbox, self.sections.last().copied()) {
            (Some(task), _, _) => self.details(task, &block),
            (None, Some(checkbox), _) => self.checkbox(checkbox, &block),
            (None, None, Some((_, section))) => self.section_text(section, &block),
            (None, None, None) => self.free_text(&block),
        }
        self.block = block.emptied();
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
        self.phase = self.phase.filter(|(phase_level, _)| *phase_level < level);
        let title = block.plain.trim();
        if let Some((number, title)) = phase_title(title) {
            self.open_phase(level, number, title, range.start);
        } else if title.starts_with("VERIFY") {
            let line = self.lines.at(range.start);
            self.free_line(title, line);
        } else if let Some(found) = leading_id(title) {
            let line = self.lines.at(range.start);
            let mut raw = Raw::new(Kind::Section, line, range.end..range.end);
            raw.id = Some(found.id.into());
            raw.needs_metadata = found.set_off == SetOff::Space;
            if title.contains('✅') {
                raw.status = TaskStatus::Completed;
            }
            let ornament = found.ornament.replace('✅', "");
            let title = format!("{ornament} {}", found.rest.replace('✅', ""));
            title.trim().clone_into(&mut raw.title);
            self.open(raw);
            self.sections.push((level, self.gathered.raws.len() - 1));
        }
        self.block = block.emptied();
    }

    fn open(&mut self, mut raw: Raw) {
        raw.phase = self.phase.map(|(_, number)| number);
        raw.parent = self.sections.last().map(|(_, section)| *section);
        self.gathered.raws.push(raw);
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
        self.phase = Some((level, number));
        let phase = self.gathered.phase(number);
        if phase.line == 0 {
            phase.line = line;
            phase.title = title;
        }
    }

    /// Ends the sections that a heading of this level ends.
    fn close_sections(&mut self, level: usize, end: usize) {
        while let Some((_, raw)) = self.sections.pop_if(|(open, _)| *open as usize >= level) {
            self.gathered.raws[raw].body.end = end;
        }
    }

    fn checkbox(&mut self, (checked, mark): (bool, Range<usize>), block: &Block) {
        let (plain, needs) = without_depends(&block.plain);
        let title_line = plain.lines().next().unwrap_or("").trim();
        let found = leading_id(title_line);
        if found.is_none()
            && let Some(ChecksOf(phase)) = self.check_of_phase(title_line)
        {
            if let Some(phase) = phase {
                let check = title_line.to_owned();
                self.gathered.phase(phase).checks.push(check);
            }
            return;
        }
        let line = self.lines.at(mark.start);
        let raw_text = block.raw(self.text);
        let body = block.start + raw_text.find('\n').map_or(raw_text.len(), |at| at + 1);
        let mut raw = Raw::new(Kind::Checkbox, line, body..body);
        raw.mark = Mark::Checkbox(mark);
        if checked {
            raw.status = TaskStatus::Completed;
        }
        let title = found.map_or(title_line, |found| found.rest);
        raw.title = match found.map(|found| found.ornament) {
            Some(ornament) if !ornament.is_empty() => format!("{ornament} {title}"),
            _ => title.to_owned(),
        };
        raw.id = found.map(|found| found.id.into());
        raw.add_needs(&needs, line);
        raw.add_files(block);
        self.open(raw);
        if let Some(item) = self.items.last_mut() {
            item.raw = Some(self.gathered.raws.len() - 1);
        }
        for ((text, plain), line) in raw_text
            .lines()
            .zip(block.plain.lines())
            .zip(line..)
            .skip(1)
        {
            // A line that is not indented is a lazy continuation to the parser, not to a person.
            if !text.starts_with([' ', '\t']) {
                self.free_line(plain, line);
            }
        }
    }

    /// The checks that a checkbox without an id belongs to, if it is one.
    fn check_of_phase(&self, title: &str) -> Option<ChecksOf> {
        if title.starts_with("VERIFY") {
            return Some(self.checks_of(title));
        }
        self.verifying
    }

    fn checks_of(&self, label: &str) -> ChecksOf {
        ChecksOf(named_phase(label).or(self.phase.map(|(_, number)| number)))
    }

    fn details(&mut self, task: usize, block: &Block) {
        let line = self.lines.at(block.start);
        let (_, needs) = without_depends(&block.plain);
        let raw = &mut self.gathered.raws[task];
        raw.add_needs(&needs, line);
        raw.add_files(block);
    }

    fn section_text(&mut self, section: usize, block: &Block) {
        let mut offset = block.start;
        let mut is_prose = false;
        for line in block.raw(self.text).split_inclusive('\n') {
            if let Some(entry) = metadata::entry(line) {
                let value = entry.value.start + offset..entry.value.end + offset;
                self.metadata(section, entry.key, value);
            } else if let Some((key, depth)) = self.list_key
                && self.items.len() > depth
            {
                self.value(section, key, line.trim(), offset);
            } else {
                self.list_key = None;
                is_prose = true;
            }
            offset += line.len();
        }
        if is_prose {
            self.details(section, block);
            let first = self.lines.at(block.start);
            for (text, line) in block.plain.lines().zip(first..) {
                if note::has_tag(text) {
                    self.free_line(text, line);
                }
            }
        }
    }

    fn metadata(&mut self, section: usize, key: Key, value: Range<usize>) {
        let text = &self.text[value.clone()];
        let raw = &mut self.gathered.raws[section];
        raw.has_metadata = true;
        self.list_key = text.is_empty().then_some((key, self.items.len()));
        if key == Key::Status && raw.mark == Mark::None && !text.is_empty() {
            let part = metadata::status_range(text);
            raw.status = metadata::status(text);
            raw.mark = Mark::Status(value.start + part.start..value.start + part.end);
        }
        self.value(section, key, text, value.start);
    }

    fn value(&mut self, section: usize, key: Key, text: &str, offset: usize) {
        let line = self.lines.at(offset);
        let raw = &mut self.gathered.raws[section];
        match key {
            Key::Status => {}
            Key::Dependencies => raw.needs.extend(RawNeed::all(text, line)),
            Key::Blocking => raw.blocking.extend(RawNeed::all(text, line)),
            Key::Priority => raw.priority = Priority::read(text),
            Key::Effort => raw.effort = raw.effort.or_else(|| Effort::read(text)),
            Key::Labels => {
                let labels = text.split(',').map(|label| label.trim().trim_matches('`'));
                raw.labels
                    .extend(labels.filter(|label| !label.is_empty()).map(str::to_owned));
            }
            Key::Files => {
                for part in text.split(", ") {
                    raw.add_file(files::listed(part));
                }
            }
        }
    }

    fn free_text(&mut self, block: &Block) {
        let first = self.lines.at(block.start);
        for (text, line) in block.plain.lines().zip(first..) {
            self.free_line(text, line);
        }
    }

    /// Reads a line that belongs to no task; tells whether it meant anything.
    fn free_line(&mut self, text: &str, line: u32) -> bool {
        let text = text.trim();
        if text.starts_with("VERIFY") {
            let checks = self.checks_of(text);
            self.verifying = Some(checks);
            let check = text.split_once(':').map_or("", |(_, check)| check.trim());
            if let Some(phase) = checks.0.filter(|_| !check.is_empty()) {
                self.gathered.phase(phase).checks.push(check.to_owned());
            }
            return true;
        }
        if !note::has_tag(text) {
            return false;
        }
        let statements = note::statements(text).into_iter();
        let notes = statements.map(|statement| RawNote::OfTasks { statement, line });
        self.gathered.notes.extend(notes);
        true
    }
}
