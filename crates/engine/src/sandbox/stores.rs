//! Gives agents stores of packages of their own in place of the user's.
//!
//! Package managers hard-link from a store into projects and installed programs, so that whoever writes to a file there
//! changes what the user runs. Knows nothing of what is in a store.

use std::ffi::OsString;
use std::fs::DirBuilder;
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
    // Pleach may be run by an agent.
    places.retain(|path| !path.starts_with(ours) && !ours.starts_with(path));
    places
}

fn is_used(store: &PackageStore, user: &User<'_>, theirs: &[PathBuf]) -> bool {
    let mut programs = store.programs.iter();
    store.programs.is_empty()
        || programs.any(|program| user.has(program))
        || theirs.iter().any(|path| path.exists())
}
