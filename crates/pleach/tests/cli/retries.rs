//! Attempts that fail, hang or take too long, and what is tried again.

use crate::scene::Scene;

const QUICK: &str = "retries = 2\nretry_pause = \"10ms\"";

#[test]
fn an_agent_that_fails_twice_is_retried_with_growing_pauses_and_succeeds() {
    let shell = "[ -e half ] && exit 78; echo $PLEACH_ATTEMPT > half; [ $PLEACH_ATTEMPT = 3 ]";
    let scene = Scene::of("1", "retries = 2\nretry_pause = \"100ms\"", shell);
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(story.attempts(), "1:3");
    let pauses = story.told("batch:task:retrying").into_iter();
    let pauses: Vec<u64> = pauses
        .map(|told| told["pauseMs"].as_u64().unwrap())
        .collect();
    assert!(
        (75..=125).contains(&pauses[0]) && (150..=250).contains(&pauses[1]),
        "twice as long, give or take a quarter: {pauses:?}"
    );
    let asked = pauses.iter().sum::<u64>();
    let took = story.summary()["seconds"].as_f64().unwrap() * 1_000.0;
    assert!(took > f64::from(u32::try_from(asked).unwrap()), "{took}");
    assert_eq!(scene.show("pleach/batch-1", "half"), "3");
}

#[test]
fn what_failed_last_can_be_chosen_by_that() {
    let shell = "[ $PLEACH_TASK$PLEACH_BATCH = 21 ] && exit 1; echo x > file-$PLEACH_TASK";
    let scene = Scene::of("1, 2, 3 2", "retries = 0", shell);
    scene.story(&[]).check(1, "1:merged 2:failed 3:blocked");
    scene.story(&["failed"]).check(0, "2:merged 3:merged");
    let nothing = scene.run(&["failed"]);
    assert_eq!(nothing.code, 0);
    assert!(
        nothing.err.contains("there are no failed tasks"),
        "{}",
        nothing.err
    );
}

#[test]
fn every_attempt_starts_clean_and_what_the_others_did_is_kept() {
    let shell = "echo $PLEACH_ATTEMPT >> half; exit 1";
    let scene = Scene::of("1", QUICK, shell);
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    assert_eq!(
        (story.attempts().as_str(), story.status()),
        ("1:3", "failed")
    );
    assert_eq!(scene.show("pleach/task-1/1", "half"), "3");
    for attempt in ["1", "2", "3"] {
        let kept = format!("refs/pleach/keep/batch-1/task-1/attempt-{attempt}:half");
        let kept = scene.repo.git_in(&scene.store(), &["show", &kept]);
        assert_eq!(kept, attempt);
    }
}

#[test]
fn what_no_repetition_mends_is_not_repeated() {
    for (code, meaning) in [
        (77, "not permitted"),
        (78, "misconfigured"),
        (127, "not found"),
    ] {
        let shell = format!("echo the budget is spent; exit {code}");
        let scene = Scene::of("1", QUICK, &shell);
        let story = scene.story(&[]);
        story.check(1, "1:failed");
        assert_eq!(story.attempts(), "1:1", "{code}");
        let error = story.error_of("1");
        assert!(
            error.contains(meaning) && error.contains("the budget is spent"),
            "{error}"
        );
    }
}

#[test]
fn without_retries_the_first_failure_is_the_last() {
    let scene = Scene::of("1", "retries = 0", "echo oh dear; exit 9");
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    assert_eq!(story.attempts(), "1:1");
    assert!(story.told("batch:task:retrying").is_empty());
    let error = story.error_of("1");
    assert!(error.contains("exited with 9: oh dear"), "{error}");
}

#[test]
fn an_agent_that_dies_of_a_signal_is_retried() {
    let shell = "[ $PLEACH_ATTEMPT = 2 ] && exec touch done; kill -SEGV $$";
    let scene = Scene::of("1", QUICK, shell);
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(story.attempts(), "1:2");
    let error = story.told("batch:task:retrying")[0]["error"]
        .as_str()
        .unwrap();
    assert!(error.contains("signal 11"), "{error}");
}

#[test]
fn a_usage_limit_is_waited_for_and_is_no_failure() {
    let shell = "[ $PLEACH_ATTEMPT = 3 ] && exec touch done; echo 'Usage limit. Retry after 120ms'; exit 75";
    let scene = Scene::of("1", "retries = 0\nretry_pause = \"1h\"", shell);
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    let limits = story.told("batch:task:limited");
    let pauses: Vec<_> = limits.iter().map(|told| &told["pauseMs"]).collect();
    assert_eq!(pauses, [120, 120], "as long as it says");
    assert!(story.told("batch:task:retrying").is_empty());
}

#[test]
fn a_task_that_takes_too_long_is_stopped_and_timed_out() {
    let scene = Scene::of("1, 2 1", "", "");
    let settings = "plan = \"plan.json\"\nretries = 2";
    scene.configure(settings, "echo half > half; exec sleep 600");
    let config = scene.repo.path().join("pleach.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(config, text.replace("\"60s\"", "\"300ms\"")).unwrap();
    let story = scene.story(&[]);
    story.check(1, "1:timed_out 2:blocked");
    assert_eq!(story.attempts(), "1:1 2:0", "time is not retried");
    assert_eq!(scene.show("pleach/task-1/1", "half"), "half");
    scene.check_nobody_is_left();
}

#[test]
fn an_agent_that_falls_silent_is_stopped_and_retried() {
    let shell = "echo $PLEACH_ATTEMPT; [ $PLEACH_ATTEMPT = 2 ] && exec touch done; exec sleep 600";
    let settings = format!("stall_timeout = \"300ms\"\n{QUICK}");
    let scene = Scene::of("1", &settings, shell);
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(story.attempts(), "1:2");
    let error = story.told("batch:task:retrying")[0]["error"]
        .as_str()
        .unwrap();
    assert!(error.contains("printed nothing for 0.3 s"), "{error}");
    scene.check_nobody_is_left();
}

#[test]
fn an_agent_that_keeps_talking_has_not_fallen_silent() {
    let shell = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; touch done";
    let scene = Scene::of("1", "stall_timeout = \"400ms\"\nretries = 0", shell);
    scene.story(&[]).check(0, "1:merged");
}
