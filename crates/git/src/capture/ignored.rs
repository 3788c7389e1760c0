//! Asks git which of the new paths in a worktree are ignored.
//!
//! Knows nothing of what happens to the others.

use std::fs;
use std::io;
use std::path::Path;

use pleach_system::files::plain_file::{self, LARGEST_RULES};

use super::CaptureError;
use super::staging::Staging;
use super::walk::{self, LooseFile, LooseKind};
use crate::git::{ignored, os_str};
use crate::index::folder_of;

pub(super) struct Unignored {
    /// The files and links.
    pub(super) taken: Vec<Vec<u8>>,
    /// The new folders, whatever is in them.
    pub(super) folders: Vec<Vec<u8>>,
}

impl Staging<'_> {
    /// The files and links that are not ignored, those in folders that are not ignored included.
    pub(super) fn unignored(&self, loose: Vec<LooseFile>) -> Result<Unignored, CaptureError> {
        let root = self.worktree.path();
        let (mut taken, mut folders) = (Vec::new(), Vec::new());
        let mut level = loose;
        while !level.is_empty() {
            let ignored = ignored(self.call(), level.iter().map(|loose| &loose.path[..]))?;
            level.retain(|loose| !ignored.contains(&loose.path));
            let (mut links, mut deeper) = (Vec::new(), Vec::new());
            for loose in level {
                match loose.kind {
                    LooseKind::Folder => {
                        deeper.extend(walk::children(root, &loose.path, self.manners)?);
                        folders.push(loose.path);
                    }
                    LooseKind::Link => links.push(loose.path),
                    LooseKind::File => {
                        if walk::open_up(root, &loose.path, self.manners)? {
                            taken.push(loose.path);
                        }
                    }
                }
            }
            taken.extend(self.links_to_take(links)?);
            level = deeper;
        }
        Ok(Unignored { taken, folders })
    }

    /// Leaves out links whose names would be ignored if they were folders.
    ///
    /// A pattern like `node_modules/` means the folder, and is not meant to let a link to one in.
    pub(super) fn links_to_take(
        &self,
        mut links: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, CaptureError> {
        if links.is_empty() {
            return Ok(links);
        }
        // Git looks at what is there, so there has to be a folder in the place of each link.
        let mirror = tempfile::tempdir_in(self.scratch.path());
        let mirror = mirror.map_err(|source| CaptureError::Io {
            path: self.scratch.path().to_owned(),
            source,
        })?;
        for link in &links {
            let mirrored = mirror_link(self.worktree.path(), mirror.path(), link);
            mirrored.map_err(|source| CaptureError::Io {
                path: os_str(link).into(),
                source,
            })?;
        }
        let call = self.store.call().work_tree(mirror.path());
        let ignored = ignored(call, links.iter().map(|link| &link[..]))?;
        links.retain(|link| !ignored.contains(link));
        Ok(links)
    }
}

fn mirror_link(root: &Path, mirror: &Path, link: &[u8]) -> io::Result<()> {
    fs::create_dir_all(mirror.join(os_str(link)))?;
    let mut above = link;
    while !above.is_empty() {
        above = folder_of(above);
        let rules = Path::new(os_str(above)).join(".gitignore");
        let to = mirror.join(&rules);
        if !to.exists()
            && let Ok(rules) = plain_file::read_below(root, &rules, LARGEST_RULES)
        {
            fs::write(to, rules)?;
        }
    }
    Ok(())
}
