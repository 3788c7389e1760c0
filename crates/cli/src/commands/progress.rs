//! `pleach progress`: how far the plan is, phase by phase, and when it may be done.

use pleach_engine::config::{Config, Settings};
use pleach_engine::plan_in_use::project_folder;
use pleach_log::database::Database;
use pleach_log::outlook::{Outlook, OutlookInput};
use pleach_log::scope::Scope;
use pleach_system::state_folder::StateFolder;

use super::status::{BatchSource, RedrawnLines};
use crate::args::ProgressArgs;
use crate::columns::terminal_width;
use crate::draw::bars::draw;
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader};
use crate::plan_source::{PlanSource, current_folder};
use crate::plan_states::recorded_plan;
use crate::terminal;

pub(crate) fn run(arguments: &ProgressArgs) -> Result<Exit, Failures> {
    show(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn show(arguments: &ProgressArgs) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let sight = BatchSource {
        database: Database::open(&state)?,
        state,
    };
    let scope = Scope::of_folder(&sight.state, &current_folder()?)?;
    let on_terminal = terminal::can_draw(&std::io::stdout()) && !arguments.json;
    let mut screen = RedrawnLines::default();
    let mut told = Vec::new();
    loop {
        let seen = sight.database.last_seq()?;
        let outlook = look(arguments, &sight, &scope)?;
        let lines = if arguments.json {
            let text = if arguments.watch {
                serde_json::to_string(&outlook)
            } else {
                serde_json::to_string_pretty(&outlook)
            };
            vec![text.expect("it is plain data")]
        } else {
            draw(&outlook, terminal_width())
        };
        // Times run on; in a pipe that is no news.
        let news = (outlook.total.clone(), outlook.batches.clone());
        if on_terminal && arguments.watch {
            screen.draw(&lines);
        } else if !told.contains(&news) {
            output::print(format_args!("{}\n", lines.join("\n")));
            told = vec![news];
        }
        if !arguments.watch || outlook.batches.is_empty() {
            return Ok(Exit::Success);
        }
        sight.wait_for_news(seen)?;
    }
}

fn look(arguments: &ProgressArgs, sight: &BatchSource, scope: &Scope) -> Result<Outlook, Failures> {
    let (plan, path) = if let Some(status) = &arguments.status {
        (recorded_plan(arguments.plan.as_deref(), status)?, None)
    } else {
        let source = PlanSource::load(arguments.plan.as_deref())?;
        (source.document.plan, Some(source.path))
    };
    let path = path.and_then(|path| path.canonicalize().ok());
    let name = path.map(|path| path.to_string_lossy().into_owned());
    let settings = Settings::load(&project_folder(&current_folder()?), Config::default())?;
    let setting = OutlookInput {
        state: &sight.state,
        database: &sight.database,
        project: scope.project(),
        plan: name.as_deref(),
        at_once: settings.turns(plan.tasks.len()).slots(),
    };
    Ok(Outlook::compute(&plan, &setting)?)
}
