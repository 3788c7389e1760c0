//! Keeps what was found in place of what was there before.
//!
//! Knows nothing of what that was.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::tree::AgentFolder;
use crate::files::removal::remove_all;
use crate::state_folder::private_folder;

/// Where what was found instead goes; made when the first of it comes.
pub(super) struct ReplacedFiles {
    above: PathBuf,
    folder: Option<PathBuf>,
    taken: u32,
}

impl ReplacedFiles {
    pub(super) fn new(home: &Path) -> Self {
        Self {
            above: home.join("replaced"),
            folder: None,
            taken: 0,
        }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(&self.above)
    }

    /// Takes what is at a path, and tells where it is now.
    pub(super) fn take(
        &mut self,
        tree: &AgentFolder,
        folder: &Path,
        inside: &Path,
    ) -> io::Result<PathBuf> {
        let ours = match &self.folder {
            Some(ours) => ours.clone(),
            None => numbered_folder(&self.above)?,
        };
        self.folder = Some(ours.clone());
        self.taken += 1;
        let name = inside.file_name().unwrap_or_default().to_string_lossy();
        // Whatever somebody calls a file, it must be possible to move it.
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
        let name: String = name.chars().filter(is_plain).take(60).collect();
        let to = ours.join(format!("{}-{name}", self.taken));
        let number = ours.file_name().unwrap_or_default().to_string_lossy();
        let beside = format!("replaced-by-pleach-{number}-{}", self.taken);
        let is_ours = tree.move_away(inside, &to, &beside)?;
        Ok(if is_ours { to } else { folder.join(beside) })
    }
}

/// Removes the oldest until the rest is no larger than this.
pub(super) fn keep_within(home: &Path, most: u64) {
    let mut numbered = numbered(&home.join("replaced"));
    numbered.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    let mut bytes = 0;
    for (_, folder) in numbered {
        bytes += size(&folder);
        if bytes > most {
            // What cannot go now goes next time.
            let _ = remove_all(&folder);
        }
    }
}

/// Removes what has been there for longer than this.
pub(super) fn remove_older(home: &Path, keep: Duration) {
    for (_, folder) in numbered(&home.join("replaced")) {
        let made = folder.symlink_metadata().and_then(|meta| meta.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > keep) {
            // The same.
            let _ = remove_all(&folder);
        }
    }
}

fn numbered(above: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some((number, entry.path()))
    });
    numbered.collect()
}

/// How many bytes are in a folder, without following links.
pub(super) fn size(folder: &Path) -> u64 {
    let (mut bytes, mut ahead) = (0, vec![folder.to_owned()]);
    while let Some(path) = ahead.pop() {
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        bytes += found.len();
        if found.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            ahead.extend(entries.map(|entry| entry.path()));
        }
    }
    bytes
}

/// A new folder whose name is the next number.
fn numbered_folder(above: &Path) -> io::Result<PathBuf> {
    private_folder(above).map_err(io::Error::other)?;
    let last = numbered(above).into_iter().map(|(number, _)| number).max();
    let next = above.join((last.unwrap_or(0) + 1).to_string());
    DirBuilder::new().mode(0o700).create(&next)?;
    Ok(next)
}
