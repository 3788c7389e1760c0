//! What an agent says of itself while it works: what it does, and what that took.
//!
//! Any command may say so in a line of JSON; what it prints otherwise is what it does.

use pleach_domain::batch::Spent;
use serde::Deserialize;

use pleach_driver::{Entry, Usage};

use pleach_system::text::last_line::last_line;

/// Of a longer line, only the beginning is heard.
const LONGEST_LINE: usize = 1 << 20;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentReport {
    pub action: Option<String>,
    pub spent: Spent,
    pub session: Option<String>,
}

/// A line such as `{"pleach": {"tokens": 1200, "usd": 0.03, "action": "runs the tests"}}`.
#[derive(Deserialize)]
struct ReportLine {
    pleach: ReportFields,
}

/// Numbers are of the whole attempt so far, not of one step.
#[derive(Deserialize)]
struct ReportFields {
    tokens: Option<u64>,
    usd: Option<f64>,
    action: Option<String>,
}

impl AgentReport {
    pub fn hear(&mut self, line: &[u8]) {
        match Entry::from_line(line) {
            Some(entry) => self.hear_entry(&entry),
            None => self.hear_command(line),
        }
    }

    fn hear_entry(&mut self, entry: &Entry) {
        let action = match entry {
            Entry::Session { id, .. } => {
                self.session = id.clone().or(self.session.take());
                None
            }
            Entry::Usage(usage) => {
                let Usage { tokens, usd, .. } = usage;
                self.hear_spent(Some(*tokens), *usd);
                None
            }
            Entry::ToolCall { title, .. } => Some(title.clone()),
            Entry::Text { text } | Entry::Thinking { text } | Entry::Raw { text } => {
                Some(text.clone())
            }
            Entry::FileEdit { path, .. } => Some(format!("edits {path}")),
            Entry::Limit { message, .. } => Some(format!("limited: {message}")),
            Entry::Retry { message, .. } => Some(format!("retrying: {message}")),
            Entry::Error { message, .. } => Some(message.clone()),
            Entry::Result(conclusion) => Some(conclusion.message.clone()),
            Entry::ToolResult { .. } | Entry::Plan { .. } => None,
        };
        let action = action.and_then(|text| last_line(text.as_bytes()));
        self.action = action.or(self.action.take());
    }

    /// A smaller number is a mistake: nothing that was spent comes back.
    fn hear_spent(&mut self, tokens: Option<u64>, usd: Option<f64>) {
        let spent = &mut self.spent;
        spent.tokens = spent.tokens.max(tokens.unwrap_or(0));
        spent.micro_usd = spent.micro_usd.max(usd.map_or(0, millionths));
    }

    fn hear_command(&mut self, line: &[u8]) {
        let words = line.trim_ascii_start().starts_with(b"{");
        let words = words.then(|| serde_json::from_slice::<ReportLine>(line).ok());
        let Some(ReportLine { pleach }) = words.flatten() else {
            if let Some(line) = last_line(line) {
                self.action = Some(line);
            }
            return;
        };
        self.hear_spent(pleach.tokens, pleach.usd);
        let action = pleach.action.and_then(|text| last_line(text.as_bytes()));
        self.action = action.or(self.action.take());
    }
}

/// What an agent says of itself in a log that is read piece by piece.
#[derive(Debug, Default)]
pub struct ReportReader {
    line: Vec<u8>,
    /// How many lines ended so far.
    pub ended: u64,
    pub said: AgentReport,
}

impl ReportReader {
    pub fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.said.hear(&self.line);
                self.line.clear();
                self.ended += 1;
            }
        }
    }

    /// What was said in all, a last line without an end included.
    pub fn finish(mut self) -> AgentReport {
        if !self.line.is_empty() {
            self.said.hear(&self.line);
        }
        self.said
    }
}

/// Rounded up, so that little things add up to something.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is no sum of money becomes the nearest one"
)]
fn millionths(usd: f64) -> u64 {
    (usd * 1e6 - 1e-6).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(lines: &[&str]) -> (Option<String>, u64, u64) {
        let mut said = AgentReport::default();
        for line in lines {
            said.hear(line.as_bytes());
        }
        (said.action, said.spent.tokens, said.spent.micro_usd)
    }

    #[test]
    fn a_line_tells_what_it_does_and_json_what_it_took() {
        let all = said(&[
            "reading\n",
            r#"{"pleach": {"tokens": 1200, "usd": 0.03}}"#,
            "\u{1b}[1mediting\u{1b}[0m a.rs\n",
            r#" {"pleach": {"tokens": 900, "usd": 0.0000001, "action": "tests\u001b[2J"}}"#,
        ]);
        assert_eq!(all, (Some("tests".to_owned()), 1_200, 30_000));
        let some = said(&[r#"{"pleach": {"usd": 0.0000001}}"#]);
        assert_eq!(some, (None, 0, 1));
    }

    #[test]
    fn other_json_is_only_a_line_and_nonsense_costs_nothing() {
        let (action, tokens, cost) = said(&[r#"{"tokens": 5}"#]);
        assert_eq!(
            (action.as_deref(), tokens, cost),
            (Some("{\"tokens\": 5}"), 0, 0)
        );
        let odd = said(&[
            r#"{"pleach": {"usd": -3.5}}"#,
            r#"{"pleach": {"tokens": -1}}"#,
        ]);
        assert_eq!((odd.1, odd.2), (0, 0));
        assert_eq!(said(&["", "  \n"]).0, None);
    }
}
