//! What a driver is told: which agent to start, how to talk to it, and what to say.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What a driver reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverOrder {
    pub speaks: ProtocolKind,
    /// The program and its arguments, without those that take a session up again.
    pub words: Vec<String>,
    pub prompt: String,
    #[serde(default)]
    pub session: Option<String>,
    /// What it is asked in that session, if it is not simply to go on.
    #[serde(default)]
    pub question: Option<String>,
    /// What that session took before, for agents that count it again.
    #[serde(default)]
    pub tokens_before: u64,
    /// The model, where it is chosen by the protocol and not by a word or a variable.
    #[serde(default)]
    pub model: Option<String>,
    /// The worktree; the driver's own folder.
    #[serde(skip)]
    pub folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolKind {
    /// Lines of JSON both ways, as Claude Code does.
    Claude,
    /// A prompt in, lines of JSON out, as Codex does.
    Codex,
    Acp {
        /// The mode in which it asks nobody; without one, permissions are given one by one.
        mode: Option<String>,
        /// Whether it tells errors of its model as if they were its words.
        #[serde(default)]
        errors_are_text: bool,
    },
}

const GO_ON: &str = "You were interrupted before you had finished, through no fault of yours. All your changes so far are \
                     still there. Continue the task where you left off.";

/// What it is told where nobody knows whether it is done.
pub(super) const GO_ON_OR_SAY: &str = "You stopped without a message. If the task is done, say so in one sentence; if it is not, continue where you \
                                       left off.";

/// What it is told besides where the session that knew is gone.
const BEGUN: &str = "Another agent started this task before you and was interrupted. Its changes are in this folder: look at them \
                     first, and continue from there.";

impl DriverOrder {
    /// All of the task, for a session that is new where another one was to go on.
    pub(super) fn told_anew(&self) -> String {
        format!("{}\n\n{BEGUN}\n", self.prompt.trim_end())
    }

    /// What to say first: all of the task, or in a session that knows it, only that it goes on.
    pub(super) fn first_words(&self) -> &str {
        match self.session {
            Some(_) => self.words_to_go_on(),
            None => &self.prompt,
        }
    }

    pub(super) fn words_to_go_on(&self) -> &str {
        self.question.as_deref().unwrap_or(GO_ON)
    }

    /// A path as it is shown: from the worktree on, where it is inside.
    pub(super) fn shown(&self, path: &str) -> String {
        let inside = Path::new(path).strip_prefix(&self.folder).ok();
        let inside = inside.and_then(Path::to_str);
        inside
            .filter(|inside| !inside.is_empty())
            .unwrap_or(path)
            .to_owned()
    }
}
