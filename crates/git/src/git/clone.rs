//! Clones a repository into a folder of ours, with a checkout that people and plans can be read from.
//!
//! Knows nothing of projects; the folder appears only when everything is in it.

use std::fs;
use std::path::{Path, PathBuf};

use super::address::Address;
use super::credentials::Logins;
use super::network::FETCHED_WITHIN;
use super::origin::announced;
use super::store::{FETCH, Project, REMOTE_HEAD, home_of, make_home};
use super::{Call, CallPlace, Git, Store, StoreError};

/// Where branches of the server are noted, as `git clone` does it.
const BRANCHES: &str = "+refs/heads/*:refs/remotes/origin/*";

impl Store {
    pub fn clone_folder(clones: &Path, address: &Address) -> PathBuf {
        home_of(clones, &address.name(), address.as_str().as_bytes())
    }

    /// The name that the store of such a folder has, whether or not it is there yet.
    pub fn name_of_clone(folder: &Path) -> String {
        let place = folder.join(".git");
        let home = home_of(Path::new(""), folder, place.as_os_str().as_encoded_bytes());
        home.to_string_lossy().into_owned()
    }

    /// Clones into a folder that is not there yet; a login in the address is used and not kept.
    pub fn clone_into(
        git: Git,
        folder: &Path,
        address: &str,
        logins: &Logins,
    ) -> Result<(), StoreError> {
        let (address, written) = Address::parse(address)?;
        let part = folder.with_extension("part");
        // Whoever was at it is gone: only one at a time clones there.
        let _ = fs::remove_dir_all(&part);
        let desk = make_home(&part, Path::new("desk"), b"")?;
        let store = Self::of_address(git, desk, address, written)?;
        let tree = part.join("tree");
        store.clone_at(&tree, logins)?;
        fs::rename(&tree, folder).map_err(StoreError::io("move", &tree))?;
        // What is left is empty and ours; a later clone would take it away as well.
        let _ = fs::remove_dir_all(&part);
        Ok(())
    }

    fn clone_at(&self, tree: &Path, logins: &Logins) -> Result<(), StoreError> {
        let (address, written) = self.server()?;
        let line = self.line(&address, &written, logins);
        let head = announced(&line)?;
        let Some(commit) = &head.commit else {
            return Err(StoreError::NoCommits {
                path: address.as_str().into(),
            });
        };
        // A server whose choice is no branch gives its commit to ours.
        let branch = head.branch.as_deref().unwrap_or("main");
        let format = match commit.as_str().len() {
            64 => "sha256",
            _ => "sha1",
        };
        let init = ["init", "--quiet", "--template=", "--object-format", format];
        let place = CallPlace::Nowhere(self.home());
        let part = tree.parent().unwrap_or(tree);
        let init = self.git.call(place).writing(part).args(init);
        let init = init.args(["--initial-branch", branch, "--"]).arg(tree);
        init.output()?;
        let git_dir = tree.join(".git");
        let call = || -> Call { self.git.call(CallPlace::Ours(&git_dir)) };
        let fetch = call().args(FETCH).args(["--update-head-ok", "--"]);
        let fetch = fetch.args([address.as_str(), BRANCHES, "+refs/tags/*:refs/tags/*"]);
        let fetch = fetch.arg(format!("+HEAD:refs/heads/{branch}"));
        line.run(fetch, FETCHED_WITHIN)?;
        let (remote, merge) = (
            format!("branch.{branch}.remote"),
            format!("branch.{branch}.merge"),
        );
        let kept = self.kept_address();
        for (key, value) in [
            ("remote.origin.url", kept.as_str()),
            ("remote.origin.fetch", BRANCHES),
            (&remote, "origin"),
            (&merge, &format!("refs/heads/{branch}")),
        ] {
            call().args(["config", key, value]).output()?;
        }
        if head.branch.is_some() {
            let target = format!("refs/remotes/origin/{branch}");
            let note = ["symbolic-ref", REMOTE_HEAD, &target];
            call().args(note).output()?;
        }
        let fill = call().work_tree(tree).writing(tree);
        fill.args(["reset", "--hard", "--quiet"]).output()?;
        Ok(())
    }

    /// The address as it was given, without its login: what the user's settings make of it may change.
    fn kept_address(&self) -> String {
        match &self.project {
            Project::Remote(remote) => remote.address.as_str().to_owned(),
            Project::Local(_) | Project::Plain(_) | Project::Borrowed(_) => String::new(),
        }
    }
}
