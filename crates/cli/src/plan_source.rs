//! Loads the plan that a command is about: the file, its graph, and what of it was chosen.
//!
//! Every command that takes a plan goes this way, so that all of them say the same about it.

use std::path::{Path, PathBuf};

use pleach_domain::graph::{Graph, Overlap, Rules, Strictness};
use pleach_domain::next::NextRules;
use pleach_domain::problem::{Code, Problem};
use pleach_domain::select::{Choice, Selection, closed_phases, resolve};
use pleach_engine::plan_file::PlanFile;
use pleach_engine::plan_in_use;
use pleach_formats::Document;

use crate::args::{OrderArgs, RuleArgs};
use crate::failure::{Exit, Failure, Failures};
use crate::output::tell_error;

/// A plan's file, read.
#[derive(Debug)]
pub(crate) struct PlanSource {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) document: Document,
}

impl PlanSource {
    /// Reads the named plan, or the one in use.
    pub(crate) fn load(named: Option<&Path>) -> Result<Self, Failures> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => plan_in_use::find(&current_folder()?)?,
        };
        let file = PlanFile::load(&path)?;
        for left in PlanFile::leftovers(&path) {
            tell_error(format_args!(
                "warning: {} was left by a run that was killed and may hold what you saved; compare it, then delete it\n",
                left.display()
            ));
        }
        let document = pleach_formats::read(file.text());
        if document.plan.tasks.is_empty() && document.plan.errors.is_empty() {
            let message = format!("there is no task in {}", path.display());
            let hint = "a task is a checkbox such as \"- [ ] Fix the login\", or a heading such as \"### 63. Title\"";
            return Err(Failure::new(Exit::Usage, "no_tasks", message)
                .hint(hint)
                .into());
        }
        Ok(Self {
            text: file.text().to_owned(),
            path,
            document,
        })
    }

    /// The file as the user named it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// The folder that the user stands in.
pub(crate) fn current_folder() -> Result<PathBuf, Failures> {
    std::env::current_dir().map_err(|error| {
        let message = format!("could not find the current folder: {error}");
        Failure::new(Exit::Environment, "no_folder", message)
            .hint("go to a folder that exists")
            .into()
    })
}

impl RuleArgs {
    pub(crate) fn strictness(&self) -> Strictness {
        if self.strict {
            Strictness::Strict
        } else {
            Strictness::AsWritten
        }
    }
}

impl OrderArgs {
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            overlap: if self.allow_overlap {
                Overlap::Allowed
            } else {
                Overlap::Ordered
            },
            threshold: self.rules.phase_threshold,
        }
    }
}

/// What was chosen of a plan, and what is wrong with that.
pub(crate) struct Chosen {
    pub(crate) tasks: Vec<usize>,
    pub(crate) errors: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

impl Chosen {
    /// Fails if anything is wrong.
    pub(crate) fn check(&self, file: &str) -> Result<(), Failures> {
        let errors = self.errors.iter();
        Failures::check(
            errors
                .map(|problem| Failure::of_plan(problem, file))
                .collect(),
        )
    }
}

/// Resolves a selection, with dependencies if wanted; errors that it does not reach are warnings.
pub(crate) fn choose(
    graph: &Graph<'_>,
    words: &[String],
    order: &OrderArgs,
) -> Result<Chosen, Failures> {
    let text = words.join(" ");
    let selection = Selection::parse(&text, |id| graph.index().find(id).is_some())?;
    let rules = NextRules {
        threshold: order.rules.phase_threshold,
        ..NextRules::default()
    };
    let Choice { tasks, notes } = resolve(&selection, graph, rules);
    let tasks = if order.with_deps {
        graph.with_needs(&tasks)
    } else {
        tasks
    };
    let (mut errors, beyond) = graph.errors_reaching(&tasks);
    errors.extend(graph.missing_needs(&tasks));
    let mut warnings = graph.warnings().to_vec();
    warnings.extend(beyond);
    if tasks.is_empty() && errors.is_empty() {
        let code = notes.last().map_or(Code::TaskNotFound, |note| note.code);
        let problem = Problem::new(code, "nothing is left of the selection");
        errors.push(problem.hint("`pleach plan` shows what is to do"));
    }
    warnings.extend(notes);
    warnings.extend(closed_phases(graph, &tasks, rules.threshold));
    Ok(Chosen {
        tasks,
        errors,
        warnings,
    })
}
