//! Brings a repository that is known by its address: into a folder of the state folder, once, with the user's logins.
//!
//! Knows where clones are and whether somebody is at one; git is spoken to by `git/clone`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_git::git::{Address, Git, Logins, Store, StoreError};
use pleach_log::database::projects::CloneState;
use pleach_system::state_folder::{LockedFile, StateFolder, private_folder, try_lock};
use pleach_system::text::causes::with_causes;

use super::projects::put;
use super::{Board, BoardError};

/// Ways to a repository that only name a place.
const WAYS: [&str; 5] = ["https", "http", "ssh", "git", "file"];

/// How long a look at a clone may keep others from beginning it.
const LOOK: Duration = Duration::from_millis(5);
const MOST_LOOKS: u32 = 20;

#[derive(Debug)]
pub struct Cloning {
    state: StateFolder,
    /// As it was given, perhaps with a login; it is used and not kept.
    given: String,
    url: String,
    folder: PathBuf,
    id: String,
    /// Held as long as somebody is at it.
    lock: Option<LockedFile>,
}

impl Cloning {
    pub(super) fn to(state: &StateFolder, url: &str) -> Result<Self, BoardError> {
        let refused = |message: String| BoardError::field("url", "bad_url", message);
        let (address, _) = Address::parse(url).map_err(|error| refused(error.to_string()))?;
        if !names_a_place(address.as_str()) {
            return Err(refused(
                "unsupported address; use https, http, ssh, git, file or user@host:path".into(),
            ));
        }
        // A token may hide there, and no server of repositories needs it.
        if address.http_host().is_some() && address.as_str().contains(['?', '#']) {
            return Err(refused("the address has a query or a fragment".into()));
        }
        let clones = clones(state);
        private_folder(&clones)?;
        let folder = Store::clone_folder(&clones, &address);
        Ok(Self {
            state: state.clone(),
            given: url.to_owned(),
            url: address.as_str().to_owned(),
            id: Store::name_of_clone(&folder),
            folder,
            lock: None,
        })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn is_here(&self) -> bool {
        self.folder.join(".git").exists()
    }

    /// Takes the clone into one's own hands; none if somebody else is at it.
    pub(super) fn begin(&self) -> Result<Option<LockedFile>, BoardError> {
        let lock = lock_path(&self.folder);
        for _ in 0..MOST_LOOKS {
            let taken = try_lock(&lock).map_err(StoreError::io("lock", &lock))?;
            if taken.is_some() {
                return Ok(taken);
            }
            // Whoever merely looks whether somebody is at it holds it for a moment.
            std::thread::sleep(LOOK);
        }
        Ok(None)
    }

    pub(super) fn holding(mut self, lock: LockedFile) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Clones, which may take long, and notes how it ended.
    pub fn run(self, logins: &Logins) -> Result<(), BoardError> {
        let cloned = self.bring(logins);
        let state = match &cloned {
            Ok(()) => CloneState::Ready,
            Err(error) => CloneState::Failed(match error.hint() {
                Some(hint) => format!("{}; {hint}", with_causes(error)),
                None => with_causes(error),
            }),
        };
        let mut board = Board::open(&self.state)?;
        board
            .database
            .change_boards(|tables| -> Result<(), BoardError> {
                let Some(mut row) = tables.project(&self.id)? else {
                    return Ok(());
                };
                row.clone = state;
                put(tables, &row)
            })?;
        cloned
    }

    fn bring(&self, logins: &Logins) -> Result<(), BoardError> {
        if self.is_here() {
            return Ok(());
        }
        Store::clone_into(Git::find()?, &self.folder, &self.given, logins)?;
        Ok(())
    }
}

fn clones(state: &StateFolder) -> PathBuf {
    state.path().join("clones")
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}

pub(super) fn is_under_way(state: &StateFolder, folder: &Path) -> bool {
    folder.starts_with(clones(state)) && matches!(try_lock(&lock_path(folder)), Ok(None))
}

pub(super) fn name_in(url: &str) -> Option<String> {
    let (address, _) = Address::parse(url).ok()?;
    let name = address.name();
    Some(name.file_stem()?.to_string_lossy().into_owned())
}

fn names_a_place(address: &str) -> bool {
    match address.split_once("://") {
        Some((scheme, _)) => WAYS.contains(&scheme),
        // Git takes it for a host unless a slash comes first.
        None => address.split_once(':').is_some_and(|(host, path)| {
            !host.is_empty() && !host.contains('/') && !path.is_empty()
        }),
    }
}
