//! Where settings are from, and which of them wins.

use std::fs;

use crate::run::Scene;
use crate::{Answer, command};

fn dry_run(scene: &Scene, words: &[&str], variables: &[(&str, &str)]) -> Answer {
    let words: Vec<&str> = ["run", "--dry-run"].iter().chain(words).copied().collect();
    let mut command = command(scene.repo.path(), &scene.home(), &words);
    let output = command.envs(variables.iter().copied()).output();
    output.unwrap().into()
}

#[track_caller]
fn check(answer: &Answer, slots: u32) {
    let wanted = format!("at most {slots} at once");
    let told = format!("{}{}", answer.out, answer.err);
    assert!(told.contains(&wanted), "{wanted}: {told}");
}

#[test]
fn flags_win_over_variables_over_the_repository_over_the_users_file() {
    let scene = Scene::new("- [ ] 1.1 A\n", "true");
    check(&dry_run(&scene, &[], &[]), 3);
    let users = scene.home().join(".config/pleach/config.toml");
    fs::create_dir_all(users.parent().unwrap()).unwrap();
    fs::write(&users, "max_parallel = 5\n").unwrap();
    check(&dry_run(&scene, &[], &[]), 5);
    let elsewhere = scene.repo.beside("elsewhere");
    fs::create_dir_all(elsewhere.join("pleach")).unwrap();
    fs::write(elsewhere.join("pleach/config.toml"), "max_parallel = 6\n").unwrap();
    let elsewhere = ("XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    check(&dry_run(&scene, &[], &[elsewhere]), 6);
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    let config = format!("max_parallel = 7\n{config}");
    scene.repo.write("pleach.toml", config);
    check(&dry_run(&scene, &[], &[elsewhere]), 7);
    let variable = ("PLEACH_MAX_PARALLEL", "8");
    check(&dry_run(&scene, &[], &[elsewhere, variable]), 8);
    check(&dry_run(&scene, &["-j", "9"], &[elsewhere, variable]), 9);
}

#[test]
fn what_is_wrong_is_told_with_the_place_where_it_stands() {
    let scene = Scene::new("- [ ] 1.1 A\n", "true");
    let error = dry_run(&scene, &[], &[("PLEACH_RETRIES", "many")]).bad(2);
    assert!(
        error.contains("PLEACH_RETRIES: retries must be a number from 0 to 20"),
        "{error}"
    );
    let error = dry_run(&scene, &[], &[("PLEACH_SANDBOX", "jail")]).bad(2);
    assert!(
        error.contains("PLEACH_SANDBOX: sandbox must be one of none, landlock, strict"),
        "{error}"
    );
    dry_run(
        &scene,
        &[],
        &[("PLEACH_WHATEVER", "x"), ("PLEACH_MODEL", "x")],
    )
    .good();
    let users = scene.home().join(".config/pleach/config.toml");
    fs::create_dir_all(users.parent().unwrap()).unwrap();
    fs::write(&users, "mode = \"quue\"\n").unwrap();
    let error = dry_run(&scene, &[], &[]).bad(2);
    assert!(
        error.contains("pleach/config.toml:1: mode must be one of parallel, queue, serial"),
        "{error}"
    );
    assert!(error.contains("did you mean queue?"), "{error}");
}

#[test]
fn the_plan_may_be_named_by_a_variable() {
    let scene = Scene::new("- [ ] 1.1 A\n", "true");
    scene.repo.write("docs/other.md", "- [ ] 1 B\n- [ ] 2 C\n");
    let answer = dry_run(&scene, &[], &[("PLEACH_PLAN", "docs/other.md")]);
    let told = answer.good();
    assert!(told.contains("docs/other.md · 2 tasks to do"), "{told}");
}

#[test]
fn the_agent_of_the_demo_is_there_for_everybody() {
    let script = "- [ ] 1.1 A\n\n  ```script\n  write made.md\n  by a script\n  .\n  ```\n";
    let scene = Scene::new(script, "exit 1");
    scene.run(&["--agent", "demo"]).good();
    assert_eq!(scene.show("pleach/batch-1", "made.md"), "by a script");
}
