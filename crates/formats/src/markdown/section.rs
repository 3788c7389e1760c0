//! Reads the text of a TODO section: metadata with its values, and everything else.
//!
//! Part of the reader; knows which section a line belongs to, not which sections are tasks.

use std::ops::Range;

use pleach_domain::task::{Effort, Priority, SizeChoice, TaskHold};

use super::block::Block;
use super::candidate::RawNeed;
use super::metadata::{self, MetadataKey};
use super::{MarkdownReader, files, note};
use crate::Mark;

impl MarkdownReader<'_> {
    pub(super) fn section_text(&mut self, section: usize, block: &Block) {
        let mut offset = block.start;
        let mut is_prose = false;
        let mut open_key = None;
        for (number, line) in block.raw(self.text).split_inclusive('\n').enumerate() {
            let entries = if block.is_quoted(offset) {
                None
            } else {
                self.metadata_line(section, line, offset)
            };
            if let Some((key, value)) = entries {
                // A value that ends in a comma, or is still to come, goes on in the next line.
                open_key = (value.is_empty() || value.ends_with(',')).then_some(key);
                if open_key.is_none() && key != MetadataKey::Files {
                    let lines = &mut self.gathered.raws[section].metadata_lines;
                    lines.push(offset..offset + line.len());
                }
            } else if let Some(key) = open_key {
                self.value(section, key, line.trim(), offset);
                open_key = line.trim_end().ends_with(',').then_some(key);
                is_prose = true;
            } else {
                self.list_value(section, number, line, offset);
                is_prose = true;
            }
            offset += line.len();
        }
        if is_prose {
            self.details(section, block);
            let first = self.lines.at(block.start);
            for (text, line) in block.guarded().lines().zip(first..) {
                if note::has_tag(text) {
                    self.free_line(text, line);
                }
            }
        }
    }

    /// Reads the entries of a line, which may stand side by side; returns the last one.
    fn metadata_line<'l>(
        &mut self,
        section: usize,
        line: &'l str,
        offset: usize,
    ) -> Option<(MetadataKey, &'l str)> {
        let mut last = None;
        let mut start = 0;
        for part in line.split('|') {
            if let Some(entry) = metadata::entry(part) {
                let value = entry.value.start + start..entry.value.end + start;
                last = Some((entry.key, &line[value.clone()]));
                self.metadata(section, entry.key, value.start + offset..value.end + offset);
            } else if start == 0 {
                return None;
            }
            start += part.len() + 1;
        }
        last
    }

    /// An entry of the list below a key: the first line of an item, one level deeper than the key.
    fn list_value(&mut self, section: usize, number: usize, line: &str, offset: usize) {
        match self.list_key {
            Some((key, depth)) if self.items.len() > depth => {
                if number == 0 && self.items.len() == depth + 1 {
                    self.value(section, key, line.trim(), offset);
                }
            }
            _ => self.list_key = None,
        }
    }

    fn metadata(&mut self, section: usize, key: MetadataKey, value: Range<usize>) {
        let text = &self.text[value.clone()];
        let raw = &mut self.gathered.raws[section];
        raw.has_metadata = true;
        raw.has_status |= key == MetadataKey::Status;
        self.list_key = text.is_empty().then_some((key, self.items.len()));
        if key == MetadataKey::Status && raw.mark == Mark::None && !text.is_empty() {
            let part = metadata::status_range(text);
            raw.status = metadata::status(text);
            if metadata::is_blocked(text) {
                raw.hold = TaskHold::Blocked;
            }
            raw.mark = Mark::Status(value.start + part.start..value.start + part.end);
        }
        self.value(section, key, text, value.start);
    }

    fn value(&mut self, section: usize, key: MetadataKey, text: &str, offset: usize) {
        let line = self.lines.at(offset);
        let raw = &mut self.gathered.raws[section];
        match key {
            MetadataKey::Status => {}
            MetadataKey::Dependencies => raw.needs.extend(RawNeed::all(text, line)),
            MetadataKey::Blocking => raw.blocking.extend(RawNeed::all(text, line)),
            MetadataKey::Priority => raw.priority = Priority::read(text),
            MetadataKey::Effort => raw.effort = raw.effort.or_else(|| Effort::read(text)),
            MetadataKey::Size => {
                let named = metadata::size(text).map(str::to_owned);
                raw.add_size(named.map(|name| SizeChoice { name, line: 0 }), line);
            }
            MetadataKey::Labels => {
                let labels = text.split(',').map(|label| label.trim().trim_matches('`'));
                let labels = labels.filter(|label| !label.is_empty());
                raw.labels.extend(labels.map(str::to_owned));
            }
            MetadataKey::Files => {
                for file in files::listed(text) {
                    raw.add_file(Some(file));
                }
            }
        }
    }
}
