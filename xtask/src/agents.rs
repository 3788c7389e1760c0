//! Installs real agents, of the versions that are pinned in `xtask/agents`, and has the tests try them.
//!
//! Knows where their packages keep the programs; how they are driven is the tests' business.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::tools::NEXTEST;
use crate::{root, step, step_in, target, without_home};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agents {
    /// Those that are fast enough for every run of the gate.
    Few,
    All,
}

impl Agents {
    /// The names of the tests that drive them.
    fn tests(self) -> &'static [&'static str] {
        match self {
            Self::Few => &["real_agents::"],
            Self::All => &["real_agents::", "more_agents::"],
        }
    }
}

/// The tests that need agents which are not among the few.
pub(crate) const NEED_ALL: &str = "test(/^more_agents::/)";

struct Pinned {
    name: &'static str,
    /// What a program is called, and where it is below `node_modules`; `{}` stands for the machine.
    programs: &'static [(&'static str, &'static str)],
}

const FEW: Pinned = Pinned {
    name: "few",
    programs: &[
        ("claude", "@anthropic-ai/claude-code-{}/claude"),
        ("codex", ".bin/codex"),
        ("goose", "@aaif/goose-binary-{}/bin/goose"),
    ],
};

const MORE: Pinned = Pinned {
    name: "more",
    programs: &[
        ("opencode", "opencode-{}/bin/opencode"),
        ("gemini", ".bin/gemini"),
    ],
};

/// Installs agents and runs the tests that drive them.
pub(crate) fn run(agents: Agents) -> Result<(), String> {
    let home = install(agents)?;
    let mut tests = NEXTEST.command()?;
    let words = ["run", "--locked", "--package", "pleach"];
    tests.args(words).args(["--test", "cli", "--no-fail-fast"]);
    tests.args(agents.tests());
    step(without_home(&mut tests)?.env("PLEACH_AGENTS", home))
}

/// Installs agents where they are not yet; the folder whose `bin` has them.
pub(crate) fn install(agents: Agents) -> Result<PathBuf, String> {
    let home = root().join(target()).join("agents");
    let lists = match agents {
        Agents::Few => &[FEW][..],
        Agents::All => &[FEW, MORE],
    };
    for pinned in lists {
        if pinned.is_installed(&home) {
            continue;
        }
        let start = Instant::now();
        pinned.install(&home)?;
        let names: Vec<_> = pinned.programs.iter().map(|(name, _)| *name).collect();
        let seconds = start.elapsed().as_secs_f32();
        eprintln!("── installed {} in {seconds:.1} s", names.join(", "));
    }
    Ok(home)
}

impl Pinned {
    fn source(&self, file: &str) -> PathBuf {
        root().join("xtask/agents").join(self.name).join(file)
    }

    /// Whether these very versions were installed to the end.
    fn is_installed(&self, home: &Path) -> bool {
        let installed = std::fs::read(home.join(self.name).join("installed"));
        let wanted = std::fs::read(self.source("package-lock.json"));
        installed.is_ok_and(|installed| wanted.is_ok_and(|wanted| wanted == installed))
    }

    fn install(&self, home: &Path) -> Result<(), String> {
        let folder = home.join(self.name);
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(self.source(file), folder.join(file)).map_err(failed)?;
        }
        let mut npm = Command::new("npm");
        // Nobody's scripts are run: the programs are in packages of their own, and complete.
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
        step_in(&folder, npm.args(["--loglevel", "error"])).map_err(|error| {
            format!("{error}\nhint: agents are installed with npm of Node 20 or newer, from its registry")
        })?;
        self.link(home)?;
        std::fs::copy(self.source("package-lock.json"), folder.join("installed"))
            .map_err(failed)?;
        Ok(())
    }

    /// Gives each program its usual name, in one folder for all.
    fn link(&self, home: &Path) -> Result<(), String> {
        let folder = home.join("bin");
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(failed)?;
        for (name, place) in self.programs {
            let place = place.replace("{}", &machine());
            let program = Path::new("..")
                .join(self.name)
                .join("node_modules")
                .join(place);
            if !folder.join(&program).exists() {
                let machine = machine();
                return Err(format!("{name}: npm has no program for {machine}"));
            }
            let link = folder.join(name);
            // It is there if it was installed before in another version.
            if link.is_symlink() {
                std::fs::remove_file(&link).map_err(failed)?;
            }
            symlink(program, link).map_err(failed)?;
        }
        Ok(())
    }
}

/// This machine, as packages call it.
fn machine() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}
