//! Hands one login to git, as its credential helper, and notes what became of it.
//!
//! Runs in a process of its own, started by git; gives nothing to any server but the one it was told.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

pub(super) const SERVER: &str = "PLEACH_LOGIN_SERVER";
pub(super) const USER: &str = "PLEACH_LOGIN_USER";
pub(super) const PASSWORD: &str = "PLEACH_LOGIN_PASSWORD";
/// The file that events are noted in.
pub(super) const NOTES: &str = "PLEACH_LOGIN_NOTES";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LoginOutcome {
    Missing(String),
    /// This server did not take the one it got.
    Rejected(String),
}

/// Answers git's question, which is one of `get`, `store` and `erase`.
pub fn answer(
    operation: &str,
    asked: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> io::Result<String> {
    let field = |name: &str| {
        let mut lines = asked.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let server = format!(
        "{}://{}",
        field("protocol").unwrap_or_default(),
        field("host").unwrap_or_default()
    );
    let note = |word: &str| match variable(NOTES) {
        Some(path) => append(Path::new(&path), &format!("{word} {server}\n")),
        None => Ok(()),
    };
    match operation {
        "get" => {
            let password =
                variable(PASSWORD).filter(|_| variable(SERVER).as_ref() == Some(&server));
            let Some(password) = password else {
                note("missing")?;
                // Otherwise git would go on to ask a person.
                return Ok("quit=1\n".to_owned());
            };
            let user = variable(USER).unwrap_or_default();
            Ok(format!("username={user}\npassword={password}\n"))
        }
        "erase" => note("rejected").map(|()| String::new()),
        // Whatever else git may want to tell, there is nothing to keep.
        _ => Ok(String::new()),
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = File::options().append(true).open(path)?;
    file.write_all(line.as_bytes())
}

/// Reads the notes; a rejection says more than a login that was missing later.
pub(super) fn outcome(notes: &str) -> Option<LoginOutcome> {
    let of = |word: &str| {
        let mut lines = notes.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(first, _)| *first == word)?;
        let (_, host) = found.1.split_once("://")?;
        Some(host.to_owned())
    };
    let rejected = of("rejected").map(LoginOutcome::Rejected);
    rejected.or_else(|| of("missing").map(LoginOutcome::Missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(operation: &str, asked: &str) -> (String, Option<LoginOutcome>) {
        let notes = tempfile::NamedTempFile::new().unwrap();
        let path = notes.path().to_str().unwrap().to_owned();
        let variable = |name: &str| {
            let known = [
                (SERVER, "https://git.corp:8443"),
                (USER, "ann"),
                (PASSWORD, "s3cret"),
                (NOTES, path.as_str()),
            ];
            let found = known.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let answer = answer(operation, asked, &variable).unwrap();
        let notes = std::fs::read_to_string(notes.path()).unwrap();
        (answer, outcome(&notes))
    }

    #[test]
    fn only_the_right_server_gets_the_login() {
        let asked = "capability[]=authtype\nprotocol=https\nhost=git.corp:8443\n";
        let (given, outcome) = ask("get", asked);
        assert_eq!(given, "username=ann\npassword=s3cret\n");
        assert_eq!(outcome, None);
        for other in [
            "protocol=http\nhost=git.corp:8443\n",
            "protocol=https\nhost=git.corp\n",
            "protocol=https\nhost=git.corp:8443.evil\n",
            "protocol=https\n",
            "",
        ] {
            let (given, outcome) = ask("get", other);
            assert_eq!(given, "quit=1\n", "{other}");
            assert!(matches!(outcome, Some(LoginOutcome::Missing(_))), "{other}");
        }
    }

    #[test]
    fn a_rejected_login_is_noted_and_nothing_is_kept() {
        let asked = "protocol=https\nhost=git.corp:8443\nusername=ann\npassword=s3cret\n";
        let rejected = Some(LoginOutcome::Rejected("git.corp:8443".into()));
        assert_eq!(ask("erase", asked), (String::new(), rejected));
        assert_eq!(ask("store", asked), (String::new(), None));
        assert_eq!(ask("capability", ""), (String::new(), None));
    }
}
