//! Calls whichever tool an agent offers for what a script wants, with arguments after the tool's own schema.

use serde_json::{Map, Value, json};

/// What a script wants to be done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Write(String, String),
    /// A command of the shell.
    Run(String),
    Call(String, Value),
}

impl Act {
    pub(super) fn parse(step: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(written) = step.get("write") {
            return Some(Self::Write(text(&written[0])?, text(&written[1])?));
        }
        if let Some(command) = step.get("run") {
            return text(command).map(Self::Run);
        }
        let called = step.get("call")?;
        Some(Self::Call(text(&called[0])?, called[1].clone()))
    }
}

/// A tool that an agent offers.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    /// The JSON schema of its arguments; none for a tool that takes plain text.
    pub(super) schema: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) input: Input,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Input {
    Arguments(Value),
    Text(String),
}

const WRITERS: [&str; 4] = ["write", "writefile", "create", "createfile"];
const EDITORS: [&str; 2] = ["texteditor", "strreplacebasededittool"];
const PATCHERS: [&str; 1] = ["applypatch"];
const SHELLS: [&str; 7] = [
    "bash",
    "shell",
    "execcommand",
    "runshellcommand",
    "shellcommand",
    "execute",
    "localshell",
];

const PATHS: &[&str] = &["path", "filepath", "filename", "absolutepath", "targetfile"];
const TEXTS: &[&str] = &["content", "contents", "filetext", "text"];
const COMMANDS: &[&str] = &["command", "cmd", "script"];
const PATCHES: &[&str] = &["input", "patch", "patchtext"];

/// The call for an act; none if no tool will do.
pub(super) fn call(act: &Act, tools: &[Tool]) -> Option<Call> {
    let find = |names: &[&str]| {
        let mut wanted = names.iter();
        wanted.find_map(|name| tools.iter().find(|tool| plain(&tool.name) == **name))
    };
    match act {
        Act::Write(path, text) => {
            if let Some(tool) = find(&WRITERS) {
                return Some(filled(tool, &[(PATHS, path), (TEXTS, text)]));
            }
            if let Some(tool) = find(&EDITORS) {
                let create = "create".to_owned();
                let values = [(PATHS, path), (TEXTS, text), (COMMANDS, &create)];
                return Some(filled(tool, &values));
            }
            if let Some(tool) = find(&PATCHERS) {
                return Some(filled(tool, &[(PATCHES, &patch(path, text))]));
            }
            let shell = find(&SHELLS)?;
            let command = write_command(shell, path, text);
            Some(filled(shell, &[(COMMANDS, &command)]))
        }
        Act::Run(command) => find(&SHELLS).map(|tool| filled(tool, &[(COMMANDS, command)])),
        Act::Call(name, arguments) => {
            let tool = tools.iter().find(|tool| tool.name == *name)?;
            Some(Call {
                tool: tool.name.clone(),
                input: Input::Arguments(arguments.clone()),
            })
        }
    }
}

/// A name without the server it comes from, and without the habits of its authors.
fn plain(name: &str) -> String {
    let last = name.rsplit("__").next().unwrap_or(name);
    let letters = last.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_ascii_lowercase()
}

fn filled(tool: &Tool, values: &[(&[&str], &String)]) -> Call {
    let Some(schema) = &tool.schema else {
        let text = values.last().map(|(_, value)| (*value).clone());
        return Call {
            tool: tool.name.clone(),
            input: Input::Text(text.unwrap_or_default()),
        };
    };
    let required: Vec<_> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let mut known = values.iter();
        let value = known.find(|(names, _)| names.contains(&plain(name).as_str()));
        if let Some((_, value)) = value {
            let is_list = plain_type(property) == "array";
            let value = if is_list {
                json!(["bash", "-lc", value])
            } else {
                json!(value)
            };
            arguments.insert(name.clone(), value);
        } else if name == "yield_time_ms" {
            // Without it a command that takes long is left in the background.
            arguments.insert(name.clone(), json!(30_000));
        } else if required.iter().any(|wanted| *wanted == name) {
            arguments.insert(name.clone(), any(property));
        }
    }
    Call {
        tool: tool.name.clone(),
        input: Input::Arguments(Value::Object(arguments)),
    }
}

/// Gemini writes the names of types in capitals, others allow several.
fn plain_type(property: &Value) -> String {
    let kind = property["type"].as_str();
    let kind = kind.or_else(|| property["type"][0].as_str());
    kind.unwrap_or("string").to_ascii_lowercase()
}

/// Any value that a schema allows.
fn any(property: &Value) -> Value {
    if let Some(first) = property["enum"].get(0) {
        return first.clone();
    }
    match plain_type(property).as_str() {
        "boolean" => json!(false),
        "integer" | "number" => property.get("minimum").cloned().unwrap_or(json!(1)),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!("As the script says"),
    }
}

fn patch(path: &str, text: &str) -> String {
    let mut lines = format!("*** Begin Patch\n*** Add File: {path}\n");
    for line in text.lines() {
        lines.push('+');
        lines.push_str(line);
        lines.push('\n');
    }
    lines + "*** End Patch\n"
}

/// A file written by the shell; Codex takes patches from it as if it were a tool of its own.
fn write_command(shell: &Tool, path: &str, text: &str) -> String {
    if plain(&shell.name) == "execcommand" && text.ends_with('\n') {
        return format!("apply_patch <<'PATCH'\n{}PATCH\n", patch(path, text));
    }
    let (path, text) = (quoted(path), quoted(text));
    format!("mkdir -p \"$(dirname {path})\" && printf %s {text} > {path}")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
