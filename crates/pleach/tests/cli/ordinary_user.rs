//! The program as an ordinary user runs it, also where tests run as root, to whom the system refuses little.

use std::fs;
use std::process::Command;

use rustix::process::getuid;

use crate::command;
use crate::scene::Scene;

/// A user whom no system has.
const NUMBER: &str = "54321";

/// A scene that belongs to an ordinary user for as long as this is there.
pub(crate) struct OrdinaryUser<'s> {
    scene: &'s Scene,
}

impl<'s> OrdinaryUser<'s> {
    pub(crate) fn of(scene: &'s Scene) -> Self {
        give_to(scene, NUMBER);
        if getuid().is_root() {
            // Where the user gets to; it stays root's.
            let built = env!("CARGO_BIN_EXE_pleach");
            let linked = scene.repo.beside("pleach");
            fs::hard_link(built, &linked)
                .or_else(|_| fs::copy(built, &linked).map(drop))
                .unwrap();
        }
        Self { scene }
    }

    /// The program in the scene's repository.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let plain = command(self.scene.repo.path(), &self.scene.home(), words);
        if !getuid().is_root() {
            return plain;
        }
        let variables = plain.get_envs().map(|(name, value)| (name, value.unwrap()));
        let mut as_user = Command::new("setpriv");
        as_user
            .args(["--reuid", NUMBER, "--regid", NUMBER, "--clear-groups"])
            .arg(self.scene.repo.beside("pleach"))
            .args(words)
            .current_dir(self.scene.repo.path())
            .env_clear()
            .envs(variables)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        as_user
    }
}

impl Drop for OrdinaryUser<'_> {
    fn drop(&mut self) {
        if getuid().is_root() {
            let _ = fs::remove_file(self.scene.repo.beside("pleach"));
            give_to(self.scene, "0");
            // Made so that no program of the user can listen there.
            let _ = fs::remove_dir(format!("/tmp/tmux-{NUMBER}"));
        }
    }
}

fn give_to(scene: &Scene, user: &str) {
    if getuid().is_root() {
        let owner = format!("{user}:{user}");
        let given = Command::new("chown")
            .args(["-hR", &owner])
            .arg(scene.repo.beside(""))
            .status();
        assert!(given.unwrap().success());
    }
}
