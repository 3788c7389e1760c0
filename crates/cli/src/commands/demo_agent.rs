//! The scripted agent of the demo: does what the script in its prompt says, and nothing else.
//!
//! It stands in for a coding agent; only files below the current folder are touched.

use std::io::{Read as _, Write as _};
use std::path::{Component, Path};
use std::time::Duration;

use crate::failure::Exit;
use crate::output::tell;

/// How long one piece of work takes, so that there is something to see.
const WORK: Duration = Duration::from_millis(400);

/// Reads the prompt from standard input and follows its script.
pub(crate) fn run() -> Exit {
    let mut prompt = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut prompt) {
        tell(format_args!("could not read the prompt: {error}\n"));
        return Exit::SomeTaskFailed;
    }
    if script(&prompt).next().is_none() {
        tell(format_args!(
            "NO CHANGES NEEDED: the task has no script for the demo agent\n"
        ));
    }
    match follow(script(&prompt)) {
        Ok(()) => Exit::Success,
        Err(error) => {
            tell(format_args!("{error}\n"));
            Exit::SomeTaskFailed
        }
    }
}

/// The lines of the prompt's first block of the language `script`.
fn script(prompt: &str) -> impl Iterator<Item = &str> {
    let inside = prompt
        .lines()
        .skip_while(|line| line.trim() != "```script")
        .skip(1);
    inside.take_while(|line| line.trim() != "```")
}

fn follow<'s>(mut lines: impl Iterator<Item = &'s str>) -> Result<(), String> {
    while let Some(line) = lines.next() {
        let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let (file, text) = rest.split_once(' ').unwrap_or((rest, ""));
        match verb {
            "" => {}
            "say" => tell(format_args!("{rest}\n")),
            "work" => std::thread::sleep(WORK),
            "fail" => return Err("I give up".to_owned()),
            "write" => {
                let body: Vec<&str> = lines
                    .by_ref()
                    .take_while(|line| line.trim() != ".")
                    .collect();
                save(file, &format!("{}\n", body.join("\n")))?;
            }
            "append" => {
                let mut opened = open(file)?;
                writeln!(opened, "{text}").map_err(|error| format!("{file}: {error}"))?;
            }
            "replace" => {
                let (old, new) = text.split_once(" => ").ok_or("replace takes old => new")?;
                let before = load(file)?;
                save(file, &before.replace(old, new))?;
            }
            "expect" if load(file)?.contains(text) => {}
            "expect" => return Err(format!("{file} does not mention {text}")),
            _ => return Err(format!("unknown script command {verb:?}")),
        }
    }
    Ok(())
}

fn inside(file: &str) -> Result<&Path, String> {
    let path = Path::new(file);
    let is_inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if is_inside && !file.is_empty() {
        Ok(path)
    } else {
        Err(format!("{file:?} is not a file of this folder"))
    }
}

fn load(file: &str) -> Result<String, String> {
    std::fs::read_to_string(inside(file)?).map_err(|error| format!("{file}: {error}"))
}

fn save(file: &str, text: &str) -> Result<(), String> {
    std::fs::write(inside(file)?, text).map_err(|error| format!("{file}: {error}"))
}

fn open(file: &str) -> Result<std::fs::File, String> {
    let opened = std::fs::File::options()
        .create(true)
        .append(true)
        .open(inside(file)?);
    opened.map_err(|error| format!("{file}: {error}"))
}
