//! Somebody who has the token and a repository of their own, and wants its commands run without a sandbox.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::pleach;
use crate::scene::Scene;
use crate::serving::Serving;

/// What a project's own file may not do by itself.
const ESCAPES: [&str; 8] = [
    "sandbox = \"none\"",
    "sandbox = [\"env\"]",
    "sandbox_write = [\"~\"]",
    "sandbox = \"strict\"\nsandbox_write = [\"~/.ssh\"]",
    "sandbox_read = [\"~/.ssh\"]",
    "validate_env = [\"AWS_SECRET_ACCESS_KEY\"]",
    "prompt = \"../../.ssh/id_rsa\"",
    "worktrees = \"~/.config\"",
];

/// A repository with such a file, as an agent could make it in a cache folder.
fn plant(scene: &Scene, settings: &str) -> String {
    let folder = scene.repo.beside("home/.cache/trap");
    std::fs::create_dir_all(&folder).unwrap();
    let out = scene.repo.beside("escaped");
    let shell = format!("echo x > '{}'; echo x > file", out.display());
    let words = serde_json::to_string(&["sh", "-c", &shell]).unwrap();
    let config =
        format!("retries = 0\nland = \"none\"\n{settings}\n[agents.shell]\ncommand = {words}\n");
    std::fs::write(folder.join("pleach.toml"), config).unwrap();
    let git = |words: &[&str]| {
        let all = ["-c", "user.name=x", "-c", "user.email=x@x"];
        let mut git = Command::new("git");
        let done = git.arg("-C").arg(&folder).args(all).args(words).output();
        assert!(done.unwrap().status.success(), "{words:?}");
    };
    if !folder.join(".git").exists() {
        git(&["init", "-q", "-b", "main"]);
    }
    git(&["add", "-A"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    folder.to_str().unwrap().to_owned()
}

/// A program of the attacker's gets variables of the server.
const LEAK: &str = "[agents.other]\ncommand = [\"sh\"]\nenv = [\"AWS_SECRET_ACCESS_KEY\"]";

fn project(server: &Serving, folder: &str) -> String {
    let added = server.post("/api/projects", &json!({ "path": folder }));
    added.json()["id"].as_str().unwrap().to_owned()
}

/// Asks for a batch of a new task, and consents to whatever is asked.
fn run(server: &Serving, project: &str) -> pleach_testkit::Response {
    let task = json!({"projectId": project, "title": "dig"});
    let task = server.post("/api/tasks", &task).good(201);
    let mut body = json!({"taskIds": [task["id"]]});
    let refused = server.post("/api/batches", &body);
    if refused.status == 409 && refused.bad(409) == "no_consent" {
        body["consent"] = refused.json()["error"]["details"]["fingerprint"].clone();
        return server.post("/api/batches", &body);
    }
    refused
}

fn ended(server: &Serving, batch: &Value) -> Value {
    let path = format!("/api/batches/{}", batch["id"]);
    server.until(&path, |batch| !batch["completedAt"].is_null())
}

#[test]
fn no_request_switches_the_sandbox_of_a_project_off() {
    for flags in [&[][..], &["--yes"]] {
        let scene = Scene::of("1", "", "true");
        let server = Serving::of(&scene, flags);
        for settings in ESCAPES.into_iter().chain([LEAK]) {
            let folder = plant(&scene, settings);
            let project = project(&server, &folder);
            let refused = run(&server, &project);
            assert_eq!(refused.bad(403), "needs_trust", "{settings}");
            let hint = refused.json()["error"]["hint"].to_string();
            assert!(
                hint.contains("pleach trust") && hint.contains(&folder),
                "{hint}"
            );
            assert_eq!(
                server.get("/api/batches?status=all").good(200),
                json!({"batches": []})
            );
        }
        assert!(!scene.repo.beside("escaped").exists());
        // The board still runs what asks for nothing of the kind.
        let folder = plant(&scene, "");
        let batch = run(&server, &project(&server, &folder)).good(201);
        ended(&server, &batch);
        assert!(!scene.repo.beside("escaped").exists());
    }
}

/// What leaves a file in the folder that it works in.
const PLANT: &str =
    "retries = 0\n[agents.shell]\ncommand = [\"sh\", \"-c\", \"echo x > planted\"]\n";

/// Asks for a batch that works in a folder itself.
fn run_in_place(server: &Serving, project: &str) -> pleach_testkit::Response {
    let task = json!({"projectId": project, "title": "dig"});
    let task = server.post("/api/tasks", &task).good(201);
    let body = json!({"taskIds": [task["id"]], "mode": "queue"});
    server.post("/api/batches", &body)
}

#[test]
fn no_request_makes_a_folder_of_the_users_writable() {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, &["--yes"]);
    let home = scene.home();
    for place in [".config/autostart", ".config/pleach", "notes"] {
        let folder = home.join(place);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("pleach.toml"), PLANT).unwrap();
        let project = project(&server, folder.to_str().unwrap());
        let refused = run_in_place(&server, &project);
        assert_eq!(refused.bad(403), "needs_trust", "{place}");
        assert!(!folder.join("planted").exists(), "{place}");
    }
    // A person may allow it, but never where keys or Pleach's own settings are.
    let trust = |place: &str| {
        let folder = home.join(place);
        pleach(
            Path::new("/"),
            &home,
            &["trust", folder.to_str().unwrap(), "--yes"],
        )
        .good();
        run_in_place(&server, &project(&server, folder.to_str().unwrap()))
    };
    assert_eq!(trust(".config/pleach").bad(422), "unfit_folder");
    let batch = trust("notes").good(201);
    ended(&server, &batch);
    assert!(home.join("notes/planted").exists());
}

#[test]
fn a_person_at_a_terminal_trusts_a_project_until_its_settings_change() {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, &[]);
    let folder = plant(&scene, "sandbox = \"none\"");
    let id = project(&server, &folder);
    let trust = |words: &[&str]| {
        let all = [&["trust", &folder], words].concat();
        pleach(Path::new("/"), &scene.home(), &all)
    };
    assert_eq!(run(&server, &id).bad(403), "needs_trust");
    // Nobody is there to be asked.
    let asked = trust(&[]);
    assert_eq!(asked.code, 3, "{}{}", asked.out, asked.err);
    assert_eq!(run(&server, &id).bad(403), "needs_trust");
    trust(&["--yes"]).good();
    let batch = run(&server, &id).good(201);
    ended(&server, &batch);
    assert!(scene.repo.beside("escaped").exists());
    plant(&scene, "sandbox = \"none\"\nsandbox_write = [\"~\"]");
    assert_eq!(run(&server, &id).bad(403), "needs_trust", "other settings");
    plant(&scene, "sandbox = \"none\"");
    run(&server, &id).good(201);
    trust(&["--revoke"]).good();
    assert_eq!(run(&server, &id).bad(403), "needs_trust");
}

#[test]
fn what_the_user_configures_themselves_needs_no_trust() {
    let scene = Scene::of("1", "", "true");
    let config = scene.home().join(".config/pleach");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "sandbox = \"none\"\n").unwrap();
    let server = Serving::of(&scene, &[]);
    let folder = plant(&scene, "");
    let batch = run(&server, &project(&server, &folder)).good(201);
    ended(&server, &batch);
    assert!(scene.repo.beside("escaped").exists());
    // What is stricter than nothing weakens nothing.
    let folder = plant(&scene, "sandbox = \"landlock\"");
    run(&server, &project(&server, &folder)).good(201);
}
