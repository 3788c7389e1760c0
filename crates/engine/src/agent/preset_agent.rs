//! An agent that Pleach knows by name, with what the user says of it.
//!
//! Its program is run by a driver, which prints what it does in words of ours; the end of that is its verdict.

use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::command::check_program;
use super::environment::environment;
use pleach_driver::{
    Conclusion, DriverOrder, Entry, Exit, KnownAgent, ModelBy, Outcome, ProtocolKind, Trouble,
    known_agent, shortened,
};

use super::{Agent, AttemptVerdict, Brief, Input, Launch, NoAgent};
use crate::config::AgentConfig;

/// How long an agent has to end by its own protocol before everybody is asked by signals.
const POLITE: Duration = Duration::from_secs(4);

const LONGEST_ERROR: usize = 600;

/// The word that makes a driver of Pleach's program.
pub const DRIVE: &str = "drive-agent";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresetAgent {
    pub name: String,
    /// The preset that it is one of: a name, or `acp:` and a command.
    pub preset: String,
    /// Its program and what comes before all other words, where that is not the preset's own.
    pub command: Option<Vec<String>>,
    pub args: Vec<String>,
    /// Names of variables that it gets besides its own and the usual ones.
    pub env: Vec<String>,
    pub model: Option<String>,
}

impl PresetAgent {
    /// The agent of a preset, with what the user says of it; nothing if there is no such preset.
    pub(super) fn of(
        name: &str,
        preset_name: &str,
        said: &AgentConfig,
        model: Option<&String>,
    ) -> Option<Self> {
        let command = preset_name.strip_prefix(ACP);
        let is_known = command.map_or_else(
            || known_agent(preset_name).is_some(),
            |command| !command.trim().is_empty(),
        );
        is_known.then(|| Self {
            name: name.to_owned(),
            preset: preset_name.to_owned(),
            command: said.command.clone(),
            args: said.args.clone().unwrap_or_default(),
            env: said.env.clone().unwrap_or_default(),
            model: model.filter(|model| !model.is_empty()).cloned(),
        })
    }

    fn known(&self) -> Option<&'static KnownAgent> {
        known_agent(&self.preset)
    }

    /// The program, and what comes right after it.
    fn program(&self) -> Vec<String> {
        if let Some(command) = self.command.clone().filter(|words| !words.is_empty()) {
            return command;
        }
        match (self.known(), self.preset.strip_prefix(ACP)) {
            (Some(preset), _) => vec![preset.program.to_owned()],
            (None, Some(command)) => command.split_whitespace().map(str::to_owned).collect(),
            (None, None) => vec![self.preset.clone()],
        }
    }

    /// All words of the program, without those that take a session up again.
    pub(crate) fn words(&self) -> Vec<String> {
        let owned = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let mut words = self.program();
        let known = self.known();
        words.extend(
            known
                .map(|preset| owned(preset.arguments))
                .unwrap_or_default(),
        );
        if let (Some(model), Some(ModelBy::Flag(flag))) = (&self.model, self.model_by()) {
            words.extend([flag.to_owned(), model.clone()]);
        }
        words.extend(self.args.iter().cloned());
        words.extend(
            known
                .map(|preset| owned(preset.last_arguments))
                .unwrap_or_default(),
        );
        words
    }

    fn model_by(&self) -> Option<ModelBy> {
        self.known().map(|preset| preset.model)
    }

    fn speaks(&self) -> ProtocolKind {
        self.known().map_or(
            ProtocolKind::Acp {
                mode: None,
                errors_are_text: false,
            },
            |preset| (preset.speaks)(),
        )
    }

    /// The names of all variables that are passed on to it besides the usual ones.
    pub(crate) fn passed_on(&self) -> Vec<String> {
        let own = self
            .known()
            .map(|preset| preset.variables)
            .unwrap_or_default();
        let own = own.iter().map(|name| (*name).to_owned());
        own.chain(self.env.iter().cloned()).collect()
    }

    fn variables(&self, brief: &Brief<'_>) -> Vec<(OsString, OsString)> {
        let mut env = environment(
            &self.passed_on(),
            brief.identity,
            self.model.as_deref(),
            brief.said,
        );
        let mut set = |name: &str, value: &str| {
            if !env.iter().any(|(known, _)| known == name) {
                env.push((name.into(), value.into()));
            }
        };
        for (name, value) in self.known().map(|preset| preset.sets).unwrap_or_default() {
            set(name, value);
        }
        let mut say = |name: &str, value: &str| {
            env.retain(|(known, _)| known != name);
            env.push((name.into(), value.into()));
        };
        let root_variable = self.known().and_then(|known| known.root_variable);
        if let Some(name) = root_variable
            && brief.is_held
            && rustix::process::geteuid().is_root()
        {
            say(name, "1");
        }
        if let (Some(model), Some(ModelBy::Variable(name))) = (&self.model, self.model_by()) {
            say(name, model);
        }
        env
    }
}

impl Agent for PresetAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> String {
        self.words().join(" ")
    }

    fn check_installed(&self) -> Result<(), NoAgent> {
        let program = self.program().into_iter().next().unwrap_or_default();
        let install = self.known().map(|preset| preset.install);
        check_program(&self.name, &program, install)
    }

    fn launch(&self, brief: &Brief<'_>) -> Launch {
        let by_protocol = !matches!(
            self.model_by(),
            Some(ModelBy::Flag(_) | ModelBy::Variable(_))
        );
        let order = DriverOrder {
            speaks: self.speaks(),
            words: self.words(),
            prompt: brief.prompt.to_owned(),
            session: brief.session.map(str::to_owned),
            tokens_before: brief.spent.tokens,
            question: brief.question.map(str::to_owned),
            model: self.model.clone().filter(|_| by_protocol),
            folder: std::path::PathBuf::new(),
        };
        Launch {
            argv: vec![brief.program.into(), DRIVE.into()],
            env: self.variables(brief),
            input: Input::Text(serde_json::to_string(&order).expect("it is plain data")),
            polite: Some(POLITE),
            tool: self.known().map(|preset| preset.program),
        }
    }

    fn verdict(&self, exit: Exit, tail: &[u8]) -> AttemptVerdict {
        let mut lines = tail.rsplit(|byte| *byte == b'\n');
        let conclusion = lines.find_map(|line| match Entry::from_line(line) {
            Some(Entry::Result(conclusion)) => Some(conclusion),
            _ => None,
        });
        conclusion.map_or_else(
            // Whatever the exit code says: it never told how it ended.
            || match AttemptVerdict::of_command(exit, tail) {
                AttemptVerdict::Succeeded { .. } => AttemptVerdict::Failed {
                    error: "the agent exited without a result".to_owned(),
                },
                verdict => verdict,
            },
            |conclusion| of_conclusion(&conclusion),
        )
    }
}

fn of_conclusion(conclusion: &Conclusion) -> AttemptVerdict {
    let said = shortened(conclusion.message.trim(), LONGEST_ERROR);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let error = |what: &str| {
        if said.is_empty() {
            what.to_owned()
        } else {
            format!("{what}: {said}")
        }
    };
    let retry_after = conclusion.retry_after_ms.map(Duration::from_millis);
    let trouble = match conclusion.outcome {
        Outcome::Completed => {
            let denials = conclusion.denials;
            return AttemptVerdict::Succeeded { denials };
        }
        Outcome::Interrupted => {
            let error = error("the agent was interrupted");
            return AttemptVerdict::Failed { error };
        }
        Outcome::Failed(trouble) => trouble,
    };
    let what = match trouble {
        Trouble::Limit => "the agent reached its usage limit",
        Trouble::Overload => "the agent's model is overloaded",
        Trouble::Login => "the agent is not logged in",
        Trouble::Refused => "the request was refused",
        Trouble::Budget => "the agent's budget is used up",
        Trouble::Context => "the agent's context is full",
        Trouble::Configuration => "the agent is misconfigured",
        Trouble::Network => "the agent lost its connection",
        Trouble::Crash => "the agent crashed",
        Trouble::Other => "the agent failed",
    };
    let error = error(what);
    match trouble {
        Trouble::Limit => AttemptVerdict::Limited { retry_after, error },
        Trouble::Overload => AttemptVerdict::Overloaded { retry_after, error },
        Trouble::Login
        | Trouble::Refused
        | Trouble::Budget
        | Trouble::Context
        | Trouble::Configuration => AttemptVerdict::Hopeless { error },
        Trouble::Network | Trouble::Crash | Trouble::Other => AttemptVerdict::Failed { error },
    }
}

/// How a command that speaks the Agent Client Protocol is named.
const ACP: &str = "acp:";

pub(super) fn is_preset(name: &str) -> bool {
    name.starts_with(ACP) || known_agent(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(preset: &str) -> PresetAgent {
        let said = AgentConfig {
            args: Some(vec!["--extra".to_owned()]),
            ..AgentConfig::default()
        };
        PresetAgent::of("mine", preset, &said, Some(&"big".to_owned())).unwrap()
    }

    #[test]
    fn words_are_the_presets_then_the_models_then_the_users() {
        let codex = agent("codex").words();
        assert_eq!(codex.first().map(String::as_str), Some("codex"));
        assert_eq!(&codex[codex.len() - 4..], ["-m", "big", "--extra", "-"]);
        assert_eq!(agent("acp:my agent").words(), ["my", "agent", "--extra"]);
        assert_eq!(agent("opencode").words(), ["opencode", "acp", "--extra"]);
        assert!(PresetAgent::of("x", "nobody", &AgentConfig::default(), None).is_none());
        assert!(PresetAgent::of("x", "acp: ", &AgentConfig::default(), None).is_none());
    }

    #[track_caller]
    fn check(conclusion: &Conclusion, expected: &AttemptVerdict) {
        let line = Entry::Result(conclusion.clone()).to_line();
        let tail =
            format!("{{\"pleach\":{{\"type\":\"text\",\"text\":\"x\"}}}}\n{line}\nlast words\n");
        let verdict = agent("claude").verdict(Exit::Code(0), tail.as_bytes());
        assert_eq!(&verdict, expected);
    }

    #[test]
    fn a_verdict_is_what_the_agent_came_to_and_not_its_exit_code() {
        let failed = |trouble, message: &str| Conclusion::failed(trouble, message);
        check(
            &failed(Trouble::Login, "no key\n{\n}"),
            &AttemptVerdict::Hopeless {
                error: "the agent is not logged in: no key { }".to_owned(),
            },
        );
        check(
            &Conclusion {
                retry_after_ms: Some(1_500),
                ..failed(Trouble::Limit, "")
            },
            &AttemptVerdict::Limited {
                retry_after: Some(Duration::from_millis(1_500)),
                error: "the agent reached its usage limit".to_owned(),
            },
        );
        check(
            &Conclusion {
                outcome: Outcome::Completed,
                denials: 2,
                ..failed(Trouble::Other, "done")
            },
            &AttemptVerdict::Succeeded { denials: 2 },
        );
        let silent = agent("claude").verdict(Exit::Code(0), b"bye\n");
        assert!(
            matches!(silent, AttemptVerdict::Failed { .. }),
            "{silent:?}"
        );
    }
}
