//! `pleach init`: a first configuration, from what is found.

use anstyle::Style;
use pleach_engine::init::ConfigDraft;
use pleach_system::text::shell_words::quoted;
use serde_json::json;

use crate::args::InitArgs;
use crate::columns::padded;
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) fn run(arguments: &InitArgs) -> Result<Exit, Failures> {
    begin(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn begin(arguments: &InitArgs) -> Result<Exit, Failures> {
    let draft = ConfigDraft::for_project(&current_folder()?);
    if !arguments.dry_run {
        draft.write()?;
    }
    if arguments.json {
        print_json(&draft);
    } else if arguments.dry_run {
        output::print(format_args!("{}", draft.text));
    } else {
        print(&draft);
    }
    Ok(Exit::Success)
}

fn print(draft: &ConfigDraft) {
    let path = one_line(&draft.path.to_string_lossy());
    output::print(format_args!("wrote {path}\n"));
    let width = draft.set.iter().map(|(key, ..)| key.len()).max();
    for (key, value, because) in &draft.set {
        let key = padded(key, width.unwrap_or(0));
        let (value, because) = (one_line(value), one_line(because));
        output::print(format_args!(
            "  {BOLD}{key}{BOLD:#} = {value}  {DIM}{because}{DIM:#}\n"
        ));
    }
    if !draft.set.iter().any(|(key, ..)| *key == "validate") {
        output::print(format_args!(
            "no test command found: without validate, results are not tested\n"
        ));
    }
    match draft.agents.as_slice() {
        [] => output::print(format_args!("no agent found\n")),
        agents => output::print(format_args!("agents found: {}\n", agents.join(", "))),
    }
    if !draft.is_repository {
        output::print(format_args!(
            "not a git repository: to run several tasks at once, run `git init` and commit something\n"
        ));
    }
    match (draft.agent(), draft.agents.is_empty()) {
        (Some(agent), _) => output::print(format_args!(
            "next: `pleach agents test {}`, then `pleach doctor` and `pleach plan`\n",
            quoted(agent)
        )),
        (None, false) => output::print(format_args!("next: `pleach doctor` and `pleach plan`\n")),
        (None, true) => output::print(format_args!(
            "next: install an agent that `pleach agents` lists, or set a command under [agents.mine]; then run `pleach doctor`\n"
        )),
    }
}

fn print_json(draft: &ConfigDraft) {
    let set = draft.set.iter().map(|(key, value, because)| {
        // The value as a file would say it, since the file is what it is about.
        json!({"key": key, "value": value, "because": because})
    });
    let told = json!({
        "path": draft.path,
        "set": set.collect::<Vec<_>>(),
        "agents": draft.agents,
        "repository": draft.is_repository,
        "text": draft.text,
    });
    let text = serde_json::to_string_pretty(&told).expect("it is plain data");
    output::print(format_args!("{text}\n"));
}
