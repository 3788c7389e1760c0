//! Brings what an agent committed in its own git folder into the store, checked.
//!
//! Nothing of that folder is trusted. Only plain files that are named like objects are copied, never through a link,
//! to a git folder of ours, and a fetch from there hashes every object, checks its form, and sees that none is missing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use pleach_system::files::plain_file::{self, names, open_folder};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, SeekFrom, seek};
use rustix::io::Errno;

use super::fill::{is_loose, is_object_folder};
use super::lent::alternate_line;
use super::store::FETCH;
use super::{CallPlace, CommitId, GitError, Store, StoreError};

/// So often parts of what was refused as a whole are tried.
const MOST_FETCHES: usize = 100;

/// More bytes of objects than an agent makes in earnest; they would be on the disk twice meanwhile.
const MOST_BYTES: u64 = 8 << 30;

impl Store {
    /// Brings commits into the store, with everything that they need beyond the basis; returns those that are damaged,
    /// or need something that is.
    ///
    /// An error says nothing of the commits: it may be another one, or none, at another time.
    pub(crate) fn import(
        &self,
        git_folder: &Path,
        commits: &[CommitId],
        basis: &CommitId,
    ) -> Result<Vec<CommitId>, StoreError> {
        let scratch = self.scratch()?;
        let folder = scratch.path();
        let copied = self
            .quarantine(git_folder, folder, commits)
            .map_err(StoreError::io("copy the objects of", git_folder))?;
        let Some(packs) = copied else {
            return Ok(commits.to_vec());
        };
        for pack in packs {
            // A pack that is damaged brings nothing; whether that matters, the fetch finds out.
            let call = self
                .git
                .call(CallPlace::Ours(folder))
                .reading(&self.git_dir());
            call.arg("index-pack").arg(pack).run()?;
        }
        let mut refused = Vec::new();
        let all = 0..commits.len();
        let mut groups = vec![all];
        let mut tries = 0;
        while let Some(group) = groups.pop() {
            tries += 1;
            let is_taken =
                tries <= MOST_FETCHES && self.fetch_group(folder, group.clone(), basis)?;
            if is_taken {
                continue;
            }
            if group.len() == 1 || tries > MOST_FETCHES {
                refused.extend_from_slice(&commits[group]);
                continue;
            }
            // What is wrong may be beside what matters most, which comes first.
            let half = if group.start == 0 { 1 } else { group.len() / 2 };
            let middle = group.start + half;
            groups.extend([middle..group.end, group.start..middle]);
        }
        Ok(refused)
    }

    /// Whether git took all commits of a group.
    fn fetch_group(
        &self,
        folder: &Path,
        group: Range<usize>,
        basis: &CommitId,
    ) -> Result<bool, GitError> {
        let fetched = self
            .call()
            .reading(folder)
            .args(FETCH)
            .arg(format!("--negotiation-tip={basis}"))
            .args(["--no-prune", "--"])
            .arg(folder)
            .args(group.map(quarantined_ref))
            .run()?;
        match fetched.code {
            0 => Ok(true),
            // Git says no; a signal says nothing.
            1..=128 => Ok(false),
            _ => Err(fetched.failure()),
        }
    }

    /// Makes a git folder of ours that holds copies of an agent's objects; its packs are not indexed yet. Nothing, if
    /// there are more than anybody makes in earnest.
    fn quarantine(
        &self,
        git_folder: &Path,
        folder: &Path,
        commits: &[CommitId],
    ) -> io::Result<Option<Vec<PathBuf>>> {
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
            Ok(theirs) => {
                let mut room = MOST_BYTES;
                let packs = copy_objects(&theirs, &objects, &mut room)?;
                Ok((room > 0).then_some(packs))
            }
            // Whatever is in its place holds no objects.
            Err(_) => Ok(Some(Vec::new())),
        }
    }
}

fn quarantined_ref(number: usize) -> String {
    format!("refs/heads/{number}")
}

/// Copies loose objects and packs, as far as there is room; returns the packs.
fn copy_objects(from: &OwnedFd, to: &Path, room: &mut u64) -> io::Result<Vec<PathBuf>> {
    let mut packs = Vec::new();
    for name in names(from)? {
        if is_object_folder(&name) {
            let folder = to.join(&name);
            fs::create_dir(&folder)?;
            copy_files(from, &name, &folder, is_loose, room)?;
        } else if name == "pack" {
            packs = copy_files(from, &name, &to.join("pack"), is_pack, room)?;
        }
    }
    Ok(packs)
}

fn copy_files(
    parent: &OwnedFd,
    name: &OsStr,
    to: &Path,
    is_wanted: fn(&OsStr) -> bool,
    room: &mut u64,
) -> io::Result<Vec<PathBuf>> {
    let Ok(folder) = open_folder(parent, name) else {
        return Ok(Vec::new());
    };
    let mut copied = Vec::new();
    for name in names(&folder)?.into_iter().filter(|name| is_wanted(name)) {
        // A link or a pipe in its place holds no object, and neither does a file that takes no room.
        if let Ok(mut file) = plain_file::open(&folder, &name)
            && *room > 0
            && !has_holes(&file)?
        {
            let path = to.join(&name);
            let mut part = Read::by_ref(&mut file).take(*room);
            *room -= io::copy(&mut part, &mut File::create(&path)?)?;
            copied.push(path);
        }
    }
    Ok(copied)
}

/// Whether parts of a file were never written: git writes its own from beginning to end.
fn has_holes(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let hole = match seek(file, SeekFrom::Hole(0)) {
        // There is nothing in it, or nobody can tell.
        Err(Errno::NXIO | Errno::INVAL) => length,
        hole => hole?,
    };
    seek(file, SeekFrom::Start(0))?;
    Ok(hole < length)
}

fn is_pack(name: &OsStr) -> bool {
    let path = Path::new(name);
    let stem = path.file_stem().and_then(OsStr::to_str);
    path.extension().is_some_and(|end| end == "pack")
        && stem.is_some_and(|stem| stem.starts_with("pack-"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn files_with_holes_and_what_there_is_no_room_for_are_not_copied() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let pack = from.path().join("pack");
        fs::create_dir(&pack).unwrap();
        fs::write(pack.join("pack-1.pack"), "small").unwrap();
        fs::write(pack.join("pack-2.pack"), "").unwrap();
        let hole = File::create(pack.join("pack-3.pack")).unwrap();
        hole.set_len(1 << 40).unwrap();
        let late = File::create(pack.join("pack-4.pack")).unwrap();
        late.write_all_at(b"PACK", 0).unwrap();
        late.write_all_at(b"end", 1 << 40).unwrap();
        fs::create_dir(to.path().join("pack")).unwrap();
        let from = open_folder(CWD, from.path()).unwrap();
        let mut room = 100;
        let mut copied = copy_objects(&from, to.path(), &mut room).unwrap();
        copied.sort();
        let names: Vec<_> = copied
            .iter()
            .map(|path| path.file_name().unwrap())
            .collect();
        assert_eq!(names, ["pack-1.pack", "pack-2.pack"]);
        assert_eq!(room, 95);
        let mut room = 5;
        copy_objects(&from, to.path(), &mut room).unwrap();
        assert_eq!(room, 0);
    }
}
