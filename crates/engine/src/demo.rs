//! Makes the small repository that `pleach demo` runs on.
//!
//! Real git, real files; the agent is a script that stands in the tasks themselves.

use std::fs;
use std::path::Path;

use pleach_git::git::{CallPlace, Git, GitError};

use crate::agent::DemoAgent;

const README: &str = "# Greenhouse\n\nA place where things grow.\n\nOpen from dawn to dusk.\n";
const BEDS: &str = "bed,plant\n1,tomato\n2,basil\n";

/// The plan of the demo: parallel work, dependencies, a conflict, two tasks that only break the tests together, a
/// task with nothing to do, a failure and what it blocks.
pub const PLAN: &str = include_str!("demo/TODO.md");

/// The test of the demo, and the command that runs it.
const CHECK: &str = include_str!("demo/check.sh");
pub const TESTS: &str = "sh check.sh";

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("could not write the demo to {folder}")]
    Io {
        folder: String,
        source: std::io::Error,
    },
    #[error(transparent)]
    Git(#[from] GitError),
}

pub fn make_repository(folder: &Path) -> Result<(), DemoError> {
    let agent = DemoAgent::NAME;
    let config = format!("agent = {agent:?}\nvalidate = {TESTS:?}\nland = \"none\"\n");
    let files = [
        ("README.md", README),
        ("beds.csv", BEDS),
        ("TODO.md", PLAN),
        ("check.sh", CHECK),
        (crate::config::FILE_NAME, &config),
    ];
    fill_repository(folder, &files, "A greenhouse with a plan")
}

/// Makes a repository of an empty folder, with one commit that has these files.
pub(crate) fn fill_repository(
    folder: &Path,
    files: &[(&str, &str)],
    message: &str,
) -> Result<(), DemoError> {
    for (name, text) in files {
        fs::write(folder.join(name), text).map_err(|source| DemoError::Io {
            folder: folder.display().to_string(),
            source,
        })?;
    }
    let git = Git::find()?;
    let identity = [("NAME", "Pleach demo"), ("EMAIL", "demo@localhost")];
    for words in [
        vec!["init", "--quiet", "--initial-branch=main"],
        vec!["add", "--all"],
        vec!["commit", "--quiet", "--message", message],
    ] {
        let mut call = git
            .call(CallPlace::Users(folder))
            .writing(folder)
            .args(words);
        for (name, value) in identity {
            call = call
                .env(&format!("GIT_AUTHOR_{name}"), value)
                .env(&format!("GIT_COMMITTER_{name}"), value);
        }
        call.output()?;
    }
    Ok(())
}
