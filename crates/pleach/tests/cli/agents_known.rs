//! Agents that are known by name: listed, looked at, chosen and tried, with stand-ins on the `PATH`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Answer, Place, command};

/// What a stand-in for Claude Code does once it was told what to do.
const GREETS: &str = r#"echo hello from claude > greeting.txt
say '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.","total_cost_usd":0.25,"usage":{},"modelUsage":{"large":{"inputTokens":30,"outputTokens":12,"costUSD":0.25}},"permission_denials":[]}'
"#;

/// The end of a stand-in that its model refuses to answer.
fn refused(status: u16, text: &str) -> String {
    let end = json!({
        "type": "result", "subtype": "success", "is_error": true, "api_error_status": status,
        "terminal_reason": "api_error", "result": text, "usage": {}, "permission_denials": [],
    });
    format!("say '{end}'\nexit 1\n")
}

/// A machine with nothing but git, a shell and the agents that a test puts there.
struct Machine {
    place: Place,
    variables: Vec<(&'static str, &'static str)>,
}

impl Machine {
    fn new() -> Self {
        let machine = Self {
            place: Place::new(),
            variables: vec![("IS_SANDBOX", "1")],
        };
        fs::create_dir(machine.bin()).unwrap();
        fs::create_dir(machine.temporary()).unwrap();
        for name in ["git", "sh"] {
            let path = std::env::var_os("PATH").unwrap();
            let found = std::env::split_paths(&path).map(|folder| folder.join(name));
            let found = found.into_iter().find(|file| file.exists()).unwrap();
            symlink(found, machine.bin().join(name)).unwrap();
        }
        machine
    }

    /// The same with Claude Code, which does this once it was told what to do.
    fn with_claude(does: &str) -> Self {
        let machine = Self::new();
        machine.install(
            "claude",
            &format!(
                "[ \"$1\" = --version ] && echo '9.8.7 (Claude Code)' && exit\n\
                 say() {{ printf '%s\\n' \"$1\"; }}\n\
                 read -r order\n\
                 say '{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\",\"model\":\"large\"}}'\n\
                 {does}"
            ),
        );
        machine
    }

    fn bin(&self) -> PathBuf {
        self.place.folder.path().join("bin")
    }

    fn temporary(&self) -> PathBuf {
        self.place.folder.path().join("tmp")
    }

    fn install(&self, name: &str, script: &str) {
        write_program(&self.bin().join(name), script);
    }

    fn pleach(&self, words: &[&str]) -> Answer {
        let home = self.place.folder.path().join("home");
        let mut command = command(&self.place.path(), &home, words);
        command
            .env("PATH", self.bin())
            .env("TMPDIR", self.temporary())
            .envs(self.variables.iter().copied());
        command.output().unwrap().into()
    }

    #[track_caller]
    fn agent(&self, name: &str) -> Value {
        let told = self.pleach(&["agents", "--json"]).json();
        let all = told["agents"].as_array().unwrap().iter();
        let mut found = all.filter(|agent| agent["name"] == name);
        found
            .next()
            .cloned()
            .unwrap_or_else(|| panic!("{name} is not in {told}"))
    }

    /// What a trial tells, with its exit code.
    #[track_caller]
    fn trial(&self, words: &[&str]) -> (i32, Value) {
        let words: Vec<&str> = ["agents", "test", "--json"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let answer = self.pleach(&words);
        assert!(!answer.out.is_empty(), "{}", answer.err);
        (answer.code, answer.json())
    }
}

fn write_program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn agents_are_listed_with_version_login_and_how_to_get_them() {
    let mut machine = Machine::with_claude("");
    let shown = machine.pleach(&["agents"]).good();
    let first = shown.lines().next().unwrap();
    let words: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(&words[..3], ["!", "claude", "9.8.7"], "{shown}");
    assert!(first.ends_with("/bin/claude"), "{shown}");
    assert!(shown.contains("    run `claude auth login`"), "{shown}");
    assert!(
        shown.contains("codex     not installed: npm install -g @openai/codex"),
        "{shown}"
    );
    assert!(shown.contains("\nDefault agent: claude\n"), "{shown}");
    machine
        .variables
        .push(("ANTHROPIC_API_KEY", "very-secret-key"));
    let answer = machine.pleach(&["agents"]);
    assert!(answer.out.starts_with("✓ claude"), "{}", answer.out);
    assert!(!answer.out.contains("very-secret-key"), "{}", answer.out);
    let claude = machine.agent("claude");
    assert_eq!(
        (
            &claude["version"],
            &claude["login"],
            &claude["loginBy"],
            &claude["isDefault"]
        ),
        (
            &json!("9.8.7"),
            &json!("ok"),
            &json!("ANTHROPIC_API_KEY"),
            &json!(true)
        )
    );
    let codex = machine.agent("codex");
    assert_eq!(
        (&codex["found"], &codex["login"]),
        (&json!(false), &json!("missing"))
    );
}

#[test]
fn several_agents_have_to_be_told_apart_and_profiles_are_listed_too() {
    let machine = Machine::with_claude("");
    machine.install("codex", "echo 'codex-cli 1.2.3'\n");
    let shown = machine.pleach(&["agents"]).good();
    assert!(shown.contains("No default agent: "), "{shown}");
    assert!(
        shown.contains("several are installed: claude, codex"),
        "{shown}"
    );
    machine.place.write(
        "pleach.toml",
        "agent = \"night\"\n[agents.night]\npreset = \"codex\"\n[agents.odd]\npreset = \"codexx\"\n",
    );
    let night = machine.agent("night");
    assert_eq!(
        (
            &night["version"],
            &night["isDefault"],
            &night["preset"],
            &night["title"]
        ),
        (
            &json!("1.2.3"),
            &json!(true),
            &json!("codex"),
            &json!("Codex")
        )
    );
    let shown = machine.pleach(&["agents"]).good();
    assert!(shown.contains("did you mean \"codex\"?"), "{shown}");
}

#[test]
fn nothing_that_a_repository_names_is_run_to_list_agents() {
    let machine = Machine::with_claude("");
    let trap = machine.place.path().join("claude");
    write_program(&trap, "echo x >> \"${0}.run\"\necho 6.6.6\n");
    for named in [trap.to_str().unwrap(), "./claude"] {
        let config = format!("[agents.claude]\ncommand = [{named:?}]\n");
        machine.place.write("pleach.toml", &config);
        assert_eq!(machine.agent("claude")["version"], Value::Null);
        machine.pleach(&["doctor"]);
        let error = machine.pleach(&["agents", "test", "claude"]).bad(3);
        assert!(error.contains("needs consent"), "{error}");
    }
    assert!(!machine.place.path().join("claude.run").exists());
}

#[test]
fn an_agent_that_works_tells_what_it_took() {
    let mut machine = Machine::with_claude(GREETS);
    machine
        .variables
        .push(("ANTHROPIC_API_KEY", "very-secret-key"));
    let (code, told) = machine.trial(&["claude"]);
    assert_eq!((code, &told["works"]), (0, &json!(true)), "{told:#}");
    assert_eq!(
        (
            &told["version"],
            &told["model"],
            &told["sessionId"],
            &told["tokens"],
            &told["cost"]
        ),
        (
            &json!("9.8.7"),
            &json!("large"),
            &json!("s-1"),
            &json!(42),
            &json!(0.25)
        ),
        "{told:#}"
    );
    let left = fs::read_dir(machine.temporary()).unwrap().count();
    assert_eq!(left, 0, "nothing is left in the temporary folder");
    let shown = machine
        .pleach(&["agents", "test", "claude", "--keep"])
        .good();
    assert!(
        shown.contains("✓ claude works: it created greeting.txt in "),
        "{shown}"
    );
    let kept = shown
        .lines()
        .find_map(|line| line.trim().strip_prefix("kept in"));
    let kept = Path::new(kept.unwrap().trim()).join("repository");
    assert!(kept.join(".git").exists(), "{shown}");
    assert!(
        !kept.join("greeting.txt").exists(),
        "the checkout is never touched"
    );
}

#[test]
fn an_agent_that_is_not_logged_in_or_limited_says_what_to_do() {
    let machine = Machine::with_claude(&refused(401, "Invalid API key · Please run /login"));
    let (code, told) = machine.trial(&["claude"]);
    assert_eq!((code, &told["trouble"]), (3, &json!("login")), "{told:#}");
    assert!(
        told["hint"].as_str().unwrap().contains("claude auth login"),
        "{told:#}"
    );
    // Nobody waits for the limit to end.
    let machine = Machine::with_claude(&refused(429, "You have hit your limit, resets in 5 hours"));
    let (code, told) = machine.trial(&["claude"]);
    assert_eq!((code, &told["trouble"]), (1, &json!("limit")), "{told:#}");
}

#[test]
fn an_agent_that_does_nothing_or_falls_over_has_not_made_it() {
    let idle = GREETS.replacen("echo hello from claude > greeting.txt", "true", 1);
    let (code, told) = Machine::with_claude(&idle).trial(&["claude"]);
    assert_eq!(
        (code, &told["error"]),
        (1, &json!("it changed nothing")),
        "{told:#}"
    );
    let machine = Machine::with_claude("echo 'my last words' >&2\nexit 4\n");
    let shown = machine.pleach(&["agents", "test", "claude"]);
    assert_eq!(shown.code, 1, "{}{}", shown.out, shown.err);
    assert!(shown.out.contains("✗ claude failed: "), "{}", shown.out);
    assert!(shown.out.contains("    my last words"), "{}", shown.out);
    assert!(
        shown.out.contains("run `claude auth login`"),
        "{}",
        shown.out
    );
}

#[test]
fn an_agent_that_is_not_there_is_said_how_to_get() {
    let machine = Machine::new();
    let error = machine.pleach(&["agents", "test", "codex"]).bad(3);
    assert!(error.contains("npm install -g @openai/codex"), "{error}");
    let error = machine.pleach(&["agents", "test", "codx"]).bad(2);
    assert!(error.contains("did you mean \"codex\"?"), "{error}");
    let (code, told) = machine.trial(&["demo"]);
    assert_eq!((code, &told["works"]), (0, &json!(true)), "{told:#}");
}

#[test]
fn a_command_of_the_repository_is_tried_once_somebody_consents() {
    let machine = Machine::new();
    machine.place.write(
        "pleach.toml",
        "[agents.mine]\ncommand = [\"sh\", \"-c\", \"echo Hello from mine > greeting.txt\"]\n",
    );
    let error = machine.pleach(&["agents", "test", "mine"]).bad(3);
    assert!(error.contains("agents.mine.command = "), "{error}");
    let (code, told) = machine.trial(&["mine", "--yes"]);
    assert_eq!(
        (code, &told["works"], &told["login"]),
        (0, &json!(true), &json!("unknown")),
        "{told:#}"
    );
}

#[test]
fn the_agent_that_would_run_is_looked_at_and_a_first_file_names_it() {
    let mut machine = Machine::with_claude("");
    machine.install("codex", "echo 'codex-cli 1.2.3'\n");
    machine.variables.push(("CODEX_API_KEY", "a-key-of-codex"));
    let said = machine.pleach(&["init"]).good();
    assert!(
        said.contains("agent = \"codex\"  logged in by CODEX_API_KEY"),
        "{said}"
    );
    assert!(said.contains("next: `pleach agents test codex`"), "{said}");
    let shown = machine.pleach(&["doctor"]).out;
    assert!(
        shown.contains("installed: claude 9.8.7, codex 1.2.3"),
        "{shown}"
    );
    assert!(shown.contains("codex found, version 1.2.3"), "{shown}");
    assert!(shown.contains("Codex: CODEX_API_KEY"), "{shown}");
    machine.place.write("pleach.toml", "agent = \"claude\"\n");
    let shown = machine.pleach(&["doctor"]).out;
    assert!(shown.contains("no login found for Claude Code"), "{shown}");
    machine.place.write("pleach.toml", "agent = \"goose\"\n");
    let shown = machine.pleach(&["doctor"]).out;
    assert!(
        shown.contains("agent \"goose\" is not installed"),
        "{shown}"
    );
    assert!(shown.contains("install it: curl "), "{shown}");
}

#[test]
fn claude_as_root_without_a_sandbox_is_a_warning() {
    let mut machine = Machine::with_claude("");
    machine.variables.clear();
    machine.place.write("pleach.toml", "sandbox = \"none\"\n");
    let shown = machine.pleach(&["doctor"]).out;
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(
        shown.contains("refuses to work unattended as root"),
        is_root,
        "{shown}"
    );
}
