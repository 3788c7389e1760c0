//! Secrets, logins and limits against an agent that attacks them.

use std::path::Path;

use pleach_testkit::{Access, ForgeStyle, GitServer};
use serde_json::json;

use crate::landing::{Harbour, PROJECT};
use crate::scene::{Running, Scene, Story};
use crate::{Answer, command};

/// What only the agent is given, by a name that says nothing.
const WANTED: &str = "linnet-Zq7@x9Lm2+kPwT8";

/// Pleach in a scene, with variables.
fn pleach(scene: &Scene, words: &[&str], variables: &[(&str, &str)]) -> Answer {
    let mut command = command(scene.repo.path(), &scene.home(), words);
    let variables = variables.iter().copied();
    command.envs(variables).output().unwrap().into()
}

/// A program on a `PATH` of its own, written by another process: a file that this one had open could still be open
/// in a child.
fn tool(path: &Path, text: &str) -> String {
    let folder = path.parent().unwrap();
    std::fs::create_dir_all(folder).unwrap();
    let write = "printf '%s' \"$1\" > \"$0\"; chmod +x \"$0\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", write]).arg(path).arg(text);
    assert!(shell.status().unwrap().success());
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", folder.display())
}

/// A repository that was cloned from somebody who wants the user's token, and their server.
fn cloned_from_a_thief(token: &str) -> (Scene, GitServer) {
    let scene = Scene::new("- [ ] 1 A\n", "echo done > file");
    let repo = &scene.repo;
    let up = repo.beside("served/up.git");
    let from = repo.path().to_str().unwrap();
    repo.git(&["clone", "--quiet", "--bare", from, up.to_str().unwrap()]);
    let access = Access::Password(token.to_owned());
    let server = GitServer::start(&repo.beside("served"), access, token);
    repo.git(&["remote", "add", "origin", &server.url("up.git")]);
    (scene, server)
}

#[track_caller]
fn check_nobody_logged_in(server: &GitServer) {
    for request in server.requests() {
        assert_eq!(request.login, None, "{request:?}");
    }
}

#[test]
fn a_token_without_a_host_is_sent_to_no_server() {
    let token = "t0ken-of-quite-another-server";
    let (scene, server) = cloned_from_a_thief(token);
    let alone = [("PLEACH_GIT_TOKEN", token)];
    let told = pleach(&scene, &["run", "--yes", "--fetch"], &alone).bad(3);
    assert!(told.contains("PLEACH_GIT_HOST"), "{told}");
    assert!(!told.contains(token), "{told}");
    let doctor = pleach(&scene, &["doctor", "--fetch"], &alone);
    assert!(doctor.out.contains("PLEACH_GIT_HOST"), "{}", doctor.out);
    assert!(!server.requests().is_empty());
    check_nobody_logged_in(&server);
    let host = server.host();
    let bound = [alone[0], ("PLEACH_GIT_HOST", &host)];
    pleach(&scene, &["run", "--yes", "--fetch"], &bound).good();
    assert_eq!(scene.show("pleach/batch-1", "file"), "done");
}

#[test]
fn a_token_that_a_tool_would_give_to_any_server_is_sent_to_none() {
    let token = "t0ken-that-is-set-for-all-servers";
    let (scene, server) = cloned_from_a_thief(token);
    let glab = scene.repo.beside("tools/glab");
    let path = tool(&glab, &format!("#!/bin/sh\necho {token}\n"));
    let words = ["run", "--yes", "--fetch"];
    let told = pleach(&scene, &words, &[("PATH", &path)]).bad(3);
    assert!(told.contains("requires a login"), "{told}");
    check_nobody_logged_in(&server);
}

/// Limited until long after everybody is dead, the first time.
const LIMITED_FOR_EVER: &str = "if mkdir BESIDE/limit 2> /dev/null
    then echo 'retry at 2099-01-01T00:00:00Z'; exit 75; fi; echo x > file-$PLEACH_TASK";

#[test]
fn a_limit_for_ever_is_capped_shown_and_lifted_by_hand() {
    let scene = Scene::of("1, 2", "max_parallel = 1", LIMITED_FOR_EVER);
    let here = |words: &[&str]| pleach(&scene, words, &[]);
    let mut limited = scene.start(&[]);
    limited.wait_for("batch:task:limited");
    // Another repository of the same user, with an agent of the same name.
    let other = Scene::of("1", "", "echo x > file");
    let words = ["run", "--yes", "--json"];
    let mut held = Running::start(&mut command(other.repo.path(), &scene.home(), &words));
    held.wait_for("pleach agents resume shell");
    let command = "pleach agents resume shell";
    let doctor = here(&["doctor"]);
    assert!(doctor.out.contains(command), "{}", doctor.out);
    let agents = here(&["agents"]).good();
    assert!(agents.contains(command), "{agents}");
    here(&["agents", "resume", "shell"]).good();
    let story = limited.story();
    story.check(0, "1:merged 2:merged");
    let pause = &story.told("batch:task:limited")[0]["pauseMs"];
    assert!(pause.as_u64().unwrap() <= 6 * 60 * 60 * 1_000, "{pause}");
    held.story().check(0, "1:merged");
    assert!(!here(&["agents"]).good().contains(command));
}

#[test]
fn an_agent_that_was_waited_for_long_enough_is_tried_again() {
    let scene = Scene::of("1", "limit_wait = \"1s\"", LIMITED_FOR_EVER);
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(story.told("batch:task:limited")[0]["pauseMs"], 1_000);
    assert_eq!(story.attempts(), "1:1", "no attempt is spent");
}

/// Changes the database of a scene as a disk or another version may have.
fn change_database(scene: &Scene, sql: &str) {
    let mut python = std::process::Command::new("python3");
    let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    let file = scene.state().join("pleach.db");
    python.args(["-c", script]).arg(file).arg(sql);
    assert!(python.status().unwrap().success());
}

#[test]
fn a_pause_that_cannot_be_stored_is_waited_for_all_the_same() {
    let shell = "date +%s%3N >> BESIDE/starts; if mkdir BESIDE/limit 2> /dev/null
        then echo 'retry after 4s'; exit 75; fi; echo x > file";
    let scene = Scene::of("1", "", shell);
    pleach(&scene, &["agents"], &[]).good();
    change_database(
        &scene,
        "CREATE TRIGGER full BEFORE INSERT ON agent_pause BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert!(
        story.notes().contains("could not store"),
        "{}",
        story.notes()
    );
    let starts = scene.trace("starts");
    let starts: Vec<u64> = starts.split(' ').map(|at| at.parse().unwrap()).collect();
    assert!(starts[1] - starts[0] >= 4_000, "{starts:?}");
}

#[test]
fn a_pause_of_another_project_holds_nobody_for_longer_than_their_own_limit_wait() {
    let scene = Scene::of("1", "limit_wait = \"1h\"", "echo x > file");
    pleach(&scene, &["agents"], &[]).good();
    let noted = "INSERT INTO agent_pause (agent, until, because, noted_at)
        VALUES ('shell', 4070908800000, 'for ever', CAST(strftime('%s', 'now') - 3601 AS INTEGER) * 1000)";
    change_database(&scene, noted);
    let mut running = scene.start(&[]);
    running.wait_for("batch:task:started");
    running.story().check(0, "1:merged");
    let shown = pleach(&scene, &["agents"], &[]).good();
    assert!(!shown.contains("is paused"), "{shown}");
}

#[test]
fn an_agent_that_nobody_knows_cannot_be_resumed() {
    let scene = Scene::of("1", "", "true");
    let resume = |name: &str| pleach(&scene, &["agents", "resume", name], &[]);
    let told = resume("shel").bad(2);
    assert!(told.contains("no agent is paused"), "{told}");
    assert!(resume("shell").good().contains("is not paused"));
    assert!(resume("claude").good().contains("is not paused"));
    let paused = |name: &str| {
        let row =
            format!("INSERT INTO agent_pause VALUES ('{name}', 4070908800000, '', 4070908800000)");
        change_database(&scene, &row);
    };
    paused("shell");
    let told = resume("shel").bad(2);
    assert!(told.contains("pleach agents resume shell"), "{told}");
    // One of another project.
    paused("elsewhere");
    let told = resume("shel").bad(2);
    assert!(told.contains("elsewhere, shell"), "{told}");
    assert!(resume("elsewhere").good().contains("resumed"));
    resume("elsewhere").bad(2);
}

/// A batch on its way to a forge, whose agent gets a secret.
fn with_a_secret(settings: &str, shell: &str) -> Harbour {
    let harbour = Harbour::new(ForgeStyle::GitHub, "1", settings, shell);
    let file = harbour.scene.repo.path().join("pleach.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, format!("{config}env = [\"WANTED\"]\n")).unwrap();
    harbour
}

fn story_of(harbour: &Harbour, words: &[&str]) -> Story {
    let mut command = harbour.command(words);
    Story::of(&command.env("WANTED", WANTED).output().unwrap().into())
}

const RUN: [&str; 3] = ["run", "--yes", "--json"];

/// An agent leaves the secret in one place of what would be pushed.
#[track_caller]
fn check_stopped(shell: &str, place: &str) {
    let harbour = with_a_secret("", shell);
    let story = story_of(&harbour, &RUN);
    story.check(1, "1:merged");
    let told = story.told("batch:not_landed");
    assert_eq!(told.len(), 1, "{shell}: it was pushed");
    let told = told[0]["reason"].as_str().unwrap();
    assert!(told.contains(place), "{told}");
    assert!(!told.contains(WANTED), "{told}");
    assert_eq!(harbour.branches_there(), "");
}

#[test]
fn a_value_that_logs_hide_is_not_pushed_in_a_file() {
    let written = [
        "echo \"key = $WANTED\" > leaked.txt",
        "printf 'x%s' \"$WANTED\" | base64 -w 0 > leaked.txt",
        "printf %s \"$WANTED\" | od -An -tx1 | tr -d ' \\n' > leaked.txt",
    ];
    for shell in written {
        check_stopped(shell, "leaked.txt:1: the value of WANTED");
    }
    let gone = "echo $WANTED > leaked.txt; git add .; git commit -qm one
        git rm -q leaked.txt; echo x > file; git add .; git commit -qm two";
    check_stopped(gone, "removed later");
}

#[test]
fn who_the_user_is_stops_no_push() {
    let harbour = Harbour::new(
        ForgeStyle::GitHub,
        "1",
        "",
        "cat .env > /dev/null; echo x > file",
    );
    let repo = &harbour.scene.repo;
    let [name, email] = ["user.name", "user.email"].map(|key| repo.git(&["config", key]));
    // The second one is somebody whose commits are there already.
    let env = format!(
        "AUTHOR=\"{name}\"\nADMIN_EMAIL={email}\nOPERATOR=\"Grace 2 Hopper\"\nKEY={WANTED}\n"
    );
    std::fs::write(repo.path().join(".env"), env).unwrap();
    std::fs::write(repo.path().join(".git/info/exclude"), ".env\n").unwrap();
    repo.write(".worktreeinclude", ".env\n");
    repo.git(&["add", ".worktreeinclude"]);
    repo.git(&[
        "commit",
        "-qm",
        "by another",
        "--author",
        "Grace 2 Hopper <grace@example.com>",
    ]);
    let there = harbour.forge.repository(PROJECT);
    repo.git(&["push", "-q", there.to_str().unwrap(), "main"]);
    let config = std::fs::read_to_string(repo.path().join("pleach.toml")).unwrap();
    let commits = ". ./.env; echo \\\"by $OPERATOR\\\" > by; git add by; git commit -qm \\\"for $OPERATOR\\\"; true";
    let config = config.replace("cat .env > /dev/null", commits);
    std::fs::write(repo.path().join("pleach.toml"), config).unwrap();
    let story = harbour.story(&["run", "--yes"]);
    story.check(0, "1:merged");
    assert_eq!(
        story.told("batch:not_landed").len(),
        0,
        "{:?}",
        story.told("batch:not_landed")
    );
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
}

#[test]
fn a_value_that_logs_hide_is_not_pushed_around_files() {
    let commit = "echo x > file; git add file; git";
    check_stopped(
        &format!("{commit} commit -qm one -m \"with $WANTED\""),
        "the value of WANTED in the commit message",
    );
    check_stopped(
        &format!("{commit} commit -qm one --author \"$WANTED <a@example.com>\""),
        "the value of WANTED in the author",
    );
    check_stopped(
        &format!("export GIT_COMMITTER_NAME=\"$WANTED\"; {commit} commit -qm one"),
        "the value of WANTED in the committer",
    );
    for header in [
        "encoding $WANTED",
        "gpgsig one\\n two $WANTED",
        "x-note $WANTED",
    ] {
        let written = "git cat-file commit HEAD | sed \"s|^committer .*|&\\nHEADER|\"
            | git hash-object -t commit -w --stdin";
        let written = written.replace("HEADER", header).replace('\n', " ");
        check_stopped(
            &format!("{commit} commit -qm one; git reset -q --soft $({written})"),
            "the value of WANTED in a commit header",
        );
    }
    check_stopped(
        "mkdir folder; echo x > \"folder/it is $WANTED\"",
        "the value of WANTED in a file name",
    );
    check_stopped("ln -s \"to-$WANTED\" link", "link: the value of WANTED");
}

#[test]
fn what_was_found_is_taken_out_by_the_commands_of_the_hint() {
    let shell = "echo \"$WANTED\" > leaked; git add leaked; git commit -qm \"by $WANTED\"
        git rm -q leaked; echo x > file; git add file; git commit -qm two";
    let harbour = with_a_secret("", shell);
    let story = story_of(&harbour, &RUN);
    let hint = story.told("batch:not_landed")[0]["hint"].as_str().unwrap();
    let commands: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    let repo = &harbour.scene.repo;
    repo.git(&["stash", "--quiet", "--include-untracked"]);
    for command in &commands[..2] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(repo.path());
        shell.env("GIT_EDITOR", "echo clean >");
        // The server of the test lets nobody else in.
        let there = harbour.forge.repository(PROJECT);
        repo.git(&["config", "remote.origin.pushurl", there.to_str().unwrap()]);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
    }
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
    let pushed = harbour.git_there(&["log", "-p", "--format=raw", "main..pleach/batch-1"]);
    assert!(
        pushed.contains("clean") && pushed.contains("b/file"),
        "{pushed}"
    );
    assert!(!pushed.contains(WANTED), "{pushed}");
    assert_eq!(commands[2], "pleach land 1 --despite-findings");
}

#[test]
fn a_token_is_not_pushed_in_a_message_either_unless_a_person_says_so() {
    // Put together by the agent, so that no file holds what looks like a token.
    let token = "ghp_$(echo A1b2C3d4E5f6G7h8I9j0 K1l2M3n4O5p6Q7r8 | tr -d ' ')";
    let shell = format!("echo x > file; git add file; git commit -qm \"use {token}\"");
    check_stopped(&shell, "GitHub token (ghp_…) in the commit message");
    let harbour = with_a_secret("", "echo x > \"f-$WANTED\"");
    story_of(&harbour, &RUN).check(1, "1:merged");
    let words = ["land", "1", "--despite-findings", "--json"];
    let anyway = story_of(&harbour, &words);
    assert_eq!(anyway.code, 0, "{}", anyway.err);
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
}

/// Prints a secret in ways that programs write values in.
const IN_MANY_WAYS: &str = r#"python3 - <<'END'
import os, json
from urllib.parse import quote, quote_plus
value = os.environ["WANTED"]
print("quote", quote(value))
print("small", quote(value, safe="").replace("%2F", "%2f").replace("%2B", "%2b"))
print("uri", quote(value, safe="/@+~!*'()"))
print("form", quote_plus(value))
print("hex", value.encode().hex())
print("HEX", value.encode().hex().upper())
print("colour", value[:4] + "\x1b[1;31m" + value[4:9] + "\x1b[0m" + value[9:])
print("json", json.dumps(value).replace("/", "\\/"))
print("entry", json.dumps({"text": value[:7] + "\x1b[32m" + value[7:]}))
END
echo x > file"#;

#[test]
fn a_value_is_hidden_in_logs_however_programs_write_it() {
    let value = "linnet/Zq7@x9 Lm2+kPwT8";
    let scene = Scene::of("1", "land = \"none\"", IN_MANY_WAYS);
    let file = scene.repo.path().join("pleach.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, format!("{config}env = [\"WANTED\"]\n")).unwrap();
    pleach(&scene, &["run", "--yes"], &[("WANTED", value)]).good();
    let log = pleach(&scene, &["logs", "1", "1"], &[]).good();
    for word in [
        "quote", "small", "uri", "form", "hex", "HEX", "colour", "json",
    ] {
        let mut lines = log.lines();
        let line = lines.find(|line| line.contains(&format!("{word} ")));
        let line = line.unwrap_or_else(|| panic!("{word}: {log}"));
        assert!(line.contains("[hidden:WANTED]"), "{line}");
    }
    // Nothing but the end of it may be left anywhere.
    assert!(!log.contains("kPwT8"), "{log}");
}

/// A plan whose task speaks to a forge, and an agent that commits such words.
fn talking(strategy: &str, shell: &str) -> Harbour {
    let settings = format!("merge = \"{strategy}\"");
    let harbour = Harbour::new(ForgeStyle::GitHub, "1", &settings, shell);
    let task = json!({"id": "1", "title": "@octocat Fixes #12"});
    let plan = json!({"tasks": [task]}).to_string();
    harbour.scene.repo.write("plan.json", plan);
    harbour
}

const TALK: &str = "for file in a b; do echo x > $file; git add $file; git commit -qm \"$file
Closes acme/x#3, asks @hubot
Signed-off-by: The Boss <boss@example.com>\"; done";

fn messages(harbour: &Harbour, words: &[&str]) -> String {
    let log = ["log", "--format=%B", "main..pleach/batch-1"];
    harbour.git_there(&[&log[..], words].concat())
}

#[test]
fn messages_of_ours_mention_nobody_and_close_nothing() {
    for strategy in ["merge", "squash", "octopus"] {
        let harbour = talking(strategy, TALK);
        harbour.story(&["run", "--yes"]).check(0, "1:merged");
        let ours = messages(&harbour, &["--first-parent"]);
        for words in ["@octocat", "#12", "x#3", "@hubot", "Signed-off-by"] {
            assert!(!ours.contains(words), "{strategy}: {ours}");
        }
        assert!(ours.contains("octocat"), "{ours}");
    }
}

#[test]
fn a_commit_that_is_made_for_an_agent_mentions_nobody_and_closes_nothing() {
    let harbour = talking("merge", "echo x > a");
    harbour.story(&["run", "--yes"]).check(0, "1:merged");
    let all = messages(&harbour, &[]);
    assert_eq!(all.matches("octocat").count(), 2, "{all}");
    for words in ["@octocat", "#12"] {
        assert!(!all.contains(words), "{all}");
    }
}

#[test]
fn what_commits_of_agents_would_do_is_told() {
    let harbour = talking("merge", TALK);
    let story = harbour.story(&["run", "--yes"]);
    story.check(0, "1:merged");
    assert!(messages(&harbour, &[]).contains("Closes acme/x#3"));
    let body = &harbour.forge.pull_requests()[0].body;
    assert!(body.contains("2 commits"), "{body}");
    assert!(body.contains("close issues"), "{body}");
    assert!(body.contains("mention people"), "{body}");
    assert!(body.contains("signed off"), "{body}");
}
