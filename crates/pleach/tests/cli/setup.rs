//! `pleach config`, `pleach init` and `pleach doctor`: what holds, a first file, and whether a run would work.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::scene::Scene;
use crate::{Answer, Place, command, pleach};

fn with(scene: &Scene, words: &[&str], variables: &[(&str, &str)]) -> Answer {
    let mut command = command(scene.repo.path(), &scene.home(), words);
    let output = command.envs(variables.iter().copied()).output();
    output.unwrap().into()
}

/// The line of a key, with one space between its words.
fn line(shown: &str, key: &str) -> String {
    let is_it = |line: &&str| line.split_whitespace().next() == Some(key);
    let found = shown.lines().find(is_it).unwrap_or_default();
    found.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_wrong_in_a_file_is_told_in_the_order_of_its_lines() {
    let scene = Scene::with("", "- [ ] 1 A\n", "true");
    scene.repo.write(
        "pleach.toml",
        "bogus = 1\nretries = \"x\"\nland = 7\nodder = 2\n",
    );
    let error = with(&scene, &["plan"], &[]).bad(2);
    let at = |line: &str| {
        error
            .find(line)
            .unwrap_or_else(|| panic!("{line}: {error}"))
    };
    let places = [1, 2, 3, 4].map(|line| at(&format!("pleach.toml:{line}")));
    assert!(places.is_sorted(), "{error}");
}

#[test]
fn init_finds_the_agents_that_the_user_has_configured() {
    let place = Place::new();
    let users = place.folder.path().join("home/.config/pleach/config.toml");
    fs::create_dir_all(users.parent().unwrap()).unwrap();
    fs::write(users, "[agents.mine]\ncommand = [\"sh\"]\n").unwrap();
    let told: Value = place.pleach(&["init", "--json"]).json();
    let agents = told["agents"].as_array().unwrap();
    assert!(agents.contains(&"mine".into()), "{told}");
}

#[test]
fn every_setting_is_shown_with_where_it_is_from() {
    let scene = Scene::with(
        "retries = 0\nvalidate = \"make test\"",
        "- [ ] 1 A\n",
        "true",
    );
    let users = scene.home().join(".config/pleach/config.toml");
    fs::create_dir_all(users.parent().unwrap()).unwrap();
    fs::write(&users, "# mine\nland = \"none\"\nretries = 9\n").unwrap();
    let variables = [("PLEACH_TASK_TIMEOUT", "5m"), ("PLEACH_RETRYS", "1")];
    let answer = with(&scene, &["config"], &variables);
    let (warnings, shown) = (answer.err.clone(), answer.good());
    assert_eq!(line(&shown, "retries"), "retries 0 pleach.toml:4");
    assert_eq!(
        line(&shown, "land"),
        "land \"none\" ~/.config/pleach/config.toml:2"
    );
    assert_eq!(
        line(&shown, "task_timeout"),
        "task_timeout \"5m\" PLEACH_TASK_TIMEOUT"
    );
    assert_eq!(line(&shown, "max_parallel"), "max_parallel 3 default");
    assert_eq!(line(&shown, "setup"), "setup (none) default");
    assert!(
        line(&shown, "agents.shell.command").ends_with(" pleach.toml:7"),
        "{shown}"
    );
    assert!(
        warnings.contains("unknown variable PLEACH_RETRYS"),
        "{warnings}"
    );
    assert!(
        warnings.contains("did you mean PLEACH_RETRIES?"),
        "{warnings}"
    );
    let told = with(&scene, &["config", "--json"], &variables);
    let settings = told.json();
    let of = |key: &str| -> Value {
        let all = settings["settings"].as_array().unwrap();
        all.iter().find(|one| one["key"] == key).unwrap().clone()
    };
    assert_eq!(of("retries")["value"], 0);
    assert_eq!(of("retries")["source"]["line"], 4);
    assert_eq!(of("task_timeout")["source"]["name"], "PLEACH_TASK_TIMEOUT");
    assert_eq!(of("setup")["value"], Value::Null);
    assert_eq!(settings["warnings"][0]["nearest"], "PLEACH_RETRIES");
    let one = |key: &str| with(&scene, &["config", key], &[]).good();
    assert_eq!(one("validate"), "make test\n");
    assert_eq!(one("retries"), "0\n");
    assert_eq!(one("cache"), "[]\n");
    assert_eq!(one("setup"), "\n");
    let error = with(&scene, &["config", "retrys"], &[]).bad(2);
    assert!(error.contains("did you mean retries?"), "{error}");
}

#[test]
fn a_broken_configuration_says_all_that_is_wrong() {
    let place = Place::new();
    place.write(
        "pleach.toml",
        "max_paralel = 3\nretries = 99\nbatch_branch = \"x\"\n[agents.a]\ncomand = []\n",
    );
    let error = place.pleach(&["config"]).bad(2);
    for expected in [
        "pleach.toml:1: unknown key \"max_paralel\"",
        "hint: did you mean max_parallel?",
        "pleach.toml:2: retries must be a number from 0 to 20",
        "pleach.toml:5: unknown key \"agents.a.comand\"",
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    place.write(
        "pleach.toml",
        "\nbatch_branch = \"x\"\ntask_branch = \"{{tsk}}\"\n",
    );
    let error = place.pleach(&["config"]).bad(2);
    assert!(
        error.contains("pleach.toml:2: batch_branch needs {{batch}}"),
        "{error}"
    );
    assert!(
        error.contains("pleach.toml:3: task_branch cannot contain {{tsk}}"),
        "{error}"
    );
    let told = place.pleach(&["config", "--json"]);
    assert_eq!(
        (told.code, &told.json()["error"]["code"]),
        (2, &"bad_config".into())
    );
}

#[test]
fn a_key_is_set_for_the_user_or_the_repository() {
    let place = Place::new();
    let said = place.pleach(&["config", "set", "retries", "4"]).good();
    assert_eq!(said, "retries = 4 in ~/.config/pleach/config.toml\n");
    assert_eq!(place.pleach(&["config", "retries"]).good(), "4\n");
    place.write("pleach.toml", "# kept\nretries = 1 # kept too\n");
    let words = ["config", "set", "setup", "npm ci --flag", "--repo"];
    assert_eq!(
        place.pleach(&words).good(),
        "setup = \"npm ci --flag\" in pleach.toml\n"
    );
    assert_eq!(
        place.read("pleach.toml"),
        "# kept\nretries = 1 # kept too\nsetup = \"npm ci --flag\"\n"
    );
    let answer = place.pleach(&["config", "set", "retries", "5"]);
    assert!(
        answer.err.contains("pleach.toml:2 overrides it here"),
        "{}",
        answer.err
    );
    let error = place.pleach(&["config", "set", "retries", "-1"]).bad(2);
    assert!(
        error.contains("retries must be a number from 0 to 20"),
        "{error}"
    );
    let error = place.pleach(&["config", "set", "mode", "quue"]).bad(2);
    assert!(error.contains("did you mean queue?"), "{error}");
}

#[test]
fn a_first_configuration_is_written_from_what_is_found() {
    let place = Place::new();
    place.write("Cargo.toml", "");
    place.write("TODO.md", "- [ ] A\n");
    let draft = place.pleach(&["init", "--dry-run"]).good();
    assert!(
        draft.contains("\nvalidate = \"cargo test\"  # detected: Cargo.toml\n"),
        "{draft}"
    );
    assert!(!place.path().join("pleach.toml").exists());
    let said = place.pleach(&["init"]).good();
    assert!(said.contains("not a git repository"), "{said}");
    assert!(said.contains("plan     = \"TODO.md\""), "{said}");
    assert_eq!(place.read("pleach.toml"), draft);
    assert_eq!(place.pleach(&["config", "validate"]).good(), "cargo test\n");
    place.write("pleach.toml", "retries = 1\n");
    let error = place.pleach(&["init"]).bad(2);
    assert!(error.contains("pleach.toml already exists"), "{error}");
    assert!(error.contains("validate = \"cargo test\""), "{error}");
    assert_eq!(place.read("pleach.toml"), "retries = 1\n");
}

#[test]
fn a_repository_is_set_up_from_any_of_its_folders() {
    let scene = Scene::new("- [ ] 1 A\n", "true");
    fs::remove_file(scene.repo.path().join("pleach.toml")).unwrap();
    scene.repo.write("src/deep/x", "");
    let deep = scene.repo.path().join("src/deep");
    let said = pleach(&deep, &scene.home(), &["init"]).good();
    assert!(!said.contains("not a git repository"), "{said}");
    assert!(scene.repo.path().join("pleach.toml").exists(), "{said}");
}

/// What a level says of a topic.
#[track_caller]
fn finding(answer: &Answer, topic: &str) -> (String, String, String) {
    let told = answer.json();
    let all = told["findings"].as_array().unwrap();
    let found = all.iter().find(|finding| finding["topic"] == topic);
    let text = |field: &str| {
        let found = found.unwrap_or_else(|| panic!("{topic} is not in {told}"));
        found[field].as_str().unwrap_or_default().to_owned()
    };
    (text("level"), text("message"), text("fix"))
}

#[test]
fn a_repository_that_is_fit_is_told_so() {
    let scene = Scene::with("land = \"none\"\nretries = 0", "- [ ] 1 A\n", "exit 1");
    scene.run(&[]);
    let answer = with(&scene, &["doctor"], &[]);
    let told = answer.good();
    for topic in [
        "git",
        "repository",
        "branches",
        "agent",
        "plan",
        "state",
        "database",
        "disk",
    ] {
        assert!(told.contains(&format!("✓ {topic} ")), "{topic}: {told}");
    }
    let answer = with(&scene, &["doctor", "--json"], &[]);
    assert_eq!(answer.code, 0);
    let (level, message, fix) = finding(&answer, "worktrees");
    assert_eq!(
        (level.as_str(), message.as_str(), fix.as_str()),
        ("warning", "1 leftover worktree", "pleach gc")
    );
    let state = scene.state();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let answer = with(&scene, &["doctor", "--json"], &[("SHELL", "/bin/bash")]);
    let (level, _, fix) = finding(&answer, "state");
    assert_eq!(
        (level, fix),
        (
            "warning".to_owned(),
            format!("chmod 700 {}", state.display())
        )
    );
    assert!(
        finding(&answer, "completions")
            .2
            .starts_with("pleach completions bash > ~/")
    );
}

#[test]
fn what_keeps_a_run_from_working_is_an_error_with_its_fix() {
    let scene = Scene::with(
        "land = \"none\"\nmin_free_disk = \"900TiB\"",
        "- [ ] 1 A\n",
        "true",
    );
    scene.repo.branch("pleach");
    scene.repo.git(&["checkout", "-q", "main"]);
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    let broken = config.replace("\"sh\"", "\"no-such-agent\"");
    scene
        .repo
        .write("pleach.toml", format!("base = \"nowhere\"\n{broken}"));
    let answer = with(&scene, &["doctor", "--json"], &[]);
    assert_eq!(answer.code, 3, "{}", answer.out);
    for (topic, words) in [
        ("agent", "no-such-agent"),
        ("repository", "set base"),
        ("branches", "branch_prefix"),
        ("disk", "min_free_disk"),
    ] {
        let (level, message, fix) = finding(&answer, topic);
        assert_eq!(level, "error", "{topic}: {message}");
        let is_told = message.contains(words) || fix.contains(words);
        assert!(is_told || topic == "repository", "{topic}: {message} {fix}");
    }
    scene.repo.write("pleach.toml", "retrys = 1\n");
    let answer = with(&scene, &["doctor", "--json"], &[]);
    let (level, message, fix) = finding(&answer, "configuration");
    assert_eq!((answer.code, level.as_str()), (3, "error"), "{message}");
    assert_eq!(fix, "did you mean retries?");
    assert!(
        answer.out.contains("\"topic\": \"disk\""),
        "the rest is looked at all the same"
    );
}

#[test]
fn a_folder_without_git_and_a_machine_without_git_are_told() {
    let place = Place::new();
    place.write("pleach.toml", "[agents.a]\ncommand = [\"sh\"]\n");
    let answer = place.pleach(&["doctor", "--json"]);
    assert_eq!(
        (answer.code, finding(&answer, "repository").0.as_str()),
        (3, "error")
    );
    let home = place.folder.path().join("home");
    let output = command(&place.path(), &home, &["doctor", "--json"])
        .env("PATH", Path::new("/nowhere"))
        .output()
        .unwrap();
    let answer: Answer = output.into();
    let (level, _, fix) = finding(&answer, "git");
    assert_eq!(
        (level.as_str(), fix.as_str()),
        ("error", "install git and put it on the PATH")
    );
}

#[test]
fn an_interrupted_batch_and_a_missing_login_are_warnings() {
    let scene = Scene::new("- [ ] 1 A\n", "true");
    let url = "https://git.example.com/team/project.git";
    scene.repo.git(&["remote", "add", "origin", url]);
    let mut command = command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
    command.env("PLEACH_DIE_AT", "BatchStarted");
    assert_ne!(command.output().unwrap().status.code(), Some(0));
    let answer = with(&scene, &["doctor", "--json"], &[]);
    assert_eq!(answer.code, 0, "{}", answer.out);
    assert_eq!(finding(&answer, "batches").2, "pleach resume 1");
    let (level, message, _) = finding(&answer, "server");
    assert_eq!(level, "warning");
    assert!(message.contains("git.example.com"), "{message}");
    let token = [
        ("PLEACH_GIT_TOKEN", "very-secret"),
        ("PLEACH_GIT_HOST", "git.example.com"),
    ];
    let answer = with(&scene, &["doctor", "--json"], &token);
    assert_eq!(finding(&answer, "server").0, "ok");
    assert!(!answer.out.contains("very-secret"), "{}", answer.out);
}
