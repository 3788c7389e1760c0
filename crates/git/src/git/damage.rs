//! Finds what no git would have left in a store, and moves it out of the way.
//!
//! Nobody but Pleach writes to a store, unless no sandbox holds an agent or a disk fails. A link or a pipe in the place of
//! a ref would stop every git there, and an object with other bytes than its name says would be believed.

use std::fmt;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use gix_zlib::{Decompress, FlushDecompress, Status};

use super::fill::{is_loose, is_object_folder};
use super::settings::NO_HEAD;
use super::{CommitId, Store, StoreError};

/// Beyond this nothing is a ref.
const LONGEST_REF: u64 = 4096;

/// How the names of folders begin that hold what is damaged.
const DAMAGED: &str = "damaged-";

/// What is read and inflated at a time.
const CHUNK: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFiles {
    /// The files, as paths within the git folder.
    pub files: Vec<PathBuf>,
    pub folder: PathBuf,
}

impl fmt::Display for DamagedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.folder.display();
        match &self.files[..] {
            [one] => {
                let one = one.display();
                write!(f, "moved a damaged file, {one}, to {folder}")
            }
            files => {
                let (count, first) = (files.len(), files.first());
                let first = first.map_or(Path::new(""), PathBuf::as_path).display();
                write!(
                    f,
                    "moved {count} damaged files, such as {first}, to {folder}"
                )
            }
        }
    }
}

/// What has to be a folder within a git folder, where it is there.
const FOLDERS: [&str; 6] = [
    "info",
    "logs",
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
];

const FILES: [&str; 3] = ["HEAD", "config", "packed-refs"];

/// What leads git elsewhere, and is in no store.
const NEVER: [&str; 4] = [
    "commondir",
    "config.worktree",
    "objects/info/alternates",
    "objects/info/http-alternates",
];

impl Store {
    /// Moves what is damaged out of the git folder; nothing if all is well.
    pub(crate) fn set_aside_damage(&self) -> Result<Option<DamagedFiles>, StoreError> {
        let top = self.set_aside_top()?;
        let git_dir = self.git_dir();
        let failed = |error| StoreError::io("check", &git_dir)(error);
        let mut files = Vec::new();
        bad_refs(&git_dir, Path::new("refs"), &mut files).map_err(failed)?;
        self.bad_objects(&mut files).map_err(failed)?;
        let packed = Path::new("packed-refs");
        let list = good_packed_refs(&git_dir.join(packed));
        files.extend(list.is_some().then(|| packed.to_owned()));
        let found = match top {
            Some(mut top) => {
                self.move_away(&files, &top.folder)?;
                top.files.append(&mut files);
                Some(top)
            }
            None => self.set_files_aside(files)?,
        };
        if let Some(list) = list.filter(|list| !list.is_empty()) {
            self.replace_if_other(&git_dir.join(packed), list.as_bytes())?;
        }
        Ok(found)
    }

    /// Moves away what would lead every git elsewhere or keep it waiting, which takes a few looks at files only.
    pub(super) fn set_aside_top(&self) -> Result<Option<DamagedFiles>, StoreError> {
        let git_dir = self.git_dir();
        // An older version had links there, which are not followed any more once they are taken over.
        let is_older = self.home().join("vault.git").symlink_metadata().is_ok();
        if is_older || !git_dir.is_dir() {
            return Ok(None);
        }
        let found = self.set_files_aside(bad_tops(&git_dir))?;
        let head = git_dir.join("HEAD");
        if head.symlink_metadata().is_err() {
            self.replace_if_other(&head, NO_HEAD.as_bytes())?;
        }
        for folder in ["refs/heads", "refs/tags", "objects/info", "objects/pack"] {
            let folder = git_dir.join(folder);
            fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        }
        Ok(found)
    }

    fn set_files_aside(&self, files: Vec<PathBuf>) -> Result<Option<DamagedFiles>, StoreError> {
        if files.is_empty() {
            return Ok(None);
        }
        let folder = self.damaged_folder()?;
        self.move_away(&files, &folder)?;
        Ok(Some(DamagedFiles { files, folder }))
    }

    fn move_away(&self, files: &[PathBuf], folder: &Path) -> Result<(), StoreError> {
        for file in files {
            let (from, to) = (self.git_dir().join(file), folder.join(file));
            let moved = fs::create_dir_all(to.parent().unwrap_or(folder))
                .and_then(|()| fs::rename(&from, &to));
            // Whoever works there may have taken it away.
            unless_gone(moved).map_err(StoreError::io("move away", &from))?;
        }
        Ok(())
    }

    /// The same, and brings everything anew that the user's repository has.
    pub fn repair(&self) -> Result<Option<DamagedFiles>, StoreError> {
        let _lock = self.lock("store.lock")?;
        let found = self.set_aside_damage()?;
        if found.is_some() && self.checkout().is_ok() {
            self.fetch_anew()?;
        }
        Ok(found)
    }

    /// Makes a folder for what is damaged; `pleach gc` removes it once it is as old as kept work may be.
    pub(crate) fn damaged_folder(&self) -> Result<PathBuf, StoreError> {
        let made = tempfile::Builder::new()
            .prefix(DAMAGED)
            .tempdir_in(self.home());
        let made = made.map_err(StoreError::io("create a folder in", self.home()))?;
        Ok(made.keep())
    }

    pub fn damaged_folders(&self) -> Vec<(PathBuf, Duration)> {
        let entries = fs::read_dir(self.home()).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| {
            let is_one = entry.file_name().to_string_lossy().starts_with(DAMAGED);
            let made = entry.metadata().ok()?.modified().ok()?;
            let age = SystemTime::now().duration_since(made).unwrap_or_default();
            is_one.then(|| (entry.path(), age))
        });
        found.collect()
    }

    fn bad_objects(&self, found: &mut Vec<PathBuf>) -> io::Result<()> {
        let objects = self.git_dir().join("objects");
        for folder in entries(&objects)? {
            let folder = folder?;
            if !is_object_folder(&folder.file_name()) {
                continue;
            }
            let inner = Path::new("objects").join(folder.file_name());
            if !folder.file_type()?.is_dir() {
                found.push(inner);
                continue;
            }
            for file in entries(&folder.path())? {
                let (file, name) = file.map(|file| (file.path(), file.file_name()))?;
                let is_bad = is_loose(&name) && !has_its_hash(&file);
                // Objects are packed, and go, while somebody works there.
                if is_bad && file.symlink_metadata().is_ok() {
                    found.push(inner.join(name));
                }
            }
        }
        Ok(())
    }
}

/// Refs that are no plain files, or hold something else than a ref does.
fn bad_refs(git_dir: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in entries(&git_dir.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type()?;
        let is_lock = path.extension().is_some_and(|end| end == "lock");
        if kind.is_dir() {
            bad_refs(git_dir, &path, found)?;
        } else if !kind.is_file() || !is_lock && !holds_a_ref(&entry.path()) {
            // Refs come and go while somebody works there.
            found.extend(entry.path().symlink_metadata().is_ok().then_some(path));
        }
    }
    Ok(())
}

/// What is at the top of a git folder and is not what git takes it for.
fn bad_tops(git_dir: &Path) -> Vec<PathBuf> {
    let kind = |name: &str| {
        let meta = git_dir.join(name).symlink_metadata();
        meta.ok().map(|meta| meta.file_type())
    };
    let mut bad: Vec<&str> = Vec::new();
    for name in FOLDERS {
        // What is within one that goes, goes along.
        let is_inside = bad.iter().any(|bad| Path::new(name).starts_with(bad));
        if !is_inside && kind(name).is_some_and(|kind| !kind.is_dir()) {
            bad.push(name);
        }
    }
    let is_inside =
        |name: &str, bad: &[&str]| bad.iter().any(|bad| Path::new(name).starts_with(bad));
    let never = NEVER.iter().filter(|name| kind(name).is_some());
    let never: Vec<&str> = never
        .copied()
        .filter(|name| !is_inside(name, &bad))
        .collect();
    bad.extend(never);
    let is_bad = |name: &&str| match kind(name) {
        Some(kind) if !kind.is_file() => true,
        Some(_) => *name == "HEAD" && !holds_a_ref(&git_dir.join(name)),
        None => false,
    };
    bad.extend(FILES.into_iter().filter(is_bad));
    bad.into_iter().map(PathBuf::from).collect()
}

fn entries(folder: &Path) -> io::Result<Vec<io::Result<DirEntry>>> {
    let read = unless_gone(fs::read_dir(folder).map(Some))?;
    Ok(read.into_iter().flatten().collect())
}

fn unless_gone<T: Default>(done: io::Result<T>) -> io::Result<T> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        done => done,
    }
}

fn holds_a_ref(file: &Path) -> bool {
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST_REF).read_to_string(&mut text));
    let value = text.trim_end();
    read.is_ok() && (value.starts_with("ref: refs/") || value.parse::<CommitId>().is_ok())
}

/// The lines of packed refs that are some, if there are others as well or it is no file.
fn good_packed_refs(file: &Path) -> Option<String> {
    let kind = file.symlink_metadata().ok()?.file_type();
    if !kind.is_file() {
        return Some(String::new());
    }
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let is_good = |line: &&str| match line.split_once(' ') {
        _ if line.starts_with('#') => true,
        Some((id, name)) => id.parse::<CommitId>().is_ok() && name.starts_with("refs/"),
        None => line
            .strip_prefix('^')
            .is_some_and(|id| id.parse::<CommitId>().is_ok()),
    };
    let good = text.lines().filter(is_good).count();
    (good < text.lines().count()).then(|| {
        let lines = text.lines().filter(is_good);
        lines.flat_map(|line| [line, "\n"]).collect()
    })
}

/// Whether a loose object is a plain file that holds what its name says.
fn has_its_hash(file: &Path) -> bool {
    let is_plain = file.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let mut parts = file.components().rev().map(Component::as_os_str);
    let (Some(rest), Some(start)) = (parts.next(), parts.next()) else {
        return false;
    };
    let name = format!("{}{}", start.to_string_lossy(), rest.to_string_lossy());
    let kind = match name.len() {
        64 => gix_hash::Kind::Sha256,
        _ => gix_hash::Kind::Sha1,
    };
    is_plain && inflated_hash(file, kind).is_some_and(|hash| hash == name)
}

fn inflated_hash(file: &Path, kind: gix_hash::Kind) -> Option<String> {
    let bytes = fs::read(file).ok()?;
    let mut hasher = gix_hash::hasher(kind);
    let mut inflate = Decompress::new();
    let mut rest = &bytes[..];
    let mut chunk = vec![0; CHUNK];
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let status = inflate
            .decompress(rest, &mut chunk, FlushDecompress::None)
            .ok()?;
        let read = usize::try_from(inflate.total_in() - read).ok()?;
        let written = usize::try_from(inflate.total_out() - written).ok()?;
        hasher.update(&chunk[..written]);
        rest = &rest[read..];
        match status {
            Status::StreamEnd => break,
            // Nothing more comes of what is left.
            _ if read == 0 && written == 0 => return None,
            _ => {}
        }
    }
    hasher.try_finalize().ok().map(|id| id.to_string())
}
