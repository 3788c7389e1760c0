//! Speaks to the server of a repository: the user's network settings, one login, no questions.
//!
//! Knows nothing of what is fetched.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use pleach_system::process::Cancel;

use super::address::{Address, UserInfo};
use super::credential_helper::{LoginOutcome, NOTES, PASSWORD, SERVER, USER, outcome};
use super::credentials::{Login, Logins};
use super::store_error::{LoginProblem, StoreError};
use super::{Call, Output, Store, os_str};

/// Asks nobody anything.
///
/// A connection that others share is used and not begun: it would outlive the call, and needs a place to be.
pub(super) const SSH: &str = "ssh -oBatchMode=yes -oControlMaster=no";

/// A large history may take its time; one that stalls is given up earlier.
pub(super) const FETCHED_WITHIN: Duration = Duration::from_hours(2);
pub(super) const PUSHED_WITHIN: Duration = Duration::from_mins(30);
pub(super) const ANSWERED_WITHIN: Duration = Duration::from_mins(2);
const STALLED: [(&str, &str); 2] = [("http.lowSpeedLimit", "100"), ("http.lowSpeedTime", "60")];

/// How the user's git reaches servers; the rest of its environment stays out.
const USERS_OWN: [&str; 16] = [
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_SSL_VERSION",
    "GIT_SSL_CIPHER_LIST",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_PROXY_SSL_CERT",
    "GIT_PROXY_SSL_KEY",
    "GIT_PROXY_COMMAND",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_SSH_VARIANT",
];

/// Settings of a repository that say how servers are reached.
const NETWORK_SETTINGS: [&str; 6] = [
    "http.",
    "https.",
    "credential.",
    "url.",
    "ssh.",
    "core.sshcommand",
];

pub(super) fn is_network_setting(key: &str) -> bool {
    NETWORK_SETTINGS.iter().any(|start| key.starts_with(start))
}

#[derive(Debug)]
pub(super) struct ServerCall<'l> {
    pub(super) address: &'l Address,
    /// The login that was written into the address.
    pub(super) written: &'l UserInfo,
    pub(super) logins: &'l Logins,
    pub(super) settings: Vec<(String, String)>,
    pub(super) store: &'l Store,
    pub(super) stop: Option<&'l Cancel>,
}

#[derive(Debug)]
pub(super) struct ServerReply {
    pub(super) output: Output,
    login: Option<LoginOutcome>,
    /// Where the login was found, if not by git itself.
    from: Option<String>,
}

impl ServerCall<'_> {
    /// Runs a call that speaks to the server; a login that lacks or does not fit is told apart.
    pub(super) fn run(&self, call: Call, within: Duration) -> Result<Vec<u8>, StoreError> {
        let spoken = self.speak(call, within)?;
        match spoken.output.code {
            0 => Ok(spoken.output.stdout),
            _ => Err(self.why(&spoken)),
        }
    }

    /// Runs a call that speaks to the server, whatever comes of it.
    pub(super) fn speak(&self, call: Call, within: Duration) -> Result<ServerReply, StoreError> {
        let server = self.address.http_host();
        let login = server.and_then(|server| self.logins.find(server, self.written));
        let notes = self.store.scratch_file()?;
        let call = self.prepared(call, login.as_ref(), notes.path());
        let output = call.deadline(within).run()?;
        let told = fs::read_to_string(notes.path()).unwrap_or_default();
        Ok(ServerReply {
            output,
            login: outcome(&told),
            from: login.map(|login| login.from),
        })
    }

    pub(super) fn why(&self, spoken: &ServerReply) -> StoreError {
        let (host, problem) = match &spoken.login {
            Some(LoginOutcome::Missing(host)) => (host, LoginProblem::Missing),
            Some(LoginOutcome::Rejected(host)) => {
                let from = spoken.from.clone();
                (host, LoginProblem::Rejected { from })
            }
            None => {
                return StoreError::Unreachable {
                    address: self.address.clone(),
                    source: spoken.output.failure(),
                };
            }
        };
        let sent_on = self.address.host() != Some(host);
        let problem = if sent_on {
            LoginProblem::SentOn
        } else {
            problem
        };
        StoreError::Login {
            host: host.clone(),
            problem,
        }
    }

    fn prepared(&self, call: Call, login: Option<&Login>, notes: &Path) -> Call {
        let mut call = call
            .with_users_config()
            .with_servers()
            .reading(self.store.home())
            .writing(notes)
            .inherit(&USERS_OWN)
            .stopped_by(self.stop)
            .env(NOTES, notes);
        let mut settings: Vec<(String, Vec<u8>)> = Vec::new();
        let mut set = |key: &str, value: &[u8]| settings.push((key.to_owned(), value.to_vec()));
        for (key, value) in STALLED {
            set(key, value.as_bytes());
        }
        for (key, value) in &self.settings {
            set(key, value.as_bytes());
        }
        // A server may name another place at the beginning, and never in the middle.
        set("http.followRedirects", b"initial");
        if let (Some(login), Some(server)) = (login, self.address.http_host()) {
            // The user's helpers would be asked first, and told to forget what they know.
            set("credential.helper", b"");
            call = call
                .env(SERVER, server.origin())
                .env(USER, login.user.reveal())
                .secret_env(PASSWORD, login.password.reveal());
        } else if let Some(user) = &self.written.user {
            set("credential.username", user.reveal().as_bytes());
        }
        // The last to be asked: it answers where nobody did.
        set("credential.helper", &helper(&self.logins.program));
        call = call.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (number, (key, value)) in settings.iter().enumerate() {
            call = call
                .env(&format!("GIT_CONFIG_KEY_{number}"), key)
                .env(&format!("GIT_CONFIG_VALUE_{number}"), os_str(value));
        }
        self.with_ssh(call)
    }

    /// The user's own way to run ssh, which must not ask either.
    fn with_ssh(&self, call: Call) -> Call {
        let said = std::env::var("GIT_SSH_COMMAND").ok();
        let mut set = self.settings.iter().rev();
        let configured = set.find(|(key, _)| key == "core.sshcommand");
        let configured = configured.map(|(_, value)| value.clone());
        match said.or(configured).filter(|command| !command.is_empty()) {
            Some(command) => call.env("GIT_SSH_COMMAND", without_questions(&command)),
            None if std::env::var_os("GIT_SSH").is_some() => {
                call.withhold(&["GIT_SSH_COMMAND"]).inherit(&["GIT_SSH"])
            }
            None => call,
        }
    }
}

/// Adds to a command of the user's what keeps ssh from asking; other programs do not know it.
fn without_questions(command: &str) -> String {
    let program = command.split_whitespace().next().unwrap_or_default();
    let program = program.trim_matches(['\'', '"']);
    match Path::new(program).file_name() {
        Some(name) if name == "ssh" => format!("{command} -oBatchMode=yes -oControlMaster=no"),
        _ => command.to_owned(),
    }
}

/// Our own program as a credential helper: git hands the words to a shell and wants an absolute path
/// at their beginning, so the quotes open after it.
fn helper(program: &Path) -> Vec<u8> {
    let path = program.as_os_str().as_bytes();
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let mut words = b"/'".to_vec();
    for byte in path {
        match byte {
            b'\'' => words.extend_from_slice(b"'\\''"),
            _ => words.push(*byte),
        }
    }
    words.extend_from_slice(b"' git-credential");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ssh_itself_is_told_not_to_ask() {
        let told = "ssh -i key -oBatchMode=yes -oControlMaster=no";
        assert_eq!(without_questions("ssh -i key"), told);
        assert_eq!(
            without_questions("'/usr/bin/ssh' -v"),
            "'/usr/bin/ssh' -v -oBatchMode=yes -oControlMaster=no"
        );
        assert_eq!(without_questions("plink -ssh"), "plink -ssh");
    }

    #[test]
    fn the_helper_survives_a_shell_wherever_the_program_is() {
        let words = helper(Path::new("/it's a\nplace/pleach"));
        let script = format!("printf '%s|' {}", String::from_utf8(words).unwrap());
        let shell = Call::of(Path::new("/bin/sh")).args(["-c", &script]);
        let printed = shell.output().unwrap();
        assert_eq!(printed, b"/it's a\nplace/pleach|git-credential|");
    }

    #[test]
    fn no_error_repeats_a_secret_that_a_call_was_given() {
        let shell = Call::of(Path::new("/bin/sh")).secret_env("TOKEN", "s3cret");
        let told = shell.args(["-c", "echo \"got $TOKEN\" >&2; exit 3"]);
        let told = told.output().unwrap_err().to_string();
        assert!(told.ends_with("with code 3: got ***"), "{told}");
    }

    #[test]
    fn settings_that_run_other_things_are_no_network_settings() {
        assert!(is_network_setting("http.https://host/.extraheader"));
        assert!(is_network_setting("core.sshcommand"));
        for other in ["core.hookspath", "remote.origin.url", "alias.http"] {
            assert!(!is_network_setting(other), "{other}");
        }
    }
}
