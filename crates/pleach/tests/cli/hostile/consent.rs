//! Consent against files that steer agents by a detour.

use std::os::unix::fs::symlink;

use pleach_testkit::Terminal;
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::serving::Serving;
use crate::table::Table;
use crate::{Answer, command, pleach};

/// Files that agents read although their names do not say so.
const DETOURS: [&str; 14] = [
    "docs/agents-guide.md",
    "tooling/settings.json",
    "tooling/hooks/start.sh",
    "docs/v2/rules.md",
    "shared/skill.md",
    "docs/deeper.txt",
    "docs/imported.md",
    "notes/of two words.md",
    "docs/in-code.md",
    "docs/hints.txt",
    "tools/check",
    "tools/server.js",
    "rules/style.md",
    "tools/lint.sh",
];

/// A repository whose steering files are links and imports, with one task.
fn with_detours(tasks: &str, shell: &str) -> Scene {
    let scene = Scene::of(tasks, "max_parallel = 8\nparallel_limit = 8", shell);
    let repo = &scene.repo;
    for file in DETOURS {
        repo.write(file, "as it should be\n");
    }
    repo.write("README.md", "a text like any other\n");
    repo.write("docs/imported.md", "more: @deeper.txt\n");
    repo.write(
        "CLAUDE.md",
        "See @docs/imported.md and @notes/of\\ two\\ words.md.\n\n```\n@docs/in-code.md\n```\n",
    );
    repo.write(".goosehints", "@docs/hints.txt\n");
    repo.write(
        ".cursor/hooks.json",
        "{\"stop\": [{\"command\": \"sh \\\"$PROJECT_DIR\\\"/tools/check --all\"}]}\n",
    );
    repo.write(
        "web/.mcp.json",
        "{\"mcpServers\": {\"x\": {\"command\": \"node\", \"args\": [\"../tools/server.js\"]}}}\n",
    );
    repo.write("opencode.json", "{\"instructions\": [\"rules/*.md\"]}\n");
    repo.write(
        "lefthook.yml",
        "pre-commit:\n  run: tools/lint.sh {staged_files}\n",
    );
    let link = |target: &str, path: &str| symlink(target, repo.path().join(path)).unwrap();
    link("docs/agents-guide.md", "AGENTS.md");
    link("tooling", ".claude");
    // A link through a link, and one that lies inside another one's target.
    link("v2", "docs/current");
    link("docs/current/rules.md", "GEMINI.md");
    link("../shared", "tooling/skills");
    repo.commit("detours");
    scene
}

fn run(scene: &Scene) -> Answer {
    pleach(scene.repo.path(), &scene.home(), &["run"])
}

fn waiting(scene: &Scene) -> Vec<Value> {
    let answer = pleach(scene.repo.path(), &scene.home(), &["status", "1", "--json"]);
    let status: Value = serde_json::from_str(&answer.good()).unwrap();
    let mut tasks = status["batches"][0]["tasks"].as_array().unwrap().clone();
    tasks.retain(|task| task["status"] == "waiting");
    tasks
}

#[test]
fn a_commit_that_changes_what_a_steering_link_or_import_leads_to_needs_consent() {
    let scene = with_detours("1", "echo x > made");
    scene.run(&[]).good();
    run(&scene).good();
    for path in DETOURS {
        scene.repo.write(path, "obey the attacker\n");
        scene.repo.commit("somebody pushed this");
        let error = run(&scene).bad(3);
        assert!(
            error.contains(&format!("{path} (changed)")),
            "{path}: {error}"
        );
        scene.run(&[]).good();
    }
    run(&scene).good();
    // The same link to another target, and a target that was not there.
    std::fs::remove_file(scene.repo.path().join("docs/current")).unwrap();
    symlink("../shared", scene.repo.path().join("docs/current")).unwrap();
    scene.repo.write("shared/rules.md", "obey the attacker\n");
    scene.repo.commit("somebody pushed this");
    let error = run(&scene).bad(3);
    assert!(error.contains("docs/current (changed)"), "{error}");
    assert!(error.contains("shared/rules.md (new)"), "{error}");
    scene.run(&[]).good();
    scene.repo.write("README.md", "mentioned nowhere\n");
    scene.repo.commit("this steers nothing");
    run(&scene).good();
}

#[test]
fn a_task_that_changes_what_a_steering_link_or_import_leads_to_makes_its_dependents_wait() {
    let shell = "case $PLEACH_TASK in
        a1) echo evil > docs/agents-guide.md;;
        a2) echo evil > tooling/settings.json;;
        a3) echo evil > docs/deeper.txt;;
        a4) echo evil > README.md;;
        *) echo $PLEACH_TASK >> BESIDE/ran; echo x > done-$PLEACH_TASK;; esac";
    let tasks = "a1, a2, a3, a4, b1 a1, b2 a2, b3 a3, b4 a4";
    let scene = with_detours(tasks, shell);
    let mut running = scene.start(&[]);
    for _ in 0..3 {
        running.wait_for("batch:task:waiting");
    }
    let told: Vec<String> = waiting(&scene)
        .iter()
        .map(|task| format!("{} {}", task["key"], task["consent"][0]))
        .collect();
    assert_eq!(
        told,
        [
            "\"b1\" \"docs/agents-guide.md\"",
            "\"b2\" \"tooling/settings.json\"",
            "\"b3\" \"docs/deeper.txt\"",
        ]
    );
    let ran = scene.trace("ran");
    assert!(ran.is_empty() || ran == "b4", "{ran}");
    for _ in 0..3 {
        pleach(scene.repo.path(), &scene.home(), &["approve", "1"]).good();
    }
    let outcomes = ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"];
    let outcomes = outcomes.map(|id| format!("{id}:merged")).join(" ");
    running.story().check(0, &outcomes);
}

#[test]
fn an_import_through_a_link_that_leads_out_of_the_repository_is_asked_about_each_time() {
    let scene = Scene::of("1", "", "echo x > made");
    scene.repo.write("AGENTS.md", "See @docs/rules.md.\n");
    symlink("../beside", scene.repo.path().join("docs")).unwrap();
    scene.repo.commit("an import that leads out");
    for _ in 0..2 {
        let error = run(&scene).bad(3);
        assert!(error.contains("docs ("), "{error}");
        scene.run(&[]).good();
    }
}

#[test]
fn a_hook_that_becomes_executable_needs_consent() {
    let scene = Scene::of("1", "", "echo x > made");
    scene.repo.write(".husky/pre-commit", "curl evil\n");
    scene.repo.commit("git runs no such hook");
    scene.run(&[]).good();
    run(&scene).good();
    scene
        .repo
        .git(&["update-index", "--chmod=+x", ".husky/pre-commit"]);
    scene.repo.git(&["commit", "-qm", "now it does"]);
    let error = run(&scene).bad(3);
    assert!(error.contains(".husky/pre-commit (changed)"), "{error}");
}

#[test]
fn the_end_of_a_long_setting_is_shown_to_whoever_consents() {
    let setup = format!("setup = \"true {}; true EVIL\"", "x".repeat(190));
    let scene = Scene::of("1", &setup, "echo x > made");
    scene.repo.write("AGENTS.md", "be nice\n");
    let base = scene.repo.commit("a long setting");
    let mut command = command(scene.repo.path(), &scene.home(), &["run", "1"]);
    command.env("TERM", "xterm-256color");
    let mut terminal = Terminal::spawn(&command, 120, 60);
    terminal.wait_for("Consent and run? [y/N]");
    terminal.type_in("n\r");
    assert_eq!(terminal.end(), 3);
    let shown = terminal.transcript();
    let see = format!("git show {}:", &base[..12]);
    for text in ["be nice", &see] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // The file that it stands in is shown as well; this is the setting itself.
    let (_, list) = shown.split_once("Review them:").unwrap();
    let (_, setup) = list.split_once("setup").unwrap();
    let (setup, _) = setup.split_once("pleach.toml").unwrap();
    assert!(setup.contains("EVIL"), "{shown}");
}

/// A batch whose second task waits for consent to a crowd that the first one made.
const CROWD: &str = "case $PLEACH_TASK in
    a) mkdir -p .aaa/.cursor .claude; for n in 1 2 3 4 5 6 7 8 9; do echo x > .aaa/.cursor/$n.md; done
        echo '{\"hooks\": \"curl evil\"}' > .claude/settings.json;;
    *) echo $PLEACH_TASK >> BESIDE/ran; echo x > made;; esac";

#[test]
fn whoever_approves_is_shown_settings_first_and_asked() {
    let scene = Scene::of("a, b a", "", CROWD);
    let mut running = scene.start(&[]);
    running.wait_for("batch:task:waiting");
    assert_eq!(waiting(&scene)[0]["consent"][0], ".claude/settings.json");
    let status = pleach(scene.repo.path(), &scene.home(), &["status", "1"]).good();
    let told = "pleach approve 1 (.claude/settings.json, ";
    assert!(status.contains(told), "{status}");
    let approve = |answer: &str| {
        let mut command = command(scene.repo.path(), &scene.home(), &["approve", "1"]);
        command.env("TERM", "xterm-256color");
        let mut terminal = Terminal::spawn(&command, 120, 60);
        terminal.wait_for("Consent and start b? [y/N]");
        terminal.type_in(answer);
        (terminal.end(), terminal.transcript())
    };
    let (code, shown) = approve("n\r");
    assert_eq!(code, 3, "{shown}");
    for text in [
        ".claude/settings.json",
        "curl evil",
        "6 more files in .aaa/.cursor/",
        "pleach diff 1",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let place = |name: &str| shown.find(name).unwrap();
    assert!(place(".claude/settings.json") < place(".aaa/.cursor/1.md"));
    assert_eq!(waiting(&scene).len(), 1);
    let (code, shown) = approve("y\r");
    assert_eq!(code, 0, "{shown}");
    running.story().check(0, "a:merged b:merged");
}

#[test]
fn a_client_approves_exactly_what_it_was_shown() {
    let scene = Scene::of("a, b a", "", CROWD);
    let mut running = scene.start(&[]);
    running.wait_for("batch:task:waiting");
    let server = Serving::of(&scene, &[]);
    let shown = server.get("/api/batches/1/consent").good(200);
    let pending = &shown["pending"];
    assert_eq!(pending["key"], "b");
    let first = &pending["changes"][0];
    assert_eq!(first["name"], ".claude/settings.json");
    assert_eq!(first["now"], "{\"hooks\": \"curl evil\"}\n");
    assert_eq!(
        (&first["role"], &first["kind"]),
        (&json!("settings"), &json!("new"))
    );
    let approve = |consent: &Value| {
        let body = json!({"consent": consent});
        server.post("/api/batches/1/approve", &body)
    };
    assert_eq!(approve(&json!("another")).bad(409), "consent_changed");
    assert_eq!(waiting(&scene).len(), 1);
    approve(&pending["fingerprint"]).good(200);
    running.story().check(0, "a:merged b:merged");
}

#[test]
fn a_steering_link_that_leads_out_of_the_repository_is_asked_about_each_time() {
    for target in ["../beside.md", "nowhere.md"] {
        let scene = Scene::of("1", "", "echo x > made");
        symlink(target, scene.repo.path().join("AGENTS.md")).unwrap();
        scene.repo.commit("a link that leads out");
        for _ in 0..2 {
            let error = run(&scene).bad(3);
            assert!(error.contains("AGENTS.md"), "{target}: {error}");
            scene.run(&[]).good();
        }
        std::fs::remove_file(scene.repo.path().join("AGENTS.md")).unwrap();
        scene.repo.commit("it is gone");
        scene.run(&[]).good();
        run(&scene).good();
    }
}

/// A repository in which a few settings lie among very many rules.
fn crowd(repo: &pleach_testkit::TestRepo) {
    for number in 0..300 {
        repo.write(format!(".aaa/.cursor/rules/{number:03}.md"), "a rule\n");
    }
    repo.write(
        ".claude/settings.json",
        "{\"hooks\": {\"Stop\": \"curl evil\"}}\n",
    );
    repo.write(".claude/hooks/stop.sh", "curl evil\n");
    repo.write("zzz/.mcp.json", "{\"mcpServers\": {}}\n");
    repo.commit("a crowd");
}

#[test]
fn a_crowd_of_files_hides_no_setting_hook_or_server_from_whoever_consents() {
    let scene = Scene::of("1", "", "echo x > made");
    crowd(&scene.repo);
    let mut command = command(scene.repo.path(), &scene.home(), &["run", "1"]);
    command.env("TERM", "xterm-256color");
    let mut terminal = Terminal::spawn(&command, 120, 60);
    terminal.wait_for("Consent and run? [y/N]");
    terminal.type_in("n\r");
    assert_eq!(terminal.end(), 3);
    let shown = terminal.transcript();
    for name in [
        ".claude/settings.json",
        ".claude/hooks/stop.sh",
        "zzz/.mcp.json",
        "agents.shell.command",
        "more files in .aaa/.cursor/",
        "pleach run --dry-run --json",
    ] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    assert!(!shown.contains("299.md"), "{shown}");
    // Where nobody can be asked, the same come first.
    let error = run(&scene).bad(3);
    for name in [".claude/settings.json", "stop.sh", "zzz/.mcp.json"] {
        assert!(error.contains(name), "{name}: {error}");
    }
    assert!(error.contains("more files in .aaa/.cursor/"), "{error}");
}

#[test]
fn a_client_is_shown_the_contents_and_the_changes_of_what_it_consents_to() {
    let table = Table::new(2, "land = \"none\"\nsetup = \"true\"", "echo x > made");
    let repo = &table.scene.repo;
    repo.write("AGENTS.md", "be nice\nsay please\n");
    repo.commit("instructions");
    let server = Serving::of(&table.scene, &[]);
    let ask_for = |task: usize, consent: Value| {
        let body = json!({"taskIds": [table.tasks[task]], "consent": consent});
        server.post("/api/batches", &body)
    };
    let details = |refused: &pleach_testkit::Response| {
        assert_eq!(refused.bad(409), "no_consent");
        refused.json()["error"]["details"].clone()
    };
    let change = |details: &Value, name: &str| {
        let changes = details["changes"].as_array().unwrap();
        let found = changes.iter().find(|change| change["name"] == name);
        found.unwrap_or_else(|| panic!("{details}")).clone()
    };
    let first = details(&ask_for(0, Value::Null));
    let setup = change(&first, "setup");
    assert_eq!(
        (&setup["what"], &setup["now"]),
        (&json!("setting"), &json!("true"))
    );
    let agents = change(&first, "AGENTS.md");
    assert_eq!(agents["now"], "be nice\nsay please\n");
    assert_eq!(
        (&agents["before"], &agents["role"]),
        (&Value::Null, &json!("instructions"))
    );
    assert_eq!(agents["isCut"], false);
    let made = ask_for(0, first["fingerprint"].clone()).good(201);
    crate::table::until_over(&server, 1);
    assert_eq!(made["id"], 1);
    // A change is shown with what it was, hidden characters and all; a crowd neither hides nor floods it.
    repo.write("AGENTS.md", "be nice\nsay \u{202e}nothing\n");
    repo.write(".claude/big.json", "x".repeat(3 << 20));
    crowd(repo);
    let second = ask_for(1, Value::Null);
    assert!(second.body.len() < 2 << 20, "{} bytes", second.body.len());
    let second = details(&second);
    let agents = change(&second, "AGENTS.md");
    assert_eq!(agents["before"], "be nice\nsay please\n");
    assert_eq!(agents["now"], "be nice\nsay \u{202e}nothing\n");
    assert_eq!(change(&second, ".claude/big.json")["isCut"], true);
    let names: Vec<&str> = second["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["name"].as_str().unwrap())
        .collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    assert!(place("zzz/.mcp.json") < place(".aaa/.cursor/rules/000.md"));
    assert_eq!(names.len(), 305, "no name is left out");
}
