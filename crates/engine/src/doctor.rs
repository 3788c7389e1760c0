//! Looks whether everything is there that a run needs, and says of each thing what to do about it.
//!
//! Mends nothing, and asks the server only when told to.

mod agents;
mod machine;
mod node;
mod project;
mod visit;

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use pleach_domain::choice::Where;

use crate::config::{Config, Layers, Settings, misspelt_variables};
use crate::plan_in_use::project_folder;

pub use node::{NodeNeeds, examine_node};
pub use visit::{ExamineNode, NodeReport, NodeVisit};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckLevel {
    Fine,
    /// A run works, and something will be missed.
    Warning,
    /// A run does not work.
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorCheck {
    /// What it is about, in a word that does not change.
    pub topic: Cow<'static, str>,
    pub level: CheckLevel,
    pub message: String,
    pub fix: Option<String>,
}

impl DoctorCheck {
    pub fn fine(topic: &'static str, message: impl Into<String>) -> Self {
        Self {
            topic: topic.into(),
            level: CheckLevel::Fine,
            message: message.into(),
            fix: None,
        }
    }

    pub fn warning(
        topic: &'static str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            topic: topic.into(),
            level: CheckLevel::Warning,
            message: message.into(),
            fix: Some(fix.into()),
        }
    }

    pub fn error(topic: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            level: CheckLevel::Error,
            ..Self::warning(topic, message, fix)
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoctorScope {
    /// No network is used.
    Nowhere,
    /// The server is asked for a branch.
    Server,
}

/// Looks at everything for somebody who stands in `folder`, for batches that run where it is said, or else configured;
/// `program` is Pleach itself.
pub fn examine(
    folder: &Path,
    program: &Path,
    reach: DoctorScope,
    place: Option<Where>,
) -> Vec<DoctorCheck> {
    let mut findings = Vec::new();
    let top = project_folder(folder);
    let settings = configuration(&top, place, &mut findings);
    agents::look(program, settings.as_ref(), &mut findings);
    project::look(folder, settings.as_ref(), program, reach, &mut findings);
    machine::look(&top, program, settings.as_ref(), &mut findings);
    findings
}

/// The settings, or the usual ones where they cannot be read, so that the rest is looked at as well.
fn configuration(
    top: &Path,
    place: Option<Where>,
    findings: &mut Vec<DoctorCheck>,
) -> Option<Settings> {
    let flags = Config {
        place,
        ..Config::default()
    };
    let loaded =
        Layers::load(top).and_then(|layers| Settings::of_layers(&layers.with_flags(flags), top));
    for slip in misspelt_variables() {
        findings.push(DoctorCheck::warning(
            "configuration",
            format!("unknown variable {}", slip.name),
            format!("did you mean {}?", slip.nearest),
        ));
    }
    match loaded {
        Ok(settings) => {
            findings.push(DoctorCheck::fine("configuration", "valid"));
            Some(settings)
        }
        Err(error) => {
            let each = error.each().iter();
            findings.extend(each.map(|error| {
                let message = pleach_system::text::causes::with_causes(error);
                DoctorCheck::error("configuration", message, error.hint())
            }));
            None
        }
    }
}
