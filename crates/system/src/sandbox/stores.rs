//! Gives agents stores of packages of their own in place of the user's.
//!
//! Package managers hard-link from a store into projects and installed programs, so that whoever writes to a file there
//! changes what the user runs. Knows nothing of what is in a store.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::folders::User;
use super::places::{PACKAGE_STORES, PackageStore};

/// Where those of agents are.
const OURS: &str = ".cache/pleach";

/// Has programs use stores of their own by their environment, and tells where the user's are.
///
/// A store that is open by name is used as it is.
pub(super) fn replace(
    env: &mut Vec<(OsString, OsString)>,
    user: &User<'_>,
    open: &[PathBuf],
) -> Vec<PathBuf> {
    let mut closed = Vec::new();
    let Some(ours) = user.place(OURS) else {
        return closed;
    };
    // What cannot be made cannot be used either, and the tool says so.
    let _ = DirBuilder::new().recursive(true).mode(0o700).create(&ours);
    let mut set = Vec::new();
    for store in PACKAGE_STORES {
        let theirs = places_of(store, user, &ours);
        let is_open = |path: &PathBuf| open.iter().any(|open| path.starts_with(open));
        if theirs.iter().any(is_open) {
            continue;
        }
        if is_used(store, user, &theirs) {
            let variables = store.variables.iter();
            set.extend(variables.map(|(name, inside)| (*name, ours.join(inside))));
        }
        closed.extend(theirs);
    }
    env.retain(|(name, _)| {
        !set.iter()
            .any(|(known, _)| name.eq_ignore_ascii_case(known))
    });
    env.extend(
        set.into_iter()
            .map(|(name, path)| (name.into(), path.into())),
    );
    closed
}

/// Where the user has a store, whether it is there or not.
fn places_of(store: &PackageStore, user: &User<'_>, ours: &Path) -> Vec<PathBuf> {
    let mut places = user.inside(store.places);
    for (name, _) in store.variables {
        places.extend(user.named_by(name));
    }
    for (file, setting) in store.settings {
        for file in user.inside(&[file]) {
            let named = named_in(&file, setting, user.home());
            places.extend(named.iter().filter_map(|path| path.canonicalize().ok()));
            places.extend(named);
        }
    }
    // Pleach may be run by an agent, and a setting may name all caches.
    places.retain(|path| !path.starts_with(ours) && !ours.starts_with(path));
    places
}

fn is_used(store: &PackageStore, user: &User<'_>, theirs: &[PathBuf]) -> bool {
    let mut programs = store.programs.iter();
    store.programs.is_empty()
        || programs.any(|program| user.has(program))
        || theirs.iter().any(|path| path.exists())
}

/// The place that a file of settings gives for a setting, in any of the ways such files are written.
fn named_in(file: &Path, setting: &str, home: Option<&Path>) -> Option<PathBuf> {
    // Whoever opens a pipe waits for somebody to write to it.
    let text = fs::metadata(file).ok().filter(fs::Metadata::is_file);
    let text = text.and_then(|_| fs::read_to_string(file).ok())?;
    let lines = text.lines().filter_map(|line| line.split_once(['=', ':']));
    let mut values = lines.filter(|(name, _)| name.trim() == setting);
    let (_, value) = values.next_back()?;
    let value = value.trim().trim_matches(['"', '\'']);
    let at_home = ["~/", "$HOME/", "${HOME}/"];
    let inside = at_home.iter().find_map(|start| value.strip_prefix(start));
    let path = match inside {
        Some(inside) => home?.join(inside),
        None => value.into(),
    };
    (path.is_absolute() && !home?.starts_with(&path)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_found_in_settings_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings");
        let home = Path::new("/home/ada");
        for (text, expected) in [
            ("store-dir=~/.mine\n", Some("/home/ada/.mine")),
            ("x = 1\nstore-dir = \"/data/store\"\n", Some("/data/store")),
            ("store-dir: ${HOME}/.mine", Some("/home/ada/.mine")),
            ("store-dir=/home", None),
            ("store-dir=relative", None),
            ("other-store-dir=/x", None),
        ] {
            fs::write(&file, text).unwrap();
            let found = named_in(&file, "store-dir", Some(home));
            assert_eq!(found, expected.map(PathBuf::from), "{text}");
        }
        assert_eq!(named_in(folder.path(), "store-dir", Some(home)), None);
    }
}
