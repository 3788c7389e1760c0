//! The environment of agents: nothing is passed on that is not allowed.
//!
//! Knows nothing of which agent it is for.

use std::ffi::OsString;

use pleach_system::variables::is_allowed_to_all;

use pleach_git::git::Identity;

/// The variables that are allowed, those named besides included, and what is said.
pub(crate) fn environment(
    besides: &[String],
    identity: &Identity,
    model: Option<&str>,
    said: &[(&str, OsString)],
) -> Vec<(OsString, OsString)> {
    let is_allowed = |name: &str| is_allowed_to_all(name) || besides.iter().any(|own| own == name);
    let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(is_allowed))
        .collect();
    let mut say = |name: &str, value: OsString| {
        env.retain(|(known, _)| known != name);
        env.push((name.into(), value));
    };
    for role in ["AUTHOR", "COMMITTER"] {
        say(&format!("GIT_{role}_NAME"), (&identity.name).into());
        say(&format!("GIT_{role}_EMAIL"), (&identity.email).into());
    }
    say("GIT_TERMINAL_PROMPT", "0".into());
    if let Some(model) = model {
        say("PLEACH_MODEL", model.into());
    }
    for (name, value) in said {
        say(name, value.clone());
    }
    env
}
