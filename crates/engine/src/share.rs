//! The folder that all machines of a cluster see: what lies where in it, and what of that nobody needs any more.
//!
//! Several installations may use one share, so that what is not known to be unused stays.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pleach_log::database::{Database, DatabaseError};
use pleach_system::files::stored_path::StoredPath;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::hash::hash;
use serde::{Deserialize, Serialize};

use crate::batch_record::ClusterSettings;

/// The folder of the programs of all builds that nodes run.
pub const PROGRAMS: &str = "bin";

/// The file in the folder of an installation that says where that is.
const OWNER: &str = "owner.json";

/// So many letters tell the folders of installations apart.
const HOME: usize = 12;

/// No first line of any orders has more bytes.
const LONGEST_HEAD: u64 = 16 << 20;

/// Where an installation is whose submissions are in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub host: String,
    /// The folder of its state, on that host.
    pub state: StoredPath,
}

/// The first line of the orders of a submission, as far as it says what that needs.
#[derive(Debug, Deserialize)]
struct OrdersNeed {
    project: LentFrom,
    program: StoredPath,
}

#[derive(Debug, Deserialize)]
struct LentFrom {
    depot: StoredPath,
}

/// What nobody needs any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    pub path: PathBuf,
    pub name: String,
    pub age: Option<Duration>,
}

/// What tells the submissions of this installation from those of others that use the same share.
pub fn home_name(state: &StateFolder) -> String {
    let parts = [
        host().into_bytes(),
        state.path().as_os_str().as_encoded_bytes().to_vec(),
    ];
    hash(parts)[..HOME].to_owned()
}

fn host() -> String {
    let host = rustix::system::uname();
    host.nodename().to_string_lossy().into_owned()
}

/// The folder whose objects nodes borrow.
pub fn depot(share: &Path, project: &str) -> PathBuf {
    share.join(project).join("depot.git")
}

/// Says in the folder of this installation where it is, for people who are on another machine.
pub fn introduce(home: &Path, state: &StateFolder) -> io::Result<()> {
    let owner = Owner {
        host: host(),
        state: StoredPath(state.path().to_owned()),
    };
    let text = serde_json::to_vec(&owner)?;
    let place = home.join(OWNER);
    if fs::read(&place).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let file = tempfile::NamedTempFile::new_in(home)?;
    fs::write(file.path(), text)?;
    file.persist(place)?;
    Ok(())
}

/// The other installations that have submissions on a share, as far as this user may know, with the numbers of their
/// batches.
pub fn others(share: &Path, state: &StateFolder) -> Vec<(Owner, BTreeSet<u32>)> {
    let own = home_name(state);
    let mut found = Vec::new();
    for home in homes(share).filter(|home| !home.ends_with(&own)) {
        let text = fs::read(home.join(OWNER)).unwrap_or_default();
        let batches = submissions(&home).unwrap_or_default().into_iter();
        let numbers = batches.filter_map(|at| {
            let name = at.file_name()?.to_str()?.split_once('-')?.0.to_owned();
            name.parse().ok()
        });
        let numbers: BTreeSet<u32> = numbers.collect();
        if let (Ok(owner), false) = (serde_json::from_slice(&text), numbers.is_empty()) {
            found.push((owner, numbers));
        }
    }
    found
}

/// What is left of this installation on all shares that it ever used, and what no installation there needs any more and
/// is older than it may be.
pub fn unused(
    state: &StateFolder,
    database: &Database,
    keep: Duration,
) -> Result<Vec<Unused>, DatabaseError> {
    let live: HashSet<String> = database.live_submissions()?.into_iter().collect();
    let mut found = Vec::new();
    for share in shares(database)? {
        let own = share.join(home_name(state));
        for folder in submissions(&own).unwrap_or_default() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if !live.contains(&*name) {
                found.push(unused_at(&folder, format!("submission {name}")));
            }
        }
        let gone: HashSet<PathBuf> = found.iter().map(|unused| unused.path.clone()).collect();
        // Whoever cannot be asked may need everything.
        let Ok(needed) = needed(&share, &gone) else {
            continue;
        };
        let depots = entries(&share).map(|project| project.join("depot.git"));
        let depots = depots.filter(|depot| depot.is_dir());
        let programs = entries(&share.join(PROGRAMS));
        for path in depots.chain(programs).filter(|path| !needed.contains(path)) {
            let name = path.strip_prefix(&share).unwrap_or(&path);
            let unused = unused_at(&path, name.display().to_string());
            if unused.age.is_some_and(|age| age >= keep) {
                found.push(unused);
            }
        }
    }
    Ok(found)
}

/// The shares that batches were given to clusters on.
fn shares(database: &Database) -> Result<BTreeSet<PathBuf>, DatabaseError> {
    #[derive(Deserialize)]
    struct Record {
        cluster: Option<ClusterSettings>,
    }
    let records = database.records_of_clusters()?;
    let records = records.iter().map(|text| serde_json::from_str(text));
    // One that cannot be read is that of a newer version, which clears up itself.
    let clusters = records.filter_map(|record: Result<Record, _>| record.ok()?.cluster);
    Ok(clusters.map(|cluster| cluster.share).collect())
}

/// Everything that submissions on a share refer to, but for those that go.
fn needed(share: &Path, gone: &HashSet<PathBuf>) -> io::Result<HashSet<PathBuf>> {
    let mut needed = HashSet::new();
    for home in homes(share) {
        for submission in submissions(&home)? {
            if gone.contains(&submission) {
                continue;
            }
            let mut head = Vec::new();
            let orders = fs::File::open(submission.join("orders"))?;
            BufReader::new(orders.take(LONGEST_HEAD)).read_until(b'\n', &mut head)?;
            let need: OrdersNeed = serde_json::from_slice(&head)?;
            needed.extend([need.project.depot.0, need.program.0]);
        }
    }
    Ok(needed)
}

/// The folders of installations on a share.
fn homes(share: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(share).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_name = name.len() == HOME && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name && path.is_dir()
    })
}

fn submissions(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(home)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn unused_at(path: &Path, name: String) -> Unused {
    let changed = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    Unused {
        path: path.to_owned(),
        name,
        age: changed.and_then(|changed| SystemTime::now().duration_since(changed).ok()),
    }
}
