//! Every error of the engine as a fault: who is to blame, and what to do about it.
//!
//! Knows all errors, and nobody who is told.

use pleach_domain::select::SelectionError;
use pleach_git::git::{GitError, PutError, StoreError};
use pleach_git::weave::WeaveError;
use pleach_git::worktree::WorktreeError;
use pleach_log::database::DatabaseError;
use pleach_log::ownership::AskError;
use pleach_log::view::ViewError;
use pleach_system::sandbox::NoSandbox;
use pleach_system::state_folder::StateFolderError;
use pleach_system::text::causes::with_causes;

use super::{Blame, Fault, Faults, FieldError};
use crate::agent::NoAgent;
use crate::board::{BoardError, BoardErrorKind};
use crate::config::ConfigError;
use crate::control::ControlError;
use crate::gc::GcError;
use crate::init::InitError;
use crate::kept::KeptError;
use crate::patch::PatchError;
use crate::plan_file::PlanFileError;
use crate::plan_in_use::NoPlan;
use crate::prompt::UnknownPlace;
use crate::resolve::ResolveError;
use crate::run::{InPlaceError, RunError};
use crate::stored_batch::LookupError;

const ROOM_FOR_GIT: &str = "check that the disk and TMPDIR have free space and the repository is writable; `git fsck` checks \
                            the repository";

impl From<SelectionError> for Faults {
    fn from(error: SelectionError) -> Self {
        Fault {
            pointer: Some(error.pointer()),
            ..Fault::new(Blame::User, "bad_selection", &error.message).hint(&error.hint)
        }
        .into()
    }
}

impl From<PlanFileError> for Faults {
    fn from(error: PlanFileError) -> Self {
        Fault::new(Blame::User, "bad_file", with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<NoPlan> for Faults {
    fn from(error: NoPlan) -> Self {
        if let NoPlan::Config(error) = error {
            return error.into();
        }
        Fault::new(Blame::User, "no_plan", with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<ConfigError> for Faults {
    fn from(error: ConfigError) -> Self {
        let each = error.each().iter().map(|error| {
            Fault::new(Blame::User, "bad_config", with_causes(error)).hint(error.hint())
        });
        Self {
            all: each.collect(),
        }
    }
}

impl From<InitError> for Faults {
    fn from(error: InitError) -> Self {
        let (blame, code) = match error {
            InitError::Config(error) => return error.into(),
            InitError::Exists { .. } => (Blame::User, "file_exists"),
            InitError::Io { .. } => (Blame::Environment, "not_written"),
        };
        Fault::new(blame, code, with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<NoAgent> for Faults {
    fn from(error: NoAgent) -> Self {
        let (blame, code) = match error {
            NoAgent::Unknown { .. } => (Blame::User, "unknown_agent"),
            _ => (Blame::Environment, "no_agent"),
        };
        Fault::new(blame, code, error.to_string())
            .hint(error.hint())
            .into()
    }
}

impl From<StateFolderError> for Faults {
    fn from(error: StateFolderError) -> Self {
        let code = match error {
            StateFolderError::OnNetwork { .. } => "state_on_network",
            StateFolderError::NoHome | StateFolderError::Io { .. } => "state_folder",
        };
        Fault::new(Blame::Environment, code, with_causes(&error))
            .hint(error.hint())
            .into()
    }
}

impl From<StoreError> for Faults {
    fn from(error: StoreError) -> Self {
        let (blame, code) = match error {
            StoreError::BaseNotFound { .. } => (Blame::User, "base_not_found"),
            StoreError::Login { .. } => (Blame::Environment, "login"),
            StoreError::NotWritable { .. } => (Blame::Environment, "not_writable"),
            _ => (Blame::Environment, "repository"),
        };
        let is_git = matches!(error, StoreError::Git(_));
        let of_git = || is_git.then(|| ROOM_FOR_GIT.to_owned());
        Fault {
            hint: error.hint().or_else(of_git),
            ..Fault::new(blame, code, with_causes(&error))
        }
        .into()
    }
}

impl From<GitError> for Faults {
    fn from(error: GitError) -> Self {
        let failure = Fault::new(Blame::Environment, "git", with_causes(&error));
        match error {
            GitError::NotInstalled => failure.hint("install git and put it on the PATH").into(),
            GitError::TooOld { needed, .. } => failure
                .hint(format!("install git {needed} or newer"))
                .into(),
            _ => failure.hint(ROOM_FOR_GIT).into(),
        }
    }
}

impl From<PutError> for Faults {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Git(error) => error.into(),
            PutError::Store(error) => error.into(),
            _ => Fault {
                hint: error.hint(),
                ..Fault::new(Blame::User, "branch", error.to_string())
            }
            .into(),
        }
    }
}

impl From<WeaveError> for Faults {
    fn from(error: WeaveError) -> Self {
        match error {
            WeaveError::Git(error) => error.into(),
            WeaveError::Store(error) => error.into(),
            WeaveError::Io { .. } => Fault::new(Blame::Environment, "weave", with_causes(&error))
                .hint("check that the disk has free space and the folder is writable, or set TMPDIR to another one")
                .into(),
            WeaveError::Objects { .. } => Fault::new(Blame::Environment, "weave", with_causes(&error))
                .hint(ROOM_FOR_GIT)
                .into(),
            WeaveError::UnknownHash(_) | WeaveError::TooDeep => {
                Fault::new(Blame::Environment, "weave", with_causes(&error)).into()
            }
        }
    }
}

impl From<WorktreeError> for Faults {
    fn from(error: WorktreeError) -> Self {
        match error {
            WorktreeError::Git(error) => error.into(),
            WorktreeError::Store(error) => error.into(),
            _ => Fault::new(Blame::Environment, "worktree", with_causes(&error)).into(),
        }
    }
}

impl From<DatabaseError> for Faults {
    fn from(error: DatabaseError) -> Self {
        let (blame, code) = match error {
            DatabaseError::TaskBusy { .. } => (Blame::User, "task_busy"),
            _ => (Blame::Environment, "database"),
        };
        Fault {
            hint: error.hint().map(str::to_owned),
            ..Fault::new(blame, code, with_causes(&error))
        }
        .into()
    }
}

impl From<UnknownPlace> for Faults {
    fn from(error: UnknownPlace) -> Self {
        Fault::new(Blame::User, "bad_prompt", error.to_string())
            .hint(error.hint())
            .into()
    }
}

impl From<RunError> for Faults {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => (*error).into(),
            RunError::Git(error) => error.into(),
            RunError::State(error) => error.into(),
            RunError::Weave(error) => (*error).into(),
            RunError::Worktree(error) => (*error).into(),
            RunError::Database(error) => error.into(),
            RunError::Sandbox(error) => error.into(),
            RunError::InPlace(error) => {
                let blame = match error {
                    InPlaceError::Busy { .. } => Blame::User,
                    InPlaceError::NeedsRepository { .. } | InPlaceError::Unfit { .. } => {
                        Blame::Environment
                    }
                };
                Fault::new(blame, error.code(), error.to_string())
                    .hint(error.hint())
                    .into()
            }
            RunError::Cluster(error) => {
                let blame = if error.is_users() {
                    Blame::User
                } else {
                    Blame::Environment
                };
                Fault::new(blame, error.code(), error.to_string())
                    .hint(error.hint())
                    .into()
            }
            RunError::NoBatch(_) => Fault::new(Blame::User, "batch_not_found", error.to_string())
                .hint("`pleach status --all` lists all batches")
                .into(),
            RunError::NoLastBatch => Fault::new(Blame::User, "no_last_batch", error.to_string())
                .hint("omit `--base last`; for a branch named last, use `--base refs/heads/last`")
                .into(),
            RunError::Over(batch) => Fault::new(Blame::User, "batch_over", error.to_string())
                .hint(format!(
                    "`pleach retry {batch}` retries its unsuccessful tasks"
                ))
                .into(),
            RunError::Ownership(_)
            | RunError::Process(_)
            | RunError::Unreadable { .. }
            | RunError::Io { .. } => {
                Fault::new(Blame::Environment, "run", with_causes(&error)).into()
            }
        }
    }
}

impl From<NoSandbox> for Faults {
    fn from(error: NoSandbox) -> Self {
        Fault::new(Blame::Environment, "no_sandbox", error.to_string())
            .hint(error.hint())
            .into()
    }
}

impl From<ViewError> for Faults {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Database(error) => error.into(),
            _ => Fault::new(Blame::Environment, "database", with_causes(&error)).into(),
        }
    }
}

impl From<LookupError> for Faults {
    fn from(error: LookupError) -> Self {
        let code = match error {
            LookupError::NoBatch(_) => "batch_not_found",
            LookupError::NoTask { .. } => "task_not_found",
            LookupError::View(error) => return error.into(),
        };
        Fault {
            hint: error.hint(),
            ..Fault::new(Blame::User, code, error.to_string())
        }
        .into()
    }
}

impl From<ControlError> for Faults {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Lookup(error) => error.into(),
            ControlError::Run(error) => (*error).into(),
            ControlError::Refused {
                code,
                message,
                hint,
            } => Fault::new(Blame::User, code, message).hint(hint).into(),
            ControlError::Ask(error @ AskError::Older(_)) => {
                Fault::new(Blame::Environment, "older_owner", error.to_string())
                    .hint("stop that process (Ctrl-C keeps all work), then run `pleach resume`")
                    .into()
            }
            ControlError::Ask(error) => {
                Fault::new(Blame::Environment, "owner", with_causes(&error))
                    .hint("`pleach status` shows whether it is running")
                    .into()
            }
        }
    }
}

impl From<ResolveError> for Faults {
    fn from(error: ResolveError) -> Self {
        let blame = match error {
            ResolveError::Lookup(error) => return error.into(),
            ResolveError::Store(error) => return error.into(),
            ResolveError::Git(error) => return error.into(),
            ResolveError::Weave(error) => return (*error).into(),
            ResolveError::Worktree(error) => return (*error).into(),
            ResolveError::NoStore { .. }
            | ResolveError::Unreadable { .. }
            | ResolveError::Capture(_) => Blame::Environment,
            ResolveError::NotConflicted { .. }
            | ResolveError::NotBegun { .. }
            | ResolveError::Outdated { .. }
            | ResolveError::Unfinished { .. }
            | ResolveError::Nothing { .. } => Blame::User,
        };
        let hint = error.hint();
        Fault {
            hint,
            ..Fault::new(blame, error.code(), with_causes(&error))
        }
        .into()
    }
}

impl From<BoardError> for Faults {
    fn from(error: BoardError) -> Self {
        let blame = match error.fault() {
            BoardErrorKind::Internal => Blame::Environment,
            _ => Blame::User,
        };
        let hint = error.hint();
        let hint = hint.unwrap_or_else(|| "see the server's log".to_owned());
        let fields = error.fields().iter().map(|field| FieldError {
            path: field.path.clone(),
            message: match field.line {
                Some(line) => format!("line {line}: {}", field.message),
                None => field.message.clone(),
            },
        });
        Fault {
            fields: fields.collect(),
            ..Fault::new(blame, error.code(), with_causes(&error)).hint(hint)
        }
        .into()
    }
}

impl From<PatchError> for Faults {
    fn from(error: PatchError) -> Self {
        match error {
            PatchError::Lookup(error) => error.into(),
            PatchError::Store(error) => error.into(),
            PatchError::Git(error) => error.into(),
            PatchError::Nothing { what, hint } => {
                Fault::new(Blame::User, "no_work", what).hint(hint).into()
            }
            PatchError::Gone { .. } => Fault::new(Blame::User, "work_gone", with_causes(&error))
                .hint("`pleach recover` lists kept work")
                .into(),
        }
    }
}

impl From<KeptError> for Faults {
    fn from(error: KeptError) -> Self {
        let code = match error {
            KeptError::Lookup(error) => return error.into(),
            KeptError::Store(error) => return error.into(),
            KeptError::Git(error) => return error.into(),
            KeptError::Worktree(error) => return (*error).into(),
            KeptError::Ownership(_) => "owner",
            KeptError::Folder { .. } => "state_folder",
            KeptError::Nothing(_) => {
                return Fault::new(Blame::User, "nothing_kept", error.to_string())
                    .hint("`pleach recover --all` lists all kept work")
                    .into();
            }
        };
        Fault::new(Blame::Environment, code, with_causes(&error)).into()
    }
}

impl From<GcError> for Faults {
    fn from(error: GcError) -> Self {
        match error {
            GcError::Lookup(error) => error.into(),
            GcError::Kept(error) => error.into(),
            GcError::Store(error) => error.into(),
            GcError::Git(error) => error.into(),
            GcError::Worktree(error) => (*error).into(),
            GcError::Resolve(error) => (*error).into(),
            GcError::Ownership(_) | GcError::Io { .. } => {
                Fault::new(Blame::Environment, "gc", with_causes(&error)).into()
            }
        }
    }
}
