//! Loads the plan that a command is about: the file, its graph, and what of it was chosen.
//!
//! Every command that takes a plan goes this way, so that all of them say the same about it.

use std::path::{Path, PathBuf};

use pleach_domain::graph::{Graph, OrderRules, Overlap, Strictness};
use pleach_domain::next::NextRules;
use pleach_domain::phase::Threshold;
use pleach_domain::select::{Selection, done_among};
use pleach_domain::task::TaskStatus;
use pleach_engine::config::{Config, Settings};
use pleach_engine::mentioned_files::declare_mentioned;
use pleach_engine::plan_file::PlanFile;
use pleach_engine::plan_in_use::{self, project_folder};
use pleach_engine::plan_sizes::check_sizes_at;
use pleach_engine::plan_to_run::{PlanOrigin, PlanToRun};
use pleach_engine::start::{Chosen, Dependencies};
use pleach_formats::Document;

use crate::args::{OrderArgs, RuleArgs};
use crate::failure::{Exit, Failure, Failures};
use crate::output::tell_error;

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
                "warning: {} was left by a killed run and may contain edits of yours; compare it with the plan, then delete it\n",
                left.display()
            ));
        }
        let mut document = pleach_formats::read(file.text());
        declare_mentioned(&mut document.plan, &current_folder()?);
        check_sizes_at(&mut document.plan, &current_folder()?)?;
        if document.plan.tasks.is_empty() && document.plan.errors.is_empty() {
            let message = format!("no tasks in {}", path.display());
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

    pub(crate) fn into_run(self) -> PlanToRun {
        PlanToRun::new(PlanOrigin::File(self.path), self.text, self.document)
    }

    /// Takes the tasks that were named for open, whatever the plan says of them.
    pub(crate) fn reopen(&mut self, words: &[String]) -> Result<(), Failures> {
        let graph = Graph::new(&self.document.plan, Strictness::AsWritten);
        let selection = parse(&graph, words)?;
        for position in done_among(&selection, &graph) {
            self.document.plan.tasks[position].status = TaskStatus::Pending;
        }
        Ok(())
    }

    /// The file as the user named it.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

pub(crate) fn current_folder() -> Result<PathBuf, Failures> {
    std::env::current_dir().map_err(|error| {
        let message = format!("could not find the current folder: {error}");
        Failure::new(Exit::Environment, "no_folder", message)
            .hint("change to a folder that exists")
            .into()
    })
}

impl RuleArgs {
    /// The threshold that holds here: as the flag says, or the configuration.
    pub(crate) fn threshold(&self) -> Result<Threshold, Failures> {
        if let Some(threshold) = self.phase_threshold {
            return Ok(threshold);
        }
        let folder = project_folder(&current_folder()?);
        Ok(Settings::load(&folder, Config::default())?.phase_threshold)
    }

    pub(crate) fn strictness(&self) -> Strictness {
        if self.strict {
            Strictness::Strict
        } else {
            Strictness::AsWritten
        }
    }
}

impl OrderArgs {
    pub(crate) fn rules(&self, threshold: Threshold) -> OrderRules {
        OrderRules {
            overlap: self.overlap(),
            threshold,
        }
    }

    pub(crate) fn overlap(&self) -> Overlap {
        if self.allow_overlap {
            Overlap::Allowed
        } else {
            Overlap::Ordered
        }
    }
}

/// Fails if anything is wrong with what was chosen.
pub(crate) fn check(chosen: &Chosen, file: &str) -> Result<(), Failures> {
    let errors = chosen.errors.iter();
    Failures::check(
        errors
            .map(|problem| Failure::of_plan(problem, file))
            .collect(),
    )
}

fn parse(graph: &Graph<'_>, words: &[String]) -> Result<Selection, Failures> {
    let is_id = |id: &str| graph.index().find(id).is_some();
    Ok(Selection::parse(&words.join(" "), is_id)?)
}

/// Resolves a selection, with dependencies if wanted; errors that it does not reach are warnings.
pub(crate) fn choose(
    graph: &Graph<'_>,
    words: &[String],
    order: &OrderArgs,
    threshold: Threshold,
) -> Result<Chosen, Failures> {
    let selection = parse(graph, words)?;
    let rules = NextRules {
        threshold,
        ..NextRules::default()
    };
    let dependencies = if order.with_deps {
        Dependencies::Added
    } else {
        Dependencies::Chosen
    };
    Ok(Chosen::of(graph, &selection, rules, dependencies))
}
