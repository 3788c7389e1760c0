//! Finds what of a user's home folder may be written to and read.
//!
//! What has to stay closed may lie within what is open. The kernel knows no exceptions, so such a folder is
//! divided: what is in it is opened one by one, around what stays closed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, DirEntry};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};

use super::Room;
use super::places::{KEYS, RUN_BY_THEMSELVES, TOOLS, XDG};
use crate::process::SHARED_MEMORY;

/// Devices that programs use: empty ones, random numbers, the own terminal, machines and graphics processors.
///
/// Not the terminals of others, `/dev/pts`: whoever makes one of its own needs no path to it.
const DEVICES: [&str; 13] = [
    "dri", "dxg", "full", "kfd", "kvm", "mqueue", "null", "ptmx", "random", "shm", "tty",
    "urandom", "zero",
];

/// What the names of others begin with.
const GRAPHICS: &str = "nvidia";

/// Where devices are.
const DEV: &str = "/dev";

/// The user, as far as programs know: by their environment.
pub(super) struct User<'e> {
    env: &'e [(OsString, OsString)],
    home: Option<PathBuf>,
    /// Where the folders are that XDG gives a variable, by their names in the home folder.
    xdg: Vec<(&'static str, PathBuf)>,
    /// What is Pleach's own.
    state: PathBuf,
    /// The user's checkout and its git folder.
    checkout: Vec<PathBuf>,
    /// A tool that is there, whatever its program is called.
    tool: Option<String>,
}

impl<'e> User<'e> {
    pub(super) fn of(env: &'e [(OsString, OsString)], room: &Room<'_>) -> Self {
        let checkout = room.store.checkout().ok();
        let checkout = checkout.into_iter().flat_map(|checkout| {
            let top = checkout.top().map(Path::to_owned);
            [Some(checkout.common_dir.clone()), top]
        });
        Self {
            tool: room.tool.map(str::to_owned),
            ..Self::at(env, room.state.path(), checkout.flatten().collect())
        }
    }

    pub(super) fn at(
        env: &'e [(OsString, OsString)],
        state: &Path,
        checkout: Vec<PathBuf>,
    ) -> Self {
        let folder = |name| folder_of(env, name).and_then(|path| path.canonicalize().ok());
        Self {
            env,
            home: folder("HOME").filter(|home| home.is_dir()),
            xdg: XDG
                .iter()
                .filter_map(|(name, inside)| Some((*inside, folder(name)?)))
                .collect(),
            state: state.to_owned(),
            checkout,
            tool: None,
        }
    }

    /// Caches and state folders of tools and agents; those that a tool would make are made.
    pub(super) fn caches(&self) -> Vec<PathBuf> {
        let closed = self.never_written();
        let mut found = Vec::new();
        let tools = self.folders_of_tools();
        if let Some(home) = &self.home {
            let entries = fs::read_dir(home).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes()[0] == b'.') {
                open_entry(&entry, &closed, Want::Folders, &mut found);
            }
        }
        let elsewhere = self.xdg.iter().map(|(_, path)| path).chain(&tools);
        for path in elsewhere {
            let is_open = found.iter().any(|open| path.starts_with(open));
            let holds_home = self.home.iter().any(|home| home.starts_with(path));
            // Somebody may have made a link of it that leads out of what is open.
            let path = path.canonicalize().ok().filter(|_| !is_open && !holds_home);
            if let Some(path) = path.filter(|path| path.is_dir()) {
                divide(&path, &closed, Want::Folders, &mut found);
            }
        }
        found
    }

    /// Everything but keys and what is Pleach's own.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let mut closed = self.keys();
        closed.push(self.state.clone());
        let mut found = Vec::new();
        divide(Path::new("/"), &closed, Want::Everything, &mut found);
        found
    }

    /// The home folder, if there is one.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where keys are.
    pub(super) fn keys(&self) -> Vec<PathBuf> {
        self.inside(&KEYS)
    }

    fn never_written(&self) -> Vec<PathBuf> {
        let mut closed = self.keys();
        closed.extend(self.inside(&RUN_BY_THEMSELVES));
        closed.push(self.state.clone());
        closed.extend(self.checkout.iter().cloned());
        closed
    }

    /// Places of the home folder, also where a variable says that they are.
    fn inside(&self, places: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for place in places {
            let at_home = self.home.iter().map(|home| home.join(place));
            found.extend(at_home);
            let elsewhere = self.xdg.iter().filter_map(|(name, path)| {
                let inside = Path::new(place).strip_prefix(name).ok()?;
                Some(path.join(inside))
            });
            found.extend(elsewhere);
        }
        // A link that leads to the place it stands for closes that as well.
        let behind = found.iter().filter_map(|path| path.canonicalize().ok());
        let behind: Vec<PathBuf> = behind.filter(|path| !found.contains(path)).collect();
        found.extend(behind);
        found
    }

    /// Where installed tools keep what is theirs, made if it is not there yet.
    fn folders_of_tools(&self) -> Vec<PathBuf> {
        let path = value_of(self.env, "PATH").unwrap_or_default();
        let mut found = Vec::new();
        for tool in &TOOLS {
            let set = tool
                .variables
                .iter()
                .filter_map(|(name, inside)| Some(folder_of(self.env, name)?.join(inside)));
            found.extend(set);
            if let Some(home) = self.home.as_ref().filter(|_| {
                self.tool.as_deref() == Some(tool.program) || is_installed(tool.program, path)
            }) {
                found.extend(tool.folders.iter().map(|folder| home.join(folder)));
            }
        }
        for folder in &found {
            // What cannot be made stays closed, and the tool could not make it either.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        found
    }
}

/// What is looked for in a folder that is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Folders, also behind links.
    Folders,
    /// Files too; links lead to what is found at its own place.
    Everything,
}

/// Opens a folder, or what is in it and not closed.
fn divide(folder: &Path, closed: &[PathBuf], want: Want, found: &mut Vec<PathBuf>) {
    if closed.iter().any(|closed| folder.starts_with(closed)) {
        return;
    }
    if !closed.iter().any(|closed| closed.starts_with(folder)) {
        found.push(folder.to_owned());
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        open_entry(&entry, closed, want, found);
    }
}

fn open_entry(entry: &DirEntry, closed: &[PathBuf], want: Want, found: &mut Vec<PathBuf>) {
    let path = entry.path();
    let Ok(kind) = entry.file_type() else {
        return;
    };
    if kind.is_symlink() {
        let target = path.canonicalize().ok().filter(|target| target.is_dir());
        let Some(target) = target.filter(|_| want == Want::Folders) else {
            return;
        };
        let is_near = |closed: &PathBuf| closed.starts_with(&target) || target.starts_with(closed);
        if !closed.contains(&path) && !closed.iter().any(is_near) {
            found.push(target);
        }
    } else if kind.is_dir() {
        divide(&path, closed, want, found);
    } else if want == Want::Everything && !closed.contains(&path) {
        found.push(path);
    }
}

/// Devices that programs may write to.
pub(super) fn devices() -> Vec<PathBuf> {
    let entries = fs::read_dir(DEV).into_iter().flatten().flatten();
    let is_open = |entry: &DirEntry| {
        let name = entry.file_name();
        let is_graphics = name.as_encoded_bytes().starts_with(GRAPHICS.as_bytes());
        is_graphics || DEVICES.iter().any(|known| name == *known)
    };
    // In containers some are links.
    let paths = entries
        .filter(is_open)
        .filter_map(|entry| entry.path().canonicalize().ok());
    let is_device = |path: &PathBuf| {
        let kind = path.metadata().map(|meta| meta.file_type());
        kind.is_ok_and(|kind| kind.is_char_device() || kind.is_dir())
    };
    paths.filter(is_device).collect()
}

/// What of places that may be read is no device; those are opened one by one.
pub(super) fn without_devices(mut places: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_file = |path: &Path| path.starts_with(SHARED_MEMORY) || !path.starts_with(DEV);
    places.retain(|path| is_file(path));
    places
}

/// Whether a program is there, by its path or its name.
pub(super) fn is_installed(program: &str, path: &OsStr) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

fn value_of<'e>(env: &'e [(OsString, OsString)], name: &str) -> Option<&'e OsStr> {
    let variable = env.iter().find(|(known, _)| known == name);
    variable.map(|(_, value)| value.as_os_str())
}

/// A folder that a variable names by its whole path.
fn folder_of(env: &[(OsString, OsString)], name: &str) -> Option<PathBuf> {
    let path = value_of(env, name).map(PathBuf::from)?;
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests;
