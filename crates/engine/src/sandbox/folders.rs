//! Finds what of a user's home folder may be written to and read.
//!
//! What has to stay closed may lie within what is open. The kernel knows no exceptions, so such a folder is
//! divided: what is in it is opened one by one, around what stays closed.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, DirEntry, File};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::Room;
use super::agent_settings::Places;
use super::places::{
    AGENTS, CACHES_AMONG_PROGRAMS, KEYS, MOVED, OPEN_BY_NAME, OPENED_BY_NAME, REGISTRY_LOGINS,
    RUN_BY_THEMSELVES, START_FILES, TOOLS, XDG,
};
use super::start_files::StartFiles;
use crate::process::SHARED_MEMORY;

/// The folder of all caches.
const CACHE: &str = ".cache";

/// Nobody has more programs in a folder.
const MOST_PROGRAMS: usize = 4096;

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
    /// What the user's own programs know besides; it says what is closed, never what is open.
    own_env: Vec<(OsString, OsString)>,
    /// The same as `moved`, for the user's own programs.
    own_moved: Vec<(&'static str, PathBuf)>,
    home: Option<PathBuf>,
    /// Where programs find folders that have a variable, by their names in the home folder.
    moved: Vec<(&'static str, PathBuf)>,
    /// What is Pleach's own.
    state: PathBuf,
    /// The user's checkout and its git folder.
    checkout: Vec<PathBuf>,
    /// A tool that is there, whatever its program is called.
    tool: Option<String>,
    /// What is asked for several times and takes many looks at files.
    keys: OnceCell<Vec<PathBuf>>,
    runs_by_itself: OnceCell<Vec<PathBuf>>,
}

impl<'e> User<'e> {
    pub(super) fn of(env: &'e [(OsString, OsString)], room: &Room<'_>) -> Self {
        let checkout = room.store.checkout().ok();
        let checkout = checkout.into_iter().flat_map(|checkout| {
            let top = checkout.top().map(Path::to_owned);
            [Some(checkout.common_dir.clone()), top]
        });
        let user = Self::at(env, room.state.path(), checkout.flatten().collect());
        let own_env: Vec<_> = std::env::vars_os().collect();
        Self {
            tool: room.tool.map(str::to_owned),
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
            checkout,
            tool: None,
            keys: OnceCell::new(),
            runs_by_itself: OnceCell::new(),
        }
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
                open_entry(&entry, &closed_here, Want::Folders, &mut found);
            }
        }
        let by_name = TOOLS.iter().flat_map(|tool| tool.folders).copied();
        let by_name = by_name.filter(|place| {
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
                divide(&path, &closed, Want::Folders, &mut found);
            }
        }
        let is = |path: &PathBuf, wanted: fn(&fs::Metadata) -> bool| {
            path.symlink_metadata().is_ok_and(|kind| wanted(&kind))
        };
        let among = self.inside(CACHES_AMONG_PROGRAMS).into_iter();
        found.extend(among.filter(|path| is(path, fs::Metadata::is_dir)));
        found.extend(
            files
                .into_iter()
                .filter(|path| is(path, fs::Metadata::is_file)),
        );
        found
    }

    /// Everything but keys and what is Pleach's own.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let mut closed = self.keys().to_vec();
        closed.push(self.state.clone());
        let mut found = Vec::new();
        divide(Path::new("/"), &closed, Want::Everything, &mut found);
        found
    }

    /// What is at a path that was opened by name; what is Pleach's own stays closed even there.
    pub(super) fn readable_below(&self, path: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let ours = std::slice::from_ref(&self.state);
        divide(path, ours, Want::Everything, &mut found);
        found
    }

    /// The home folder, if there is one.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where keys are.
    pub(super) fn keys(&self) -> &[PathBuf] {
        self.keys.get_or_init(|| self.inside(KEYS))
    }

    /// Logins for private servers of packages, as far as there are any.
    pub(super) fn registry_logins(&self) -> Vec<PathBuf> {
        let logins = self.inside(REGISTRY_LOGINS).into_iter();
        logins.filter(|path| path.is_file()).collect()
    }

    fn never_written(&self) -> Vec<PathBuf> {
        let mut closed = self.keys().to_vec();
        closed.extend(self.inside(RUN_BY_THEMSELVES));
        closed.push(self.state.clone());
        closed.extend(self.checkout.iter().cloned());
        let shared = self.shared();
        let is_shared = |path: &PathBuf| shared.iter().any(|shared| path.starts_with(shared));
        let runs = self.runs_by_itself().iter();
        closed.extend(runs.filter(|path| !is_shared(path)).cloned());
        closed
    }

    /// Programs on the `PATH`, and what files of shells name.
    fn runs_by_itself(&self) -> &[PathBuf] {
        self.runs_by_itself.get_or_init(|| self.find_what_runs())
    }

    /// Where programs are looked for by their names.
    pub(super) fn program_folders(&self) -> Vec<PathBuf> {
        let variables = self.env.iter().chain(&self.own_env);
        let paths = variables.filter(|(name, _)| name == "PATH");
        let folders = paths.flat_map(|(_, path)| std::env::split_paths(path));
        folders.filter(|folder| folder.is_absolute()).collect()
    }

    fn find_what_runs(&self) -> Vec<PathBuf> {
        let Some(home) = &self.home else {
            return Vec::new();
        };
        let mut found = self.program_folders();
        let all = || self.env.iter().chain(&self.own_env);
        let variables = all().filter_map(|(name, value)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        });
        let mut files = StartFiles::new(home, variables);
        for file in self.inside(START_FILES) {
            files.read(&file);
        }
        found.extend(files.found());
        let real: Vec<PathBuf> = found.iter().flat_map(|path| path.canonicalize()).collect();
        for folder in real.iter().filter(|folder| folder.starts_with(home)) {
            found.extend(linked_programs(folder, home));
        }
        found.extend(real);
        found.sort_unstable();
        found.dedup();
        // Somebody's variable may name the home folder itself, or all caches.
        let tools = TOOLS.iter().flat_map(|tool| tool.folders).copied();
        let tools: Vec<PathBuf> = tools.filter_map(|place| self.place(place)).collect();
        let holds_tools = |path: &PathBuf| {
            let mut tools = tools.iter();
            tools.any(|tool| tool != path && tool.starts_with(path))
        };
        found.retain(|path| !home.starts_with(path) && !holds_tools(path));
        found
    }

    /// Where programs have to make files of any name, so that nothing in there can be closed.
    fn shared(&self) -> Vec<PathBuf> {
        let shared = AGENTS.iter().map(|agent| agent.folder).chain([CACHE]);
        self.inside(&shared.collect::<Vec<_>>())
    }

    /// What runs by itself or steers agents, and can be written to all the same: folders, each with places in it.
    pub(super) fn watched(&self) -> Places {
        let mut watched = Places::new();
        for agent in AGENTS {
            let folders = self.inside(&[agent.folder]).into_iter();
            for folder in folders.flat_map(|folder| folder.canonicalize()) {
                let places = agent.steering.iter();
                let places: Vec<_> = places
                    .flat_map(|place| without_star(place, &folder))
                    .collect();
                let steering = watched.entry(folder).or_default();
                steering.places.extend(places);
                steering.own.extend(agent.own.iter().map(PathBuf::from));
            }
        }
        let shared = self.shared();
        for path in self.runs_by_itself() {
            for folder in shared.iter().flat_map(|folder| folder.canonicalize()) {
                if let Ok(inside) = path.strip_prefix(&folder) {
                    let steering = watched.entry(folder).or_default();
                    steering.places.insert(inside.to_owned());
                }
            }
        }
        watched
    }

    /// Places of the home folder, also where a variable says that they are.
    fn inside(&self, places: &[&str]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for place in places {
            let at_home = self.home.iter().map(|home| home.join(place));
            found.extend(at_home);
            let moved = self.moved.iter().chain(&self.own_moved);
            let elsewhere = moved.filter_map(|(name, path)| {
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

    /// Where programs look for a place of the home folder.
    fn place(&self, place: &str) -> Option<PathBuf> {
        let moved = self.moved.iter().filter_map(|(name, path)| {
            let inside = Path::new(place).strip_prefix(name).ok()?;
            Some((name.len(), path.join(inside)))
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
        for tool in TOOLS {
            let set = tool
                .variables
                .iter()
                .filter_map(|(name, inside)| Some(folder_of(self.env, name)?.join(inside)));
            folders.extend(set);
            if self.tool.as_deref() == Some(tool.program) || is_installed(tool.program, path) {
                folders.extend(tool.folders.iter().filter_map(|place| self.place(place)));
                files.extend(tool.files.iter().filter_map(|place| self.place(place)));
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
    let all = xdg.chain(MOVED.iter().copied());
    let moved = all.filter_map(|(name, inside, place)| {
        let folder = folder_of(env, name)?;
        // One that does not exist yet is there under its own name.
        let folder = folder.canonicalize().unwrap_or(folder);
        let holds_home = home.is_some_and(|home| home.starts_with(&folder));
        let folder = if inside.is_empty() {
            folder
        } else {
            folder.join(inside)
        };
        (!holds_home).then_some((place, folder))
    });
    moved.collect()
}

/// A place of an agent's folder for each that its star stands for.
fn without_star(place: &str, folder: &Path) -> Vec<PathBuf> {
    let Some((above, inside)) = place.split_once("/*/") else {
        return vec![place.into()];
    };
    let entries = fs::read_dir(folder.join(above)).into_iter().flatten();
    let places = entries
        .flatten()
        .map(|entry| Path::new(above).join(entry.file_name()).join(inside));
    places.collect()
}

/// Where the programs are that links in a folder lead to, within the home folder.
fn linked_programs(folder: &Path, home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.take(MOST_PROGRAMS).filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_symlink())
    });
    let targets = links.flat_map(|link| link.path().canonicalize());
    let mut found: Vec<PathBuf> = targets
        .filter(|target| target.starts_with(home))
        .map(|target| program_folder(&target).to_owned())
        .collect();
    found.dedup();
    found
}

/// The folder of a program with what it loads.
fn program_folder(program: &Path) -> &Path {
    let is = |path: &Path, name: &str| path.file_name().is_some_and(|known| known == name);
    let modules = program
        .ancestors()
        .filter(|above| is(above, "node_modules"));
    if let Some(modules) = modules.last() {
        return modules;
    }
    let folder = program.parent().unwrap_or(program);
    match folder.parent() {
        Some(above) if is(folder, "bin") || is(folder, "sbin") => above,
        _ => folder,
    }
}

/// Where the keys of whoever runs Pleach are, but for some.
pub(crate) fn keys_but(open: &[&str]) -> Vec<PathBuf> {
    let env: Vec<_> = std::env::vars_os().collect();
    let closed = KEYS.iter().filter(|key| !open.contains(key));
    let closed: Vec<&str> = closed.copied().collect();
    User::at(&env, Path::new(""), Vec::new()).inside(&closed)
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
    // Links lead anywhere, but only folders are looked for behind them.
    let below = match want {
        Want::Folders => closed.to_vec(),
        Want::Everything => closed
            .iter()
            .filter(|path| path.starts_with(folder))
            .cloned()
            .collect(),
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        open_entry(&entry, &below, want, found);
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
