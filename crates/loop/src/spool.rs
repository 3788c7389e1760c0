//! What the owner of a batch and our program on a node tell each other: files in a folder that both see.
//!
//! Each file has one writer, nothing is locked, and what counts is renamed in. No file is opened by a name before it
//! was seen in a listing, or announced: a network file system remembers for a while that a name was not there.

mod heartbeat;
mod order;
mod sealed;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use heartbeat::{Heartbeat, LogLengths, NodePhase};
pub(crate) use order::{
    NodePace, NodeWork, Orders, OrdersHead, UnitEnding, UnitOrder, UnitResult, UnitWork,
};

use sealed::{seal, unseal};

/// How both sides speak; another number is another language.
pub(crate) const PROTOCOL: u32 = 1;

/// How the files of snapshots are named, around their number.
const LIVE: &str = "live-";
const BUNDLE: &str = ".bundle";

/// More bytes than any of these files has, but for logs and bundles.
const LARGEST: u64 = 256 << 20;

/// What came of a unit, in its folder.
const RESULT: &str = "result.json";

/// What the owner wants a unit to do, as one byte that is written over in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    Go,
    Stop,
    StopAtOnce,
}

impl Control {
    const ALL: [Self; 3] = [Self::Go, Self::Stop, Self::StopAtOnce];

    fn byte(self) -> u8 {
        match self {
            Self::Go => b'g',
            Self::Stop => b's',
            Self::StopAtOnce => b'k',
        }
    }
}

/// The folder of what is given to the cluster at once.
#[derive(Debug, Clone)]
pub(crate) struct SubmissionFolder(PathBuf);

impl SubmissionFolder {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Makes it with its orders, which come last.
    pub(crate) fn write(&self, orders: &Orders) -> io::Result<()> {
        private_dir(&self.0)?;
        let last = orders.units.iter().map(|unit| unit.unit).max();
        let words = vec![Control::Go.byte(); last.unwrap_or_default() as usize];
        put(&self.0.join("control"), &words)?;
        put(&self.0.join("orders"), orders.text()?.as_bytes())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        // Under a name that nobody knows, nobody who comes late writes into it.
        let aside = self.0.with_extension("gone");
        fs::rename(&self.0, &aside)?;
        fs::remove_dir_all(aside)
    }

    /// Whether its orders are written; asked by their writer alone.
    pub(crate) fn has_orders(&self) -> bool {
        self.0.join("orders").exists()
    }

    pub(crate) fn orders(&self) -> io::Result<Orders> {
        let text = read(&self.0.join("orders"))?;
        Orders::parse(&text).ok_or(io::ErrorKind::InvalidData.into())
    }

    pub(crate) fn say(&self, unit: u32, word: Control) -> io::Result<()> {
        self.say_all(&[(unit, word)])
    }

    /// Says something to several units at the cost of one.
    pub(crate) fn say_all(&self, words: &[(u32, Control)]) -> io::Result<()> {
        let file = File::options().write(true).open(self.0.join("control"))?;
        for (unit, word) in words {
            file.write_all_at(&[word.byte()], place_of(*unit))?;
        }
        file.sync_data()
    }

    /// What was said to a unit last; nothing says to stop if the folder is gone.
    pub(crate) fn heard(&self, unit: u32) -> io::Result<Control> {
        let mut byte = [0];
        File::open(self.0.join("control"))?.read_exact_at(&mut byte, place_of(unit))?;
        let known = Control::ALL.into_iter().find(|word| word.byte() == byte[0]);
        known.ok_or(io::ErrorKind::InvalidData.into())
    }

    /// Lays down what a unit is to get and nobody else is to see.
    pub(crate) fn put_secrets(&self, unit: u32, text: &str) -> io::Result<()> {
        private_dir(&self.0)?;
        put(&self.secrets(unit), seal(text).as_bytes())
    }

    /// Takes it away, and returns it.
    pub(crate) fn take_secrets(&self, unit: u32) -> io::Result<String> {
        let place = self.secrets(unit);
        let text = read(&place)?;
        fs::remove_file(&place)?;
        let text = unseal(&text).ok_or(io::ErrorKind::InvalidData)?;
        Ok(text.to_owned())
    }

    fn secrets(&self, unit: u32) -> PathBuf {
        self.0.join(format!("secrets.{unit}"))
    }

    pub(crate) fn unit(&self, unit: u32) -> UnitFolder {
        UnitFolder(self.0.join(unit.to_string()))
    }

    /// The units that have begun, as a listing says it.
    pub(crate) fn begun(&self) -> io::Result<Vec<u32>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            let unit = name.to_str().and_then(|name| name.parse::<u32>().ok());
            found.extend(unit);
        }
        found.sort_unstable();
        Ok(found)
    }
}

fn place_of(unit: u32) -> u64 {
    u64::from(unit.saturating_sub(1))
}

/// What a node writes of one unit.
#[derive(Debug, Clone)]
pub(crate) struct UnitFolder(PathBuf);

impl UnitFolder {
    /// Takes the unit for whoever has this mark; false if somebody else has it.
    pub(crate) fn claim(&self, mark: &str) -> io::Result<bool> {
        private_dir(&self.0)?;
        let mut options = File::options();
        let made = options.write(true).create_new(true).mode(0o600);
        match made.open(self.0.join("claim")) {
            Ok(mut file) => {
                file.write_all(seal(mark).as_bytes())?;
                file.sync_all()?;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether whoever has this mark took it.
    pub(crate) fn is_claimed_by(&self, mark: &str) -> bool {
        let text = read(&self.0.join("claim")).unwrap_or_default();
        unseal(&text).is_some_and(|there| there == mark)
    }

    pub(crate) fn beat(&self, heartbeat: &Heartbeat) -> io::Result<()> {
        let mut options = File::options();
        // In place, so that nobody who has it open reads an older one for long.
        let file = options.write(true).create(true).truncate(false).mode(0o600);
        let file = file.open(self.0.join("heartbeat"))?;
        file.write_all_at(&heartbeat.line()?, 0)?;
        file.sync_data()
    }

    /// The first sign of life; nothing if there is none yet, or if it is being written.
    pub(crate) fn heartbeat(&self) -> Option<Heartbeat> {
        let names: Vec<_> = fs::read_dir(&self.0).ok()?.flatten().collect();
        let is_there = names.iter().any(|name| name.file_name() == "heartbeat");
        is_there.then(|| self.next_heartbeat())?
    }

    /// A later one, of which no listing has to say that it is there.
    pub(crate) fn next_heartbeat(&self) -> Option<Heartbeat> {
        Heartbeat::parse(&read(&self.0.join("heartbeat")).ok()?)
    }

    /// Puts the result there, after which nothing is written any more.
    pub(crate) fn put_result(&self, result: &UnitResult) -> io::Result<()> {
        put(&self.0.join(RESULT), seal_json(result)?.as_bytes())
    }

    /// What came of it; a heartbeat says that it is there.
    pub(crate) fn result(&self) -> io::Result<UnitResult> {
        unseal_json(&read(&self.0.join(RESULT))?)
    }

    /// Whether a result is there that no heartbeat announced, as a listing says it.
    pub(crate) fn has_result(&self) -> bool {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut names = entries.map(|entry| entry.file_name());
        names.any(|name| name == RESULT)
    }

    pub(crate) fn bundle(&self) -> PathBuf {
        self.0.join("work.bundle")
    }

    /// What an agent had made so far, when somebody looked for the n-th time.
    pub(crate) fn live_bundle(&self, number: u32) -> PathBuf {
        self.0.join(format!("{LIVE}{number}{BUNDLE}"))
    }

    /// All bundles that a listing shows, the last one first.
    pub(crate) fn bundles(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let numbered = entries.filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix(LIVE)?.strip_suffix(BUNDLE)?;
            number.parse().ok()
        });
        let mut numbers: Vec<u32> = numbered.collect();
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        let live = numbers.into_iter().map(|number| self.live_bundle(number));
        std::iter::once(self.bundle()).chain(live).collect()
    }

    pub(crate) fn put_bundle(&self, file: &Path) -> io::Result<()> {
        copy_whole(file, &self.bundle())
    }

    pub(crate) fn put_live_bundle(&self, number: u32, file: &Path) -> io::Result<()> {
        copy_whole(file, &self.live_bundle(number))
    }

    pub(crate) fn log(&self, role: &str) -> PathBuf {
        self.0.join(format!("{role}.log"))
    }
}

fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn seal_json(value: &impl Serialize) -> io::Result<String> {
    Ok(seal(&serde_json::to_string(value)?))
}

fn unseal_json<T: DeserializeOwned>(text: &[u8]) -> io::Result<T> {
    let text = unseal(text).ok_or(io::ErrorKind::InvalidData)?;
    Ok(serde_json::from_str(text)?)
}

/// Puts a file there as a whole.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = folder.join(format!(".{name}.{}", std::process::id()));
    let mut options = File::options();
    let made = options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = made.open(&aside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&aside, path)?;
    File::open(folder)?.sync_all()
}

/// Copies a file, which is whole when this is done.
fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let mut copy = options.open(to)?;
    io::copy(&mut File::open(from)?, &mut copy)?;
    copy.sync_all()
}

/// Opened anew each time: a network file system looks for news only then.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
