//! The first push of a project is asked about, with the address that it goes to.

use pleach_testkit::Terminal;
use serde_json::Value;

use super::{Harbour, PROJECT, SHELL};
use crate::Answer;

/// A harbour whose agent is consented to, and which has pushed nothing.
fn consented(tasks: &str, settings: &str, shell: &str) -> Harbour {
    let harbour = Harbour::github(tasks, settings, shell);
    harbour.pleach(&["run", "--yes", "--no-pr"]).good();
    assert_eq!(harbour.branches_there(), "");
    harbour
}

fn at_terminal(harbour: &Harbour, words: &[&str]) -> Terminal {
    let mut command = harbour.command(words);
    command.env("TERM", "xterm-256color");
    Terminal::spawn(&command, 160, 40)
}

/// The program refuses to begin, and says how it would.
#[track_caller]
fn refused(answer: &Answer, address: &str) {
    let told: Value = serde_json::from_str(&answer.out).unwrap();
    let error = &told["error"];
    assert_eq!(
        (answer.code, error["code"].as_str()),
        (3, Some("push_unconfirmed")),
        "{}{}",
        answer.out,
        answer.err
    );
    assert!(error["message"].as_str().unwrap().contains(address));
}

fn batches(harbour: &Harbour) -> usize {
    let batches = std::fs::read_dir(harbour.scene.state().join("batches"));
    batches.map_or(0, Iterator::count)
}

#[test]
fn a_person_is_shown_the_address_and_asked_once() {
    let harbour = consented("1, 2", "", SHELL);
    let address = harbour.forge.url(PROJECT);
    let mut terminal = at_terminal(&harbour, &["run", "1", "2"]);
    terminal.wait_for(&address);
    terminal.wait_for("[y/N]");
    terminal.type_in("n\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    let shown = terminal.transcript();
    assert!(shown.contains("pleach run --no-pr"), "{shown}");
    assert!(!shown.contains("error"), "{shown}");
    assert_eq!(batches(&harbour), 1, "nothing was run");
    let mut terminal = at_terminal(&harbour, &["run", "1", "2"]);
    terminal.wait_for("[y/N]");
    terminal.type_in("y\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    assert_eq!(harbour.branches_there(), "pleach/batch-2");
    // One task with everything known asks nothing at all.
    let mut terminal = at_terminal(&harbour, &["run", "1"]);
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    assert_eq!(harbour.branches_there(), "pleach/batch-2 pleach/batch-3");
}

#[test]
fn without_a_terminal_it_needs_a_yes_which_is_remembered_for_this_address() {
    let harbour = consented("1", "", SHELL);
    let address = harbour.forge.url(PROJECT);
    refused(&harbour.pleach(&["run", "--json"]), &address);
    let told = harbour.pleach(&["run"]).bad(3);
    for part in [address.as_str(), "--yes", "--no-pr", "land"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(batches(&harbour), 1, "nothing was run");
    harbour.pleach(&["run", "--no-pr"]).good();
    harbour.pleach(&["run", "--yes"]).good();
    assert_eq!(harbour.branches_there(), "pleach/batch-3");
    harbour.pleach(&["run"]).good();
    assert_eq!(harbour.branches_there(), "pleach/batch-3 pleach/batch-4");
    let elsewhere = "http://127.0.0.1:1/a/b.git";
    let repo = &harbour.scene.repo;
    repo.git(&["remote", "set-url", "origin", elsewhere]);
    refused(&harbour.pleach(&["run", "--json"]), elsewhere);
    repo.git(&["remote", "set-url", "origin", &address]);
    harbour.pleach(&["run"]).good();
}

#[test]
fn the_command_line_and_the_users_own_file_answer_it_and_the_repository_does_not() {
    let harbour = consented("1", "land = \"pr\"", SHELL);
    let address = harbour.forge.url(PROJECT);
    refused(&harbour.pleach(&["run", "--json"]), &address);
    harbour.configure_user("land = \"none\"\n");
    refused(&harbour.pleach(&["run", "--json"]), &address);
    harbour.configure_user("land = \"push\"\n");
    harbour.pleach(&["run"]).good();
    assert_eq!(harbour.forge.pull_requests().len(), 1);
    let harbour = consented("1", "", SHELL);
    harbour.pleach(&["run", "--pr"]).good();
    harbour.pleach(&["run"]).good();
    assert_eq!(harbour.forge.pull_requests().len(), 2);
}

#[test]
fn a_login_in_the_address_is_not_shown() {
    let harbour = consented("1", "", SHELL);
    let plain = harbour.forge.url(PROJECT);
    let secret = "s3cret-that-nobody-sees";
    let with_login = plain.replacen("://", &format!("://ann:{secret}@"), 1);
    let repo = &harbour.scene.repo;
    repo.git(&["remote", "set-url", "origin", &with_login]);
    let answer = harbour.pleach(&["run", "--json"]);
    refused(&answer, &plain);
    let rehearsed = harbour.pleach(&["run", "--dry-run"]);
    let told = harbour.pleach(&["run"]);
    for told in [&answer, &rehearsed, &told] {
        assert!(!told.out.contains(secret) && !told.err.contains(secret));
    }
}

#[test]
fn a_rehearsal_tells_that_it_would_be_asked() {
    let harbour = consented("1", "", SHELL);
    let rehearse = || {
        let answer = harbour.pleach(&["run", "--dry-run", "--json"]);
        serde_json::from_str::<Value>(&answer.good()).unwrap()["landing"].clone()
    };
    let landing = rehearse();
    assert_eq!(landing["remote"], harbour.forge.url(PROJECT).as_str());
    assert_eq!(landing["unconfirmed"], true);
    harbour.pleach(&["run", "--yes"]).good();
    assert_eq!(rehearse()["unconfirmed"], false);
}

#[test]
fn landing_by_hand_is_asked_about_as_well() {
    let harbour = consented("1", "", SHELL);
    let address = harbour.forge.url(PROJECT);
    refused(&harbour.pleach(&["land", "1", "--json"]), &address);
    let mut terminal = at_terminal(&harbour, &["land", "1"]);
    terminal.wait_for(&address);
    terminal.wait_for("[y/N]");
    terminal.type_in("n\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    assert_eq!(harbour.branches_there(), "");
    harbour.pleach(&["land", "1", "--into", "main"]).good();
    harbour.pleach(&["land", "1", "--yes"]).good();
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
}

#[test]
fn an_address_that_changed_while_it_ran_gets_nothing_before_it_is_confirmed() {
    let elsewhere = "http://127.0.0.1:1/a/b.git";
    let harbour = Harbour::github("1", "", SHELL);
    let repo = harbour.scene.repo.path().display().to_string();
    let shell = format!("{SHELL}; git -C {repo} remote set-url origin {elsewhere}");
    let settings = "forge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"";
    harbour.scene.configure(settings, &shell);
    let story = harbour.run();
    story.check(1, "1:merged");
    let told = story.told("batch:not_landed")[0];
    let reason = told["reason"].as_str().unwrap();
    assert!(reason.contains(elsewhere), "{told}");
    assert!(reason.contains("not confirmed"), "{told}");
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("`pleach land 1`"), "{told}");
    assert_eq!(harbour.branches_there(), "");
}
