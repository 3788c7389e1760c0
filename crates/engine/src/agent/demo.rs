//! The scripted agent that comes with Pleach: does what the script in its prompt says.

use std::path::{Path, PathBuf};

use super::environment::environment;
use super::{Agent, AttemptVerdict, Brief, Input, Launch, NoAgent};
use pleach_driver::Exit;

/// The scripted agent, which is Pleach's own program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoAgent {
    program: PathBuf,
}

impl DemoAgent {
    pub const NAME: &str = "demo";

    /// The word that makes an agent of Pleach's program.
    pub const WORD: &str = "demo-agent";

    pub fn new(program: &Path) -> Self {
        let program = program.to_owned();
        Self { program }
    }
}

impl Agent for DemoAgent {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn description(&self) -> String {
        "built in; runs the script in the task".to_owned()
    }

    fn check_installed(&self) -> Result<(), NoAgent> {
        Ok(())
    }

    fn launch(&self, brief: &Brief<'_>) -> Launch {
        Launch {
            argv: vec![self.program.clone().into(), Self::WORD.into()],
            env: environment(&[], brief.identity, None, brief.said),
            input: Input::Prompt,
            polite: None,
            tool: None,
        }
    }

    /// A script that fails would fail again.
    fn verdict(&self, exit: Exit, tail: &[u8]) -> AttemptVerdict {
        match (exit, AttemptVerdict::of_command(exit, tail)) {
            (Exit::Code(_), AttemptVerdict::Failed { error }) => AttemptVerdict::Hopeless { error },
            (_, verdict) => verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_fails_is_not_tried_again() {
        let agent = DemoAgent::new(Path::new("/bin/pleach"));
        let error = "the agent exited with 1: I give up".to_owned();
        assert_eq!(
            agent.verdict(Exit::Code(1), b"I give up\n"),
            AttemptVerdict::Hopeless { error }
        );
        assert_eq!(
            agent.verdict(Exit::Code(0), b""),
            AttemptVerdict::Succeeded { denials: 0 }
        );
        let killed = agent.verdict(Exit::Signal(9), b"");
        assert!(matches!(killed, AttemptVerdict::Failed { .. }));
    }
}
