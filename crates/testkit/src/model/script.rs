//! Finds the script in a conversation, and how far it has come.

use serde_json::{Deserializer, Value, json};

use super::fault::ModelFault;
use super::tools::{Act, Tool};

/// A script stands after this.
const MARKER: &str = "STUB:";

/// A conversation, as far as scripts go.
#[derive(Debug, Default)]
pub(super) struct ScriptedTalk {
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<Tool>,
    pub(super) is_streamed: bool,
}

/// What was said before.
#[derive(Debug)]
pub(super) enum Turn {
    Asked(String),
    Called,
}

/// What the model does now.
#[derive(Debug)]
pub(super) enum Next {
    Fail(ModelFault),
    Say {
        /// What it thinks before.
        thought: Option<String>,
        /// What it says before.
        text: Option<String>,
        act: Option<Act>,
    },
    /// Nobody gave it a script.
    Nothing,
}

/// The next step of the last script; `fault` says whether one that is written there still happens.
pub(super) fn next(talk: &ScriptedTalk, fault: &dyn Fn(&str, &str) -> Option<ModelFault>) -> Next {
    let place = |turn: &Turn| match turn {
        Turn::Asked(text) => script(text).or_else(|| plain_wish(text)),
        Turn::Called => None,
    };
    let mut turns = talk.turns.iter().enumerate().rev();
    let Some((at, steps)) = turns.find_map(|(at, turn)| Some((at, place(turn)?))) else {
        return Next::Nothing;
    };
    let calls = talk.turns[at..].iter();
    let done = calls.filter(|turn| matches!(turn, Turn::Called)).count();
    let (mut thoughts, mut texts, mut acts) = (Vec::new(), Vec::new(), 0);
    for (number, step) in steps.iter().enumerate() {
        if let Some(act) = Act::parse(step) {
            if acts == done {
                return say(&thoughts, &texts, Some(act));
            }
            acts += 1;
            thoughts.clear();
            texts.clear();
        } else if let Some(words) = step.get("fail").filter(|_| acts == done) {
            let words = words.as_str().map_or(words.to_string(), str::to_owned);
            let place = format!("{number} {steps:?}");
            if let Some(fault) = fault(&words, &place) {
                return Next::Fail(fault);
            }
        } else if let Some(text) = step["say"].as_str() {
            texts.push(text);
        } else if let Some(text) = step["think"].as_str() {
            thoughts.push(text);
        }
    }
    if texts.is_empty() {
        texts.push("The script is over.");
    }
    say(&thoughts, &texts, None)
}

fn say(thoughts: &[&str], texts: &[&str], act: Option<Act>) -> Next {
    let joined = |lines: &[&str]| (!lines.is_empty()).then(|| lines.join("\n"));
    Next::Say {
        thought: joined(thoughts),
        text: joined(texts),
        act,
    }
}

/// The one wish that is understood without a script: `Create a file NAME with exactly one line: TEXT`.
fn plain_wish(text: &str) -> Option<Vec<Value>> {
    let (_, wish) = text.split_once("Create a file ")?;
    let (name, rest) = wish.split_once(" with exactly one line: ")?;
    let line = rest.lines().next()?.trim_end();
    Some(vec![json!({"write": [name, format!("{line}\n")]})])
}

/// The first script of a text; agents quote it and put words around it.
fn script(text: &str) -> Option<Vec<Value>> {
    text.match_indices(MARKER).find_map(|(at, _)| {
        let rest = &text[at + MARKER.len()..];
        let first = Deserializer::from_str(rest).into_iter().next();
        match first?.ok()? {
            Value::Array(steps) => Some(steps),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Next, ScriptedTalk, Turn, next};

    /// The answer to a script after so many calls.
    fn after(calls: usize, text: &str) -> String {
        let mut turns = vec![Turn::Asked(text.to_owned())];
        turns.extend((0..calls).map(|_| Turn::Called));
        turns.push(Turn::Asked("Go on.".to_owned()));
        let talk = ScriptedTalk {
            turns,
            ..ScriptedTalk::default()
        };
        match next(&talk, &|_, _| None) {
            Next::Say { text, act, .. } => {
                format!("{} {act:?}", text.unwrap_or_default())
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn steps_are_counted_from_the_conversation() {
        let script = r#"Do it. STUB: [{"say":"First."}, {"write":["a","b"]},
            {"run":"ls"}, {"say":"Done."}] Thank you."#;
        assert_eq!(after(0, script), r#"First. Some(Write("a", "b"))"#);
        assert_eq!(after(1, script), r#" Some(Run("ls"))"#);
        assert_eq!(after(2, script), "Done. None");
        assert_eq!(after(9, script), "Done. None");
    }

    #[test]
    fn who_has_no_script_has_nothing_to_do() {
        assert_eq!(after(0, "STUB: soon"), "Nothing");
    }
}
