//! What stands at the head of a bundle: what it builds on, the names that it brings, and how many objects follow.
//!
//! Believes nothing of it; git looks at what follows.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::CommitId;

/// No line of a head is longer.
const LONGEST_LINE: u64 = 64 << 10;

/// The first lines of the bundles that there are.
const SIGNATURES: [&[u8]; 2] = [b"# v2 git bundle", b"# v3 git bundle"];

/// What may be said of a bundle besides: the kind of its ids, which they show themselves.
const FORMAT: &[u8] = b"object-format=";

/// A pack begins with this word, a version and the number of its objects.
const PACK: &[u8; 4] = b"PACK";

pub(super) struct BundleHead {
    /// The commits that must be there before.
    pub(super) needs: Vec<CommitId>,
    /// The names that it brings, as it calls them itself.
    pub(super) names: Vec<(CommitId, String)>,
    /// How many objects its pack has.
    pub(super) objects: u32,
    /// How many bytes the pack has.
    pub(super) bytes: u64,
    pack_at: u64,
}

impl BundleHead {
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        let mut reader = BufReader::new(File::open(file)?);
        let mut pack_at = 0;
        let (mut needs, mut names) = (Vec::new(), Vec::new());
        let mut is_first = true;
        loop {
            let mut line = Vec::new();
            let read = (&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            pack_at += read as u64;
            let line = line.strip_suffix(b"\n").ok_or(io::ErrorKind::InvalidData)?;
            let unreadable = io::ErrorKind::InvalidData;
            if std::mem::replace(&mut is_first, false) {
                if !SIGNATURES.contains(&line) {
                    return Err(unreadable.into());
                }
                continue;
            }
            match line.split_first() {
                None => break,
                Some((b'@', what)) if what.starts_with(FORMAT) => {}
                Some((b'-', need)) => needs.push(named(need).ok_or(unreadable)?.0),
                Some(_) => names.push(named(line).ok_or(unreadable)?),
            }
        }
        let mut start = [0; 12];
        reader.read_exact(&mut start)?;
        let (word, counts) = start.split_at(PACK.len());
        if word != PACK {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let count = [counts[4], counts[5], counts[6], counts[7]];
        let whole = reader.get_ref().metadata()?.len();
        Ok(Self {
            needs,
            names,
            objects: u32::from_be_bytes(count),
            bytes: whole.saturating_sub(pack_at),
            pack_at,
        })
    }

    /// What follows the head, if it is as its checksum says: git looks at that only after it has taken the objects.
    pub(super) fn pack(&self, file: &Path, kind: gix_hash::Kind) -> io::Result<Option<Vec<u8>>> {
        let mut source = File::open(file)?;
        source.seek(SeekFrom::Start(self.pack_at))?;
        let mut pack = Vec::new();
        source.take(self.bytes).read_to_end(&mut pack)?;
        let Some(end) = pack.len().checked_sub(kind.len_in_bytes()) else {
            return Ok(None);
        };
        let mut hasher = gix_hash::hasher(kind);
        hasher.update(&pack[..end]);
        let sum = hasher.try_finalize().ok();
        let is_whole = sum.is_some_and(|sum| sum.as_slice() == &pack[end..]);
        Ok(is_whole.then_some(pack))
    }
}

fn named(line: &[u8]) -> Option<(CommitId, String)> {
    let line = String::from_utf8_lossy(line);
    let (id, name) = line.split_once(' ').unwrap_or((&line, ""));
    Some((id.parse().ok()?, name.to_owned()))
}
