//! `pleach agents test`: has one agent do a tiny real task, by a batch like any other.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use pleach_domain::batch::Fallback;
use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::task_state::Ending;
use pleach_driver::{Conclusion, Outcome, Trouble, known_agent};
use pleach_engine::agent::{LoginState, Presence, Versions, choose};
use pleach_engine::config::{Config, FILE_NAME, Layers, SettingOrigin, Settings};
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::plan_to_run::{PlanOrigin, PlanToRun};
use pleach_engine::run::RunBatch;
use pleach_engine::run::{Controls, LoopNotice, Prepared, RunRequest, Summary, WorkPlace, prepare};
use pleach_engine::trial::{self, TrialReport};
use pleach_log::transcript::{LOG, attempt_folder};
use pleach_system::state_folder::StateFolder;
use serde_json::{Value, json};

use crate::args::AgentTestArgs;
use crate::columns::seconds;
use crate::commands::run::own_program;
use crate::commands::watch::{OnHangup, follow_and_hear, on_signals};
use crate::failure::{Exit, Failure, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;
use crate::preview::PreviewInput;
use crate::questions::asks;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

pub(super) fn run(wanted: &AgentTestArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let top = project_folder(&current_folder()?);
    let flags = Config {
        agent: Some(wanted.name.clone()),
        model: wanted.model.clone(),
        place: wanted.place,
        ..Config::default()
    };
    let layers = Layers::load(&top)?.with_flags(flags);
    let settings = Settings::of_layers(&layers, &top)?;
    let chosen = choose(&settings)?;
    let program = own_program()?;
    chosen.check_installed(settings.place, &program)?;
    consent(wanted, &layers, &top)?;
    let mut presence = Presence::of(&chosen);
    Versions::asked_by(program.clone()).fill(std::slice::from_mut(&mut presence));
    let folder = tempfile::Builder::new().prefix("pleach-agent-").tempdir();
    let mut folder = folder.map_err(|error| {
        let message = format!("could not create a temporary folder: {error}");
        let failure = Failure::new(Exit::Environment, "agent_test", message);
        Failures::from(failure.hint("set TMPDIR to a writable folder with free space"))
    })?;
    folder.disable_cleanup(wanted.keep);
    let place = Trial {
        name: &wanted.name,
        folder: folder.path(),
        run_batch,
        reader: Reader::from_flag(wanted.json),
    };
    let summary = place.carry_out(trial::settings(settings))?;
    let found = place.findings(&summary, presence);
    if wanted.json {
        let folder = wanted.keep.then_some(place.folder);
        output::print(format_args!("{:#}\n", found.in_json(folder)));
    } else {
        found.print();
        if wanted.keep {
            output::print(format_args!(
                "  {DIM}kept in{DIM:#}  {}\n",
                place.folder.display()
            ));
        }
    }
    Ok(found.exit())
}

/// What the repository itself says of the agent was written by others.
fn consent(wanted: &AgentTestArgs, layers: &Layers, top: &Path) -> Result<(), Failures> {
    let (file, prefix) = (top.join(FILE_NAME), format!("agents.{}.", wanted.name));
    let is_foreign = |origin: &SettingOrigin| matches!(origin, SettingOrigin::File { path, .. } if *path == file);
    let steers = |key: &str| key.starts_with(&prefix) || key.starts_with("sandbox");
    let all = layers.shown();
    let foreign: Vec<_> = all
        .iter()
        .filter(|shown| steers(&shown.key) && is_foreign(&shown.origin))
        .collect();
    if wanted.yes || foreign.is_empty() {
        return Ok(());
    }
    for shown in foreign {
        let text = one_line(shown.text.as_deref().unwrap_or_default());
        output::tell_error(format_args!("  {} = {text}\n", one_line(&shown.key)));
    }
    let question =
        format!("These settings come from this repository's {FILE_NAME}. Run the agent?");
    if asks(&question) == Some(true) {
        return Ok(());
    }
    let message =
        format!("this repository's {FILE_NAME} configures the agent, which needs consent");
    let failure = Failure::new(Exit::Environment, "no_consent", message);
    Err(failure
        .hint("review the settings above, then pass --yes")
        .into())
}

struct Trial<'a> {
    name: &'a str,
    folder: &'a Path,
    run_batch: RunBatch,
    reader: Reader,
}

impl Trial<'_> {
    fn carry_out(&self, settings: Settings) -> Result<Summary, Failures> {
        let repository = self.folder.join("repository");
        let made = std::fs::create_dir(&repository).map_err(|error| error.to_string());
        let made = made.and_then(|()| {
            let made = trial::make_repository(&repository, self.name);
            made.map_err(|error| pleach_system::text::causes::with_causes(&error))
        });
        made.map_err(|error| {
            let message = format!("could not create the test repository: {error}");
            Failure::new(Exit::Environment, "agent_test", message)
        })?;
        let text = trial::plan(self.name);
        let document = pleach_formats::read(&text);
        let origin = PlanOrigin::File(repository.join(trial::PLAN));
        let plan = PlanToRun::new(origin, text, document);
        let state = StateFolder::at(&self.folder.join("state"))?;
        let request = RunRequest::new(repository, plan, vec![0], settings, state, own_program()?)?;
        let request = RunRequest {
            fallback: Fallback::Fail,
            grace: Duration::from_secs(5),
            ..request
        };
        if self.reader == Reader::Person {
            let shown = PreviewInput::new(&request, WorkPlace::Worktrees);
            let agent = request.agent.agent(&request.program);
            shown.preview(&*agent, &HashMap::new()).print();
        }
        self.follow(prepare(request)?)
    }

    /// Nobody waits hours for a limit to end here: the first pause is the end.
    fn follow(&self, prepared: Prepared) -> Result<Summary, Failures> {
        let controls = prepared.controls();
        let hear = |told: &LoopNotice<'_>| {
            if let LoopNotice::Event(stored) = told
                && let Event::Task { event, .. } = &stored.event
                && matches!(
                    event,
                    TaskEvent::Limited { .. } | TaskEvent::Overloaded { .. }
                )
            {
                controls.cancel();
            }
        };
        match self.reader {
            Reader::Person => follow_and_hear(prepared, self.run_batch, self.reader, hear),
            Reader::Program => run_quietly(prepared, self.run_batch, hear),
        }
    }

    fn findings<'s>(&self, summary: &'s Summary, presence: Presence) -> Findings<'s> {
        let task = summary.tasks.first();
        let attempt = task.map_or(1, |task| task.attempts.max(1));
        let state = StateFolder::at(&self.folder.join("state")).ok();
        let learnt = state.map_or_else(TrialReport::default, |state| {
            let batch = state.batch(summary.id);
            TrialReport::read(&attempt_folder(&batch, trial::TASK, attempt).join(LOG))
        });
        let branch = summary.branch.as_deref();
        let repository = self.folder.join("repository");
        let works =
            branch.is_some_and(|branch| trial::has_greeting(&repository, branch, self.name));
        Findings {
            works,
            summary,
            presence,
            learnt,
        }
    }
}

/// Runs a batch for somebody who wants to know how it ended only.
fn run_quietly(
    prepared: Prepared,
    run_batch: RunBatch,
    hear: impl Fn(&LoopNotice<'_>),
) -> Result<Summary, Failures> {
    let controls: Controls = prepared.controls();
    on_signals(OnHangup::Stop, move |before| match before {
        0 => controls.cancel(),
        _ => controls.cancel_at_once(),
    })?;
    Ok(run_batch(prepared, &mut |told| hear(&told))?)
}

struct Findings<'s> {
    works: bool,
    summary: &'s Summary,
    presence: Presence,
    learnt: TrialReport,
}

impl Findings<'_> {
    fn ending(&self) -> Option<&Ending> {
        self.summary.tasks.first()?.ending.as_ref()
    }

    fn exit(&self) -> Exit {
        match self.learnt.trouble() {
            _ if self.works => Exit::Success,
            Some(Trouble::Login) => Exit::Environment,
            _ => Exit::SomeTaskFailed,
        }
    }

    fn why(&self) -> String {
        let said = self.learnt.conclusion.as_ref();
        let said = said.filter(|_| self.learnt.trouble().is_some());
        let said = said.map(|conclusion| conclusion.message.trim());
        match (self.ending(), said) {
            (Some(Ending::Failed { error }), _) => error.clone(),
            (_, Some(said)) if !said.is_empty() => said.to_owned(),
            (Some(Ending::NoChanges { .. }), _) => "it changed nothing".to_owned(),
            (Some(Ending::TimedOut), _) => "it took too long".to_owned(),
            (Some(Ending::Cancelled), _) => "it was cancelled".to_owned(),
            (Some(Ending::Merged { .. }), _) => {
                format!("{} does not have the expected text", trial::FILE)
            }
            (ending, _) => ending
                .map_or("it did not finish", Ending::outcome)
                .to_owned(),
        }
    }

    fn fix(&self) -> Option<String> {
        // One that came to an end of its own has a login, wherever that is.
        let is_over = |conclusion: &Conclusion| conclusion.outcome == Outcome::Completed;
        if self.works || self.learnt.conclusion.as_ref().is_some_and(is_over) {
            return None;
        }
        let model = "check the model's name and the agent's own configuration";
        let fix = match self.learnt.trouble() {
            Some(Trouble::Login) => return Some(self.login_fix()),
            // What has no login often falls over without saying why.
            None | Some(Trouble::Crash | Trouble::Other) => self.presence.login.hint()?,
            Some(Trouble::Limit) => "wait until the limit resets, or choose another agent or model",
            Some(Trouble::Overload | Trouble::Network) => "try again later",
            Some(Trouble::Budget) => "check the account's balance",
            Some(Trouble::Configuration) => model,
            Some(Trouble::Refused | Trouble::Context) => return None,
        };
        Some(fix.to_owned())
    }

    fn login_fix(&self) -> String {
        let known = self.presence.preset.as_deref().and_then(known_agent);
        let hint = known.map_or("log in again", |preset| preset.login.hint);
        match &self.presence.login {
            LoginState::By(what) => format!("{what} was not accepted; {hint}"),
            LoginState::No(_) | LoginState::Unknown => hint.to_owned(),
        }
    }

    fn facts(&self) -> Vec<(&'static str, Option<String>)> {
        let (learnt, usage) = (&self.learnt, self.learnt.usage);
        let version = self.presence.version.as_ref().or(learnt.version.as_ref());
        vec![
            ("version", version.cloned()),
            ("model", learnt.model.clone()),
            ("session", learnt.session.clone()),
            ("tokens", usage.map(|usage| usage.tokens.to_string())),
            (
                "cost",
                usage
                    .and_then(|usage| usage.usd)
                    .map(|usd| format!("${usd:.4}")),
            ),
            (
                "login",
                Some(match &self.presence.login {
                    LoginState::By(what) => what.clone(),
                    other => other.word().to_owned(),
                }),
            ),
        ]
    }

    fn print(&self) {
        let name = one_line(&self.presence.name);
        let time = seconds(self.summary.time);
        if self.works {
            let file = trial::FILE;
            output::print(format_args!(
                "\n{GREEN}✓{GREEN:#} {BOLD}{name}{BOLD:#} works: it created {file} in {time}\n"
            ));
        } else {
            let why = one_line(&self.why());
            output::print(format_args!(
                "\n{RED}✗{RED:#} {BOLD}{name}{BOLD:#} failed: {why}\n"
            ));
        }
        for (what, value) in self.facts() {
            if let Some(value) = value {
                output::print(format_args!(
                    "  {DIM}{what:<8}{DIM:#} {}\n",
                    one_line(&value)
                ));
            }
        }
        if let Some(fix) = self.fix() {
            output::print(format_args!("  {CYAN}{}{CYAN:#}\n", one_line(&fix)));
        }
        if !self.works && !self.learnt.last.is_empty() {
            output::print(format_args!("  {DIM}last output{DIM:#}\n"));
            for line in &self.learnt.last {
                output::print(format_args!("    {}\n", one_line(line)));
            }
        }
    }

    fn in_json(&self, folder: Option<&Path>) -> Value {
        let usage = self.learnt.usage;
        let last = if self.works {
            &[]
        } else {
            self.learnt.last.as_slice()
        };
        json!({
            "agent": self.presence.name,
            "works": self.works,
            "outcome": self.ending().map(Ending::outcome),
            "trouble": self.learnt.trouble(),
            "error": (!self.works).then(|| self.why()),
            "hint": self.fix(),
            "version": self.presence.version.as_ref().or(self.learnt.version.as_ref()),
            "model": self.learnt.model,
            "sessionId": self.learnt.session,
            "tokens": usage.map(|usage| usage.tokens),
            "cost": usage.and_then(|usage| usage.usd),
            "seconds": self.summary.time.as_secs_f64(),
            "login": self.presence.login.word(),
            "lastLines": last,
            "folder": folder,
        })
    }
}
