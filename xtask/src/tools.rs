//! Programs of others that tests and checks are run with: the installed ones, or ones for this project alone.

use std::path::PathBuf;
use std::process::Command;

use crate::{step, target};

pub(crate) struct Tool {
    name: &'static str,
    /// The oldest that will do, and what is installed where there is none.
    version: &'static str,
    /// How it is built then.
    profile: &'static str,
}

pub(crate) const NEXTEST: Tool = Tool {
    name: "nextest",
    version: "0.9.143",
    profile: "release",
};

/// Judges dependencies by `deny.toml`; fast enough unoptimised, and built in a third of the time.
pub(crate) const DENY: Tool = Tool {
    name: "deny",
    version: "0.20.2",
    profile: "dev",
};

impl Tool {
    pub(crate) fn command(&self) -> Result<Command, String> {
        let mut command = Command::new(self.program()?);
        command.arg(self.name);
        Ok(command)
    }

    /// Whether a program runs it in a version that is new enough: an older one may know less of `deny.toml`.
    fn is_fit(&self, mut program: Command) -> bool {
        let asked = program.args([self.name, "--version"]).output();
        asked.is_ok_and(|output| {
            let printed = String::from_utf8_lossy(&output.stdout);
            output.status.success() && is_as_new(&printed, self.version)
        })
    }

    fn program(&self) -> Result<PathBuf, String> {
        let package = format!("cargo-{}", self.name);
        if self.is_fit(Command::new("cargo")) {
            return Ok(PathBuf::from(package));
        }
        let tools = target().join("tools");
        let program = tools.join("bin").join(&package);
        if !self.is_fit(Command::new(&program)) {
            let mut install = Command::new("cargo");
            install.args(["install", &package, "--locked", "--force"]);
            install.args(["--version", self.version]);
            install.args(["--profile", self.profile, "--root"]);
            step(install.arg(tools))?;
        }
        Ok(program)
    }
}

/// Whether what a tool prints, as in `cargo-deny 0.20.2`, names this version or a later one.
fn is_as_new(printed: &str, wanted: &str) -> bool {
    let numbers = |version: &str| {
        let numbers = version.split('.').map(|number| number.parse().ok());
        numbers.collect::<Option<Vec<u32>>>()
    };
    let found = printed.split_whitespace().nth(1).and_then(numbers);
    found.is_some() && found >= numbers(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_tool_is_as_new_as_the_one_that_would_be_installed() {
        for printed in [
            "cargo-deny 0.20.2\n",
            "cargo-deny 0.21.0",
            "x 0.20.10 (abc)",
        ] {
            assert!(is_as_new(printed, "0.20.2"), "{printed}");
        }
        for printed in ["cargo-deny 0.9.30", "cargo-deny 0.20.1", "cargo-deny", ""] {
            assert!(!is_as_new(printed, "0.20.2"), "{printed}");
        }
    }
}
