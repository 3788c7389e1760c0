//! The agents that Pleach knows by name: how each is started, what it needs, how one gets it, and which files are its own.
//!
//! Tables and nothing else. Everything about one agent is in its one file, so that whoever adds one forgets no place.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod goose;
mod opencode;
mod qwen;

use crate::order::ProtocolKind;

/// All of them, those that most people use first.
pub const KNOWN_AGENTS: &[KnownAgent] = &[
    claude::AGENT,
    codex::AGENT,
    opencode::AGENT,
    gemini::AGENT,
    goose::AGENT,
    qwen::AGENT,
    copilot::AGENT,
];

#[derive(Debug, Clone, Copy)]
pub struct KnownAgent {
    pub name: &'static str,
    pub title: &'static str,
    pub program: &'static str,
    /// The first arguments, before those of the user.
    pub arguments: &'static [&'static str],
    /// The arguments after those of the user.
    pub last_arguments: &'static [&'static str],
    pub speaks: fn() -> ProtocolKind,
    pub model: ModelBy,
    /// Variables that are its own: passed on to it, and hidden in logs where they are secret.
    pub variables: &'static [&'static str],
    /// Variables that it gets so that it works unattended, unless the user sets them.
    pub sets: &'static [(&'static str, &'static str)],
    pub login: Login,
    pub install: &'static str,
    /// Whether the usage at the end of a turn is that of the last call of the model alone, not of the turn.
    pub tells_last_usage: bool,
    /// The variable without which it refuses to work unattended as root, even in a sandbox.
    pub root_variable: Option<&'static str>,
    pub home: HomePlaces,
    pub repository: RepositoryFiles,
}

/// How one can see that an agent is logged in, without asking anybody.
#[derive(Debug, Clone, Copy)]
pub struct Login {
    /// Any of these variables is a login.
    pub variables: &'static [&'static str],
    /// Any of these files is one: from the folder that a variable names, or else from the home folder.
    pub files: &'static [LoginFile],
    pub hint: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct LoginFile {
    /// The variable that says where the agent's folder is, and the file in that folder.
    pub moved: Option<(&'static str, &'static str)>,
    pub at_home: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelBy {
    Flag(&'static str),
    Variable(&'static str),
    Protocol,
}

/// What an agent keeps in the home folder; all paths are meant from there.
#[derive(Debug, Clone, Copy)]
pub struct HomePlaces {
    /// The variable that moves the first of its folders, and what of the variable's folder stands for that one.
    pub variable: Option<(&'static str, &'static str)>,
    pub folders: &'static [&'static str],
    /// The login that no other agent may read.
    pub login: &'static str,
    /// What is run later without anybody asking, and so is never written to.
    pub programs: &'static [&'static str],
    /// What of its folders steers it in every later session.
    pub steering: &'static [SteeringFolder],
    /// Files in there that it rewrites all the time, with the keys that steer; the rest is notes of its own.
    pub notes: &'static [(&'static str, &'static [&'static str])],
}

/// A folder that an agent writes to as it likes, although parts of it steer later sessions.
#[derive(Debug, Clone, Copy)]
pub struct SteeringFolder {
    pub folder: &'static str,
    /// What of it is compared and put back; in a name, a star stands for anything.
    pub entries: &'static [&'static str],
    /// What of that the agent writes by itself, whatever it is asked to do.
    pub own: &'static [&'static str],
}

/// What of a repository steers an agent, and so needs consent.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryFiles {
    pub folders: &'static [&'static str],
    pub files: &'static [&'static str],
    pub starts: &'static [&'static str],
    /// Ends of whole paths, of folders that hold many other things.
    pub paths: &'static [&'static str],
}

impl RepositoryFiles {
    const NONE: Self = Self {
        folders: &[],
        files: &[],
        starts: &[],
        paths: &[],
    };
}

pub fn known_agent(name: &str) -> Option<&'static KnownAgent> {
    KNOWN_AGENTS.iter().find(|agent| agent.name == name)
}

const fn file(moved: Option<(&'static str, &'static str)>, at_home: &'static str) -> LoginFile {
    LoginFile { moved, at_home }
}

fn acp() -> ProtocolKind {
    ProtocolKind::Acp {
        mode: None,
        errors_are_text: false,
    }
}
