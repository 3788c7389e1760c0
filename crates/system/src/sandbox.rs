//! What holds setup, agents and tests: where they may write, and what they may not even read.
//!
//! Decides and describes; the wrapper carries it out. Knows nothing of tasks or batches.

mod agent_settings;
mod elsewhere;
mod folders;
mod gaps;
mod isolation;
mod mounts;
mod no_sandbox;
mod package_settings;
mod places;
mod probe;
mod refusals;
mod sockets;
mod start_files;
mod stores;
mod temporary;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::stored_path::StoredPath;
use crate::process::{
    HiddenFiles, Isolation, ProcessSpec, TERMINALS, can_isolate, can_refuse_calls, can_refuse_tcp,
    is_available, refusable_calls,
};
use crate::state_folder::StateFolder;
use crate::text::last_line::tail;
use crate::text::placeholder::{TemplatePart, template_parts};
use pleach_domain::choice::{NetworkChoice, SandboxChoice};

use self::agent_settings::SettingsWatch;
use self::folders::{ClosingMethod, User};
use self::isolation::OpenedPaths;
use self::refusals::RefusalContext;
use self::temporary::TemporaryFolder;

pub use crate::process::Confinement;
pub use agent_settings::clear_replaced;
pub use folders::keys_but;
pub use gaps::{Gap, gaps};
pub use no_sandbox::NoSandbox;
pub use probe::ProbeSandbox;
pub use temporary::clear as clear_temporary_files;

/// The place in a wrapper's words that becomes the path of the worktree.
const WORKTREE: &str = "worktree";

const TMPDIR: &str = "TMPDIR";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPolicy {
    choice: SandboxChoice,
    /// Where they may write besides.
    write: Vec<StoredPath>,
    /// What they may read although it is closed.
    #[serde(default)]
    read: Vec<StoredPath>,
    #[serde(default)]
    network: NetworkChoice,
    /// Whether nothing holds them only because the kernel has nothing for it.
    #[serde(default)]
    is_makeshift: bool,
    /// Whether somebody asked for what holds them.
    #[serde(default)]
    is_wish: bool,
    /// What they may neither write to nor read besides.
    #[serde(default)]
    closed: Vec<StoredPath>,
}

/// Batches of versions that knew no sandbox had none.
impl Default for SandboxPolicy {
    fn default() -> Self {
        Self {
            choice: SandboxChoice::None,
            write: Vec::new(),
            read: Vec::new(),
            network: NetworkChoice::Open,
            is_makeshift: false,
            is_wish: true,
            closed: Vec::new(),
        }
    }
}

impl SandboxPolicy {
    /// What is wished for, or the best there is if nobody says.
    pub fn choose(wanted: Option<&SandboxChoice>, write: &[PathBuf]) -> Result<Self, NoSandbox> {
        let chosen = Self::choose_on(wanted, write, is_available())?;
        match wanted {
            Some(SandboxChoice::Landlock | SandboxChoice::Strict) if !can_refuse_calls() => {
                let wanted = chosen.choice().word();
                Err(NoSandbox::NoFilter { wanted })
            }
            _ => Ok(chosen),
        }
    }

    fn choose_on(
        wanted: Option<&SandboxChoice>,
        write: &[PathBuf],
        has_landlock: bool,
    ) -> Result<Self, NoSandbox> {
        let choice = match wanted {
            None if has_landlock => SandboxChoice::Landlock,
            None => SandboxChoice::None,
            Some(wanted) => wanted.clone(),
        };
        match &choice {
            SandboxChoice::Landlock | SandboxChoice::Strict if !has_landlock => {
                let wanted = choice.word();
                return Err(NoSandbox::NoLandlock { wanted });
            }
            SandboxChoice::Wrapper(words) => {
                let program = words.first().map(String::as_str).unwrap_or_default();
                let path = std::env::var_os("PATH").unwrap_or_default();
                if !folders::is_installed(program, &path) {
                    let program = program.to_owned();
                    return Err(NoSandbox::NoWrapper { program });
                }
            }
            _ => {}
        }
        Ok(Self {
            is_makeshift: wanted.is_none() && !has_landlock,
            is_wish: wanted.is_some(),
            closed: Vec::new(),
            choice,
            network: NetworkChoice::Open,
            write: write.iter().cloned().map(StoredPath).collect(),
            read: Vec::new(),
        })
    }

    /// The same, with closed paths that may be read.
    #[must_use]
    pub fn reading(self, read: &[PathBuf]) -> Self {
        let read = read.iter().cloned().map(StoredPath).collect();
        Self { read, ..self }
    }

    /// The same without a network, if that is wished for and this system can do it; the program is our own.
    pub fn on_network(self, network: NetworkChoice, program: &Path) -> Result<Self, NoSandbox> {
        let is_open = network == NetworkChoice::Open;
        if is_open || can_isolate(program) || can_refuse_tcp() {
            return Ok(Self { network, ..self });
        }
        Err(NoSandbox::NoNetworkToTake)
    }

    pub fn choice(&self) -> &SandboxChoice {
        &self.choice
    }

    pub fn uses_landlock(&self) -> bool {
        matches!(self.choice, SandboxChoice::Landlock | SandboxChoice::Strict)
    }

    /// Its name: `landlock`, `strict`, `none`, or `wrapper: ` and a program.
    pub fn label(&self) -> String {
        match &self.choice {
            SandboxChoice::Wrapper(words) => {
                let program = words.first().map(String::as_str).unwrap_or_default();
                let name = Path::new(program).file_name().and_then(OsStr::to_str);
                format!("wrapper: {}", name.unwrap_or(program))
            }
            choice => choice.word().to_owned(),
        }
    }

    /// Everything that the end of a program may depend on.
    pub fn parts(&self) -> Vec<OsString> {
        let paths = |paths: &[StoredPath]| -> Vec<OsString> {
            paths
                .iter()
                .map(|StoredPath(path)| path.clone().into())
                .collect()
        };
        let mut parts = vec![self.label().into()];
        parts.extend(paths(&self.write));
        if !self.read.is_empty() {
            // No path is empty, so that these are no paths to write to.
            parts.push(OsString::new());
            parts.extend(paths(&self.read));
        }
        if self.network == NetworkChoice::None {
            parts.push("without a network".into());
        }
        parts
    }

    pub fn description(&self) -> String {
        let label = self.label();
        match &self.choice {
            SandboxChoice::None if self.is_makeshift => {
                format!("{label}: this kernel has no Landlock; agents can do whatever you can")
            }
            SandboxChoice::None => format!("{label}: agents can do whatever you can"),
            SandboxChoice::Landlock => {
                format!("{label}: agents can write only to worktrees, caches and temporary files")
            }
            SandboxChoice::Strict => {
                format!("{label}: agents can write only to worktrees and temporary files")
            }
            SandboxChoice::Wrapper(_) => label,
        }
    }

    /// Prepares to hold what is run in a worktree, and tells the programs by their environment.
    pub fn apply(
        &self,
        input: &SandboxInput<'_>,
        env: &mut Vec<(OsString, OsString)>,
    ) -> io::Result<Sandbox> {
        let mut notes = Vec::new();
        let can_isolate = can_isolate(input.program);
        let network = isolation::network(self.network, can_isolate, &mut notes);
        let mut hidden = None;
        let backend = match &self.choice {
            SandboxChoice::None => {
                if self.is_makeshift {
                    notes.push("not sandboxed: this kernel has no Landlock".to_owned());
                }
                SandboxBackend::None
            }
            SandboxChoice::Wrapper(words) => SandboxBackend::Wrapper(
                words
                    .iter()
                    .map(|word| filled(word, input.worktree))
                    .collect(),
            ),
            SandboxChoice::Landlock | SandboxChoice::Strict => {
                let means = if can_isolate {
                    ClosingMethod::Hiding
                } else {
                    ClosingMethod::Dividing
                };
                let (landlock, found) = self.landlock(input, env, means, &mut notes)?;
                notes.extend(gaps(input.program).into_iter().map(|gap| gap.message));
                hidden = found;
                landlock
            }
        };
        let isolation = Isolation {
            network,
            hidden,
            calls: refusable_calls(),
        };
        Ok(Sandbox {
            backend,
            isolation,
            notes,
        })
    }

    /// What the kernel holds programs by, and what is hidden from them if anything can be.
    fn landlock(
        &self,
        input: &SandboxInput<'_>,
        env: &mut Vec<(OsString, OsString)>,
        means: ClosingMethod,
        notes: &mut Vec<String>,
    ) -> io::Result<(SandboxBackend, Option<HiddenFiles>)> {
        let temporary = TemporaryFolder::make(input.state)?;
        env.retain(|(name, _)| name != TMPDIR);
        env.push((TMPDIR.into(), temporary.path().into()));
        let write = named("sandbox_write", &self.write, notes);
        let read = named("sandbox_read", &self.read, notes);
        let opened = OpenedPaths {
            write: &write,
            read: &read,
            network: self.network,
        };
        let before = env.clone();
        let user = User::new(&before, input);
        package_settings::copy(env, &user, &[&*write, &*read].concat(), temporary.path());
        let stores = match self.choice {
            SandboxChoice::Landlock => stores::replace(env, &user, &write),
            // It writes to none.
            _ => Vec::new(),
        };
        let user = User::new(env, input).closing(stores, means);
        let user = user.without(&self.closed);
        let mut confinement = self.confinement(input, &user, temporary.path(), &opened);
        let watch = self.watch(&user, &confinement, input, notes)?;
        let hidden = (means == ClosingMethod::Hiding).then(|| {
            // Those of its own alone, once it is kept apart.
            confinement.write.push(TERMINALS.into());
            isolation::hidden(input, &user, temporary.path(), &opened)
        });
        let backend = SandboxBackend::Landlock {
            confinement,
            watch,
            keys: user.keys().to_vec(),
            logins: user.registry_logins(),
            word: self.choice.word(),
            ours: input.state.path().to_owned(),
            _temporary: temporary,
        };
        Ok((backend, hidden))
    }

    /// Notes what steers agents in their own folders, where these are open at all.
    fn watch(
        &self,
        user: &User<'_>,
        confinement: &Confinement,
        input: &SandboxInput<'_>,
        notes: &mut Vec<String>,
    ) -> io::Result<Option<SettingsWatch>> {
        if self.choice != SandboxChoice::Landlock {
            return Ok(None);
        }
        let mut places = user.watched();
        places.retain(|folder, _| is_open_in_part(confinement, folder));
        let (watch, put_back) = SettingsWatch::begin(input.state, input.worktree, &places)?;
        notes.extend(put_back);
        Ok(Some(watch))
    }

    fn confinement(
        &self,
        input: &SandboxInput<'_>,
        user: &User<'_>,
        temporary: &Path,
        opened: &OpenedPaths<'_>,
    ) -> Confinement {
        let mut write = vec![input.worktree.to_owned(), temporary.to_owned()];
        write.extend(folders::devices());
        if self.choice == SandboxChoice::Landlock {
            write.push(input.git.folder.clone());
            write.extend(user.caches());
        }
        write.extend_from_slice(opened.write);
        let mut read = folders::without_devices(user.readable());
        for path in opened.read {
            read.extend(user.readable_below(path));
        }
        read.push(input.git.folder.clone());
        read.extend(input.git.objects.iter().cloned());
        read.extend(input.read.iter().map(|path| (*path).to_owned()));
        Confinement { write, read }
    }
}

/// Whether anything of a folder can be written to; one that holds something closed is opened piece by piece.
fn is_open_in_part(confinement: &Confinement, folder: &Path) -> bool {
    let mut open = confinement.write.iter();
    open.any(|open| folder.starts_with(open) || open.starts_with(folder))
}

/// What a key names, as far as it is there.
fn named(key: &str, paths: &[StoredPath], notes: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for StoredPath(path) in paths {
        match path.canonicalize() {
            Ok(path) => found.push(path),
            Err(_) => notes.push(format!(
                "{key} lists {}, which does not exist; it stays closed",
                path.display()
            )),
        }
    }
    found
}

fn filled(word: &str, worktree: &Path) -> OsString {
    let mut filled = OsString::new();
    for piece in template_parts(word) {
        match piece {
            TemplatePart::Placeholder { name: WORKTREE, .. } => filled.push(worktree),
            TemplatePart::Placeholder { written: text, .. } | TemplatePart::Text(text) => {
                filled.push(text);
            }
        }
    }
    filled
}

#[derive(Debug)]
pub struct GitPlaces {
    pub checkout: Vec<PathBuf>,
    pub objects: Vec<PathBuf>,
    pub folder: PathBuf,
}

/// The programs to sandbox: where they run, and what they need.
#[derive(Debug, Clone, Copy)]
pub struct SandboxInput<'a> {
    pub git: &'a GitPlaces,
    pub state: &'a StateFolder,
    pub worktree: &'a Path,
    /// Files of ours that they have to read.
    pub read: &'a [&'a Path],
    /// The tool whose folders they need, whatever its program is called here.
    pub tool: Option<&'a str>,
    /// Pleach's own program.
    pub program: &'a Path,
}

/// What holds the programs that are run in one worktree, for as long as they run.
#[derive(Debug)]
pub struct Sandbox {
    backend: SandboxBackend,
    isolation: Isolation,
    pub notes: Vec<String>,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each attempt, and most are large"
)]
enum SandboxBackend {
    None,
    Wrapper(Vec<OsString>),
    Landlock {
        confinement: Confinement,
        /// What looks after the settings of agents.
        watch: Option<SettingsWatch>,
        /// What is not even read.
        keys: Vec<PathBuf>,
        /// Logins for private servers of packages.
        logins: Vec<PathBuf>,
        word: &'static str,
        /// What is Pleach's own, and opened to nobody.
        ours: PathBuf,
        _temporary: TemporaryFolder,
    },
}

impl Sandbox {
    pub fn confine(&self, mut spec: ProcessSpec) -> ProcessSpec {
        match &self.backend {
            SandboxBackend::None => {}
            SandboxBackend::Wrapper(words) => spec.argv = [words.clone(), spec.argv].concat(),
            SandboxBackend::Landlock { confinement, .. } => {
                spec.sandbox = Some(confinement.clone());
            }
        }
        spec.isolation = self.isolation.clone();
        spec
    }

    /// Puts back what steers agents and was changed, and tells of it.
    pub fn restore_agent_settings(&self) -> Vec<String> {
        match &self.backend {
            SandboxBackend::Landlock {
                watch: Some(watch), ..
            } => watch.compare(),
            _ => Vec::new(),
        }
    }

    /// What the program was refused, as far as what it printed tells.
    pub fn refusals(&self, log: &Path, worktree: &Path) -> Vec<String> {
        let SandboxBackend::Landlock {
            confinement,
            keys,
            logins,
            word,
            ours,
            ..
        } = &self.backend
        else {
            return Vec::new();
        };
        let look = RefusalContext {
            confinement,
            word,
            keys,
            logins,
            hidden: self.isolation.hidden.as_ref(),
            ours,
            folder: worktree,
        };
        look.refusals(&tail(log))
    }
}

#[cfg(test)]
mod tests;
