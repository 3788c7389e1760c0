//! Pushes one commit to one branch of the server that a project comes from, and never with force.
//!
//! Knows nothing of batches and of pull requests.

mod answer;
mod error;

use std::path::Path;
use std::time::Duration;

use super::address::{Address, UserInfo};
use super::checkout::Checkout;
use super::credentials::Logins;
use super::network::{ANSWERED_WITHIN, PUSHED_WITHIN, ServerCall};
use super::store::Project;
use super::{Call, CallPlace, CommitId, Pauses, Store, StoreError, find_program, parse_id};

use answer::Refusal;
pub use error::PushError;

/// The branch and nothing else, whatever the user has configured for own pushes.
const PUSH: [&str; 9] = [
    "-c",
    "push.pushOption=",
    "push",
    "--porcelain",
    "--no-verify",
    "--no-follow-tags",
    "--no-signed",
    "--no-recurse-submodules",
    "--",
];

/// How long `ssh` may take to tell what a short name stands for.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The branch was made or moved.
    Done,
    AlreadyThere,
}

impl Store {
    /// Where the project is pushed to, if anywhere: a server, or a folder.
    pub fn remote(&self) -> Result<Option<Address>, StoreError> {
        match self.push_server() {
            Ok((address, _)) => Ok(Some(address)),
            Err(StoreError::NoOrigin { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same with the real name of its server, where the user has a short one for ssh.
    pub fn remote_by_its_real_name(&self) -> Result<Option<Address>, StoreError> {
        let address = self.remote()?;
        Ok(address.map(|address| match real_ssh_host(&address) {
            Some(host) => address.on_host(&host),
            None => address,
        }))
    }

    pub fn remote_branch(
        &self,
        branch: &str,
        logins: &Logins,
    ) -> Result<Option<CommitId>, StoreError> {
        let (address, written) = self.push_server()?;
        look(&self.line(&address, &written, logins), branch)
    }

    /// Pushes exactly this commit to a branch of the server: makes it, or moves it on from `expected`.
    ///
    /// What a failing network leaves open is looked up and tried again after pauses.
    pub fn push(
        &self,
        commit: &CommitId,
        branch: &str,
        expected: Option<&CommitId>,
        logins: &Logins,
        pauses: &Pauses,
    ) -> Result<Pushed, PushError> {
        let (address, written) = self.push_server()?;
        let move_on = BranchUpdate {
            line: ServerCall {
                stop: pauses.stop(),
                ..self.line(&address, &written, logins)
            },
            commit,
            branch,
            expected,
        };
        move_on.check_name()?;
        let mut tried = Pushed::AlreadyThere;
        again_and_again(pauses, || move_on.attempt(&mut tried))
    }

    /// The place to push to, and the login that is written into it.
    pub(super) fn push_server(&self) -> Result<(Address, UserInfo), StoreError> {
        let checkout = match &self.project {
            Project::Local(checkout) => checkout,
            Project::Remote(_) | Project::Plain(_) | Project::Borrowed(_) => return self.server(),
        };
        let call = || self.git.call(CallPlace::Users(&checkout.folder));
        let remote = push_remote(checkout, &call)?;
        let nowhere = || StoreError::NoOrigin {
            path: checkout.folder.clone(),
        };
        let remote = remote.ok_or_else(nowhere)?;
        let found = call().args(["remote", "get-url", "--push", "--", &remote]);
        let found = found.run()?;
        if found.code != 0 {
            return Err(nowhere());
        }
        let printed = String::from_utf8_lossy(&found.stdout);
        let (address, written) = Address::parse(printed.trim_end_matches('\n'))?;
        Ok((address.seen_from(checkout.home_of_paths()), written))
    }
}

/// Tries something until it works, fails for good, or was tried often enough.
pub(super) fn again_and_again<T>(
    pauses: &Pauses,
    mut attempt: impl FnMut() -> Result<T, PushError>,
) -> Result<T, PushError> {
    let mut between = pauses.each();
    loop {
        let error = match attempt() {
            Err(error) if error.may_pass() => error,
            ended => return ended,
        };
        match between.next() {
            Some(pause) if pauses.rest(pause) => {}
            _ => return Err(error),
        }
    }
}

/// The remote that belongs to the project: `origin`, the upstream's, or the only one.
pub(super) fn push_remote(
    checkout: &Checkout,
    call: &dyn Fn() -> Call,
) -> Result<Option<String>, StoreError> {
    let names = call().arg("remote").output()?;
    let names = String::from_utf8_lossy(&names);
    let names: Vec<_> = names.lines().collect();
    if names.contains(&"origin") {
        return Ok(Some("origin".into()));
    }
    let head = call().args(["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let head = head.run()?.stdout;
    let key = format!("branch.{}.remote", String::from_utf8_lossy(&head).trim());
    let upstream = checkout.config.value(&key);
    let upstream = upstream.filter(|name| names.contains(name));
    let only = names.first().copied().filter(|_| names.len() == 1);
    Ok(upstream.or(only).map(str::to_owned))
}

fn look(line: &ServerCall<'_>, branch: &str) -> Result<Option<CommitId>, StoreError> {
    let full = format!("refs/heads/{branch}");
    // The server may know longer names that end like this one.
    let mut found = ask(line, &full)?.into_iter();
    let found = found.find(|(name, _)| *name == full);
    Ok(found.map(|(_, commit)| commit))
}

/// Asks the server what all of its branches are at.
pub(super) fn look_at_all(line: &ServerCall<'_>) -> Result<Vec<(String, CommitId)>, StoreError> {
    ask(line, "refs/heads/*")
}

fn ask(line: &ServerCall<'_>, pattern: &str) -> Result<Vec<(String, CommitId)>, StoreError> {
    let store = line.store;
    let call = store.git.call(CallPlace::Nowhere(store.home()));
    let call = call.args(["ls-remote", "--quiet", "--", line.address.as_str(), pattern]);
    let printed = line.run(call, ANSWERED_WITHIN)?;
    let printed = String::from_utf8_lossy(&printed);
    let lines = printed.lines().filter_map(|line| line.split_once('\t'));
    let parsed = lines.map(|(id, name)| {
        let id = parse_id("ls-remote", id.as_bytes())?;
        Ok((name.to_owned(), id))
    });
    parsed.collect()
}

struct BranchUpdate<'m> {
    line: ServerCall<'m>,
    commit: &'m CommitId,
    branch: &'m str,
    expected: Option<&'m CommitId>,
}

impl BranchUpdate<'_> {
    fn full_name(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// A name that git would not have could mean something else in a refspec.
    fn check_name(&self) -> Result<(), PushError> {
        let call = self.line.store.call();
        let call = call.args(["check-ref-format", &self.full_name()]);
        if call.answer()? {
            return Ok(());
        }
        Err(PushError::BadName {
            branch: self.branch.to_owned(),
        })
    }

    /// Looks, and pushes if it has to; notes in `tried` that something may have happened.
    fn attempt(&self, tried: &mut Pushed) -> Result<Pushed, PushError> {
        let found = look(&self.line, self.branch)?;
        if found.as_ref() == Some(self.commit) {
            return Ok(*tried);
        }
        self.check_expected(found)?;
        if let Some(from) = self.expected {
            let is_forward = self.line.store.is_ancestor(from, self.commit);
            if !is_forward? {
                return Err(PushError::NotForward {
                    branch: self.branch.to_owned(),
                    from: from.clone(),
                });
            }
        }
        let pushed = self.send();
        *tried = Pushed::Done;
        pushed
    }

    fn check_expected(&self, found: Option<CommitId>) -> Result<(), PushError> {
        let branch = self.branch.to_owned();
        match (found, self.expected) {
            (None, Some(_)) => Err(PushError::Gone { branch }),
            (Some(found), expected) if expected != Some(&found) => {
                Err(PushError::Taken { branch, found })
            }
            _ => Ok(()),
        }
    }

    fn send(&self) -> Result<Pushed, PushError> {
        let refspec = format!("{}:{}", self.commit, self.full_name());
        let call = self.line.store.call().args(PUSH);
        let mut call = call.args([self.line.address.as_str(), &refspec]);
        if let Some(folder) = self.line.address.folder() {
            // What is a server elsewhere is a git that ours starts, within the same bounds.
            call = call.writing(&folder);
        }
        let spoken = self.line.speak(call, PUSHED_WITHIN)?;
        let output = &spoken.output;
        if output.code == 0 {
            return Ok(Pushed::Done);
        }
        let Some(refusal) = Refusal::read(&output.stdout, &output.stderr, &output.secrets) else {
            return Err(self.line.why(&spoken).into());
        };
        // Somebody may have been faster.
        let found = look(&self.line, self.branch).ok().flatten();
        let branch = self.branch.to_owned();
        Err(match (refusal, found) {
            (_, Some(found)) if found == *self.commit => return Ok(Pushed::Done),
            (_, Some(found)) if self.expected != Some(&found) => PushError::Taken { branch, found },
            (Refusal::ByTheServer { words }, _) => PushError::Declined { branch, words },
            (Refusal::ByGit, Some(from)) => PushError::NotForward { branch, from },
            (Refusal::ByGit, None) => PushError::Gone { branch },
        })
    }
}

fn real_ssh_host(address: &Address) -> Option<String> {
    let host = address.host().filter(|_| address.is_ssh())?;
    let name = host.split(':').next().unwrap_or(host);
    let path = std::env::var_os("PATH")?;
    let ssh = find_program(&path, "ssh")?;
    ask_ssh(&ssh, name)
}

fn ask_ssh(ssh: &Path, host: &str) -> Option<String> {
    // It would be taken for an option.
    if host.starts_with('-') {
        return None;
    }
    let call = Call::of(ssh).deadline(PATIENCE).args(["-G", host]);
    let output = call.run().ok().filter(|output| output.code == 0)?;
    let printed = String::from_utf8(output.stdout).ok()?;
    let mut lines = printed.lines();
    let found = lines.find_map(|line| line.strip_prefix("hostname "))?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_usable = !found.is_empty() && found.bytes().all(is_name);
    is_usable.then(|| found.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_of_ssh_stands_for_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let ssh = folder.path().join("ssh");
        let answers = |host: &str, answer: &str| {
            let script = format!("#!/bin/sh\necho \"user git\nhostname {answer}\nport $2\"\n");
            // Written by another process, or it could not be executed while others start programs.
            let write = "printf %s \"$1\" > \"$0\"; chmod +x \"$0\"";
            let shell = Call::of(Path::new("/bin/sh")).args(["-c", write]);
            shell.arg(&ssh).arg(script).output().unwrap();
            ask_ssh(&ssh, host)
        };
        assert_eq!(answers("work", "GitHub.com").as_deref(), Some("github.com"));
        for strange in ["", "a b", "a/b", "a@b"] {
            assert_eq!(answers("work", strange), None, "{strange}");
        }
        assert_eq!(answers("-oProxyCommand=x", "github.com"), None);
    }
}
