//! Programs that are only asked for their version: one on the `PATH` may have been put there by anybody.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use super::ONE;
use crate::command;
use crate::scene::Scene;

/// Takes whatever it can get; what it could take is its version then, because that is the first one it says.
const PLANTED: &str = "#!/bin/sh
echo x > $HOME/planted
cat $HOME/.ssh/id $HOME/.local/state/pleach/token
python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"SOCKET\"); print(\"6.6.6\")'
(sleep 1000 &)
echo 1.2.3
";

/// A scene with something to take, and with a planted program; a command in it finds that.
fn scene() -> (Scene, UnixListener) {
    let scene = Scene::new(ONE, "");
    let (home, programs) = (scene.home(), programs(&scene));
    for folder in [
        &home.join(".ssh"),
        &home.join(".gnupg"),
        &scene.state(),
        &programs,
    ] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(home.join(".ssh/id"), "7.7.7\n").unwrap();
    fs::write(scene.state().join("token"), "8.8.8\n").unwrap();
    let socket = home.join(".gnupg/S.gpg-agent");
    let listener = UnixListener::bind(&socket).unwrap();
    let program = programs.join("claude");
    let script = PLANTED.replace("SOCKET", socket.to_str().unwrap());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (scene, listener)
}

fn programs(scene: &Scene) -> PathBuf {
    scene.repo.beside("programs")
}

fn said(scene: &Scene, words: &[&str], change: impl FnOnce(&mut Command)) -> String {
    let path = std::env::var("PATH").unwrap();
    let mut command = command(scene.repo.path(), &scene.home(), words);
    command.env("PATH", format!("{}:{path}", programs(scene).display()));
    change(&mut command);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_program_that_is_asked_writes_nothing_reads_no_key_and_reaches_no_socket() {
    let (scene, _listener) = scene();
    for words in [&["agents", "--json"][..], &["doctor", "--json"]] {
        let said = said(&scene, words, |_| {});
        assert!(said.contains("1.2.3"), "{said}");
        assert!(!scene.home().join("planted").exists());
    }
}

#[test]
fn a_home_folder_behind_a_link_changes_nothing() {
    let (scene, _listener) = scene();
    let link = scene.repo.beside("link");
    symlink(scene.home(), &link).unwrap();
    let said = said(&scene, &["agents", "--json"], |command| {
        command.env("HOME", &link);
    });
    assert!(said.contains("1.2.3"), "{said}");
}

#[test]
fn nothing_is_asked_where_nobody_knows_what_is_pleachs_own() {
    let (scene, _listener) = scene();
    let said = said(&scene, &["agents", "--json"], |command| {
        command.env_remove("HOME");
    });
    assert!(said.contains("claude"), "{said}");
    assert!(!said.contains("1.2.3") && !said.contains("6.6.6"), "{said}");
}
