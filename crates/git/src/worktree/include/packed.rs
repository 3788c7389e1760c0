//! Ignored files of the user's checkout on their way to another machine, which does not see the checkout.
//!
//! They may hold secrets, so that whoever carries them writes them nowhere on the way.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::Path;

use pleach_system::files::stored_path::StoredPath;
use serde::{Deserialize, Serialize};

use super::{Included, IncludedEntry, IncludedKind, NotCopied, NotCopiedReason, is_plain};

/// All of them together are no larger.
const MOST_BYTES: u64 = 4 << 20;

/// What is rarely more than settings, so that it goes where secrets go.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct PackedFiles(Vec<PackedFile>);

#[derive(Debug, Serialize, Deserialize)]
struct PackedFile {
    path: StoredPath,
    content: PackedContent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PackedContent {
    Text(u32, String),
    Bytes(u32, Vec<u8>),
    Link(StoredPath),
}

impl Included {
    /// Whether nothing comes along.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The files as they are now, and what is too much to go to another machine.
    pub fn pack(&self) -> (PackedFiles, Vec<NotCopied>) {
        let (mut files, mut left_out) = (Vec::new(), Vec::new());
        let mut room = MOST_BYTES;
        for IncludedEntry { path, kind } in &self.entries {
            let content = match kind {
                IncludedKind::Link(target) => Ok(PackedContent::Link(StoredPath(target.into()))),
                IncludedKind::File => read(&self.from.join(path), &mut room),
            };
            let path = path.clone();
            match content {
                Ok(content) => files.push(PackedFile {
                    path: StoredPath(path),
                    content,
                }),
                Err(why) => left_out.push(NotCopied { path, why }),
            }
        }
        (PackedFiles(files), left_out)
    }

    /// Puts files that came from elsewhere into a folder of ours, from where worktrees get them.
    pub fn unpack(packed: PackedFiles, folder: &Path) -> io::Result<Self> {
        let mut included = Self {
            from: folder.to_owned(),
            ..Self::default()
        };
        for PackedFile { path, content } in packed.0 {
            let StoredPath(path) = path;
            if !is_plain(&path) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let place = folder.join(&path);
            let above = place.parent().unwrap_or(folder);
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(above)?;
            let kind = match content {
                PackedContent::Text(mode, text) => write(&place, mode, text.as_bytes())?,
                PackedContent::Bytes(mode, bytes) => write(&place, mode, &bytes)?,
                PackedContent::Link(StoredPath(target)) => {
                    symlink(&target, &place)?;
                    IncludedKind::Link(target.into())
                }
            };
            included.entries.push(IncludedEntry { path, kind });
        }
        Ok(included)
    }
}

fn read(place: &Path, room: &mut u64) -> Result<PackedContent, NotCopiedReason> {
    let unreadable = |error: io::Error| NotCopiedReason::Unreadable(error.to_string());
    let meta = fs::metadata(place).map_err(unreadable)?;
    *room = room
        .checked_sub(meta.len())
        .ok_or(NotCopiedReason::TooLarge)?;
    let bytes = fs::read(place).map_err(unreadable)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => PackedContent::Text(meta.mode(), text),
        Err(bytes) => PackedContent::Bytes(meta.mode(), bytes.into_bytes()),
    })
}

fn write(place: &Path, mode: u32, bytes: &[u8]) -> io::Result<IncludedKind> {
    let mut options = File::options();
    let options = options.write(true).create_new(true).mode(mode & 0o777);
    options.open(place)?.write_all(bytes)?;
    Ok(IncludedKind::File)
}
