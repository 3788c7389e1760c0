//! What people choose for a batch: one type for each choice, whoever asks for it.
//!
//! The words are what people write in files, on the command line and over HTTP. Knows nothing of what follows from a choice.

use serde::{Deserialize, Serialize};

/// A choice between a few words.
pub trait Choice: Clone + PartialEq + 'static {
    /// Each word with what it stands for.
    const WORDS: &'static [(&'static str, Self)];
}

macro_rules! choices {
    ($(
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$meaning:meta])* $variant:ident = $word:tt,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        pub enum $name {
            $(
                $(#[$meaning])*
                #[serde(rename = $word)]
                #[cfg_attr(feature = "clap", value(name = $word))]
                $variant,
            )*
        }

        impl Choice for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),*];
        }

        impl $name {
            /// What people write for it.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    )*};
}

choices! {
    /// Whether tasks run in parallel or one at a time.
    #[derive(Default)]
    pub enum RunMode {
        /// Several tasks at once.
        #[default]
        Parallel = "parallel",
        /// One at a time; each waits for `pleach approve`.
        Queue = "queue",
        /// One at a time, without approval.
        Serial = "serial",
    }

    /// Where attempts and tests run.
    #[derive(Default)]
    pub enum Where {
        /// On this machine.
        #[default]
        Local = "local",
        /// On the nodes of a Slurm cluster.
        Slurm = "slurm",
    }

    /// How secrets reach the nodes of a cluster.
    #[derive(Default)]
    pub enum SecretDelivery {
        /// Through the cluster, so that they are written nowhere.
        #[default]
        Channel = "channel",
        /// In a file on the share that is removed as soon as it is read.
        File = "file",
        /// Not at all.
        None = "none",
    }

    /// What to do with a task whose branch does not merge cleanly.
    #[derive(Default)]
    pub enum OnConflict {
        /// Leave the task out and continue.
        #[default]
        Skip = "skip",
        /// Fail the batch.
        Fail = "fail",
        /// Let the agent redo the task once, on the woven result.
        Rerun = "rerun",
    }

    /// The history to write; the resulting tree is the same.
    #[derive(Default)]
    pub enum Strategy {
        /// One merge commit per branch.
        #[default]
        Merge = "merge",
        /// One commit per branch.
        Squash = "squash",
        // A series that does not replay becomes one commit.
        /// The commits of each branch, one after the other.
        Rebase = "rebase",
        /// One commit with all branches as parents.
        Octopus = "octopus",
    }

    /// What to do if the tests fail.
    #[derive(Default)]
    pub enum OnInvalid {
        /// Find the tasks that break them and leave those out.
        #[default]
        Drop = "drop",
        /// Fail the batch.
        Fail = "fail",
    }

    /// What to do if an agent changes nothing and gives no reason.
    #[derive(Default)]
    pub enum NoChanges {
        /// Ask it again; if it does the same, the task has failed.
        #[default]
        Retry = "retry",
        /// Take the task as done.
        Done = "done",
    }

    /// How a completed batch lands automatically.
    #[derive(Default)]
    pub enum Landing {
        /// Push a branch and open a pull request.
        PullRequest = "pr",
        /// Push a branch.
        Push = "push",
        /// Fast-forward the local branch that the batch started from.
        Local = "local",
        /// Leave a local branch.
        #[default]
        Nowhere = "none",
    }

    /// The kind of forge.
    pub enum ForgeKind {
        /// GitHub and GitHub Enterprise.
        GitHub = "github",
        /// gitlab.com and self-hosted ones.
        GitLab = "gitlab",
        /// Gitea, Forgejo and Codeberg.
        Gitea = "gitea",
        /// No forge: branches are pushed, and no pull request is opened.
        None = "none",
    }

    /// Network access of setup, agents and tests.
    #[derive(Default)]
    pub enum NetworkChoice {
        /// Open.
        #[default]
        Open = "open",
        /// Only their own loopback.
        None = "none",
    }
}

impl Landing {
    /// Whether it goes to a server.
    pub fn pushes(self) -> bool {
        matches!(self, Self::Push | Self::PullRequest)
    }
}

/// The sandbox of the programs that run on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxChoice {
    /// None: they can do whatever the user can.
    None,
    /// They can write to the worktree, caches and temporary files.
    Landlock,
    /// They can write only to the worktree and temporary files.
    Strict,
    /// The user's own wrapper command.
    Wrapper(Vec<String>),
}

impl Choice for SandboxChoice {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("landlock", Self::Landlock),
        ("strict", Self::Strict),
    ];
}

impl SandboxChoice {
    /// What people write for it, or what it is called.
    pub fn word(&self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, meant)| meant == self);
        found.map_or("wrapper", |(word, _)| word)
    }
}
