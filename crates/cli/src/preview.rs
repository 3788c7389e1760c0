//! Shows what a run would do, and asks whether it may.
//!
//! Knows no terminal but its width; questions are answered with a line.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anstyle::Style;
use pleach_domain::batch::Budget;
use pleach_domain::batch::{Approval, Mode};
use pleach_domain::choice::{Landing, Where};
use pleach_domain::estimate::plan_seconds_left;
use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::plan::Plan;
use pleach_engine::agent::{Agent, ChosenAgent};
use pleach_engine::config::{MaxParallel, Settings};
use pleach_engine::run::{BuildsOn, RunRequest, WorkPlace};
use pleach_git::git::Unpushed;
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::secrets::Secrets;

use crate::columns::about;
use crate::draw::Picture;
use crate::draw::text::{Detail, draw};
use crate::line::Line;
use crate::output::{one_line, tell_error};
use crate::terminal::TerminalSize;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(crate) struct PreviewInput {
    name: PathBuf,
    plan: Plan,
    chosen: Vec<usize>,
    rules: OrderRules,
    settings: Settings,
    agent: ChosenAgent,
    sandbox: String,
    place: WorkPlace,
}

impl PreviewInput {
    pub(crate) fn new(request: &RunRequest, place: WorkPlace) -> Self {
        let settings = &request.settings;
        let sandbox = SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write);
        Self {
            sandbox: sandbox.map_or_else(|none| none.to_string(), |held| held.description()),
            name: request.plan.origin.to_string().into(),
            plan: without_secrets(&request.plan.document.plan),
            chosen: request.chosen.clone(),
            rules: request.rules,
            settings: without_secrets_in_commands(&request.settings),
            agent: request.agent.clone(),
            place,
        }
    }

    pub(crate) fn agent(&self, program: &Path) -> Arc<dyn Agent> {
        self.agent.agent(program)
    }

    pub(crate) fn preview<'a>(
        &'a self,
        agent: &'a dyn Agent,
        past: &'a HashMap<TaskId, Duration>,
    ) -> Preview<'a> {
        Preview {
            name: &self.name,
            plan: &self.plan,
            chosen: &self.chosen,
            rules: self.rules,
            settings: &self.settings,
            agent,
            place: self.place,
            past,
            builds_on: &[],
            sandbox: &self.sandbox,
            unpushed: None,
            push_to: None,
            notes: Vec::new(),
        }
    }
}

fn without_secrets(plan: &Plan) -> Plan {
    let hider = Secrets::of_environment(&[]).hider();
    let mut plan = plan.clone();
    for task in &mut plan.tasks {
        task.title = hider.hidden(std::mem::take(&mut task.title));
    }
    plan
}

fn without_secrets_in_commands(settings: &Settings) -> Settings {
    let hider = Secrets::of_environment(&[]).hider();
    let mut settings = settings.clone();
    for command in [&mut settings.validate, &mut settings.setup] {
        *command = command.take().map(|command| hider.hidden(command));
    }
    settings
}

pub(crate) struct Preview<'a> {
    pub(crate) name: &'a Path,
    pub(crate) plan: &'a Plan,
    pub(crate) chosen: &'a [usize],
    pub(crate) rules: OrderRules,
    pub(crate) settings: &'a Settings,
    pub(crate) agent: &'a dyn Agent,
    pub(crate) place: WorkPlace,
    /// How long tasks took when they were last done.
    pub(crate) past: &'a HashMap<TaskId, Duration>,
    /// The batches that its tasks build on and that are not in the base.
    pub(crate) builds_on: &'a [BuildsOn],
    /// What holds agents, in words.
    pub(crate) sandbox: &'a str,
    /// The user's own commits that would be pushed along, in words.
    pub(crate) unpushed: Option<String>,
    pub(crate) push_to: Option<String>,
    /// What is not as git itself would have it.
    pub(crate) notes: Vec<String>,
}

impl<'a> Preview<'a> {
    pub(crate) fn building_on(mut self, builds_on: &'a [BuildsOn]) -> Self {
        self.builds_on = builds_on;
        self
    }

    /// The same, with the user's own commits that would be pushed along.
    pub(crate) fn pushing(mut self, unpushed: Option<&Unpushed>) -> Self {
        let hider = Secrets::of_environment(&[]).hider();
        self.unpushed = unpushed.map(|unpushed| hider.hidden(unpushed.to_string()));
        self
    }

    /// The same, with the address that the result would be pushed to.
    pub(crate) fn pushing_to(mut self, address: Option<String>) -> Self {
        let hider = Secrets::of_environment(&[]).hider();
        self.push_to = address.map(|address| hider.hidden(address));
        self
    }

    pub(crate) fn noting(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// Prints it to standard error, so that standard output stays the run's own.
    pub(crate) fn print(&self) {
        let output = std::io::stderr();
        let width = output
            .is_terminal()
            .then(|| TerminalSize::of(&output).columns);
        tell_error(format_args!("{}", self.text(width)));
    }

    /// The tasks in their waves, then a line for everything that was settled; none is wider than `width`.
    pub(crate) fn text(&self, width: Option<usize>) -> String {
        let mut text = self.groups(width);
        for (name, value) in self.facts() {
            let line = Line::new().and(DIM, format!("  {name:<8}"));
            let line = line.and(PLAIN, format!(" {}", one_line(&value)));
            let _ = writeln!(text, "{}", line.cut(width.unwrap_or(usize::MAX)));
        }
        text
    }

    pub(crate) fn order(&self, graph: &Graph<'_>) -> Order {
        let mut members = vec![false; self.plan.tasks.len()];
        for position in self.chosen {
            members[*position] = true;
        }
        Order::new(graph, &members, self.rules)
    }

    fn groups(&self, width: Option<usize>) -> String {
        let graph = Graph::new(self.plan, Strictness::AsWritten);
        let name = self.name.display().to_string();
        if let [only] = self.chosen {
            let line = Line::new().and(BOLD, format!("1 task from {}", one_line(&name)));
            let task = graph.task(*only);
            let task = Line::new()
                .and(BOLD, format!("  {}", one_line(task.id.as_str())))
                .and(PLAIN, format!("  {}", one_line(&task.title)));
            let width = width.unwrap_or(usize::MAX);
            return format!("{}\n{}\n", line.cut(width), task.cut(width));
        }
        let order = self.order(&graph);
        let picture = Picture {
            name: &name,
            graph: &graph,
            order: &order,
            chosen: self.chosen,
        };
        format!("{}\n", draw(&picture, width, Detail::Summary))
    }

    /// What was settled about the run, each with its name.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let settings = self.settings;
        let agent = self.agent;
        let mut facts = vec![
            ("order", self.turns()),
            (
                "agent",
                format!("{} ({})", agent.name(), agent.description()),
            ),
        ];
        facts.extend(match settings.place {
            Where::Local => None,
            Where::Slurm => Some(("where", "the nodes of Slurm".to_owned())),
        });
        facts.extend(
            self.builds_on
                .iter()
                .map(|other| ("needs", other.to_string())),
        );
        facts.extend(settings.setup.clone().map(|setup| ("setup", setup)));
        let tests = settings.validate.clone();
        let no_tests = || "none (validate is not set)".to_owned();
        facts.push(("tests", tests.unwrap_or_else(no_tests)));
        facts.push(("result", self.lands()));
        facts.extend(self.unpushed.clone().map(|commits| ("pushes", commits)));
        facts.push(("sandbox", self.sandbox.to_owned()));
        facts
            .extend(budget(settings.budget(), settings.task_budget()).map(|text| ("budget", text)));
        if let Some((time, known)) = self.expected() {
            let text = format!("about {}, based on {known}", about(time));
            facts.push(("time", text));
        }
        facts.extend(self.notes.iter().cloned().map(|note| ("note", note)));
        facts
    }

    fn lands(&self) -> String {
        let lands = match (self.settings.land, &self.push_to) {
            _ if self.place == WorkPlace::InPlace => {
                "in this folder, without branches (not a git repository)"
            }
            (Landing::Nowhere, _) => "a local branch",
            (Landing::Local, _) => "the base branch, fast-forwarded",
            (Landing::Push, Some(address)) => return format!("pushed to {address}"),
            (Landing::PullRequest, Some(address)) => {
                return format!("pushed to {address}, with one pull request");
            }
            (Landing::Push | Landing::PullRequest, None) => "a local branch (no remote to push to)",
        };
        lands.to_owned()
    }

    fn turns(&self) -> String {
        let graph = Graph::new(self.plan, Strictness::AsWritten);
        let waves = count(self.order(&graph).waves.len(), "wave");
        let turns = match self.settings.turns(self.chosen.len()) {
            Mode::Parallel { slots } => match self.settings.max_parallel {
                MaxParallel::Auto if self.settings.place == Where::Local => {
                    format!("{slots} at once at first")
                }
                _ => format!("at most {slots} at once"),
            },
            Mode::Queue { approval } => match approval {
                Approval::Automatic => "one at a time".to_owned(),
                Approval::ByPerson => "one at a time, each after your approval".to_owned(),
            },
        };
        format!("{waves}, {turns}")
    }

    /// How long it may take, and by how many tasks that is known.
    pub(crate) fn expected(&self) -> Option<(Duration, String)> {
        let past = self.past.values().map(Duration::as_secs_f64);
        #[expect(clippy::cast_precision_loss, reason = "no plan has 2^52 tasks")]
        let mean = past.sum::<f64>() / self.past.len() as f64;
        let chosen = self.chosen.iter().map(|at| &self.plan.tasks[*at].id);
        let known = chosen.filter(|id| self.past.contains_key(*id));
        let known = match known.count() {
            0 if self.past.is_empty() => return None,
            0 => "past runs of other tasks".to_owned(),
            all if all == self.chosen.len() => "their past runs".to_owned(),
            some => format!("past runs of {some} of them"),
        };
        let took = |id: &TaskId| self.past.get(id).map_or(mean, Duration::as_secs_f64);
        let at_once = self.settings.turns(self.chosen.len()).slots();
        let time = plan_seconds_left(self.plan, self.chosen, self.rules, at_once, |task| {
            took(&task.id)
        })?;
        Some((Duration::from_secs_f64(time), known))
    }
}

fn budget(batch: Budget, task: Budget) -> Option<String> {
    let amounts = |budget: Budget, whose: &str| {
        let money = budget.micro_usd.map(|amount| {
            let cents = amount / 10_000;
            format!("${}.{:02}{whose}", cents / 100, cents % 100)
        });
        let tokens = budget
            .tokens
            .map(|tokens| format!("{tokens} tokens{whose}"));
        [money, tokens]
    };
    let all = [amounts(batch, ""), amounts(task, " per task")];
    let all: Vec<String> = all.into_iter().flatten().flatten().collect();
    (!all.is_empty()).then(|| format!("at most {}", all.join(", ")))
}

pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}
