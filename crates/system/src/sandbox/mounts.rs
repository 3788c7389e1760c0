//! Finds the other paths that lead to a file because its file system is mounted more than once.
//!
//! What is hidden at one of them is seen at the others.

use std::path::{Path, PathBuf};

/// A line of `/proc/self/mountinfo`.
struct Mount<'l> {
    device: &'l str,
    /// What of the file system is mounted.
    root: &'l Path,
    at: &'l Path,
}

impl<'l> Mount<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let mut words = line.split(' ').skip(2);
        Some(Self {
            device: words.next()?,
            root: Path::new(words.next()?),
            at: Path::new(words.next()?),
        })
    }
}

/// Other paths of what is at a path.
pub(super) fn aliases(path: &Path) -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    aliases_among(&mounts, path)
}

fn aliases_among(mounts: &str, path: &Path) -> Vec<PathBuf> {
    let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::parse).collect();
    let above = mounts.iter().filter(|mount| path.starts_with(mount.at));
    // Of two at the same place, the later one is seen.
    let Some(own) = above.max_by_key(|mount| mount.at.components().count()) else {
        return Vec::new();
    };
    let Ok(inside) = path.strip_prefix(own.at) else {
        return Vec::new();
    };
    let inside = own.root.join(inside);
    let others = mounts.iter().filter(|other| other.device == own.device);
    let found = others.filter_map(|other| {
        let alias = other.at.join(inside.strip_prefix(other.root).ok()?);
        (alias != path).then_some(alias)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_path_for_each_mount_that_holds_it() {
        let mounts = "21 1 8:1 / / rw - ext4 /dev/a rw\n22 21 8:2 /ostree/var /var rw - xfs /dev/b rw\n\
                      23 21 8:2 / /sysroot rw - xfs /dev/b rw\n24 21 8:2 /other /mnt rw - xfs /dev/b rw\n";
        let found = aliases_among(mounts, Path::new("/var/home/ada/.cache/uv"));
        let expected = "/sysroot/ostree/var/home/ada/.cache/uv";
        assert_eq!(found, [PathBuf::from(expected)]);
        assert!(aliases_among(mounts, Path::new("/home/ada")).is_empty());
    }
}
