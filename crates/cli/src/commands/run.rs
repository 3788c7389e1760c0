//! `pleach run`: runs an agent on tasks and weaves what it did.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pleach_domain::batch::BatchStatus;
use pleach_domain::graph::{Graph, Order, Rules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::plan::Plan;
use pleach_domain::task_state::Ending;
use pleach_engine::agent;
use pleach_engine::config::{Config, NotYet};
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::run::{Controls, Fetch, Prepared, RunRequest, Summary, prepare};
use pleach_engine::settings::Settings;
use pleach_engine::state_folder::StateFolder;

use crate::args::RunArgs;
use crate::failure::{Exit, Failure, Failures, warn};
use crate::output::Reader;
use crate::plan_source::{PlanSource, choose, current_folder};
use crate::preview::{Preview, ask};
use crate::report::Reporter;
use crate::summary;

/// How long an agent may take to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the chosen tasks.
pub(crate) fn run(arguments: &RunArgs) -> Result<Exit, Failures> {
    start(arguments).map_err(|failures| failures.told_to(Reader::of(arguments.json)))
}

fn start(arguments: &RunArgs) -> Result<Exit, Failures> {
    let folder = current_folder()?;
    let settings = Settings::load(&project_folder(&folder), flags(arguments))?;
    refuse_what_is_not_done_yet(&settings.not_yet)?;
    let source = PlanSource::load(arguments.plan.as_deref())?;
    let chosen = chosen_tasks(&source, arguments)?;
    let program = own_program()?;
    let agent = agent::choose(&settings, &program)?;
    agent.check_installed()?;
    let slots = settings.max_parallel;
    let preview = Preview {
        plan: &source.path,
        tasks: chosen.len(),
        waves: waves(&source.document.plan, &chosen, arguments.order.rules()),
        slots,
        agent: &*agent,
    };
    if !arguments.json {
        preview.print();
    }
    if arguments.dry_run {
        return Ok(Exit::Success);
    }
    let titles = titles(&source, &chosen);
    let prepared = prepare(RunRequest {
        folder,
        plan_path: source.path,
        plan_text: source.text,
        document: source.document,
        chosen,
        rules: arguments.order.rules(),
        slots,
        agent,
        base: settings.base,
        timeout: settings.task_timeout,
        grace: GRACE,
        state: StateFolder::of_user()?,
        program,
        fetch: if arguments.fetch {
            Fetch::Origin
        } else {
            Fetch::Nothing
        },
    })?;
    if !arguments.yes {
        ask(&prepared.steering().paths().collect::<Vec<_>>())?;
    }
    let reader = Reader::of(arguments.json);
    let summary = carry_out(prepared, reader, titles)?;
    Ok(exit(&summary))
}

/// The file of this program, for git to call back.
pub(crate) fn own_program() -> Result<PathBuf, Failures> {
    std::env::current_exe().map_err(|error| {
        let message = format!("could not find the program itself: {error}");
        Failure::new(Exit::Environment, "own_program", message).into()
    })
}

/// What the command line says of the settings.
fn flags(arguments: &RunArgs) -> Config {
    Config {
        base: arguments.base.clone(),
        agent: arguments.agent.clone(),
        max_parallel: arguments.jobs.and_then(|jobs| usize::try_from(jobs).ok()),
        ..Config::default()
    }
}

/// A key that would be ignored is worse than one that is refused.
fn refuse_what_is_not_done_yet(keys: &[NotYet]) -> Result<(), Failures> {
    if keys.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = keys
        .iter()
        .map(|NotYet { origin, key }| format!("{origin} sets {key}"))
        .collect();
    let keys = keys.join(", ");
    let message = format!("{keys}, which this version does not act on");
    Err(Failure::new(Exit::Usage, "not_yet", message)
        .hint("remove it until a later version does")
        .into())
}

fn chosen_tasks(source: &PlanSource, arguments: &RunArgs) -> Result<Vec<usize>, Failures> {
    let graph = Graph::of(&source.document.plan, arguments.order.rules.strictness());
    let everything = ["all".to_owned()];
    let words = if arguments.select.is_empty() {
        &everything[..]
    } else {
        &arguments.select
    };
    let chosen = choose(&graph, words, &arguments.order)?;
    let name = source.name();
    warn(&chosen.warnings, &name);
    chosen.check(&name)?;
    Ok(chosen.tasks)
}

/// How many waves the chosen tasks of a plan make.
pub(crate) fn waves(plan: &Plan, chosen: &[usize], rules: Rules) -> usize {
    let graph = Graph::of(plan, Strictness::AsWritten);
    let mut members = vec![false; plan.tasks.len()];
    for position in chosen {
        members[*position] = true;
    }
    Order::of(&graph, &members, rules).waves.len()
}

fn titles(source: &PlanSource, chosen: &[usize]) -> HashMap<TaskId, String> {
    let tasks = chosen
        .iter()
        .map(|position| &source.document.plan.tasks[*position]);
    tasks
        .map(|task| (task.id.clone(), task.title.clone()))
        .collect()
}

/// Runs a prepared batch to its end and prints what became of it.
pub(crate) fn carry_out(
    prepared: Prepared,
    reader: Reader,
    titles: HashMap<TaskId, String>,
) -> Result<Summary, Failures> {
    stop_on_signals(prepared.controls())?;
    let mut reporter = Reporter::new(reader, titles);
    let summary = prepared.run(&mut |told| reporter.tell(&told))?;
    match reader {
        Reader::Person => summary::print(&summary),
        Reader::Program => summary::print_json(&summary, reporter.next_id()),
    }
    Ok(summary)
}

/// The first signal asks what runs to stop, the second stops it at once.
fn stop_on_signals(controls: Controls) -> Result<(), Failures> {
    let failed = |error: std::io::Error| {
        Failures::from(Failure::new(
            Exit::Environment,
            "signals",
            format!("could not watch for Ctrl-C: {error}"),
        ))
    };
    let signals = [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGQUIT,
    ];
    let mut signals = signal_hook::iterator::Signals::new(signals).map_err(failed)?;
    let seen = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for _ in signals.forever() {
            match seen.fetch_add(1, Ordering::SeqCst) {
                0 => controls.cancel(),
                _ => controls.cancel_at_once(),
            }
        }
    });
    Ok(())
}

fn exit(summary: &Summary) -> Exit {
    let succeeded = |ending: &Option<Ending>| ending.as_ref().is_some_and(Ending::is_success);
    if summary.status == BatchStatus::Cancelled {
        Exit::Interrupted
    } else if summary.tasks.iter().all(|task| succeeded(&task.ending)) {
        Exit::Success
    } else {
        Exit::SomeTaskFailed
    }
}
