//! Reads an index file: what git had noted about each file when it wrote the index.
//!
//! Takes the bytes as they are, agents' own ones included, and knows nothing of the files themselves.

mod lookup;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pleach_system::files::plain_file::LARGEST_INDEX;
use rustix::fs::Stat;

pub(crate) use lookup::{EntryLookup, among, folder_of};

/// Files are dated by a clock that stands still for up to 10 ms.
pub(crate) const CLOCK_TICK: Duration = Duration::from_millis(10);

/// The kind of an entry and whether it may be executed, in git's own numbers.
pub(crate) const LINK: u32 = 0o120_000;
pub(crate) const GITLINK: u32 = 0o160_000;
const EXECUTABLE: u32 = 0o100;
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// More than any repository has files; a limit against forged numbers.
const MOST_BITS: usize = 1 << 22;

/// The fourth version leaves out what a path has in common with the one before, so that a forged index of a megabyte could
/// ask for gigabytes. Written out, paths take no more than so many times the index, and no more than an index may.
const MOST_SPREAD: usize = 16;

/// One file of an index, or of a tree where nobody has noted anything about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexEntry<'a> {
    pub(crate) path: Cow<'a, [u8]>,
    pub(crate) mode: u32,
    pub(crate) id: RawId,
    pub(crate) noted: Option<FileStamp>,
    pub(crate) place: usize,
    /// Whether its file is not meant to be there, as in a sparse checkout.
    pub(crate) is_skipped: bool,
}

/// The id of an object as an index holds it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawId {
    bytes: [u8; 32],
    size: usize,
}

impl RawId {
    fn of(bytes: &[u8]) -> Option<Self> {
        let mut id = Self {
            bytes: [0; 32],
            size: bytes.len(),
        };
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(id)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let pairs = text.as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        Self::of(&pairs.map(byte).collect::<Option<Vec<u8>>>()?)
    }
}

impl fmt::Display for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.bytes[..self.size].iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What a file was like when its content was last compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    changed: (u32, u32),
    written: (u32, u32),
    inode: u32,
    user: u32,
    group: u32,
    size: u32,
}

/// How a file stands to its entry, as far as that can be told without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    Same,
    /// Only its content can tell.
    Doubtful,
    /// It is of another kind, or may be executed now or no longer.
    Other,
}

impl IndexEntry<'_> {
    /// Compares with a file; `seen` is a moment after which the index saw no file any more.
    pub(crate) fn likeness(&self, file: &Stat, seen: SystemTime) -> Likeness {
        let kind = file.st_mode & KIND;
        if kind != self.mode & KIND || self.is_executable() != is_executable(file) {
            return Likeness::Other;
        }
        match self.noted {
            Some(noted) if noted == FileStamp::of(file) && noted.is_settled(seen) => Likeness::Same,
            _ if kind == REGULAR => Likeness::Doubtful,
            _ => Likeness::Other,
        }
    }

    fn is_executable(&self) -> bool {
        self.mode & KIND == REGULAR && self.mode & EXECUTABLE != 0
    }
}

fn is_executable(file: &Stat) -> bool {
    file.st_mode & KIND == REGULAR && file.st_mode & EXECUTABLE != 0
}

impl FileStamp {
    pub(crate) fn of(file: &Stat) -> Self {
        let stamp =
            |seconds: i64, nanoseconds: u64| (low(seconds.cast_unsigned()), low(nanoseconds));
        Self {
            changed: stamp(file.st_ctime, file.st_ctime_nsec),
            written: stamp(file.st_mtime, file.st_mtime_nsec),
            inode: low(file.st_ino),
            user: file.st_uid,
            group: file.st_gid,
            size: low(file.st_size.cast_unsigned()),
        }
    }

    /// Whether a later change of the file must have left a later time of change, which nobody can set.
    pub(crate) fn is_settled(&self, seen: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.changed;
        let changed = UNIX_EPOCH + Duration::new(seconds.into(), nanoseconds);
        // A file system that counts whole seconds, or pairs of them.
        let is_coarse = nanoseconds == 0 && self.written.1 == 0;
        let step = if is_coarse {
            Duration::from_secs(2)
        } else {
            CLOCK_TICK
        };
        changed + step < seen
    }
}

/// An index counts with 32 bits and keeps the lower ones.
fn low(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).expect("the upper bits are gone")
}

#[derive(Debug)]
pub(crate) struct Index<'a> {
    pub(crate) entries: Vec<IndexEntry<'a>>,
    /// The tree that all of it makes up, if git knew.
    pub(crate) tree: Option<RawId>,
    /// The other index that this one only changes.
    pub(crate) shared: Option<SharedIndex>,
    /// Whether some entries are whole folders, which only git can list.
    pub(crate) is_sparse: bool,
}

impl<'a> Index<'a> {
    /// Reads an index of files whose ids have that many bytes; `None` for anything that is not understood.
    pub(crate) fn parse(bytes: &'a [u8], id_size: usize) -> Option<Self> {
        Self::parse_any(bytes, id_size).filter(|index| !index.is_sparse)
    }

    pub(crate) fn parse_any(bytes: &'a [u8], id_size: usize) -> Option<Self> {
        // The sum at the end proves nothing: git leaves it out under `index.skipHash`, and an agent could compute it.
        let mut rest = ByteReader(bytes.get(..bytes.len().checked_sub(id_size)?)?);
        if rest.take(4)? != b"DIRC" {
            return None;
        }
        let version = rest.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let count = usize::try_from(rest.number()?).ok()?;
        // No entry is smaller, so that a forged number cannot ask for all the memory there is.
        let mut entries: Vec<IndexEntry<'a>> = Vec::with_capacity(count.min(bytes.len() / 62));
        let largest = usize::try_from(LARGEST_INDEX).unwrap_or(usize::MAX);
        let mut room = bytes.len().saturating_mul(MOST_SPREAD).min(largest);
        for _ in 0..count {
            let before = entries.last().map_or(&[][..], |entry| &entry.path[..]);
            let place = bytes.len() - id_size - rest.0.len();
            let entry = rest.entry(version, id_size, before)?;
            room = room.checked_sub(entry.path.len())?;
            entries.push(IndexEntry { place, ..entry });
        }
        let (mut tree, mut shared, mut is_sparse) = (None, None, false);
        while !rest.0.is_empty() {
            let name = rest.take(4)?;
            let size = usize::try_from(rest.number()?).ok()?;
            let data = rest.take(size)?;
            match name {
                b"TREE" => tree = root_tree(data, id_size),
                b"link" => shared = Some(SharedIndex::parse(data, id_size)?),
                b"sdir" => is_sparse = true,
                _ => {}
            }
        }
        Some(Self {
            entries,
            tree,
            shared,
            is_sparse,
        })
    }
}

/// Half of an index that lies in a file of its own.
#[derive(Debug)]
pub(crate) struct SharedIndex {
    pub(crate) id: RawId,
    /// The positions of its entries that do not count any more.
    pub(crate) deleted: HashSet<usize>,
}

impl SharedIndex {
    fn parse(data: &[u8], id_size: usize) -> Option<Self> {
        let mut rest = ByteReader(data);
        let id = RawId::of(rest.take(id_size)?)?;
        let deleted = if rest.0.is_empty() {
            HashSet::new()
        } else {
            rest.bitmap()?
        };
        Some(Self { id, deleted })
    }
}

/// What makes git forget what the file of an entry was like when it is written at the entry's place: both
/// times, with their nanoseconds.
pub(crate) const FORGET: [u8; 16] = [0; 16];

/// The first record of the extension that remembers trees: no name, counts, a line break, the id.
fn root_tree(data: &[u8], id_size: usize) -> Option<RawId> {
    let counts = data.strip_prefix(b"\0")?;
    let end = counts.iter().position(|byte| *byte == b'\n')?;
    // A negative count says that the tree is not known any more.
    let id = counts.get(end + 1..end + 1 + id_size)?;
    if counts[0] == b'-' {
        return None;
    }
    RawId::of(id)
}

struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        let bytes = self.take(4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }

    fn entry(&mut self, version: u32, id_size: usize, before: &[u8]) -> Option<IndexEntry<'a>> {
        let at_start = self.0.len();
        let changed = (self.number()?, self.number()?);
        let written = (self.number()?, self.number()?);
        // Nor does git compare devices, whose numbers are not stable on network file systems.
        let (_device, inode) = (self.number()?, self.number()?);
        let mode = self.number()?;
        let (user, group, size) = (self.number()?, self.number()?, self.number()?);
        let id = RawId::of(self.take(id_size)?)?;
        let flags = self.take(2)?;
        let is_extended = flags[0] & 0x40 != 0;
        let is_skipped = is_extended && self.take(2)?[0] & 0x40 != 0;
        let path = if version == 4 {
            let shared = before.len().checked_sub(self.distance()?)?;
            let path = [&before[..shared], self.until_nul()?].concat();
            self.take(1)?;
            Cow::Owned(path)
        } else {
            let path = self.until_nul()?;
            let length = at_start - self.0.len();
            // One to eight zeros, so that each entry begins at a multiple of eight.
            self.take(8 - length % 8)?;
            Cow::Borrowed(path)
        };
        Some(IndexEntry {
            path,
            mode,
            id,
            noted: Some(FileStamp {
                changed,
                written,
                inode,
                user,
                group,
                size,
            }),
            place: 0,
            is_skipped,
        })
    }

    /// The positions in a compressed bitmap that are set.
    ///
    /// It alternates between a word that says how many equal words and how many others follow, and those
    /// others.
    fn bitmap(&mut self) -> Option<HashSet<usize>> {
        let (size, words) = (self.number()?, self.number()?);
        let mut words = ByteReader(self.take(usize::try_from(words).ok()?.checked_mul(8)?)?);
        let _last = self.number()?;
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= MOST_BITS)?;
        let (mut set, mut at) = (HashSet::new(), 0_usize);
        while !words.0.is_empty() {
            let marker = words.word()?;
            let equal = usize::try_from(marker >> 1 & u64::from(u32::MAX)).ok()?;
            let end = at.checked_add(equal.checked_mul(64)?)?;
            if marker & 1 == 1 {
                set.extend(at..end.min(size));
            }
            at = end;
            for _ in 0..marker >> 33 {
                let word = words.word().filter(|_| at < size)?;
                set.extend(
                    (0..64)
                        .filter(|bit| word >> bit & 1 == 1)
                        .map(|bit| at + bit),
                );
                at += 64;
            }
        }
        Some(set)
    }

    fn word(&mut self) -> Option<u64> {
        let bytes = self.take(8)?;
        Some(u64::from_be_bytes(bytes.try_into().ok()?))
    }

    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        self.take(end)
    }

    /// A number in as many bytes as it needs, seven bits each.
    fn distance(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut number = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = self.take(1)?[0];
            // One more for each further byte, so that no number is written in two ways.
            number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 127);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests;
