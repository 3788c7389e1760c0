//! What agents tell in entries, as a person reads it; everything else passes as it is.
//!
//! Works piece by piece, wherever the pieces are cut.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use pleach_driver::{Entry, FileChange, Outcome, ToolStatus};

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// How every line begins that bears an entry.
const BEGINNING: &[u8] = b"{\"pleach\":";

/// So many lines of what a tool said are shown.
const LINES_OF_TOOLS: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    Coloured,
    Plain,
}

#[derive(Debug)]
pub(super) struct EntryPrinter {
    paint: Colours,
    /// A line that bears an entry, or may do so, as far as it is there.
    held: Vec<u8>,
    /// Whether a line has begun that bears none.
    is_in_line: bool,
}

impl EntryPrinter {
    pub(super) fn new(paint: Colours) -> Self {
        Self {
            paint,
            held: Vec::new(),
            is_in_line: false,
        }
    }

    /// The next piece, as it is to be printed.
    pub(super) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(piece.len());
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            if self.is_in_line {
                out.extend_from_slice(part);
                self.is_in_line = !ends;
                continue;
            }
            self.held.extend_from_slice(part);
            let common = self.held.len().min(BEGINNING.len());
            if self.held[..common] != BEGINNING[..common] || (ends && common < BEGINNING.len()) {
                out.append(&mut self.held);
                self.is_in_line = !ends;
            } else if ends {
                let line = std::mem::take(&mut self.held);
                match Entry::from_line(&line) {
                    Some(entry) => out.extend_from_slice(self.worded(&entry).as_bytes()),
                    None => out.extend_from_slice(&line),
                }
            }
        }
        out
    }

    fn worded(&self, entry: &Entry) -> String {
        let words = in_words(entry);
        match self.paint {
            Colours::Coloured => words,
            Colours::Plain => anstream::adapter::strip_str(&words).to_string(),
        }
    }

    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

fn in_words(entry: &Entry) -> String {
    let mut out = String::new();
    match entry {
        Entry::Text { text } => put(&mut out, Style::new(), "", text),
        Entry::Thinking { text } | Entry::Raw { text } => put(&mut out, DIM, "", text),
        Entry::ToolCall { title, .. } => put(&mut out, CYAN, "→ ", title),
        Entry::ToolResult { status, output, .. } => put_result(&mut out, *status, output),
        Entry::FileEdit { path, change, diff } => {
            put_edit(&mut out, path, *change, diff.as_deref());
        }
        Entry::Plan { steps } => {
            for step in steps {
                let sign = match &*step.status {
                    "completed" => "☑ ",
                    "in_progress" => "▸ ",
                    _ => "☐ ",
                };
                put(&mut out, DIM, sign, &step.text);
            }
        }
        Entry::Limit { message, .. } => put(&mut out, YELLOW, "limited: ", message),
        Entry::Retry { message, .. } => put(&mut out, YELLOW, "retrying: ", message),
        Entry::Error { message, .. } => put(&mut out, RED, "error: ", message),
        Entry::Session { .. } => put(&mut out, DIM, "session ", &entry.in_words()),
        Entry::Usage(_) => {}
        Entry::Result(conclusion) => match conclusion.outcome {
            // What it said last is there already.
            Outcome::Completed => put(&mut out, GREEN, "", "completed"),
            Outcome::Interrupted => put(&mut out, YELLOW, "", "interrupted"),
            Outcome::Failed(_) => put(&mut out, RED, "failed: ", &conclusion.message),
        },
    }
    out
}

/// Every line with the same sign before it, or as much room.
fn put(out: &mut String, style: Style, sign: &str, text: &str) {
    let room = " ".repeat(sign.chars().count());
    let mut before = sign;
    for line in text.trim_end().lines() {
        let _ = writeln!(out, "{style}{before}{line}{style:#}");
        before = &room;
    }
}

fn put_result(out: &mut String, status: ToolStatus, output: &str) {
    let style = match status {
        ToolStatus::Ok => DIM,
        ToolStatus::Error => RED,
        ToolStatus::Denied | ToolStatus::Cancelled => YELLOW,
    };
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let shown = &lines[..lines.len().min(LINES_OF_TOOLS)];
    match status {
        ToolStatus::Denied => put(out, style, "  ", "not allowed"),
        ToolStatus::Cancelled => put(out, style, "  ", "cancelled"),
        ToolStatus::Ok | ToolStatus::Error => {}
    }
    for line in shown {
        let _ = writeln!(out, "{style}  {line}{style:#}");
    }
    if shown.len() < lines.len() {
        let more = lines.len() - shown.len();
        let _ = writeln!(out, "{DIM}  … {more} more lines{DIM:#}");
    }
}

fn put_edit(out: &mut String, path: &str, change: FileChange, diff: Option<&str>) {
    let (style, sign) = match change {
        FileChange::Add => (GREEN, '+'),
        FileChange::Modify => (YELLOW, '~'),
        FileChange::Delete => (RED, '-'),
    };
    let _ = writeln!(out, "{style}{sign}{style:#} {BOLD}{path}{BOLD:#}");
    for line in diff.unwrap_or_default().lines() {
        let style = match line.bytes().next() {
            Some(b'+') => GREEN,
            Some(b'-') => RED,
            Some(b'@') => CYAN,
            _ => Style::new(),
        };
        let _ = writeln!(out, "  {style}{line}{style:#}");
    }
}

#[cfg(test)]
mod tests {
    use pleach_driver::{Conclusion, ToolKind, Trouble};

    use super::*;

    fn lines(count: u32, before: &str) -> String {
        let lines: Vec<String> = (0..count).map(|line| format!("{before}{line}\n")).collect();
        lines.concat()
    }

    #[test]
    fn entries_become_words_wherever_they_are_cut_and_the_rest_stays() {
        let call = Entry::ToolCall {
            id: "1".to_owned(),
            tool: ToolKind::Execute,
            name: "Bash".to_owned(),
            title: "$ ls\n-la".to_owned(),
            input: serde_json::Value::Null,
        };
        let result = Entry::ToolResult {
            id: "1".to_owned(),
            status: ToolStatus::Error,
            output: lines(14, ""),
            exit_code: None,
        };
        let edit = Entry::FileEdit {
            path: "a.rs".to_owned(),
            change: FileChange::Modify,
            diff: Some("@@ -1 +1 @@\n-a\n+b\n".to_owned()),
        };
        let failed = Entry::Result(Conclusion::failed(Trouble::Login, "no key"));
        let mut log = b"plain \xff\n{\"other\": 1}\n{\"pleach\":{\"tokens\":1}}\n".to_vec();
        for entry in [call, result, edit, failed] {
            log.extend_from_slice(entry.to_line().as_bytes());
            log.push(b'\n');
        }
        log.extend_from_slice(b"{\"ple");
        let whole = {
            let mut told = EntryPrinter::new(Colours::Plain);
            [told.pass(&log), told.rest()].concat()
        };
        let lines = lines(12, "  ");
        let expected = format!(
            "→ $ ls\n  -la\n{lines}  … 2 more lines\n~ a.rs\n  @@ -1 +1 @@\n  -a\n  +b\nfailed: no key\n{{\"ple"
        );
        let before = b"plain \xff\n{\"other\": 1}\n{\"pleach\":{\"tokens\":1}}\n";
        assert!(whole.starts_with(before));
        assert_eq!(String::from_utf8_lossy(&whole[before.len()..]), expected);
        for size in [1, 2, 7, 64] {
            let mut told = EntryPrinter::new(Colours::Plain);
            let mut pieces: Vec<u8> = log
                .chunks(size)
                .flat_map(|piece| told.pass(piece))
                .collect();
            pieces.extend(told.rest());
            assert_eq!(pieces, whole, "in pieces of {size}");
        }
    }
}
