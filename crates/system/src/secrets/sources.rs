//! Where secrets are: in variables, in the lines of files, in addresses.
//!
//! Says of a name and a value whether they look like a secret; errs on the side of hiding, but never hides a word of
//! every day that nobody calls a secret.

use std::path::Path;

use percent_encoding::percent_decode_str;

use super::{Secrets, hits};
use crate::files::regular_file;

/// Words in the name of a secret; the first ones wherever they stand, the others between other words only.
const ANYWHERE: [&str; 8] = [
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "PRIVATEKEY",
];
const AS_A_WORD: [&str; 13] = [
    "KEY",
    "KEYS",
    "AUTH",
    "PASS",
    "PWD",
    "PAT",
    "JWT",
    "DSN",
    "COOKIE",
    "BEARER",
    "SIGNATURE",
    "SALT",
    "PIN",
];

/// Words at the end of a name that say where or who something is.
const ELSEWHERE: [&str; 10] = [
    "SOCK", "FILE", "PATH", "DIR", "HOME", "HOST", "PORT", "USER", "PID", "CMD",
];

/// Longer files are no settings.
const LONGEST_FILE: u64 = 256 << 10;

/// A plain word or two is at most so long.
const LONGEST_WORDS: usize = 24;

/// A lone name in an address that is as long is a token.
const SHORTEST_TOKEN: usize = 20;

/// How variables end that say where something is or what it is called, and nothing else.
const HARMLESS: [&str; 8] = [
    "_BASE_PATH",
    "_HOST",
    "_LOCATION",
    "_MODE",
    "_MODEL",
    "_PROJECT",
    "_PROVIDER",
    "NO_PROXY",
];

pub(super) fn of_variable(name: &str, value: &str, is_passed_on: bool, secrets: &mut Secrets) {
    let upper = name.to_ascii_uppercase();
    let is_named_harmless = HARMLESS.iter().any(|ending| upper.ends_with(ending));
    let is_harmless = is_named_harmless || is_harmless(value);
    let is_secret = looks_secret(name) || (is_passed_on && !is_harmless);
    if is_secret && !is_place(value) {
        secrets.add(name, value);
    }
    in_text(name, value, secrets);
}

pub(super) fn of_setting(key: &str, value: &str, secrets: &mut Secrets) {
    logins_in(key, secrets);
    logins_in(value, secrets);
    if key.ends_with(".extraheader") && value.to_ascii_lowercase().contains("auth") {
        secrets.add("", value.split_whitespace().next_back().unwrap_or_default());
    }
}

/// Adds what is secret in a file of settings or a file of keys.
pub(super) fn in_file(path: &Path, secrets: &mut Secrets) {
    let Ok(bytes) = regular_file::read(path, LONGEST_FILE) else {
        return;
    };
    if bytes.contains(&0) {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let is_env =
        name.starts_with(".env") || Path::new(&name).extension().is_some_and(|end| end == "env");
    let mut is_key = false;
    for line in text.lines() {
        if line.starts_with("-----") {
            is_key = line.starts_with("-----BEGIN") && line.contains("PRIVATE KEY");
        } else if is_key {
            secrets.add("", line);
        } else if let Some((name, value)) = setting(line) {
            if looks_secret(name) || (is_env && !is_harmless(value)) {
                secrets.add(name, value);
            }
            in_text(name, value, secrets);
        }
    }
    in_text("", &text, secrets);
}

/// Adds tokens and logins that stand in a text.
fn in_text(name: &str, text: &str, secrets: &mut Secrets) {
    for hit in hits(text.as_bytes()) {
        secrets.add(name, &String::from_utf8_lossy(hit.bytes));
    }
    logins_in(text, secrets);
}

/// Adds the passwords that stand in the addresses of a text, and names that are tokens.
fn logins_in(text: &str, secrets: &mut Secrets) {
    for (at, _) in text.match_indices("://") {
        let after = &text[at + 3..];
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"' | '<' | '>');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        let Some((login, _)) = authority.rsplit_once('@') else {
            continue;
        };
        let secret = match login.split_once(':') {
            Some((_, password)) => password,
            None if login.len() >= SHORTEST_TOKEN => login,
            None => continue,
        };
        secrets.add("", secret);
        secrets.add("", &percent_decode_str(secret).decode_utf8_lossy());
    }
}

/// The name and the value of a line such as `export NAME="value"` or `"name": "value",`.
fn setting(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.starts_with('#') || line.starts_with("//") && !line.contains("_authToken") {
        return None;
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once(['=', ':'])?;
    // Where the name itself has a colon, as in the files of npm.
    let (name, value) = match line.rsplit_once('=') {
        Some((name, value)) if name.ends_with("_authToken") => {
            (name.rsplit(':').next().unwrap_or(name), value)
        }
        _ => (name, value),
    };
    let value = value.trim().trim_end_matches(',');
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inside = value.strip_prefix(quote)?;
        inside.split(quote).next()
    });
    let value = quoted.unwrap_or_else(|| value.split(" #").next().unwrap_or(value).trim());
    Some((name.trim().trim_matches(['"', '\'']), value))
}

fn looks_secret(name: &str) -> bool {
    let name = in_capitals(name);
    let words: Vec<&str> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.concat();
    let is_elsewhere = words.last().is_some_and(|last| ELSEWHERE.contains(last));
    let has = |word: &&str| joined.contains(*word);
    // The folder that a shell is in bears one of these words alone.
    let is_lone = words.len() < 2 && joined == "PWD";
    !is_elsewhere
        && !is_lone
        && (ANYWHERE.iter().any(has) || words.iter().any(|word| AS_A_WORD.contains(word)))
}

/// `apiKey` and `api-key` as `API_KEY`.
fn in_capitals(name: &str) -> String {
    let mut capitals = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if was_small && letter.is_ascii_uppercase() {
            capitals.push('_');
        }
        was_small = letter.is_ascii_lowercase();
        capitals.push(letter.to_ascii_uppercase());
    }
    capitals
}

/// Whether a value is obviously no secret: a number, a switch, a word or two, a place.
fn is_harmless(value: &str) -> bool {
    let value = value.trim();
    let is_number = value.parse::<f64>().is_ok() && value.len() < 12;
    let is_words = value.len() <= LONGEST_WORDS
        && value
            .chars()
            .all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_' | '.' | ' ' | ','));
    is_number || is_words || is_place(value)
}

/// Whether a value is a path, a list of paths, or an address without a login.
fn is_place(value: &str) -> bool {
    let is_path = |path: &str| path.starts_with('/') && Path::new(path).exists();
    let is_address = value.contains("://") && !value.contains('@') && !value.contains('?');
    is_address || value.split(':').all(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(secrets: &Secrets) -> Vec<(&str, &str)> {
        let values = secrets.values();
        let text = |value| std::str::from_utf8(value).unwrap();
        values.map(|(name, value)| (name, text(value))).collect()
    }

    fn of_variable(name: &str, value: &str, is_passed_on: bool) -> usize {
        let mut secrets = Secrets::default();
        super::of_variable(name, value, is_passed_on, &mut secrets);
        known(&secrets).len()
    }

    #[test]
    fn what_is_passed_on_is_secret_unless_its_name_says_that_it_is_not() {
        assert_eq!(of_variable("MINE", "a1-b2-c3-d4-e5", true), 1);
        assert_eq!(of_variable("MINE", "a1-b2-c3-d4-e5", false), 0);
        for name in [
            "GOOSE_MODEL",
            "no_proxy",
            "ANTHROPIC_HOST",
            "GOOSE_PROVIDER",
        ] {
            assert_eq!(of_variable(name, "model-4.5-20260101", true), 0, "{name}");
        }
        let login = "https://ada:s3cret-s3cret@example.org";
        assert_eq!(of_variable("OPENAI_HOST", login, true), 1);
    }

    #[test]
    fn names_of_secrets_are_told_from_others() {
        for name in [
            "API_KEY",
            "OPENAI_API_KEY",
            "MY_SECRET",
            "NPM_TOKEN",
            "DB_PASSWORD",
            "db-passwd",
            "AWS_SECRET_ACCESS_KEY",
            "GOOGLE_CREDENTIALS",
            "BASIC_AUTH",
            "apiKey",
            "accessToken",
            "SMTP_PASS",
            "SENTRY_DSN",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "KEYBOARD",
            "MONKEY",
            "EDITOR",
            "GIT_AUTHOR_NAME",
            "XDG_SESSION_TYPE",
            "TOKEN_FILE",
            "PASSWORD_STORE_DIR",
            "COMPASS_MODE",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn what_is_passed_on_is_hidden_unless_it_is_harmless() {
        for value in [
            "8080",
            "true",
            "production",
            "info,debug",
            "/usr/bin:/bin",
            "http://proxy:3128",
            "short1",
        ] {
            assert_eq!(of_variable("SETTING", value, true), 0, "{value}");
        }
        for value in ["Tr0ub4dor", "a1b2c3d4e5f6", "correct horse battery staple"] {
            assert_eq!(of_variable("SETTING", value, true), 1, "{value}");
            assert_eq!(of_variable("SETTING", value, false), 0, "{value}");
            assert_eq!(of_variable("SETTING_TOKEN", value, false), 1, "{value}");
        }
    }

    #[test]
    fn a_login_in_a_value_is_found_whatever_the_name() {
        let mut secrets = Secrets::default();
        let url = "postgres://ann:p%40ssw0rd-9@db.example:5432/app";
        super::of_variable("DATABASE_URL", url, false, &mut secrets);
        assert_eq!(known(&secrets), [("", "p%40ssw0rd-9"), ("", "p@ssw0rd-9")]);
    }

    #[test]
    fn the_lines_of_files_are_read_as_their_programs_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let in_file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let mut secrets = Secrets::default();
            super::in_file(&path, &mut secrets);
            let found = known(&secrets).into_iter();
            found
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
        };
        let env = "# A_TOKEN=not-this-one\nexport DB_PASSWORD=\"hunter2 hunter2\"\nPORT=80808080\nMODE=production\n\
                   ANY='x9x9x9x9x9'\nLATE_KEY=abc123abc123 # not me\n";
        assert_eq!(
            in_file(".env.local", env),
            [
                "DB_PASSWORD=hunter2 hunter2",
                "ANY=x9x9x9x9x9",
                "LATE_KEY=abc123abc123"
            ]
        );
        assert_eq!(in_file("notes", "ANY='x9x9x9x9x9'\n"), Vec::<String>::new());
        assert_eq!(
            in_file("c.json", "{\n  \"apiKey\": \"q1w2e3r4t5\",\n}"),
            ["apiKey=q1w2e3r4t5"]
        );
        assert_eq!(
            in_file(".npmrc", "//r.example/:_authToken=a0b1c2d3e4\n"),
            ["_authToken=a0b1c2d3e4"]
        );
        let key = format!("-----BEGIN PRIVATE {}-----\nAAAABBBB0\nCC\n-----END", "KEY");
        assert_eq!(in_file("id", &key), ["=AAAABBBB0"]);
    }
}
