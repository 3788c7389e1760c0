//! Has schemathesis try the server by its own document: thousands of requests, good and bad.
//!
//! Knows how to get it and how to set up a server to try; what must hold is schemathesis' own business.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::{root, step, step_in, target, tried_program};

const VERSION: &str = "4.32.5";

/// So that what failed fails again.
const SEED: &str = "4711";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Effort {
    /// A few of each kind, for every run of the gate.
    Short,
    /// Thousands (`PLEACH_CASES` for each operation).
    Thorough,
}

/// Tries a server of a temporary folder, by the program as it is built for tests.
pub(crate) fn run(effort: Effort) -> Result<(), String> {
    let program = installed()?;
    let place = Place::new()?;
    let project = place.run_a_batch()?;
    let server = Server::start(&place)?;
    let cases = match effort {
        Effort::Short => "10".to_owned(),
        Effort::Thorough => std::env::var("PLEACH_CASES").unwrap_or_else(|_| "200".to_owned()),
    };
    let phases = match effort {
        Effort::Short => "examples,coverage,fuzzing",
        Effort::Thorough => "examples,coverage,fuzzing,stateful",
    };
    let mut trial = Command::new(root().join(program));
    trial
        .arg("--config-file")
        .arg(root().join("xtask/schemathesis.toml"))
        .args(["run", &format!("{}/api/openapi.json", server.address)])
        .args([
            "--header",
            &format!("Authorization: Bearer {}", server.token),
        ])
        .args(["--checks", "all"])
        // A stream of events never ends.
        .args(["--exclude-path", "/api/events"])
        .args(["--phases", phases, "--max-examples", &cases, "--seed", SEED])
        .args(["--request-timeout", "70", "--workers", "1", "--no-color"])
        .env("NO_COLOR", "1")
        .env("PLEACH_TRIED_PROJECT", project);
    // It leaves notes where it runs.
    let tried = step_in(&place.folder, &mut trial);
    drop(server);
    tried.map_err(|error| error.replace(&place.token(), "…"))
}

/// Schemathesis, in a virtual environment below the target folder.
fn installed() -> Result<PathBuf, String> {
    let home = target()
        .join("tools")
        .join(format!("schemathesis-{VERSION}"));
    let program = home.join("bin/st");
    if program.exists() {
        return Ok(program);
    }
    step(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    let wanted = format!("schemathesis=={VERSION}");
    step(
        Command::new(home.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .arg(wanted),
    )?;
    Ok(program)
}

/// A folder with a repository, a home, and nothing that leads to the network.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new() -> Result<Self, String> {
        let folder = target().join(format!("schemathesis-{}", std::process::id()));
        let place = Self { folder };
        place
            .fill()
            .map_err(|error| format!("{}: {error}", place.folder.display()))?;
        let repository = place.folder.join("repository");
        for words in [
            &["init", "--quiet", "--initial-branch", "main"][..],
            &["add", "."],
            &["commit", "--quiet", "--message", "A garden"],
        ] {
            let mut git = Command::new("git");
            let identity = ["-c", "user.name=Tess", "-c", "user.email=tess@example.com"];
            place.alone(git.arg("-C").arg(&repository).args(identity).args(words));
            step(&mut git)?;
        }
        Ok(place)
    }

    fn fill(&self) -> std::io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let repository = self.folder.join("repository");
        let programs = self.folder.join("bin");
        for folder in [&repository, &programs, &self.folder.join("home")] {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(
            repository.join("pleach.toml"),
            "land = \"none\"\nretries = 0\n[agents.quick]\ncommand = [\"true\"]\n",
        )?;
        std::fs::write(
            repository.join("TODO.md"),
            "- [ ] Water the plants\n- [ ] Open the roof\n",
        )?;
        // Addresses that somebody makes up are not tried.
        let ssh = programs.join("ssh");
        std::fs::write(&ssh, "#!/bin/sh\nexit 255\n")?;
        std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755))
    }

    /// Gives a program the environment of this place alone.
    fn alone<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env_clear()
            .env(
                "PATH",
                format!("{}:{path}", self.folder.join("bin").display()),
            )
            .env("HOME", self.folder.join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("http_proxy", "http://127.0.0.1:9")
            .env("https_proxy", "http://127.0.0.1:9")
    }

    /// Pleach in the repository.
    fn pleach(&self, words: &[&str]) -> Command {
        let mut command = Command::new(tried_program());
        self.alone(&mut command)
            .args(words)
            .current_dir(self.folder.join("repository"));
        command
    }

    /// Runs both tasks, so that there is a batch to ask about; the id of its project.
    fn run_a_batch(&self) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("pleach run: {error}");
        let ran = self
            .pleach(&["run", "all", "--yes"])
            .output()
            .map_err(failed)?;
        let shown = self
            .pleach(&["status", "1", "--json"])
            .output()
            .map_err(failed)?;
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        // This crate has no JSON, and this is the only word that is needed.
        let project = shown
            .split("\"projectId\":")
            .nth(1)
            .and_then(|rest| rest.split('"').nth(1));
        project
            .map(str::to_owned)
            .ok_or_else(|| format!("pleach run: {}", String::from_utf8_lossy(&ran.stderr)))
    }

    fn token(&self) -> String {
        let token = self.folder.join("home/.local/state/pleach/token");
        let token = std::fs::read_to_string(token).unwrap_or_default();
        token.trim().to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A server that runs until this is dropped.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(place: &Place) -> Result<Self, String> {
        let words = ["serve", "--port", "0", "--yes", "--json", "--log", "off"];
        let mut command = place.pleach(&words);
        command.stdout(Stdio::piped());
        let failed = |error: std::io::Error| format!("pleach serve: {error}");
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        let output = child.stdout.take().ok_or("pleach serve says nothing")?;
        BufReader::new(output)
            .read_line(&mut line)
            .map_err(failed)?;
        // The only thing of the line that is needed, and this crate has no JSON.
        let address = line.split('"').find(|word| word.starts_with("http://"));
        let address = address.ok_or_else(|| format!("pleach serve did not begin: {line}"))?;
        Ok(Self {
            address: address
                .split('#')
                .next()
                .unwrap_or(address)
                .trim_end_matches('/')
                .to_owned(),
            token: place.token(),
            child,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
