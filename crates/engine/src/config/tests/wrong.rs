//! What is wrong with values and keys, and how that is told.

use std::time::Duration;

use pleach_domain::choice::SandboxChoice;

use super::super::*;
use super::{parse, variables};

#[test]
fn errors_name_the_variable_and_the_key() {
    let error = variables(&[("PLEACH_RETRIES", "many")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "PLEACH_RETRIES: retries must be a number from 0 to 20"
    );
    let error = variables(&[("PLEACH_KEEP_FAILED", "maybe")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "PLEACH_KEEP_FAILED: keep_failed must be true or false"
    );
    let set = [
        ("PLEACH_SANDBOX", "strict"),
        ("PLEACH_MAX_PARALLEL", "auto"),
        ("PLEACH_BUDGET_USD", "0.000001"),
    ];
    let set = variables(&set).unwrap();
    assert_eq!(set.sandbox, Some(SandboxChoice::Strict));
    assert_eq!(set.max_parallel, Some(MaxParallel::Auto));
    assert_eq!(set.budget_usd, Some(1));
    let wrapped = parse("sandbox = [\"bwrap\", \"--ro-bind\"]")
        .unwrap()
        .sandbox;
    let words = ["bwrap", "--ro-bind"].map(str::to_owned).to_vec();
    assert_eq!(wrapped, Some(SandboxChoice::Wrapper(words)));
}

#[test]
fn unknown_keys_are_refused_with_the_nearest() {
    for (text, message, hint) in [
        (
            "max_paralel = 3",
            "pleach.toml:1: unknown key \"max_paralel\"",
            "did you mean max_parallel?",
        ),
        (
            "model = \"big\"",
            "pleach.toml:1: unknown key \"model\"",
            "did you mean model below [agents.NAME]?",
        ),
        (
            "[agents.a]\ncomand = [\"x\"]",
            "pleach.toml:2: unknown key \"agents.a.comand\"",
            "did you mean command?",
        ),
        (
            "on_conflict = \"skipp\"",
            "pleach.toml:1: on_conflict must be one of skip, fail, rerun",
            "did you mean skip?",
        ),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.hint().as_str()),
            (message, hint)
        );
    }
}

#[test]
fn wrong_values_are_refused() {
    for text in [
        "max_parallel = 0",
        "max_parallel = 10001",
        "max_parallel = \"3\"",
        "sandbox = []",
        "sandbox = \"jail\"",
        "budget_usd = 0",
        "budget_usd = -1",
        "budget_usd = \"5\"",
        "budget_usd = 0.0000001",
        "budget_tokens = 0",
        "min_free_disk = \"2GB\"",
        "parallel_limit = 0",
        "parallel_limit = 65",
        "cache = \"target\"",
        "cache = [\"\"]",
        "cache = [\".\"]",
        "cache = [\"target\", \"../other\"]",
        "cache = [\"/tmp\"]",
        "cache = [\".git\"]",
        "cache = [\"sub/.GIT/hooks\"]",
        "cache = [\"a\\u0000b\"]",
        "retries = -1",
        "retries = 21",
        "stop_on_failure = \"true\"",
        "mode = \"fast\"",
        "merge = 1",
        "land = \"moon\"",
        "plan = 7",
        "agents = 7",
        "agents.a = 7",
        "agents.a.command = \"x\"",
        "agents.a.env = [1]",
        "= =",
        "task_timeout = 5",
        "task_timeout = \"soon\"",
        "task_timeout = \"0s\"",
        "task_timeout = \"é\"",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn cached_paths_are_paths_in_the_repository_and_the_error_names_their_key() {
    let cache = parse("cache = [\"./target/\", \"web/node_modules\"]")
        .unwrap()
        .cache;
    let named = ["./target/", "web/node_modules"].map(str::to_owned);
    assert_eq!(cache, Some(named.to_vec()));
    let error = parse("cache = [\"target/..\"]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "pleach.toml:1: cache must be a list of paths in the repository, without .. and not .git, as in [\"target\"]"
    );
}

#[test]
fn times_have_a_unit() {
    for (text, milliseconds) in [
        ("1ms", 1),
        ("500ms", 500),
        ("90s", 90_000),
        (" 2 m ", 120_000),
        ("1d", 86_400_000),
    ] {
        assert_eq!(
            duration(text),
            Some(Duration::from_millis(milliseconds)),
            "{text}"
        );
    }
    for text in [
        "",
        "5",
        "ms",
        "-1s",
        "1.5h",
        "1 year",
        "999999999999999999d",
    ] {
        assert_eq!(duration(text), None, "{text}");
    }
}
