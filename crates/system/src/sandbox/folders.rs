//! Finds what of a user's home folder may be written to and read.
//!
//! What has to stay closed may lie within what is open. The kernel knows no exceptions, so such a folder is
//! divided: what is in it is opened one by one, around what stays closed.

mod autorun;
mod devices;
mod divide;
mod keys;

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use self::divide::{DividedEntries, divide, open_entry};
use pleach_driver::KNOWN_AGENTS;

use super::SandboxInput;
use super::places::{
    CLOSED_AMONG_AGENTS, MOVED, OPEN_BY_NAME, OPENED_BY_NAME, RUN_BY_THEMSELVES, RUN_ONCE_THERE,
    SHARED, TOOLS, XDG, folders_of_tools, steering_folders,
};

use crate::files::stored_path::StoredPath;

pub(super) use devices::{devices, without_devices};
pub use keys::keys_but;

const CACHE: &str = ".cache";

/// The only variable that names several files of keys.
const LIST_OF_KEYS: &str = "KUBECONFIG";

/// What can be done about something closed in a folder that has to stay open as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClosingMethod {
    /// It is hidden behind something empty.
    Hiding,
    /// Nothing but to open what is beside it one by one.
    Dividing,
}

/// The user, as far as programs know: by their environment.
pub(super) struct User<'e> {
    env: &'e [(OsString, OsString)],
    /// What the user's own programs know besides; it says what is closed, never what is open.
    own_env: Vec<(OsString, OsString)>,
    /// The same as `moved`, for the user's own programs.
    own_moved: Vec<(&'static str, PathBuf)>,
    home: Option<PathBuf>,
    /// Where programs find folders that have a variable, by their names in the home folder.
    moved: Vec<(&'static str, PathBuf)>,
    /// What is Pleach's own.
    state: PathBuf,
    /// What else is neither written to nor read.
    closed: Vec<PathBuf>,
    checkout: Vec<PathBuf>,
    /// A tool that is there, whatever its program is called.
    tool: Option<String>,
    /// Stores of packages that agents have others for.
    stores: Vec<PathBuf>,
    means: ClosingMethod,
    /// What is asked for several times and takes many looks at files.
    keys: OnceCell<Vec<PathBuf>>,
    runs_by_itself: OnceCell<Vec<PathBuf>>,
}

impl<'e> User<'e> {
    pub(super) fn new(env: &'e [(OsString, OsString)], input: &SandboxInput<'_>) -> Self {
        let user = Self::at(env, input.state.path(), input.git.checkout.clone());
        let own_env: Vec<_> = std::env::vars_os().collect();
        Self {
            tool: input.tool.map(str::to_owned),
            own_moved: moved_by(&own_env, user.home.as_deref()),
            own_env,
            ..user
        }
    }

    pub(super) fn at(
        env: &'e [(OsString, OsString)],
        state: &Path,
        checkout: Vec<PathBuf>,
    ) -> Self {
        let home = folder_of(env, "HOME").and_then(|path| path.canonicalize().ok());
        let home = home.filter(|home| home.is_dir());
        Self {
            env,
            own_env: Vec::new(),
            own_moved: Vec::new(),
            moved: moved_by(env, home.as_deref()),
            home,
            state: state.to_owned(),
            closed: Vec::new(),
            checkout,
            tool: None,
            stores: Vec::new(),
            means: ClosingMethod::Dividing,
            keys: OnceCell::new(),
            runs_by_itself: OnceCell::new(),
        }
    }

    /// The same with stores of packages that are closed, by these means.
    pub(super) fn closing(self, stores: Vec<PathBuf>, means: ClosingMethod) -> Self {
        Self {
            stores,
            means,
            ..self
        }
    }

    /// The same with more that is closed, as far as it is there.
    pub(super) fn without(mut self, closed: &[StoredPath]) -> Self {
        let real = closed
            .iter()
            .flat_map(|StoredPath(path)| path.canonicalize());
        self.closed.extend(real);
        self
    }

    /// Caches and state folders of tools and agents; those that a tool would make are made.
    pub(super) fn caches(&self) -> Vec<PathBuf> {
        let closed = self.never_written();
        let (tools, files) = self.places_of_tools();
        let mut found = Vec::new();
        let mut closed_here = closed.clone();
        closed_here.extend(self.inside(OPENED_BY_NAME));
        closed_here.extend(self.inside(&[".local/share", ".local/state"]));
        if let Some(home) = &self.home {
            let entries = fs::read_dir(home).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_name().as_encoded_bytes()[0] == b'.') {
                open_entry(&entry, &closed_here, DividedEntries::Folders, &mut found);
            }
        }
        let by_name = folders_of_tools().filter(|place| {
            let is_there = |named: &&str| Path::new(place).starts_with(named);
            OPENED_BY_NAME.iter().any(is_there)
        });
        let by_name = by_name.chain(OPEN_BY_NAME.iter().copied());
        let by_name = by_name.filter_map(|place| self.place(place));
        let elsewhere = self.place(CACHE).into_iter().chain(tools).chain(by_name);
        // Somebody may have made a link of one that leads out of what is open.
        for path in elsewhere.flat_map(|path| path.canonicalize()) {
            let is_open = found.iter().any(|open| path.starts_with(open));
            let holds_home = self.home.iter().any(|home| home.starts_with(&path));
            if path.is_dir() && !is_open && !holds_home {
                divide(&path, &closed, DividedEntries::Folders, &mut found);
            }
        }
        let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|kind| kind.is_file());
        found.extend(files.into_iter().filter(is_file));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Everything but keys and what is Pleach's own.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let mut closed = self.keys().to_vec();
        closed.push(self.state.clone());
        closed.extend(self.closed.iter().cloned());
        let mut found = Vec::new();
        divide(
            Path::new("/"),
            &closed,
            DividedEntries::Everything,
            &mut found,
        );
        found
    }

    /// What is at a path that was opened by name; what is Pleach's own stays closed even there.
    pub(super) fn readable_below(&self, path: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut ours = self.closed.clone();
        ours.push(self.state.clone());
        divide(path, &ours, DividedEntries::Everything, &mut found);
        found
    }

    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// What is closed in folders that have to stay open as a whole, and is there.
    pub(super) fn hidden(&self) -> Vec<PathBuf> {
        let shared = self.shared();
        let is_shared = |path: &PathBuf| shared.iter().any(|shared| path.starts_with(shared));
        let mut closed = self.keys().to_vec();
        closed.extend(self.stores.iter().cloned());
        closed.extend(self.inside(CLOSED_AMONG_AGENTS));
        closed.retain(|path| is_shared(path) && path.exists());
        closed
    }

    fn never_written(&self) -> Vec<PathBuf> {
        let shared = self.shared();
        let is_shared = |path: &PathBuf| shared.iter().any(|shared| path.starts_with(shared));
        let mut closed = self.keys().to_vec();
        closed.extend(self.stores.iter().cloned());
        closed.extend_from_slice(self.runs_by_itself());
        closed.retain(|path| !is_shared(path));
        if self.means == ClosingMethod::Dividing {
            closed.extend(self.hidden());
        }
        closed.extend(self.inside(RUN_BY_THEMSELVES));
        let of_agents = KNOWN_AGENTS.iter().map(|agent| agent.home.programs);
        closed.extend(of_agents.flat_map(|programs| self.inside(programs)));
        let once_there = self.inside(RUN_ONCE_THERE).into_iter();
        closed.extend(once_there.filter(|path| path.exists()));
        closed.push(self.state.clone());
        closed.extend(self.closed.iter().cloned());
        closed.extend(self.checkout.iter().cloned());
        closed
    }

    pub(super) fn program_folders(&self) -> Vec<PathBuf> {
        let variables = self.env.iter().chain(&self.own_env);
        let paths = variables.filter(|(name, _)| name == "PATH");
        let folders = paths.flat_map(|(_, path)| std::env::split_paths(path));
        folders.filter(|folder| folder.is_absolute()).collect()
    }

    /// Where programs have to make files of any name.
    fn shared(&self) -> Vec<PathBuf> {
        let shared = steering_folders().map(|steering| steering.folder);
        self.inside(&shared.chain(SHARED.iter().copied()).collect::<Vec<_>>())
    }

    /// What a variable of any case names, of the program or of the user, apart from what holds the home folder.
    pub(super) fn named_by(&self, variable: &str) -> Vec<PathBuf> {
        let all = self.env.iter().chain(&self.own_env);
        let named = all.filter(|(name, _)| name.eq_ignore_ascii_case(variable));
        let named = named.flat_map(|(_, value)| std::env::split_paths(value));
        let mut found: Vec<PathBuf> = named.filter(|path| path.is_absolute()).collect();
        let real: Vec<PathBuf> = found.iter().flat_map(|path| path.canonicalize()).collect();
        found.extend(real);
        found.retain(|path| !self.home.iter().any(|home| home.starts_with(path)));
        found
    }

    /// Whether a program is on the `PATH`.
    pub(super) fn has(&self, program: &str) -> bool {
        is_installed(program, value_of(self.env, "PATH").unwrap_or_default())
    }

    /// Places of the home folder, also where a variable says that they are.
    pub(super) fn inside(&self, places: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for place in places {
            let at_home = self.home.iter().map(|home| home.join(place));
            found.extend(at_home);
            let moved = self.moved.iter().chain(&self.own_moved);
            let elsewhere = moved.filter_map(|(name, path)| {
                let inside = Path::new(place).strip_prefix(name).ok()?;
                Some(joined(path, inside))
            });
            found.extend(elsewhere);
        }
        // A link that leads to the place it stands for closes that as well. Most are not there, which one look tells.
        let there = found.iter().filter(|path| path.symlink_metadata().is_ok());
        let real: Vec<PathBuf> = there.filter_map(|path| path.canonicalize().ok()).collect();
        let behind: Vec<PathBuf> = real
            .into_iter()
            .filter(|path| !found.contains(path))
            .collect();
        found.extend(behind);
        found
    }

    /// Where programs look for a place of the home folder.
    pub(super) fn place(&self, place: &str) -> Option<PathBuf> {
        let moved = self.moved.iter().filter_map(|(name, path)| {
            let inside = Path::new(place).strip_prefix(name).ok()?;
            Some((name.len(), joined(path, inside)))
        });
        // The most special variable is meant.
        let moved = moved.max_by_key(|(length, _)| *length);
        let moved = moved.map(|(_, path)| path);
        moved.or_else(|| Some(self.home.as_ref()?.join(place)))
    }

    /// Where installed tools keep what is theirs, folders and files, made if it is not there yet.
    fn places_of_tools(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let path = value_of(self.env, "PATH").unwrap_or_default();
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        let is_used =
            |program: &str| self.tool.as_deref() == Some(program) || is_installed(program, path);
        for tool in TOOLS {
            let set = tool
                .variables
                .iter()
                .filter_map(|(name, inside)| Some(folder_of(self.env, name)?.join(inside)));
            folders.extend(set);
            if is_used(tool.program) {
                folders.extend(tool.folders.iter().filter_map(|place| self.place(place)));
                files.extend(tool.files.iter().filter_map(|place| self.place(place)));
            }
        }
        for agent in KNOWN_AGENTS {
            let set = agent.home.variable;
            folders.extend(set.and_then(|(name, _)| folder_of(self.env, name)));
            if is_used(agent.program) {
                let places = agent.home.folders.iter();
                folders.extend(places.filter_map(|place| self.place(place)));
            }
        }
        for folder in &folders {
            // What cannot be made stays closed, and the tool could not make it either.
            let _ = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        }
        for file in &files {
            // The same; one that is there stays as it is.
            let _ = File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(file);
        }
        (folders, files)
    }
}

/// Where variables say that folders are, by their names in the home folder.
fn moved_by(env: &[(OsString, OsString)], home: Option<&Path>) -> Vec<(&'static str, PathBuf)> {
    let xdg = XDG.iter().map(|(name, place)| (*name, "", *place));
    let agents = KNOWN_AGENTS.iter().filter_map(|agent| {
        let (name, inside) = agent.home.variable?;
        Some((name, inside, *agent.home.folders.first()?))
    });
    let all = xdg.chain(MOVED.iter().copied()).chain(agents);
    let moved = all.flat_map(|(name, inside, place)| {
        let value = value_of(env, name).unwrap_or_default();
        let folders: Vec<PathBuf> = match name {
            LIST_OF_KEYS => std::env::split_paths(value).collect(),
            _ => vec![value.into()],
        };
        // Many set one to `/dev/null` to have no such file.
        let is_place = |folder: &PathBuf| folder.is_absolute() && !folder.starts_with("/dev");
        let folders = folders.into_iter().filter(is_place);
        let folders = folders.filter_map(|folder| {
            // One that does not exist yet is there under its own name.
            let folder = folder.canonicalize().unwrap_or(folder);
            let holds_home = home.is_some_and(|home| home.starts_with(&folder));
            (!holds_home).then(|| (place, joined(&folder, Path::new(inside))))
        });
        folders.collect::<Vec<_>>()
    });
    moved.collect()
}

/// A path in a folder, or the folder itself, which may be a file: nothing is put behind that.
fn joined(folder: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() {
        folder.to_owned()
    } else {
        folder.join(inside)
    }
}

pub(super) fn is_installed(program: &str, path: &OsStr) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

pub(super) fn value_of<'e>(env: &'e [(OsString, OsString)], name: &str) -> Option<&'e OsStr> {
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
