//! Runs git: the only place of the project that starts it.
//!
//! Knows nothing of tasks and batches, and tells outcomes apart by exit codes alone.

mod address;
mod api_login;
mod blobs;
mod bounds;
mod bundle;
mod call;
mod checkout;
mod clone;
mod credential_helper;
mod credentials;
mod damage;
mod depot;
mod error;
mod excludes;
mod fast_forward;
mod fill;
mod ignored;
mod import;
mod lent;
mod locks;
mod names;
mod network;
mod not_followed;
mod object;
mod older_store;
mod origin;
mod output_start;
mod pauses;
mod printed;
mod program;
mod publish;
mod push;
pub mod read;
mod refs;
mod repack;
mod repository;
mod settings;
mod shadow;
mod stale_locks;
pub mod store;
mod store_error;
mod target;
mod unpushed;
mod users_config;

use std::path::{Path, PathBuf};

use bounds::ReadScope;
use call::DEADLINE;
use program::version;

pub use address::{Address, BadAddress, UserInfo};
pub use blobs::ObjectSource;
pub use call::{Call, Output};
pub(crate) use checkout::Checkout;
pub use credential_helper::answer as answer_git;
pub use credentials::{Login, Logins};
pub use damage::DamagedFiles;
pub use depot::LentProject;
pub use error::GitError;
pub(crate) use excludes::DISABLED;
pub use fast_forward::{FastForwardError, FastForwarded};
pub(crate) use ignored::{ignored, loose_files};
pub(crate) use lent::alternate_line;
pub use names::{ref_segment, task_segments};
pub use not_followed::NotFollowed;
pub use object::{BlobId, CommitId, NotAnId, TreeId};
pub use output_start::OutputStart;
pub use pauses::Pauses;
pub use printed::{nul_separated, os_str, parse_id};
pub use push::{PushError, Pushed};
pub use repository::{BranchPut, NamedCommit, PutError, Repository};
pub use store::{Identity, Store};
pub use store_error::{LoginProblem, StoreError};
pub use unpushed::Unpushed;

pub use address::HttpHost;
pub use credentials::{LoginPurpose, what_to_set};
pub use error::{plain_words, scrub};
pub use program::{find_program, is_executable};
pub use target::{PushTarget, ServerBranches};
pub use unpushed::count_of_commits;

/// From here on `merge-tree` takes `--merge-base`, also for each line of `--stdin`, and attributes
/// can be read from a tree.
const NEEDED: (u32, u32) = (2, 41);

/// Switches off everything in a repository's configuration that runs programs or tidies up.
const QUIET: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "protocol.file.allow=always",
    "protocol.version=2",
];

#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    /// What each call reads at least: a git in the home folder is made of what lies there.
    reach: ReadScope,
}

/// The repository that a call is made in, which decides whose configuration it follows.
#[derive(Debug, Clone, Copy)]
pub enum CallPlace<'a> {
    /// A git folder that only Pleach writes to: no configuration but its own.
    Ours(&'a Path),
    /// Any folder of the user's repository: found and configured as the user's own git would.
    Users(&'a Path),
    /// A folder that is in no repository: the user's own configuration and nothing else.
    Nowhere(&'a Path),
}

const USERS_CONFIG: [&str; 3] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

impl Git {
    pub fn find() -> Result<Self, GitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::at(find_program(&path, "git").ok_or(GitError::NotInstalled)?)
    }

    pub fn at(program: PathBuf) -> Result<Self, GitError> {
        let reach = bounds::least_reach(&program);
        let git = Self { program, reach };
        let found = git.version()?;
        if version(&found).is_some_and(|version| version >= NEEDED) {
            Ok(git)
        } else {
            let needed = format!("{}.{}", NEEDED.0, NEEDED.1);
            Err(GitError::TooOld { found, needed })
        }
    }

    pub fn version(&self) -> Result<String, GitError> {
        let printed = self.bare_call().arg("version").output()?;
        let said = String::from_utf8_lossy(&printed);
        Ok(said.trim().trim_start_matches("git version ").to_owned())
    }

    pub fn call(&self, place: CallPlace<'_>) -> Call {
        let call = self.bare_call();
        match place {
            CallPlace::Ours(git_dir) => call
                .writing(git_dir)
                .folder(git_dir)
                .below(git_dir)
                .env("GIT_DIR", git_dir)
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_ATTR_NOSYSTEM", "1")
                // An agent could make every object look like another one.
                .env("GIT_NO_REPLACE_OBJECTS", "1"),
            CallPlace::Users(folder) => call
                .reaching(ReadScope::Settings)
                .reading(top_of(folder))
                .folder(folder)
                .inherit(&USERS_CONFIG)
                .inherit(&["GIT_CEILING_DIRECTORIES"]),
            CallPlace::Nowhere(folder) => call
                .reaching(ReadScope::Settings)
                .reading(folder)
                .folder(folder)
                .below(folder)
                .inherit(&USERS_CONFIG),
        }
    }

    fn bare_call(&self) -> Call {
        let mut call = Call::within(&self.program, self.reach);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                call = call.without(&name);
            }
        }
        call = call
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "/bin/false")
            .env("GIT_SSH_COMMAND", network::SSH)
            .env("SSH_ASKPASS_REQUIRE", "never")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_EDITOR", ":")
            .env("GIT_PAGER", "cat");
        for setting in QUIET {
            call = call.setting(setting);
        }
        call
    }
}

/// The top of the working tree that a folder is in, if it is in one.
fn top_of(folder: &Path) -> &Path {
    let mut above = folder.ancestors();
    above
        .find(|place| place.join(".git").exists())
        .unwrap_or(folder)
}
