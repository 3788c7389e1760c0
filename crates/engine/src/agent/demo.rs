//! The scripted agent that comes with Pleach: does what the script in its prompt says.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::environment::environment;
use super::{Agent, Exit, NoAgent, Verdict};
use crate::git::Identity;

/// The scripted agent, which is Pleach's own program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoAgent {
    program: PathBuf,
}

impl DemoAgent {
    /// The name that it is chosen by.
    pub const NAME: &str = "demo";

    /// The word that makes an agent of Pleach's program.
    pub const WORD: &str = "demo-agent";

    /// The agent that the program `pleach` at a path is.
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
        "built in; does what the script in the task says".to_owned()
    }

    fn check_installed(&self) -> Result<(), NoAgent> {
        Ok(())
    }

    fn argv(&self, _prompt_file: &Path) -> Vec<OsString> {
        vec![self.program.clone().into(), Self::WORD.into()]
    }

    fn environment(
        &self,
        identity: &Identity,
        said: &[(&str, OsString)],
    ) -> Vec<(OsString, OsString)> {
        environment(&[], identity, None, said)
    }

    /// A script that fails would fail again.
    fn verdict(&self, exit: Exit, tail: &[u8]) -> Verdict {
        match (exit, Verdict::of_command(exit, tail)) {
            (Exit::Code(_), Verdict::Failed { error }) => Verdict::Hopeless { error },
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
        assert_eq!(agent.argv(Path::new("p")), ["/bin/pleach", "demo-agent"]);
        let error = "the agent exited with 1: I give up".to_owned();
        assert_eq!(
            agent.verdict(Exit::Code(1), b"I give up\n"),
            Verdict::Hopeless { error }
        );
        assert_eq!(agent.verdict(Exit::Code(0), b""), Verdict::Succeeded);
        let killed = agent.verdict(Exit::Signal(9), b"");
        assert!(matches!(killed, Verdict::Failed { .. }));
    }
}
