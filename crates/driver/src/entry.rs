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

/// One entry of a transcript: something that an agent did or said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum Entry {
    /// The agent's session started, or continues.
    Session {
        /// The id by which the agent can continue it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The agent's version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A message.
    Text {
        /// What.
        text: String,
    },
    /// Thinking.
    Thinking {
        /// What.
        text: String,
    },
    /// A tool call.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The kind of tool.
        tool: ToolKind,
        /// The agent's name of the tool.
        name: String,
        /// What the call does, on one line.
        title: String,
        /// The input of the tool.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        input: Value,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// How it ended.
        status: ToolStatus,
        /// The output of the tool.
        output: String,
        /// The exit code, if it ran a program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    /// A changed file.
    FileEdit {
        /// The file, relative to the worktree if it is inside.
        path: String,
        /// How.
        change: FileChange,
        /// The changed lines as a patch, if the agent reports them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    },
    /// The agent's plan.
    Plan {
        /// Its steps.
        steps: Vec<PlanStep>,
    },
    /// The usage so far, in total.
    Usage(Usage),
    /// A usage limit.
    Limit {
        /// What it said.
        message: String,
        /// The time until the limit resets, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// A repeated request to the model.
    Retry {
        /// The number of the retry, counted from 1.
        attempt: u32,
        /// The class of the problem.
        trouble: Trouble,
        /// What it said.
        message: String,
        /// The pause before it, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_ms: Option<u64>,
    },
    /// A problem that the agent may recover from.
    Error {
        /// The class of the problem.
        trouble: Trouble,
        /// What it said.
        message: String,
    },
    /// The end of the attempt.
    Result(Conclusion),
    /// A line that Pleach does not understand.
    Raw {
        /// The line, unchanged.
        text: String,
    },
}

/// The kind of a tool.
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

/// The result of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
    /// It was denied.
    Denied,
    /// It was interrupted.
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

/// One step of an agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanStep {
    /// What.
    pub text: String,
    /// `pending`, `in_progress` or `completed`, if the agent reports it.
    pub status: String,
}

/// The usage of an agent so far in this attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// All tokens, including those read from a cache.
    pub tokens: u64,
    /// Input tokens.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
    /// The cost in dollars, if the agent reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// The class of a problem, by what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// A usage limit.
    Limit,
    /// Its model is overloaded or failing.
    Overload,
    /// It is not logged in, or the login has expired.
    Login,
    /// It was denied permission, or its model refused the task.
    Refused,
    /// Its credit or its turns are used up.
    Budget,
    /// The conversation is too long for the model.
    Context,
    /// Its configuration is wrong, such as a model that does not exist.
    Configuration,
    /// The connection was lost.
    Network,
    /// The agent crashed.
    Crash,
    /// Something else.
    Other,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conclusion {
    /// How.
    pub outcome: Outcome,
    /// Its last message, or what went wrong.
    pub message: String,
    /// The time until it can work again, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The number of denied tool calls.
    #[serde(default)]
    pub denials: u32,
}

/// The outcome of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It reported that it is done.
    Completed,
    /// It was stopped.
    Interrupted,
    /// It failed, for this reason.
    Failed(Trouble),
}

impl Conclusion {
    pub fn failed(trouble: Trouble, message: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Failed(trouble),
            message: message.into(),
            retry_after_ms: None,
            denials: 0,
        }
    }
}

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
