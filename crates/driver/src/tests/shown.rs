//! A conversation on paper: an entry a line, and how it ended.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::super::order::{DriverOrder, ProtocolKind};
use super::super::protocol::{NextStep, Protocol, ProtocolOutput};
use crate::{Conclusion, Entry, Exit, Usage};

pub(super) fn order(speaks: ProtocolKind) -> DriverOrder {
    DriverOrder {
        speaks,
        words: vec!["agent".to_owned()],
        prompt: "Write hello.txt".to_owned(),
        session: None,
        tokens_before: 0,
        question: None,
        model: None,
        folder: PathBuf::from("/home/tree"),
    }
}

/// Whether an agent is asked to stop, after all that it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    ToStop,
}

/// Everything that comes of a stream and an exit.
pub(super) fn replayed(
    protocol: &mut dyn Protocol,
    stream: &str,
    asked: Asked,
    exit: Exit,
) -> String {
    let mut page = String::new();
    let mut step = |mark: &str, does: &mut dyn FnMut(&mut ProtocolOutput)| {
        let mut out = ProtocolOutput::default();
        does(&mut out);
        for entry in &out.entries {
            page.push_str(&shown(entry));
            page.push('\n');
        }
        for line in &out.lines {
            let _ = writeln!(page, "> {line}");
        }
        if out.next != NextStep::GoOn {
            let _ = writeln!(page, "({mark}: {:?})", out.next);
        }
    };
    step("begin", &mut |out| protocol.begin(out));
    for line in stream.lines() {
        step("hear", &mut |out| protocol.hear(line, out));
    }
    if asked == Asked::ToStop {
        step("interrupt", &mut |out| protocol.interrupt(out));
    }
    let mut end = None;
    step("conclude", &mut |out| {
        end = Some(protocol.conclude(exit, out));
    });
    page.push_str(&ended(&end.unwrap()));
    page
}

fn ended(end: &Conclusion) -> String {
    let pause = end
        .retry_after_ms
        .map(|pause| format!(" retry after {pause} ms"));
    let denials = (end.denials > 0).then(|| format!(" denials {}", end.denials));
    let more = pause.unwrap_or_default() + &denials.unwrap_or_default();
    format!("= {:?}{more}: {}\n", end.outcome, end.message)
}

fn shown(entry: &Entry) -> String {
    match entry {
        Entry::Session { id, model, version } => {
            let words = [id, model, version].map(|word| word.as_deref().unwrap_or("-"));
            format!("session {}", words.join(" "))
        }
        Entry::Text { text } => format!("text {text:?}"),
        Entry::Thinking { text } => format!("thinking {text:?}"),
        Entry::ToolCall {
            id,
            tool,
            name,
            title,
            ..
        } => {
            format!("call {id} {tool:?} {name}: {title}")
        }
        Entry::ToolResult {
            id,
            status,
            output,
            exit_code,
        } => {
            let code = exit_code.map(|code| format!(" exit {code}"));
            format!(
                "result {id} {status:?}{}: {output:?}",
                code.unwrap_or_default()
            )
        }
        Entry::FileEdit { path, change, diff } => format!("edit {path} {change:?} {diff:?}"),
        Entry::Plan { steps } => {
            let steps = steps
                .iter()
                .map(|step| format!("[{}] {}", step.status, step.text));
            format!("plan {}", steps.collect::<Vec<_>>().join(", "))
        }
        Entry::Usage(Usage {
            tokens,
            input,
            output,
            cached,
            usd,
        }) => {
            format!("usage {tokens} = {input} + {output} (cached {cached}) usd {usd:?}")
        }
        Entry::Limit {
            message,
            retry_after_ms,
        } => format!("limit {message} {retry_after_ms:?}"),
        Entry::Retry {
            attempt,
            trouble,
            message,
            delay_ms,
        } => {
            format!("retry {attempt} {trouble:?} {delay_ms:?}: {message}")
        }
        Entry::Error { trouble, message } => format!("error {trouble:?}: {message}"),
        Entry::Result(end) => ended(end),
        Entry::Raw { text } => format!("raw {text}"),
    }
}
