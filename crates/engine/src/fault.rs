//! What went wrong, as every surface tells it: who is to blame, a stable word, a message and a hint.
//!
//! Every error of the engine becomes one of these at the edge; exit codes and HTTP are the business of those who tell it.

mod from_errors;

use pleach_domain::problem::Problem;
use pleach_system::secrets::Hider;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// Whoever asked: what was asked for makes no sense, or not now.
    User,
    /// Whoever keeps the machine: something is missing or does not work.
    Environment,
    /// Whoever makes Pleach: something broke that cannot.
    Pleach,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub blame: Blame,
    /// The reason, as a stable word.
    pub code: &'static str,
    pub message: String,
    /// A place such as `TODO.md:41`.
    pub place: Option<String>,
    /// Two lines that point at a word.
    pub pointer: Option<String>,
    pub hint: Option<String>,
    pub fields: Vec<FieldError>,
    /// Details for programs; they depend on the code.
    pub details: Option<Value>,
}

/// An invalid field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Its path in the request.
    #[schema(example = "tasks[2].title")]
    pub path: String,
    /// What is wrong with it.
    pub message: String,
}

impl Fault {
    pub fn new(blame: Blame, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            blame,
            code,
            message: message.into(),
            place: None,
            pointer: None,
            hint: None,
            fields: Vec::new(),
            details: None,
        }
    }

    /// A field of a request that is out of its range, or names what is not there.
    pub fn field(path: &str, message: impl Into<String>) -> Self {
        let (path, message) = (path.to_owned(), message.into());
        let told = if path.is_empty() {
            message.clone()
        } else {
            format!("{path}: {message}")
        };
        Self {
            fields: vec![FieldError { path, message }],
            ..Self::new(Blame::User, "bad_field", told)
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn of_plan(problem: &Problem, file: &str) -> Self {
        Self {
            place: problem.line.map(|line| format!("{file}:{line}")),
            hint: problem.hint.clone(),
            ..Self::new(Blame::User, problem.code.as_str(), &problem.message)
        }
    }
}

/// Everything that went wrong; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    all: Vec<Fault>,
}

impl Faults {
    /// Several at once; nothing, if there is none.
    pub fn check(all: Vec<Fault>) -> Result<(), Self> {
        if all.is_empty() {
            Ok(())
        } else {
            Err(Self { all })
        }
    }

    /// The one that is told where only one can be.
    pub fn first(&self) -> &Fault {
        &self.all[0]
    }

    pub fn into_vec(self) -> Vec<Fault> {
        self.all
    }
}

/// The error.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorText {
    /// A stable code.
    #[schema(example = "task_busy")]
    pub code: String,
    /// The message, for people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The invalid fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub fields: Vec<FieldError>,
    /// Details for programs; they depend on the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub details: Option<Value>,
}

impl From<Faults> for ErrorText {
    fn from(faults: Faults) -> Self {
        let mut all = faults.into_vec();
        let several = all.iter().map(|fault| FieldError {
            path: fault.place.clone().unwrap_or_default(),
            message: fault.message.clone(),
        });
        let several: Vec<FieldError> = several.collect();
        let first = all.swap_remove(0);
        Self {
            code: first.code.to_owned(),
            message: first.message,
            hint: first.hint,
            fields: match several.len() {
                1 => first.fields,
                _ => several,
            },
            details: first.details,
        }
    }
}

impl ErrorText {
    /// The same without secrets, which words of git and of servers may hold.
    #[must_use]
    pub fn hidden(mut self, hider: &Hider) -> Self {
        let hide = |text: &mut String| *text = hider.hidden(std::mem::take(text));
        hide(&mut self.message);
        self.hint.iter_mut().for_each(hide);
        for field in &mut self.fields {
            hide(&mut field.path);
            hide(&mut field.message);
        }
        self
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self { all: vec![fault] }
    }
}
