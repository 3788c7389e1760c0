//! Brings what an agent committed in its own git folder into the store, checked.
//!
//! Nothing of that folder is trusted. Only plain files that are named like objects are copied, never through a link,
//! to a git folder of ours, and a fetch from there hashes every object, checks its form, and sees that none is missing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::CWD;

use super::fill::{is_loose, is_object_folder};
use super::lent::alternate_line;
use super::store::FETCH;
use super::{CommitId, Place, Store, StoreError};
use crate::plain_file::{self, names, open_folder};

impl Store {
    /// Brings commits into the store, with everything that they need beyond the basis; all of them or none.
    pub(crate) fn import(
        &self,
        git_folder: &Path,
        commits: &[CommitId],
        basis: &CommitId,
    ) -> Result<(), StoreError> {
        let scratch = self.scratch()?;
        let folder = scratch.path();
        let packs = self
            .quarantine(git_folder, folder, commits)
            .map_err(StoreError::io("copy the objects of", git_folder))?;
        for pack in packs {
            // A pack that is damaged brings nothing; whether that matters, the fetch finds out.
            let call = self.git.call(Place::Ours(folder)).reading(&self.git_dir());
            call.arg("index-pack").arg(pack).run()?;
        }
        let refs = (0..commits.len()).map(quarantined_ref);
        self.call()
            .reading(folder)
            .args(FETCH)
            .arg(format!("--negotiation-tip={basis}"))
            .args(["--no-prune", "--"])
            .arg(folder)
            .args(refs)
            .output()?;
        Ok(())
    }

    /// Makes a git folder of ours that holds copies of an agent's objects; its packs are not indexed yet.
    fn quarantine(
        &self,
        git_folder: &Path,
        folder: &Path,
        commits: &[CommitId],
    ) -> io::Result<Vec<PathBuf>> {
        fs::copy(self.home().join("init.config"), folder.join("config"))?;
        fs::write(folder.join("HEAD"), "ref: refs/heads/none\n")?;
        let objects = folder.join("objects");
        for inside in ["refs/heads", "objects/info", "objects/pack"] {
            fs::create_dir_all(folder.join(inside))?;
        }
        let lent = alternate_line(&self.git_dir().join("objects"));
        fs::write(objects.join("info/alternates"), lent)?;
        for (number, commit) in commits.iter().enumerate() {
            fs::write(folder.join(quarantined_ref(number)), format!("{commit}\n"))?;
        }
        let theirs = open_folder(CWD, git_folder)?;
        match open_folder(&theirs, "objects") {
            Ok(theirs) => copy_objects(&theirs, &objects),
            // Whatever is in its place holds no objects.
            Err(_) => Ok(Vec::new()),
        }
    }
}

fn quarantined_ref(number: usize) -> String {
    format!("refs/heads/{number}")
}

/// Copies loose objects and packs; returns the packs.
fn copy_objects(from: &OwnedFd, to: &Path) -> io::Result<Vec<PathBuf>> {
    let mut packs = Vec::new();
    for name in names(from)? {
        if is_object_folder(&name) {
            let folder = to.join(&name);
            fs::create_dir(&folder)?;
            copy_files(from, &name, &folder, is_loose)?;
        } else if name == "pack" {
            packs = copy_files(from, &name, &to.join("pack"), is_pack)?;
        }
    }
    Ok(packs)
}

fn copy_files(
    parent: &OwnedFd,
    name: &OsStr,
    to: &Path,
    is_wanted: fn(&OsStr) -> bool,
) -> io::Result<Vec<PathBuf>> {
    let Ok(folder) = open_folder(parent, name) else {
        return Ok(Vec::new());
    };
    let mut copied = Vec::new();
    for name in names(&folder)?.into_iter().filter(|name| is_wanted(name)) {
        // A link or a pipe in its place holds no object.
        if let Ok(mut file) = plain_file::open(&folder, &name) {
            let path = to.join(&name);
            io::copy(&mut file, &mut File::create(&path)?)?;
            copied.push(path);
        }
    }
    Ok(copied)
}

fn is_pack(name: &OsStr) -> bool {
    let path = Path::new(name);
    let stem = path.file_stem().and_then(OsStr::to_str);
    path.extension().is_some_and(|end| end == "pack")
        && stem.is_some_and(|stem| stem.starts_with("pack-"))
}
