//! What each source may say, who wins, and how it is told what is wrong.

mod cluster;
mod wrong;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use pleach_domain::choice::{
    ForgeKind, Landing, NetworkChoice, NoChanges, OnConflict, OnInvalid, RunMode, SandboxChoice,
    Strategy,
};
use pleach_domain::phase::Threshold;

use super::layers::misspelt;
use super::*;

fn parse(text: &str) -> Result<Config, ConfigError> {
    super::layers::parse_file(text, Path::new(FILE_NAME))
}

fn variables(set: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let layers = Layers::from_variables(|name| {
        let found = set.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).into())
    });
    Ok(layers?.merged())
}

const EVERYTHING: &str = r#"
base = "main"
where = "slurm"
plan = "PLAN.md"
agent = "mine"
max_parallel = 2
parallel_limit = 4
mode = "queue"
queue_auto_approve = true
stop_on_failure = true
on_conflict = "rerun"
merge = "squash"
validate = "cargo test"
validate_timeout = "20m"
on_invalid = "fail"
no_changes = "done"
phase_threshold = 1
land = "push"
retries = 0
retry_pause = "500ms"
limit_wait = "12h"
task_timeout = "5m"
stall_timeout = "90s"
setup = "npm ci"
cache = ["target"]
branch_prefix = "bot"
task_branch = "{{prefix}}/t/{{batch}}-{{task}}"
batch_branch = "{{prefix}}/b/{{batch}}"
sandbox = "strict"
sandbox_write = ["~/.m2"]
sandbox_read = ["~/.npmrc"]
network = "none"
budget_usd = 12.5
budget_tokens = 1000000
task_budget_usd = 2
task_budget_tokens = 50000
min_free_disk = "5GiB"
radar = "10s"
keep_failed = false
keep_work = "2d"
worktrees = "~/trees"
prompt = "prompt.md"
validate_env = ["DATABASE_URL"]
validate_size = "large"

[cluster]
share = "/scratch/me"
scratch = "/local"
look = "1m"
lease = "5m"
most = 100
secrets = "file"

[slurm]
partition = "agents"
account = "me"
qos = "low"
constraint = "avx512"
reservation = "night"
args = ["--exclusive"]
bin = "/opt/slurm/bin"

[forge]
kind = "gitea"

[agents.mine]
command = ["x", "{{prompt_file}}"]
args = ["--fast"]
env = ["KEY"]
model = "big"
preset = "claude"

[sizes.large]
cpus = 16
memory = "64GiB"
gpus = 1
time = "4h"
slurm = ["--partition=gpu"]
"#;

fn agent_with_every_key() -> AgentConfig {
    AgentConfig {
        preset: Some("claude".to_owned()),
        command: Some(vec!["x".to_owned(), "{{prompt_file}}".to_owned()]),
        args: Some(vec!["--fast".to_owned()]),
        env: Some(vec!["KEY".to_owned()]),
        model: Some("big".to_owned()),
    }
}

#[test]
fn every_key_that_is_acted_on_is_read() {
    let agent = agent_with_every_key();
    let expected = Config {
        base: Some("main".to_owned()),
        plan: Some("PLAN.md".into()),
        agent: Some("mine".to_owned()),
        model: None,
        max_parallel: Some(MaxParallel::AtMost(2)),
        parallel_limit: Some(4),
        mode: Some(RunMode::Queue),
        queue_auto_approve: Some(true),
        stop_on_failure: Some(true),
        on_conflict: Some(OnConflict::Rerun),
        merge: Some(Strategy::Squash),
        validate: Some("cargo test".to_owned()),
        validate_timeout: Some(Duration::from_mins(20)),
        validate_env: Some(vec!["DATABASE_URL".to_owned()]),
        on_invalid: Some(OnInvalid::Fail),
        no_changes: Some(NoChanges::Done),
        phase_threshold: Threshold::new(1.0),
        land: Some(Landing::Push),
        forge: Some(ForgeKind::Gitea),
        retries: Some(0),
        retry_pause: Some(Duration::from_millis(500)),
        limit_wait: Some(Duration::from_hours(12)),
        task_timeout: Some(Duration::from_mins(5)),
        stall_timeout: Some(Duration::from_secs(90)),
        setup: Some("npm ci".to_owned()),
        cache: Some(vec!["target".to_owned()]),
        branch_prefix: Some("bot".to_owned()),
        task_branch: Some("{{prefix}}/t/{{batch}}-{{task}}".to_owned()),
        batch_branch: Some("{{prefix}}/b/{{batch}}".to_owned()),
        sandbox: Some(SandboxChoice::Strict),
        sandbox_write: Some(vec!["~/.m2".into()]),
        sandbox_read: Some(vec!["~/.npmrc".into()]),
        network: Some(NetworkChoice::None),
        budget_usd: Some(12_500_000),
        budget_tokens: Some(1_000_000),
        task_budget_usd: Some(2_000_000),
        task_budget_tokens: Some(50_000),
        min_free_disk: Some(5 << 30),
        radar: Some(Duration::from_secs(10)),
        keep_failed: Some(false),
        keep_work: Some(Duration::from_hours(48)),
        worktrees: Some("~/trees".into()),
        prompt: Some("prompt.md".into()),
        agents: BTreeMap::from([("mine".to_owned(), agent)]),
        ..cluster::with_every_key()
    };
    let config = parse(EVERYTHING).unwrap();
    assert_eq!(config, expected);
    for key in KEYS {
        assert!((key.said)(&config).is_some(), "{} is not tried", key.name);
    }
    // Laid upon nothing, and under nothing, it stays what it is.
    let nothing = Config::default;
    assert_eq!(config.clone().over(nothing()), expected);
    assert_eq!(nothing().over(config), expected);
}

#[test]
fn the_radar_has_a_pace_or_is_off() {
    assert_eq!(
        parse("radar = \"off\"").unwrap().radar,
        Some(Duration::ZERO)
    );
    let error = parse("radar = \"of\"").unwrap_err().to_string();
    assert!(error.contains("or \"off\""), "{error}");
}

#[test]
fn variables_say_the_same_as_a_file() {
    let mut expected = parse(EVERYTHING).unwrap();
    expected.agents.clear();
    expected.sizes.clear();
    let set: Vec<(String, String)> = KEYS
        .iter()
        .map(|key| {
            let value = (key.said)(&expected).unwrap();
            let text = value.as_str().map(str::to_owned);
            (key.variable(), text.unwrap_or_else(|| value.to_string()))
        })
        .collect();
    let set: Vec<(&str, &str)> = set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(variables(&set).unwrap(), expected);
}

#[test]
fn what_is_written_is_what_is_read() {
    for text in [
        "max_parallel = \"auto\"",
        "sandbox = [\"bwrap\", \"--ro-bind\"]",
        "sandbox = \"none\"",
        "task_timeout = \"1d\"",
        "task_timeout = \"25h\"",
        "task_timeout = \"1500ms\"",
        "min_free_disk = \"0\"",
        "min_free_disk = \"1025B\"",
        "budget_usd = 0.000001",
        "budget_usd = 1000000",
        "validate = \"a \\\"b\\\" \\n c\"",
        "cache = []",
    ] {
        let config = parse(text).unwrap();
        let said = KEYS
            .iter()
            .find_map(|key| Some((key, (key.said)(&config)?)));
        let (key, value) = said.unwrap();
        let again = parse(&format!("{} = {value}", key.name)).unwrap();
        assert_eq!(again, config, "{text} became {value}");
    }
    for key in KEYS {
        let example = parse(&format!("{} = {}", key.name, key.example()));
        assert!(example.is_ok(), "{}: {example:?}", key.name);
        let is_clear = key.default_text().is_some() == key.otherwise.is_empty();
        assert!(is_clear, "{} says what holds when nobody sets it", key.name);
    }
}

#[test]
fn variables_that_mean_something_else_are_no_keys() {
    let others = [
        "HOME",
        "TASK",
        "BATCH",
        "WORKTREE",
        "PORT",
        "ATTEMPT",
        "MODEL",
        "CASES",
        "THOROUGH",
        "DIE_AT",
        "PACE",
        "BASE_CHECK",
        "NONCE",
        "GIT_TOKEN",
        "GIT_HOST",
        "AGENTS",
        "WHATEVER",
    ];
    let set: Vec<(String, &str)> = others.map(|name| (format!("PLEACH_{name}"), "x")).into();
    let set: Vec<(&str, &str)> = set
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    assert_eq!(variables(&set).unwrap(), Config::default());
    assert_eq!(
        variables(&[("PLEACH_AGENT", "")]).unwrap(),
        Config::default()
    );
    let names = set.iter().map(|(name, _)| (*name).to_owned());
    assert_eq!(misspelt(names), []);
}

#[test]
fn a_variable_that_looks_like_a_key_is_told() {
    let names = [
        "PLEACH_RETRYS",
        "PLEACH_MAX_PARALEL",
        "PLEACH_RETRIES",
        "RETRYS",
        "PLEACH_TEST_PLAN",
    ];
    let found = misspelt(names.map(str::to_owned));
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|slip| (slip.name.as_str(), slip.nearest.as_str()))
        .collect();
    let expected = [
        ("PLEACH_MAX_PARALEL", "PLEACH_MAX_PARALLEL"),
        ("PLEACH_RETRYS", "PLEACH_RETRIES"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_layer_hides_only_what_it_says_also_of_an_agent() {
    let below =
        parse("retries = 1\nbase = \"main\"\n[agents.a]\ncommand = [\"x\"]\nmodel = \"small\"\n")
            .unwrap();
    let above =
        parse("retries = 3\n[agents.a]\nmodel = \"big\"\n[agents.b]\ncommand = [\"y\"]\n").unwrap();
    let both = above.over(below);
    assert_eq!(
        (both.retries, both.base.as_deref()),
        (Some(3), Some("main"))
    );
    assert_eq!(both.agents["a"].model.as_deref(), Some("big"));
    assert_eq!(both.agents["a"].command, Some(vec!["x".to_owned()]));
    assert!(both.agents.contains_key("b"));
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_line() {
    let text = "retrys = 1\nmode = \"quue\"\n\n[forge]\nkind = 7\nhost = \"x\"\n\n[agents.a]\nenv = \"KEY\"\n";
    let error = parse(text).unwrap_err();
    let told: Vec<String> = error.each().iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "pleach.toml:1: unknown key \"retrys\"",
            "pleach.toml:2: mode must be one of parallel, queue, serial",
            "pleach.toml:5: forge.kind must be one of github, gitlab, gitea, none",
            "pleach.toml:6: unknown key \"forge.host\"",
            "pleach.toml:9: agents.a.env must be a list of strings, as in [\"one\", \"two\"]",
        ]
    );
    let error = parse("retries = 1\n= 3\n").unwrap_err();
    assert!(error.to_string().starts_with("pleach.toml:2: "), "{error}");
    let set = [("PLEACH_RETRIES", "many"), ("PLEACH_MODE", "fast")];
    assert_eq!(variables(&set).unwrap_err().each().len(), 2);
}

#[test]
fn a_limit_is_waited_for_a_week_at_most() {
    assert!(parse("limit_wait = \"7d\"").is_ok());
    let error = parse("limit_wait = \"8d\"").unwrap_err().to_string();
    assert!(
        error.contains("limit_wait must be a time of at most \"7d\""),
        "{error}"
    );
}

#[test]
fn every_value_knows_who_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    std::fs::write(
        &file,
        "\nretries = 1\nbase = \"main\"\n[agents.\"a.b\"]\nmodel = \"m\"\n[forge]\nkind = \"gitea\"\n",
    )
    .unwrap();
    let flags = Config {
        retries: Some(4),
        ..Config::default()
    };
    let layers = Layers::load(folder.path()).unwrap().with_flags(flags);
    let at = |line| SettingOrigin::File {
        path: file.clone(),
        line: Some(line),
    };
    assert_eq!(layers.origin_of("retries"), SettingOrigin::Flag);
    assert_eq!(layers.origin_of("base"), at(3));
    assert_eq!(layers.origin_of("agents.a.b.model"), at(5));
    assert_eq!(layers.origin_of("forge.kind"), at(7));
    assert_eq!(layers.origin_of("land"), SettingOrigin::Default);
    let shown = layers.shown();
    let of = |key: &str| {
        let found = shown.iter().find(|shown| shown.key == key).unwrap();
        (found.text.clone(), found.origin.to_string())
    };
    assert_eq!(
        of("retries"),
        (Some("4".to_owned()), "command line".to_owned())
    );
    assert_eq!(
        of("land"),
        (Some("\"pr\"".to_owned()), "default".to_owned())
    );
    assert_eq!(of("setup"), (None, "default".to_owned()));
    assert_eq!(of("agents.a.b.model").0, Some("\"m\"".to_owned()));
}

#[test]
fn setting_a_key_keeps_everything_else_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE_NAME);
    let before = "# ours\nretries = 1   # not more\n\n[agents.mine] # fast\ncommand = [\"x\"]\n";
    std::fs::write(&file, before).unwrap();
    let set = |key: &str, text: &str| super::set(key, text, ConfigScope::Repository, folder.path());
    set("retries", "4").unwrap();
    set("validate", "cargo test").unwrap();
    set("forge.kind", "gitea").unwrap();
    set("agents.mine.model", "big").unwrap();
    set("sizes.large.cpus", "16").unwrap();
    set("sizes.large.slurm", "[\"--partition=gpu\"]").unwrap();
    set("agents.other.command", "[\"y\", \"-z\"]").unwrap();
    let after = std::fs::read_to_string(&file).unwrap();
    let expected = "# ours\nretries = 4   # not more\nvalidate = \"cargo test\"\n\n[agents.mine] # fast\n\
                    command = [\"x\"]\nmodel = \"big\"\n\n[agents.other]\ncommand = [\"y\", \"-z\"]\n\n[forge]\n\
                    kind = \"gitea\"\n\n[sizes.large]\ncpus = 16\nslurm = [\"--partition=gpu\"]\n";
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.retain(|line| !line.is_empty());
        lines.sort();
        lines
    };
    assert_eq!(lines(&after), lines(expected), "{after}");
    assert!(
        after.starts_with("# ours\nretries = 4   # not more\n"),
        "{after}"
    );
    let config = Config::load(folder.path()).unwrap();
    assert_eq!(config.forge, Some(ForgeKind::Gitea));
    assert_eq!(config.agents["mine"].model.as_deref(), Some("big"));
    for (key, text) in [
        ("retries", "many"),
        ("retrys", "1"),
        ("agents.mine.command", "x"),
        ("agents.mine.comand", "[]"),
        ("sizes.large.cpu", "1"),
        ("sizes.large.cpus", "0"),
        ("sizes..cpus", "1"),
        ("sizes.large.slurm", "[\"--array=1-5\"]"),
        // More than this machine bears, and nothing says that it is for a cluster.
        ("max_parallel", "65"),
        // Right by itself, and wrong beside the others.
        ("batch_branch", "{{prefix}}/task-{{batch}}"),
    ] {
        assert!(set(key, text).is_err(), "{key} = {text}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_guide_has_every_key_with_its_default() {
    let page = include_str!("../../../../docs/guide/configuration.md");
    for key in KEYS {
        let begin = format!("| `{}` | ", key.name);
        let row = page.lines().find_map(|line| line.strip_prefix(&begin));
        let row = row.unwrap_or_else(|| panic!("{} is not in the guide", key.name));
        if let Some(default) = key.default_text() {
            assert!(
                row.starts_with(&format!("`{default}` |")),
                "{}: {row}",
                key.name
            );
        }
    }
    for table in super::named::NAMED {
        for field in table.fields {
            let key = format!("`{}.NAME.{}`", table.name, field.name);
            assert!(page.contains(&key), "{key}");
        }
    }
}

#[test]
fn the_usual_names_of_branches_are_the_defaults_of_the_configuration() {
    let settings = Settings::of([], Path::new("/project")).unwrap();
    let usual = pleach_log::branches::BranchNames::default();
    assert_eq!(settings.branch_names(), usual);
}
