//! Where Pleach keeps what is its own: stores, worktrees, and one folder a batch.
//!
//! Knows places and numbers, not what is in the files.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use pleach_domain::id::BatchNumber;

use crate::stand_in::is_all_on_nfs;

pub const SOCKET: &str = "socket";

/// The folder, made private when it is new.
#[derive(Debug, Clone)]
pub struct StateFolder {
    path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum StateFolderError {
    #[error("no folder for Pleach's files: neither PLEACH_HOME nor HOME is set")]
    NoHome,
    #[error("Pleach's files cannot be kept in {}: it is on a network file system ({kind})", path.display())]
    OnNetwork { path: PathBuf, kind: &'static str },
    #[error("could not {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl StateFolderError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome => "set PLEACH_HOME to a private folder",
            Self::OnNetwork { .. } => {
                "set PLEACH_HOME to a folder on a disk of this machine, such as /var/tmp/NAME/pleach"
            }
            Self::Io { .. } => {
                "check that the folder is writable, or set PLEACH_HOME to another one"
            }
        }
    }
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StateFolderError {
    let path = path.to_owned();
    move |source| StateFolderError::Io {
        doing,
        path,
        source,
    }
}

/// File systems of other machines, by what `statfs` says of them: their locks hold on one machine alone, and so does what
/// `SQLite` keeps beside its file.
const NETWORK: [(u32, &str); 11] = [
    (0x6969, "NFS"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x00c3_6400, "CephFS"),
    (0xff53_4d42, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
];

/// What network file system a path is on, if it is on one.
fn network_file_system(path: &Path) -> Option<&'static str> {
    if is_all_on_nfs() {
        return Some("NFS");
    }
    let found = rustix::fs::statfs(path).ok()?;
    name_of(u32::try_from(found.f_type & 0xffff_ffff).ok()?)
}

fn name_of(magic: u32) -> Option<&'static str> {
    let known = NETWORK.iter().find(|(known, _)| *known == magic);
    known.map(|(_, name)| *name)
}

impl StateFolder {
    /// The user's folder: `PLEACH_HOME`, else `pleach` in the XDG state folder.
    pub fn of_user() -> Result<Self, StateFolderError> {
        Self::at(&Self::imagined()?.path)
    }

    /// The user's folder where it is or would be; nothing is made.
    pub fn imagined() -> Result<Self, StateFolderError> {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let path = set("PLEACH_HOME")
            .or_else(|| set("XDG_STATE_HOME").map(|folder| folder.join("pleach")))
            .or_else(|| set("HOME").map(|home| home.join(".local/state/pleach")))
            .ok_or(StateFolderError::NoHome)?;
        Ok(Self { path })
    }

    pub fn at(path: &Path) -> Result<Self, StateFolderError> {
        // Before anything is made there.
        let above = path.ancestors().find(|above| above.exists());
        if let Some(kind) = above.and_then(network_file_system) {
            let path = path.to_owned();
            return Err(StateFolderError::OnNetwork { path, kind });
        }
        private_folder(path)?;
        let path = path.canonicalize().map_err(failed("find", path))?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn database(&self) -> PathBuf {
        self.path.join("pleach.db")
    }

    pub fn detached_log(&self) -> PathBuf {
        self.path.join("background.log")
    }

    pub fn stores(&self) -> PathBuf {
        self.path.join("stores")
    }

    /// Where the worktrees of a batch are, below a folder of one's own choice or here.
    pub fn worktrees(&self, root: Option<&Path>, project: &str, batch: BatchNumber) -> PathBuf {
        let here = self.path.join("worktrees");
        let project = root.unwrap_or(&here).join(project);
        project.join(format!("batch-{batch}"))
    }

    /// Where work of a batch is brought back that has no repository to go to.
    pub fn recovered(&self, project: &str, batch: BatchNumber) -> PathBuf {
        let project = self.path.join("recovered").join(project);
        project.join(format!("batch-{batch}"))
    }

    pub(crate) fn batches(&self) -> PathBuf {
        self.path.join("batches")
    }

    /// Where what belongs to a batch is, by its id.
    pub fn batch(&self, id: u32) -> PathBuf {
        self.batches().join(id.to_string())
    }

    /// Where ports are leased, over all processes of this user.
    pub(crate) fn ports(&self) -> Result<PathBuf, StateFolderError> {
        self.private_folder("ports")
    }

    /// Where folders for temporary files are noted, wherever they are.
    pub(crate) fn temporary(&self) -> Result<PathBuf, StateFolderError> {
        self.private_folder("temporary")
    }

    /// Where the slots are that all batches of this user share.
    pub(crate) fn slots(&self) -> Result<PathBuf, StateFolderError> {
        self.private_folder("slots")
    }

    /// Where the folders are noted that batches work in without a repository.
    pub fn in_place(&self) -> Result<PathBuf, StateFolderError> {
        self.private_folder("in-place")
    }

    fn private_folder(&self, name: &str) -> Result<PathBuf, StateFolderError> {
        let path = self.path.join(name);
        private_folder(&path)?;
        Ok(path)
    }

    /// Takes the next id for a batch, over all projects, and the folder that goes with it.
    pub fn new_batch(&self) -> Result<(u32, PathBuf), StateFolderError> {
        let batches = self.batches();
        private_folder(&batches)?;
        let used = fs::read_dir(&batches).map_err(failed("list", &batches))?;
        let mut number = last_number(used) + 1;
        loop {
            let folder = batches.join(number.to_string());
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok((number, folder)),
                // Another process took it a moment ago.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(failed("create", &folder)(source)),
            }
        }
    }
}

fn last_number(batches: fs::ReadDir) -> u32 {
    let numbers = batches.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.max().unwrap_or(0)
}

/// A file whose lock this process holds; let go when dropped, or when the process ends.
#[derive(Debug)]
pub struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // A child that is just being started holds the file too, until it becomes its program.
        let _ = self.0.unlock();
    }
}

/// Takes the lock of a file, which is made if need be; none if somebody else has it.
///
/// The file stays when the lock goes: whoever deleted it could delete another one's.
pub fn try_lock(path: &Path) -> io::Result<Option<LockedFile>> {
    let mut file = File::options();
    file.create(true).truncate(false).write(true).mode(0o600);
    let file = file.open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(LockedFile(file))),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

pub fn private_folder(path: &Path) -> Result<(), StateFolderError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(failed("create", path))
}

pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_other_machines_are_known_and_those_of_this_one_are_not() {
        for (magic, name) in NETWORK {
            assert_eq!(name_of(magic), Some(name));
        }
        // ext4, tmpfs, XFS, overlayfs, FUSE.
        for magic in [0xef53, 0x0102_1994, 0x5846_5342, 0x794c_7630, 0x6573_5546] {
            assert_eq!(name_of(magic), None);
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(network_file_system(folder.path()), None);
    }

    #[test]
    fn ids_of_batches_are_never_given_twice() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::at(&folder.path().join("state")).unwrap();
        let mut numbers: Vec<u32> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| state.new_batch().unwrap().0))
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=8).collect::<Vec<u32>>());
    }
}
