//! What this system leaves open although a sandbox holds agents, in words for `doctor` and for every task.
//!
//! Knows nothing of what was asked for.

use std::path::Path;

use crate::process::can_refuse_calls;
use crate::process::{can_isolate, landlock_version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub message: String,
    pub fix: &'static str,
}

/// The last version of Landlock that closes something.
const WHOLE: usize = 6;

/// What agents can do before a version of Landlock.
const BEFORE: [(usize, &str); 5] = [
    (6, "signal your other programs"),
    (6, "connect to abstract sockets"),
    (5, "control devices"),
    (3, "truncate files outside their worktree"),
    (2, "redirect Pleach's git with links"),
];

/// Everything that is left open here; `program` is Pleach itself.
pub fn gaps(program: &Path) -> Vec<Gap> {
    let sockets = || {
        Gap {
        message: "agents can reach sockets of your other programs (ssh-agent, D-Bus, Docker …): this system does not allow \
                  user namespaces"
            .to_owned(),
        fix: "allow user namespaces: see user.max_user_namespaces, kernel.unprivileged_userns_clone and \
              kernel.apparmor_restrict_unprivileged_userns",
    }
    };
    let calls = || {
        Gap {
        message: "agents can change limits of your other programs and type into open terminals: this system does not allow \
                  filtering system calls"
            .to_owned(),
        fix: "allow the seccomp system call (containers may block it)",
    }
    };
    let mut gaps: Vec<Gap> = landlock_gap(landlock_version()).into_iter().collect();
    gaps.extend((!can_refuse_calls()).then(calls));
    gaps.extend((!can_isolate(program)).then(sockets));
    gaps
}

/// What a version of Landlock leaves open; where there is none, nothing holds agents anyway.
fn landlock_gap(version: usize) -> Option<Gap> {
    let open = BEFORE.iter().filter(|(closed_by, _)| version < *closed_by);
    let open: Vec<&str> = open.map(|(_, what)| *what).collect();
    let (last, others) = open.split_last().filter(|_| version > 0)?;
    Some(Gap {
        message: format!(
            "agents can {} and {last}: this kernel has Landlock version {version}, Linux 6.12 has {WHOLE}",
            others.join(", ")
        ),
        fix: "use Linux 6.12 or later",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_landlock_leaves_more_open_and_says_so_in_one_line() {
        let said = |version| landlock_gap(version).map(|gap| gap.message);
        for whole in [0, 6, 7] {
            assert_eq!(said(whole), None);
        }
        assert_eq!(
            said(5).unwrap(),
            "agents can signal your other programs and connect to abstract sockets: this kernel has Landlock version 5, \
             Linux 6.12 has 6"
        );
        assert_eq!(
            said(1).unwrap(),
            "agents can signal your other programs, connect to abstract sockets, control devices, truncate files outside \
             their worktree and redirect Pleach's git with links: this kernel has Landlock version 1, Linux 6.12 has 6"
        );
        let lengths = (1..=5).map(|version| said(version).unwrap().len());
        assert!(lengths.is_sorted_by(|older, newer| older >= newer));
    }
}
