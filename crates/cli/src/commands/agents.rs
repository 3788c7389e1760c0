//! `pleach agents`: which agents there are, in which version, and whether they are logged in.

mod trial;

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_engine::agent::{LoginState, NoAgent, Presence, Versions, choose};
use pleach_engine::config::{Config, Settings};
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::run::RunBatch;
use pleach_log::database::{AgentPause, Database};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::moment::{clock_time, rfc3339};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::run::own_program;
use crate::args::{AgentResumeArgs, AgentsAction, AgentsArgs};
use crate::columns::{padded, terminal_width};
use crate::failure::{Exit, Failure, Failures};
use crate::line::Line;
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

pub(crate) fn run(arguments: &AgentsArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let (answer, json) = match &arguments.action {
        Some(AgentsAction::Test(wanted)) => (trial::run(wanted, run_batch), wanted.json),
        Some(AgentsAction::Resume(wanted)) => (resume(wanted), wanted.json),
        None => (list(arguments.json), arguments.json),
    };
    answer.map_err(|failures| failures.told_to(Reader::from_flag(json)))
}

/// Batches that wait for the agent see it within a second.
fn resume(wanted: &AgentResumeArgs) -> Result<Exit, Failures> {
    let mut database = Database::open(&StateFolder::of_user()?)?;
    let was_paused = database.resume_agent(&wanted.name)?;
    if !was_paused {
        check_known(&wanted.name, &database)?;
    }
    if wanted.json {
        let told = json!({"agent": wanted.name, "wasPaused": was_paused});
        output::print(format_args!("{told:#}\n"));
    } else {
        let name = one_line(&wanted.name);
        let told = if was_paused {
            "resumed"
        } else {
            "is not paused"
        };
        output::print(format_args!("{name} {told}\n"));
    }
    Ok(Exit::Success)
}

/// A name that nobody bears is a slip, not an agent that may work.
fn check_known(name: &str, database: &Database) -> Result<(), Failures> {
    let flags = Config {
        agent: Some(name.to_owned()),
        ..Config::default()
    };
    let settings = Settings::load(&project_folder(&current_folder()?), flags)?;
    if !matches!(choose(&settings), Err(NoAgent::Unknown { .. })) {
        return Ok(());
    }
    let pauses = database.agent_pauses(settings.limit_wait)?;
    let hint = match pauses.as_slice() {
        [] => "no agent is paused; `pleach agents` lists all agents".to_owned(),
        [pause] => pause.lifted_by(),
        several => {
            let names: Vec<&str> = several.iter().map(|pause| pause.agent.as_str()).collect();
            format!("paused agents: {}", names.join(", "))
        }
    };
    let message = format!("unknown agent {name:?}");
    Err(Failure::new(Exit::Usage, "unknown_agent", message)
        .hint(hint)
        .into())
}

fn list(json: bool) -> Result<Exit, Failures> {
    let top = project_folder(&current_folder()?);
    let settings = Settings::load(&top, Config::default())?;
    let mut all = Presence::all(&settings);
    Versions::asked_by(own_program()?).fill(&mut all);
    let default = choose(&settings);
    let pauses = pauses(settings.limit_wait);
    if json {
        let default = default.is_ok().then(|| name_of_default(&all)).flatten();
        let agents = all.iter().map(|agent| in_json(agent, &pauses));
        let agents: Vec<Value> = agents.collect();
        let told = json!({"default": default, "agents": agents});
        let text = serde_json::to_string_pretty(&told).expect("it is plain data");
        output::print(format_args!("{text}\n"));
    } else {
        print(&all, &pauses, default.err().as_ref());
    }
    Ok(Exit::Success)
}

/// Agents that may not work now; a database that does not open is `pleach doctor`'s business.
fn pauses(limit_wait: Duration) -> Vec<AgentPause> {
    let state = StateFolder::of_user().ok();
    let database = state.and_then(|state| Database::open(&state).ok());
    let pauses = database.and_then(|database| database.agent_pauses(limit_wait).ok());
    pauses.unwrap_or_default()
}

fn name_of_default(all: &[Presence]) -> Option<&str> {
    let default = all.iter().find(|agent| agent.is_default);
    default.map(|agent| agent.name.as_str())
}

fn in_json(agent: &Presence, pauses: &[AgentPause]) -> Value {
    let pause = pauses.iter().find(|pause| pause.agent == agent.name);
    let by = match &agent.login {
        LoginState::By(what) => Some(what),
        LoginState::No(_) | LoginState::Unknown => None,
    };
    json!({
        "name": agent.name,
        "title": agent.title,
        "preset": agent.preset,
        "command": agent.words_without_secrets(),
        "found": agent.is_installed(),
        "path": agent.path,
        "version": agent.version,
        "login": agent.login.word(),
        "loginBy": by,
        "hint": agent.login.hint(),
        "install": agent.install,
        "configured": agent.configured,
        "isDefault": agent.is_default,
        "pausedUntil": pause.map(|pause| rfc3339(pause.until)),
        "pausedBecause": pause.map(|pause| &pause.because),
        "error": agent.wrong.as_ref().map(NoAgent::to_string),
    })
}

fn print(all: &[Presence], pauses: &[AgentPause], none: Option<&NoAgent>) {
    let widest = |of: fn(&Presence) -> String| all.iter().map(|agent| of(agent).width()).max();
    let names = widest(|agent| one_line(&agent.name)).unwrap_or(0);
    let versions = widest(version).unwrap_or(0);
    let logins = widest(login).unwrap_or(0);
    let most = terminal_width().unwrap_or(usize::MAX);
    let (there, missing): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|agent| agent.is_installed() || agent.configured);
    for agent in there {
        let (style, sign) = sign(agent);
        let name_style = if agent.is_default { BOLD } else { PLAIN };
        let line = Line::new()
            .and(style, sign)
            .and(
                name_style,
                format!(" {}", padded(&one_line(&agent.name), names)),
            )
            .and(PLAIN, format!("  {}", padded(&version(agent), versions)))
            .and(PLAIN, format!("  {}", padded(&login(agent), logins)))
            .and(DIM, format!("  {}", place(agent)));
        output::print(format_args!("{}\n", line.cut(most)));
        if let Some(fix) = fix(agent) {
            output::print(format_args!("    {CYAN}{}{CYAN:#}\n", one_line(&fix)));
        }
    }
    for agent in missing {
        let install = agent.install.unwrap_or_default();
        let words = format!("  {}  not installed: {install}", padded(&agent.name, names));
        output::print(format_args!("{}\n", Line::new().and(DIM, words).cut(most)));
    }
    for pause in pauses {
        let (name, until) = (one_line(&pause.agent), clock_time(pause.until));
        let (because, lift) = (one_line(&pause.because), one_line(&pause.lifted_by()));
        output::print(format_args!(
            "{YELLOW}◷ {name} is paused until {until}{YELLOW:#}: {because}\n    {CYAN}{lift}{CYAN:#}\n"
        ));
    }
    match (none, name_of_default(all)) {
        (Some(none), _) => output::print(format_args!(
            "\n{YELLOW}No default agent{YELLOW:#}: {}\n",
            one_line(&none.to_string())
        )),
        (None, Some(name)) => output::print(format_args!(
            "\nDefault agent: {BOLD}{}{BOLD:#}\n",
            one_line(name)
        )),
        (None, None) => {}
    }
    output::print(format_args!(
        "Choose one with --agent NAME or `pleach config set agent NAME`; test one with `pleach agents test NAME`.\n"
    ));
}

fn sign(agent: &Presence) -> (Style, &'static str) {
    if !agent.is_installed() {
        (RED, "✗")
    } else if agent.login.hint().is_some() {
        (YELLOW, "!")
    } else {
        (GREEN, "✓")
    }
}

fn version(agent: &Presence) -> String {
    agent.version.clone().unwrap_or_else(|| "-".to_owned())
}

fn login(agent: &Presence) -> String {
    match &agent.login {
        LoginState::By(what) => what.clone(),
        LoginState::No(_) => "no login found".to_owned(),
        LoginState::Unknown => "-".to_owned(),
    }
}

fn place(agent: &Presence) -> String {
    let path = agent.path.as_ref().map(|path| path.display().to_string());
    match (path, &agent.wrong) {
        (Some(path), _) => one_line(&path),
        (None, Some(wrong)) => one_line(&wrong.to_string()),
        (None, None) if agent.is_built_in() => "built in".to_owned(),
        (None, None) => format!("{} not found", one_line(&agent.program)),
    }
}

fn fix(agent: &Presence) -> Option<String> {
    if let Some(wrong) = &agent.wrong {
        return Some(wrong.hint());
    }
    if !agent.is_installed() {
        return agent.install.map(str::to_owned);
    }
    agent.login.hint().map(str::to_owned)
}
