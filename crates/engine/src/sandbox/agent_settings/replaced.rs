//! Keeps what was found in place of what was there before.
//!
//! Knows nothing of what that was.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::tree::Tree;
use crate::state_folder::private_folder;

/// Where what was found instead goes; made when the first of it comes.
pub(super) struct Replaced {
    above: PathBuf,
    folder: Option<PathBuf>,
    taken: u32,
}

impl Replaced {
    pub(super) fn new(home: &Path) -> Self {
        Self {
            above: home.join("replaced"),
            folder: None,
            taken: 0,
        }
    }

    /// Where it all is.
    pub(super) fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(&self.above)
    }

    /// Takes what is at a path, and tells where it is now.
    pub(super) fn take(
        &mut self,
        tree: &Tree,
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

/// A new folder whose name is the next number.
fn numbered_folder(above: &Path) -> io::Result<PathBuf> {
    private_folder(above).map_err(io::Error::other)?;
    let numbers = fs::read_dir(above)?.flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok());
    let next = above.join((numbers.max().unwrap_or(0) + 1).to_string());
    DirBuilder::new().mode(0o700).create(&next)?;
    Ok(next)
}
