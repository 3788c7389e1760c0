//! Gives programs the settings of package managers without the logins in them.
//!
//! Without its settings, a package manager asks the public server for everything, where anybody may have taken the name
//! of a private package. Knows nothing of who asks.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::folders::User;
use crate::state_folder::write_private;

/// Nobody's settings are longer.
const LONGEST: u64 = 1 << 20;

/// A file of settings, which may be closed because of a login in it.
struct SettingsFile {
    variable: &'static str,
    /// Where it is if nobody says, the one that counts first.
    places: &'static [&'static str],
    /// What is called what in the folder of temporary files.
    copy: &'static str,
    /// The settings without logins.
    public: fn(&str) -> String,
}

const FILES: [SettingsFile; 3] = [
    SettingsFile {
        variable: "NPM_CONFIG_USERCONFIG",
        places: &[".npmrc"],
        copy: "npmrc",
        public: public_npmrc,
    },
    SettingsFile {
        variable: "PIP_CONFIG_FILE",
        places: &[".config/pip/pip.conf", ".pip/pip.conf"],
        copy: "pip.conf",
        public: public_pip_conf,
    },
    SettingsFile {
        variable: "BUNDLE_USER_CONFIG",
        places: &[".bundle/config"],
        copy: "bundle-config",
        public: public_bundle_config,
    },
];

/// How the names of settings of npm end that say who somebody is.
const LOGINS_OF_NPM: [&str; 13] = [
    "_auth",
    "_authtoken",
    "_password",
    "cert",
    "certfile",
    "email",
    "key",
    "keyfile",
    "otp",
    "password",
    "token",
    "tokenhelper",
    "username",
];

/// Writes copies of those files that are closed and not opened by name, and names them in the environment.
pub(super) fn copy(
    env: &mut Vec<(OsString, OsString)>,
    user: &User<'_>,
    open: &[PathBuf],
    folder: &Path,
) {
    let mut set = Vec::new();
    for file in &FILES {
        let mut theirs = user.named_by(file.variable);
        theirs.extend(user.inside(file.places));
        let Some(theirs) = theirs.into_iter().find(|path| is_readable(path)) else {
            continue;
        };
        let is_open = open.iter().any(|open| theirs.starts_with(open));
        if is_open || !user.keys().iter().any(|key| theirs.starts_with(key)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(&theirs) else {
            continue;
        };
        let copy = folder.join(file.copy);
        // Without it, it is as closed as before.
        if write_private(&copy, &(file.public)(&text)).is_ok() {
            set.push((file.variable, copy));
        }
    }
    env.retain(|(name, _)| {
        !set.iter()
            .any(|(known, _)| name.eq_ignore_ascii_case(known))
    });
    let set = set.into_iter();
    env.extend(set.map(|(name, path)| (name.into(), path.into())));
}

/// Whoever opens a pipe waits for somebody to write to it.
fn is_readable(path: &Path) -> bool {
    let found = fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.len() <= LONGEST)
}

fn public_npmrc(text: &str) -> String {
    let lines = text.lines().filter(|line| {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let name = name.trim().trim_end_matches("[]").to_ascii_lowercase();
        let name = name.rsplit(':').next().unwrap_or_default();
        let is_login = LOGINS_OF_NPM.iter().any(|login| name.ends_with(login));
        !is_comment(line) && !is_login && !value.contains("${")
    });
    joined(lines.map(without_logins))
}

fn public_pip_conf(text: &str) -> String {
    joined(
        text.lines()
            .filter(|line| !is_comment(line))
            .map(without_logins),
    )
}

/// Names that stand for a server, and have a login as their value, have two underscores for its dots.
fn public_bundle_config(text: &str) -> String {
    let mut is_kept = true;
    let lines = text.lines().filter(|line| {
        if let Some(name) = line.strip_prefix("BUNDLE_") {
            let is_other = ["MIRROR__", "BUILD__", "LOCAL__"];
            let is_other = is_other.iter().any(|other| name.starts_with(other));
            let name = name.split(": ").next().unwrap_or_default();
            is_kept = is_other || !name.contains("__");
        }
        is_kept && !is_comment(line)
    });
    joined(lines.map(without_logins))
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with(['#', ';'])
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

/// A line with its addresses as strangers would write them.
fn without_logins(line: &str) -> String {
    let mut public = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        public.push_str(before);
        let is_end = |c: char| c == '/' || c.is_whitespace() || "\"'".contains(c);
        let end = after.find(is_end).unwrap_or(after.len());
        let host = after[..end].rfind('@').map_or(0, |at| at + 1);
        public.push_str(&after[host..end]);
        rest = &after[end..];
    }
    public + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_npm_stay_and_logins_do_not() {
        let text = "# a comment with a secret\nregistry=https://ada:secret@npm.acme.com/x/\n@acme:registry = https://npm.acme.com/\n\
                    //npm.acme.com/:_authToken=secret\n//npm.acme.com/:username=ada\n_auth = secret\nkey=secret\n\
                    other=${SECRET}\nalways-auth=true\ncafile=/etc/ca.pem\n//npm.acme.com/:tokenHelper=/x\n";
        let expected = "registry=https://npm.acme.com/x/\n@acme:registry = https://npm.acme.com/\nalways-auth=true\n\
                        cafile=/etc/ca.pem\n";
        assert_eq!(public_npmrc(text), expected);
    }

    #[test]
    fn addresses_of_pip_lose_their_logins() {
        let text = "[global]\nindex-url = https://ada:se@cret@pip.acme.com/simple\nextra-index-url =\n    https://t@a.com/x https://b.com/\n";
        let expected = "[global]\nindex-url = https://pip.acme.com/simple\nextra-index-url =\n    https://a.com/x https://b.com/\n";
        assert_eq!(public_pip_conf(text), expected);
    }

    #[test]
    fn mirrors_of_bundler_stay_and_logins_for_servers_do_not() {
        let text = "---\nBUNDLE_GEMS__ACME__COM: \"ada:secret\"\nBUNDLE_PATH: \"vendor\"\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://ada:secret@gems.acme.com\"\n";
        let expected = "---\nBUNDLE_PATH: \"vendor\"\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://gems.acme.com\"\n";
        assert_eq!(public_bundle_config(text), expected);
    }
}
