//! The protocol against what real agents said, and against what none of them would say.

mod garbage;
mod talks;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Acp;
use crate::{Conclusion, Entry, Exit};
use crate::{DriverOrder, NextStep, Protocol, ProtocolKind, ProtocolOutput};

/// What was said and done, one line each.
#[derive(Default)]
struct Story {
    told: Vec<String>,
    /// What was written to the agent: methods, or what was answered.
    written: Vec<Value>,
    is_dismissed: bool,
}

impl Story {
    fn take(&mut self, out: &ProtocolOutput) {
        self.told.extend(out.entries.iter().map(shown));
        let written = out.lines.iter().map(|line| {
            assert!(!line.contains('\n'));
            serde_json::from_str(line).expect("what is written is JSON")
        });
        self.written.extend(written);
        self.is_dismissed |= out.next == NextStep::Dismiss;
    }

    fn methods(&self) -> Vec<&str> {
        let methods = self.written.iter();
        methods.filter_map(|line| line["method"].as_str()).collect()
    }
}

fn order() -> DriverOrder {
    DriverOrder {
        speaks: ProtocolKind::Acp {
            mode: None,
            errors_are_text: false,
        },
        words: vec!["agent".to_owned()],
        prompt: "Do it".to_owned(),
        session: None,
        tokens_before: 0,
        question: None,
        model: None,
        folder: PathBuf::from("/home/tree"),
    }
}

/// An entry on a line, for people.
fn shown(entry: &Entry) -> String {
    match entry {
        Entry::Session { id, model, version } => {
            let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".to_owned());
            format!("session {} {} {}", part(id), part(model), part(version))
        }
        Entry::Text { text } => format!("says {text:?}"),
        Entry::Thinking { text } => format!("thinks {text:?}"),
        Entry::ToolCall {
            tool, name, title, ..
        } => format!("calls {tool:?} {name}: {title}"),
        Entry::ToolResult {
            status,
            output,
            exit_code,
            ..
        } => {
            let code = exit_code.map(|code| format!(" ({code})"));
            format!("gets {status:?}{} {output:?}", code.unwrap_or_default())
        }
        Entry::FileEdit { path, change, diff } => format!("edits {change:?} {path} {diff:?}"),
        Entry::Plan { steps } => {
            let steps = steps.iter();
            let steps: Vec<_> = steps
                .map(|step| format!("{} {}", step.status, step.text))
                .collect();
            format!("plans {}", steps.join(", "))
        }
        Entry::Usage(usage) => {
            let usd = usage.usd.map(|usd| format!(" ${usd:.5}"));
            let parts = (usage.tokens, usage.input, usage.output, usage.cached);
            format!("took {parts:?}{}", usd.unwrap_or_default())
        }
        Entry::Limit {
            message,
            retry_after_ms,
        } => format!("limit {message:?} {retry_after_ms:?}"),
        Entry::Retry {
            attempt,
            trouble,
            message,
            delay_ms,
        } => format!("again {attempt} {trouble:?} {message:?} {delay_ms:?}"),
        Entry::Error { trouble, message } => format!("error {trouble:?} {message:?}"),
        Entry::Result(conclusion) => concluded(conclusion),
        Entry::Raw { text } => {
            let short: String = text.chars().take(100).collect();
            format!("raw {short}")
        }
    }
}

fn concluded(conclusion: &Conclusion) -> String {
    let Conclusion {
        outcome,
        message,
        retry_after_ms,
        denials,
    } = conclusion;
    let mut text = format!("{outcome:?} {message:?}");
    if let Some(pause) = retry_after_ms {
        let _ = write!(text, " after {pause} ms");
    }
    if *denials > 0 {
        let _ = write!(text, " denials {denials}");
    }
    text
}

/// Lets a machine hear what was recorded.
#[derive(Default)]
struct Pump<'p> {
    /// It is interrupted after the line that has this.
    stop_at: Option<&'p str>,
    /// A loaded session told its past up to the line that has this, and answered nothing meanwhile.
    replay_ends: Option<&'p str>,
}

impl Pump<'_> {
    fn hear(&self, order: &DriverOrder, recorded: &str) -> (Story, Conclusion) {
        let mut talk = Talk::begin(order);
        let mut is_replay = self.replay_ends.is_some();
        for line in recorded.lines() {
            let mut line: Value = serde_json::from_str(line).expect("what was recorded is JSON");
            if line.get("method").is_none() && line.get("id").is_some() {
                // Answers are to what was last asked, whatever its id was.
                line["id"] = json!(talk.asked().expect("something was asked").0);
            }
            let line = line.to_string();
            talk.hear(&line);
            is_replay = is_replay && !self.replay_ends.is_some_and(|text| line.contains(text));
            if !is_replay {
                talk.answer_settings();
            }
            if self.stop_at.is_some_and(|text| line.contains(text)) {
                talk.act(Protocol::interrupt);
            }
        }
        talk.end(Exit::Code(0))
    }
}

/// A machine and what came of it.
struct Talk {
    acp: Acp,
    story: Story,
}

impl Talk {
    fn begin(order: &DriverOrder) -> Self {
        let mut talk = Self {
            acp: Acp::new(order),
            story: Story::default(),
        };
        talk.act(Protocol::begin);
        talk
    }

    fn act(&mut self, act: impl FnOnce(&mut Acp, &mut ProtocolOutput)) {
        let mut out = ProtocolOutput::default();
        act(&mut self.acp, &mut out);
        self.story.take(&out);
    }

    fn hear(&mut self, line: &str) {
        self.act(|acp, out| acp.hear(line, out));
    }

    /// The last thing that was asked for.
    fn asked(&self) -> Option<(u64, String)> {
        let written = self.story.written.iter().rev();
        let mut asked = written
            .filter_map(|line| Some((line["id"].as_u64()?, line["method"].as_str()?.to_owned())));
        asked.next()
    }

    /// Answers to all settings, which nobody asked for when it was recorded.
    fn answer_settings(&mut self) {
        while let Some((id, _)) = self.asked().filter(|(_, method)| method.contains("/set_")) {
            self.hear(&json!({"id": id, "result": {}}).to_string());
        }
    }

    /// Answers to what was asked last.
    #[expect(clippy::needless_pass_by_value, reason = "it is made for it")]
    fn answer(&mut self, method: &str, result: Value) {
        let (id, asked) = self.asked().expect("something was asked");
        assert_eq!(asked, method);
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.hear(&answer.to_string());
    }

    fn end(mut self, exit: Exit) -> (Story, Conclusion) {
        let mut out = ProtocolOutput::default();
        let conclusion = self.acp.conclude(exit, &mut out);
        self.story.take(&out);
        (self.story, conclusion)
    }
}

/// What a recorded stream is told as. A resumed one has told its past when that text came.
fn tell(agent: &str, case: &str, path: &Path) -> String {
    let recorded = std::fs::read_to_string(path).expect("the recorded stream is readable");
    let mut order = order();
    order.speaks = ProtocolKind::Acp {
        mode: None,
        errors_are_text: agent == "goose",
    };
    if case.contains("resume") || case == "unknown-session" {
        let id = recorded.split("\"sessionId\":\"").nth(1);
        let id = id.and_then(|rest| rest.split('"').next());
        order.session = Some(id.unwrap_or("gone").to_owned());
    }
    let stop_at = match case {
        "interrupted" => Some("started"),
        "endless" => Some("Line 3 of many"),
        _ => None,
    };
    let replay_ends = (agent == "gemini" && case == "resume").then_some("\"text\":\"All done.\"");
    let pump = Pump {
        stop_at,
        replay_ends,
    };
    let (story, conclusion) = pump.hear(&order, &recorded);
    let mut text = format!("== {case}\n");
    for told in &story.told {
        let _ = writeln!(text, "{told}");
    }
    let _ = writeln!(text, "-> {}\n", concluded(&conclusion));
    text
}

/// All that was recorded of an agent.
fn tell_all(agent: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents");
    let files = std::fs::read_dir(folder.join(agent)).expect("there are recorded streams");
    let files = files.map(|file| file.expect("the folder is readable").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    let told = files.iter().map(|path| {
        let case = path.file_stem().and_then(|case| case.to_str());
        tell(agent, case.expect("its name is a text"), path)
    });
    told.collect()
}

#[test]
fn what_goose_said_is_understood() {
    insta::assert_snapshot!(tell_all("goose"));
}

#[test]
fn what_gemini_said_is_understood() {
    insta::assert_snapshot!(tell_all("gemini"));
}

#[test]
fn what_opencode_said_is_understood() {
    insta::assert_snapshot!(tell_all("opencode"));
}
