//! Secrets, logins and limits against an agent that attacks them.

use std::path::Path;

use pleach_testkit::{Access, GitServer};

use crate::scene::Scene;
use crate::{Answer, command};

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
    assert!(told.contains("wants a login"), "{told}");
    check_nobody_logged_in(&server);
}
