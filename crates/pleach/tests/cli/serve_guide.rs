//! The guide of the API is true: its commands are run as they stand there.

use std::path::Path;
use std::process::Command;

use pleach_testkit::ForgeStyle;

use crate::landing::Harbour;
use crate::serving::Serving;

/// The commands of the guide, one after the other.
fn commands(guide: &str) -> String {
    let mut script = String::new();
    let mut is_command = false;
    for line in guide.lines() {
        match line {
            "```sh" => is_command = true,
            "```" => is_command = false,
            _ if is_command => {
                script.push_str(line);
                script.push('\n');
            }
            _ => {}
        }
    }
    script
}

/// A task that takes long takes longer than anybody waits; the others add a file of their own.
const SHELL: &str =
    "if grep -q million; then sleep 600; fi; echo working; echo $PLEACH_TASK > file-$PLEACH_TASK";

#[test]
fn the_guide_leads_from_nothing_to_the_pull_request() {
    let harbour = Harbour::new(ForgeStyle::GitHub, "1", "", SHELL);
    let server = Serving::by(&mut harbour.command(&["serve", "--yes", "--port", "0"]));
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/api.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let script = commands(&guide).replace(
        "http://127.0.0.1:3001",
        server.said["address"].as_str().unwrap(),
    );
    let output = Command::new("timeout")
        .args(["120", "bash", "-euo", "pipefail", "-c", &script])
        .current_dir(harbour.scene.repo.path())
        .env("HOME", harbour.scene.home())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{errors}");
    for expected in [
        "event: batch:created",
        "event: batch:task:started",
        "\"worktreeId\":",
        "+++ b/file-",
        "\"type\":\"raw\"",
    ] {
        assert!(told.contains(expected), "{expected} is not in\n{told}");
    }
    let last = told.lines().last().unwrap();
    assert!(
        last.starts_with("http") && last.contains("/pull/"),
        "{told}"
    );
    assert_eq!(harbour.forge.pull_requests().len(), 1);
}
