//! What agents do and say, in words that are the same for all of them, one line of JSON each.
//!
//! Knows nothing of which agent said it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A line is never longer than this, so that whoever reads lines gets whole ones.
const LONGEST_LINE: usize = 48 << 10;

/// The word for what nobody knows the meaning of.
pub const RAW: &str = "raw";

/// The shortest that a text is cut to, if a line is too long.
const SHORTEST_CUT: usize = 256;

/// One thing that an agent did or said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Entry {
    /// The agent's own session began, or goes on.
    Session {
        /// Its id, by which the agent takes it up again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The model that answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The agent's version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// It says something.
    Text {
        /// What.
        text: String,
    },
    /// It thinks aloud.
    Thinking {
        /// What.
        text: String,
    },
    /// It uses a tool.
    ToolCall {
        /// The call, by which its result is found.
        id: String,
        /// What kind of tool that is.
        tool: ToolKind,
        /// The tool, as the agent calls it.
        name: String,
        /// What it does with it, on one line.
        title: String,
        /// What it gives to the tool.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        input: Value,
    },
    /// What came of using a tool.
    ToolResult {
        /// The call.
        id: String,
        /// How it ended.
        status: ToolStatus,
        /// What the tool said.
        output: String,
        /// The exit code, where it ran a program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    /// It changed a file.
    FileEdit {
        /// The file, from the worktree on where it is inside.
        path: String,
        /// How.
        change: FileChange,
        /// The lines that changed, as a patch, where the agent tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    },
    /// What it means to do.
    Plan {
        /// Step by step.
        steps: Vec<PlanStep>,
    },
    /// What it took so far, all of it together.
    Usage(Usage),
    /// It may not work for now.
    Limit {
        /// What it said.
        message: String,
        /// When it may again, in milliseconds from then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// It asks its model once more.
    Retry {
        /// Which time this is, counted from 1.
        attempt: u32,
        /// What was wrong.
        trouble: Trouble,
        /// What it said.
        message: String,
        /// How long it waits before, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
    },
    /// Something went wrong, which may not be the end.
    Error {
        /// What kind of thing.
        trouble: Trouble,
        /// What it said.
        message: String,
    },
    /// It is over.
    Result(Conclusion),
    /// What nobody knows the meaning of.
    Raw {
        /// The line as it was.
        text: String,
    },
}

/// What kind of tool an agent uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Fetch,
    Think,
    Other,
}

/// How the use of a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Well.
    Ok,
    /// With an error.
    Error,
    /// It was not allowed.
    Denied,
    /// It was broken off.
    Cancelled,
}

/// How a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Add,
    Modify,
    Delete,
}

/// One step of what an agent means to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanStep {
    /// What.
    pub text: String,
    /// `pending`, `in_progress` or `completed`, as far as the agent says so.
    pub status: String,
}

/// What an agent took so far in this attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens in all; those that were read from a cache count.
    pub tokens: u64,
    /// Tokens that it gave to the model.
    pub input: u64,
    /// Tokens that the model gave back.
    pub output: u64,
    /// Tokens of the input that came from a cache.
    pub cached: u64,
    /// What it cost in dollars, where the agent says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// What went wrong, by what is to be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// A usage limit: it may work again later.
    Limit,
    /// What it talks to is overloaded or broken for now.
    Overload,
    /// It is not logged in, or the login has run out.
    Login,
    /// It was not allowed to do what it wanted, or its model refuses the task.
    Refused,
    /// The money or the turns that it was given are used up.
    Budget,
    /// The conversation is longer than its model takes.
    Context,
    /// Its configuration is wrong, such as a model that does not exist.
    Configuration,
    /// The connection broke.
    Network,
    /// The agent itself broke.
    Crash,
    /// Something else.
    Other,
}

/// How an agent came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conclusion {
    /// How.
    pub outcome: Outcome,
    /// What it said last, or what went wrong.
    pub message: String,
    /// When it may work again, in milliseconds from then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// How often it was not allowed to do something.
    #[serde(default)]
    pub denials: u32,
}

/// The ways an agent comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It says that it is done.
    Completed,
    /// It was asked to stop, and did.
    Interrupted,
    /// It failed, for this reason.
    Failed(Trouble),
}

impl Conclusion {
    /// One that failed.
    pub fn failed(trouble: Trouble, message: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Failed(trouble),
            message: message.into(),
            retry_after_ms: None,
            denials: 0,
        }
    }
}

/// A line that bears an entry.
#[derive(Serialize, Deserialize)]
struct EntryLine<E> {
    pleach: E,
}

impl Entry {
    /// The line that a log has of it, without its end.
    pub fn to_line(&self) -> String {
        let write = |value: &Value| EntryLine { pleach: value }.text();
        let mut value = serde_json::to_value(self).expect("it is plain data");
        let mut line = write(&value);
        let mut most = LONGEST_LINE / 4;
        while line.len() > LONGEST_LINE && most >= SHORTEST_CUT {
            cut(&mut value, most);
            line = write(&value);
            most /= 4;
        }
        if line.len() <= LONGEST_LINE {
            return line;
        }
        // Nothing but very many small things is still too long.
        let text = shortened(&line, LONGEST_LINE / 4);
        Self::Raw { text }.to_line()
    }

    /// The entry that a line bears, if it does.
    pub fn from_line(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii();
        if !line.starts_with(b"{") {
            return None;
        }
        let line: EntryLine<Self> = serde_json::from_slice(line).ok()?;
        Some(line.pleach)
    }
}

impl Entry {
    /// The word for what it is.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Session { .. } => "session",
            Self::Text { .. } => "text",
            Self::Thinking { .. } => "thinking",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::FileEdit { .. } => "file_edit",
            Self::Plan { .. } => "plan",
            Self::Usage(_) => "usage",
            Self::Limit { .. } => "limit",
            Self::Retry { .. } => "retry",
            Self::Error { .. } => "error",
            Self::Result(_) => "result",
            Self::Raw { .. } => RAW,
        }
    }

    /// What it says, for a person who sees nothing else of it.
    pub fn in_words(&self) -> String {
        match self {
            Self::Session { id, model, .. } => {
                let parts = [id, model].into_iter().flatten();
                parts.cloned().collect::<Vec<_>>().join(" · ")
            }
            Self::Text { text } | Self::Thinking { text } | Self::Raw { text } => text.clone(),
            Self::ToolCall { title, .. } => title.clone(),
            Self::ToolResult { output, .. } => output.clone(),
            Self::FileEdit { path, .. } => path.clone(),
            Self::Plan { steps } => {
                let steps = steps.iter();
                let lines = steps.map(|step| format!("{} ({})", step.text, step.status));
                lines.collect::<Vec<_>>().join("\n")
            }
            Self::Usage(usage) => format!("{} tokens", usage.tokens),
            Self::Limit { message, .. }
            | Self::Retry { message, .. }
            | Self::Error { message, .. } => message.clone(),
            Self::Result(conclusion) => conclusion.message.clone(),
        }
    }
}

impl<E: Serialize> EntryLine<E> {
    fn text(&self) -> String {
        serde_json::to_string(self).expect("it is plain data")
    }
}

/// Cuts every text in a value that is longer than this.
fn cut(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => *text = shortened(text, most),
        Value::Array(all) => all.iter_mut().for_each(|value| cut(value, most)),
        Value::Object(all) => all.values_mut().for_each(|value| cut(value, most)),
        _ => {}
    }
}

/// The beginning and the end of a text, and how much is left out between them.
pub fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(most * 3 / 4);
    let tail = text.ceil_char_boundary(text.len() - most / 4);
    // Not within a word, if it is no very long one: half of a secret would not be known for one.
    let word = most / 8;
    let gap = text[..head].rfind(char::is_whitespace);
    let head = gap.filter(|gap| head - gap <= word).unwrap_or(head);
    let gap = text[tail..].find(char::is_whitespace);
    let tail = tail + gap.filter(|gap| *gap <= word).unwrap_or(0);
    let left_out = tail - head;
    format!(
        "{}\n[… {left_out} bytes omitted …]\n{}",
        &text[..head],
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn call(input: Value) -> Entry {
        Entry::ToolCall {
            id: "1".to_owned(),
            tool: ToolKind::Edit,
            name: "Write".to_owned(),
            title: "Write a.txt".to_owned(),
            input,
        }
    }

    #[test]
    fn an_entry_is_a_line_that_says_what_it_is() {
        let line = call(json!({"path": "a.txt"})).to_line();
        assert_eq!(
            line,
            r#"{"pleach":{"id":"1","input":{"path":"a.txt"},"name":"Write","title":"Write a.txt","tool":"edit","type":"tool_call"}}"#
        );
        let failed = Entry::Result(Conclusion::failed(Trouble::Limit, "no more"));
        assert!(
            failed.to_line().contains(r#""outcome":{"failed":"limit"}"#),
            "{}",
            failed.to_line()
        );
        assert_eq!(Entry::from_line(failed.to_line().as_bytes()), Some(failed));
    }

    #[test]
    fn other_lines_bear_no_entry() {
        for line in [
            "",
            "text",
            "{}",
            r#"{"pleach":{"tokens":12}}"#,
            r#"{"pleach":{"type":"unheard_of"}}"#,
            r#"{"pleach":{"type":"text"}}"#,
            r#"{"pleach":{"type":"text","text":"cut"#,
        ] {
            assert_eq!(Entry::from_line(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn a_long_entry_keeps_its_shape_and_both_ends_of_its_texts() {
        let text = format!("begin {} end", "é".repeat(1 << 20));
        let entry = call(json!({"path": "a.txt", "content": text}));
        let line = entry.to_line();
        assert!(line.len() <= LONGEST_LINE, "{}", line.len());
        let Some(Entry::ToolCall { input, title, .. }) = Entry::from_line(line.as_bytes()) else {
            panic!("it is another one: {line}");
        };
        let kept = input["content"].as_str().unwrap();
        assert!(kept.starts_with("begin é") && kept.ends_with("é end"));
        assert_eq!((&*title, &input["path"]), ("Write a.txt", &json!("a.txt")));
        let many: Vec<u32> = (0..100_000).collect();
        let line = call(json!(many)).to_line();
        assert!(line.len() <= LONGEST_LINE);
        assert!(matches!(
            Entry::from_line(line.as_bytes()),
            Some(Entry::Raw { .. })
        ));
    }

    #[test]
    fn what_is_cut_is_not_cut_within_a_word() {
        let text = "some-long-secret ".repeat(1_000);
        for most in [600, 1_001, 4_096] {
            let cut = shortened(&text, most);
            let (head, rest) = cut.split_once("\n[…").unwrap();
            let (_, tail) = rest.split_once("…]\n").unwrap();
            let mut words = head.split_whitespace().chain(tail.split_whitespace());
            assert!(words.all(|word| word == "some-long-secret"), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any::<String>()) {
            let entry = Entry::Text { text };
            prop_assert_eq!(Entry::from_line(entry.to_line().as_bytes()), Some(entry));
        }
    }
}
