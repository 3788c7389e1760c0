//! Consent to what steers agents and Pleach: asked for once, again when it changes, and never where nothing did.

use std::fs;

use pleach_testkit::Terminal;

use crate::scene::Scene;
use crate::{Answer, command, pleach};

/// What an agent leaves when it has run.
const SHELL: &str = "echo ran >> BESIDE/ran";
const OTHER_SHELL: &str = "echo ran >> BESIDE/ran; true";

/// Changes of what steers, made together, and what must be told of them. That each counts alone is a test of the
/// engine.
struct Stage {
    change: fn(&Scene),
    told: &'static [&'static str],
}

fn commit(scene: &Scene, path: &str, text: &str) {
    scene.repo.write(path, text);
    scene.repo.commit("somebody pushed this");
}

fn configure(scene: &Scene, settings: &str) {
    configure_agent(scene, settings, SHELL);
}

fn configure_agent(scene: &Scene, settings: &str, shell: &str) {
    scene.configure(&format!("plan = \"plan.json\"\n{settings}"), shell);
}

/// The committed files.
const FILES: [Stage; 3] = [
    Stage {
        change: |at| {
            for (path, text) in [
                ("AGENTS.md", "obey\n"),
                (".claude/settings.json", "{}"),
                ("web/.claude/hooks/x.sh", "echo\n"),
                (".mcp.json", "{\"mcpServers\":{}}"),
                (".codex/config.toml", "x = 1\n"),
                (".cursorrules", "be quick\n"),
                (".github/copilot-instructions.md", "be brief\n"),
                (".husky/pre-commit", "echo\n"),
                (".worktreeinclude", "*.local\n"),
                (".env", "CODEX_HOME=./x\n"),
            ] {
                at.repo.write(path, text);
            }
            at.repo.commit("somebody pushed this");
        },
        told: &[
            "AGENTS.md (new)",
            ".claude/settings.json (new)",
            "web/.claude/hooks/x.sh (new)",
            ".mcp.json (new)",
            ".codex/config.toml (new)",
            ".cursorrules (new)",
            ".github/copilot-instructions.md (new)",
            ".husky/pre-commit (new)",
            ".worktreeinclude (new)",
            ".env (new)",
        ],
    },
    Stage {
        change: |at| {
            at.repo.write("AGENTS.md", "obey me\n");
            at.repo.write(".claude/settings.json", "{\"hooks\":{}}");
            at.repo.write(".env", "CODEX_HOME=./y\n");
            configure(at, "retries = 1");
            at.repo.commit("somebody pushed this");
        },
        told: &[
            "AGENTS.md (changed)",
            ".claude/settings.json (changed)",
            ".env (changed)",
            "pleach.toml (changed)",
        ],
    },
    Stage {
        change: |at| {
            at.repo.git(&["rm", "-q", "AGENTS.md", ".mcp.json"]);
            at.repo.commit("somebody removed this");
        },
        told: &["AGENTS.md (gone)", ".mcp.json (gone)"],
    },
];

/// What is configured in the working tree, which no commit holds.
const SETTINGS: [Stage; 3] = [
    Stage {
        change: |at| {
            at.repo.write("../prompt.md", "be careful\n");
            let prompt = "prompt = \"BESIDE/prompt.md\"";
            let commands = "validate = \"true\"\nvalidate_env = [\"LANG\"]\nsetup = \"true\"";
            configure(at, &format!("{prompt}\n{commands}"));
        },
        told: &[
            "validate (new)",
            "validate_env (new)",
            "setup (new)",
            "prompt (new)",
        ],
    },
    Stage {
        change: |at| {
            at.repo.write("../prompt.md", "be careless\n");
            let prompt = "prompt = \"BESIDE/prompt.md\"";
            let commands =
                "validate = \"true || true\"\nvalidate_env = [\"TZ\"]\nsetup = \"true && true\"";
            configure_agent(at, &format!("{prompt}\n{commands}"), OTHER_SHELL);
        },
        told: &[
            "validate (changed)",
            "validate_env (changed)",
            "setup (changed)",
            "prompt (changed)",
            "agents.shell.command (changed)",
        ],
    },
    Stage {
        change: |at| configure_agent(at, "", OTHER_SHELL),
        told: &[
            "validate (gone)",
            "validate_env (gone)",
            "setup (gone)",
            "prompt (gone)",
        ],
    },
];

/// A run without a terminal and without `--yes`.
fn run(scene: &Scene) -> Answer {
    pleach(scene.repo.path(), &scene.home(), &["run"])
}

fn times_run(scene: &Scene) -> usize {
    scene.trace("ran").split_whitespace().count()
}

fn batches(scene: &Scene) -> usize {
    fs::read_dir(scene.state().join("batches")).map_or(0, Iterator::count)
}

/// One task, and the consent to what steers it.
fn consented() -> Scene {
    let scene = Scene::of("1", "", SHELL);
    scene.repo.commit("everything");
    let first = run(&scene).bad(3);
    assert!(first.contains("agents.shell.command (new)"), "{first}");
    assert!(first.contains("pleach.toml (new)"), "{first}");
    scene.run(&[]).good();
    scene
}

#[track_caller]
fn check(scene: &Scene, stages: &[Stage]) {
    for Stage { change, told } in stages {
        change(scene);
        let before = (times_run(scene), batches(scene));
        let error = run(scene).bad(3);
        for part in *told {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(error.contains("pass --yes"), "{error}");
        assert_eq!(
            (times_run(scene), batches(scene)),
            before,
            "{told:?}: something began"
        );
        scene.run(&[]).good();
        run(scene).good();
        assert_eq!(times_run(scene), before.0 + 2, "{told:?}");
    }
}

#[test]
fn every_change_of_a_steering_file_needs_consent_once() {
    check(&consented(), &FILES);
}

#[test]
fn every_change_of_a_setting_that_runs_something_needs_consent_once() {
    check(&consented(), &SETTINGS);
}

#[test]
fn what_steers_nothing_is_not_asked_for() {
    let scene = consented();
    commit(&scene, "README.md", "another text\n");
    commit(&scene, "src/main.rs", "fn main() {}\n");
    commit(&scene, ".npmrc", "fund=false\n");
    run(&scene).good();
    configure(&scene, "retries = 1\nmax_parallel = 2");
    run(&scene).good();
}

#[test]
fn a_state_that_was_consented_to_earlier_is_known_again() {
    let scene = consented();
    configure(&scene, "validate = \"true\"");
    run(&scene).bad(3);
    scene.run(&[]).good();
    configure(&scene, "");
    run(&scene).good();
    configure(&scene, "validate = \"true\"");
    run(&scene).good();
}

#[test]
fn what_a_person_types_needs_no_consent_of_its_own() {
    let scene = consented();
    let words = ["run", "--validate", "true", "--prompt", "be quick"];
    pleach(scene.repo.path(), &scene.home(), &words).good();
}

#[test]
fn more_than_one_task_needs_a_person_or_a_yes_all_the_same() {
    let scene = Scene::of("1, 2", "", SHELL);
    scene.run(&[]).good();
    let error = run(&scene).bad(3);
    assert!(
        error.contains("no terminal to ask for consent\n"),
        "{error}"
    );
    pleach(scene.repo.path(), &scene.home(), &["run", "1"]).good();
}

#[test]
fn programs_are_told_in_their_own_way() {
    let scene = Scene::of("1", "", SHELL);
    let answer = pleach(scene.repo.path(), &scene.home(), &["run", "--json"]);
    assert_eq!(answer.json()["error"]["code"], "no_consent");
    assert_eq!(answer.code, 3);
}

#[test]
fn a_run_in_the_background_is_asked_about_before_it_goes_there() {
    let scene = Scene::of("1", "", SHELL);
    let words = ["run", "--detach"];
    let error = pleach(scene.repo.path(), &scene.home(), &words).bad(3);
    assert!(error.contains("agents.shell.command (new)"), "{error}");
    assert_eq!(batches(&scene), 0);
}

#[test]
fn a_person_is_shown_what_changed_and_asked_once() {
    let scene = Scene::of("1", "", SHELL);
    let start = || {
        let mut command = command(scene.repo.path(), &scene.home(), &["run", "1"]);
        command.env("TERM", "xterm-256color");
        Terminal::spawn(&command, 100, 40)
    };
    let mut terminal = start();
    terminal.wait_for("agents.shell.command");
    terminal.wait_for("Consent and run? [y/N]");
    terminal.type_in("n\r");
    assert_eq!(terminal.end(), 3, "{}", terminal.transcript());
    let shown = terminal.transcript();
    assert!(shown.contains("nothing was run"), "{shown}");
    assert_eq!(times_run(&scene), 0);
    let mut terminal = start();
    terminal.wait_for("Consent and run? [y/N]");
    terminal.type_in("y\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    let mut terminal = start();
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    let shown = terminal.transcript();
    assert!(!shown.contains("onsent"), "{shown}");
    configure(&scene, "validate = \"true && : new\"");
    let mut terminal = start();
    terminal.wait_for("Review them:");
    terminal.wait_for("true && : new");
    terminal.wait_for("Consent and run? [y/N]");
    terminal.type_in("\r");
    assert_eq!(terminal.end(), 3);
    assert_eq!(times_run(&scene), 2);
}
