//! What a person is asked to consent to, as programs see it.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ChangeKind, Role, SteeringChange, SteeringSubject};

/// A setting or a file that controls agents or Pleach, and how it differs from what was consented to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentChange {
    what: ConsentSubject,
    /// The name of the setting, or the path of the file
    name: String,
    kind: ConsentKind,
    role: ConsentRole,
    /// How the file is reached, or why it needs consent each time
    because: Option<String>,
    /// The previous value or content
    before: Option<String>,
    /// The current value or content
    now: Option<String>,
    /// Whether the contents are omitted because they are long or not text
    is_cut: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConsentSubject {
    Setting,
    File,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConsentKind {
    New,
    Changed,
    Gone,
    Unseen,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConsentRole {
    Settings,
    Servers,
    Hooks,
    Instructions,
    Other,
}

impl ConsentChange {
    pub(crate) fn new(change: &SteeringChange) -> Self {
        let (what, name) = match &change.what {
            SteeringSubject::Setting(name) => (ConsentSubject::Setting, name),
            SteeringSubject::File(name) => (ConsentSubject::File, name),
        };
        Self {
            what,
            name: name.clone(),
            kind: match change.kind {
                ChangeKind::New => ConsentKind::New,
                ChangeKind::Changed => ConsentKind::Changed,
                ChangeKind::Gone => ConsentKind::Gone,
                ChangeKind::Unseen => ConsentKind::Unseen,
            },
            role: match change.role {
                Role::Settings => ConsentRole::Settings,
                Role::Servers => ConsentRole::Servers,
                Role::Hooks => ConsentRole::Hooks,
                Role::Instructions => ConsentRole::Instructions,
                Role::Other => ConsentRole::Other,
            },
            because: change.because.clone(),
            before: change.before.clone(),
            now: change.now.clone(),
            is_cut: change.is_cut,
        }
    }
}
