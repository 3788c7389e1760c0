//! Programs of others that tests and checks are run with: the installed ones, or ones for this project alone.

use std::path::PathBuf;
use std::process::Command;

use crate::{step, target};

/// An extension of cargo.
pub(crate) struct Tool {
    name: &'static str,
    /// What is installed where there is none.
    version: &'static str,
    /// How it is built then.
    profile: &'static str,
}

/// Runs tests, each in a process of its own.
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
    /// A call of it.
    pub(crate) fn command(&self) -> Result<Command, String> {
        let mut command = Command::new(self.program()?);
        command.arg(self.name);
        Ok(command)
    }

    fn program(&self) -> Result<PathBuf, String> {
        let package = format!("cargo-{}", self.name);
        let asked = Command::new("cargo")
            .args([self.name, "--version"])
            .output();
        if asked.is_ok_and(|output| output.status.success()) {
            return Ok(PathBuf::from(package));
        }
        let tools = target().join("tools");
        let program = tools.join("bin").join(&package);
        if !program.exists() {
            let mut install = Command::new("cargo");
            install.args(["install", &package, "--locked", "--version", self.version]);
            install.args(["--profile", self.profile, "--root"]);
            step(install.arg(tools))?;
        }
        Ok(program)
    }
}
