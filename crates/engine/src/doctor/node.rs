//! What a unit needs of the node of a cluster that it runs on: looked at there, by the checks that look at this machine.
//!
//! Knows nothing of how it came there.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use pleach_domain::choice::{NetworkChoice, SandboxChoice};
use pleach_system::sandbox::SandboxPolicy;
use serde::{Deserialize, Serialize};

use super::{DoctorCheck, agents, machine, project};
use crate::agent::ChosenAgent;
use crate::config::Settings;

/// What would run there, and what it would need.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeNeeds {
    agent: ChosenAgent,
    sandbox: Option<SandboxChoice>,
    sandbox_write: Vec<PathBuf>,
    network: NetworkChoice,
    min_free_disk: u64,
}

impl NodeNeeds {
    pub fn of(settings: &Settings, agent: ChosenAgent) -> Self {
        Self {
            agent,
            sandbox: settings.sandbox.clone(),
            sandbox_write: settings.sandbox_write.clone(),
            network: settings.network,
            min_free_disk: settings.min_free_disk,
        }
    }
}

/// Looks at the machine that this runs on: its folder for worktrees is `scratch`, and these variables were sent to it.
pub fn examine_node(
    program: &Path,
    needs: &NodeNeeds,
    scratch: &Path,
    secrets: &[String],
) -> Vec<DoctorCheck> {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    let mut findings = vec![DoctorCheck::fine("kernel", format!("Linux {release}"))];
    let git = project::found_git();
    findings.push(git.map_or_else(|error| error, |(_, finding)| finding));
    findings.push(machine::disk(
        scratch,
        "the folder for worktrees there",
        needs.min_free_disk,
    ));
    let chosen = SandboxPolicy::choose(needs.sandbox.as_ref(), &needs.sandbox_write);
    let chosen = chosen.and_then(|chosen| chosen.on_network(needs.network, program));
    findings.push(machine::sandbox_of(chosen, program));
    machine::limits(&mut findings);
    findings.push(ports());
    findings.push(arrived(secrets));
    findings.extend(agents::on_node(program, &needs.agent));
    findings
}

/// Tests often serve something to themselves.
fn ports() -> DoctorCheck {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)) {
        Ok(_) => DoctorCheck::fine("ports", "ports can be opened on the loopback"),
        Err(error) => {
            let message = format!("no port can be opened on the loopback: {error}");
            let fix = "ask the administrator of the cluster to bring up lo on its nodes";
            DoctorCheck::warning("ports", message, fix)
        }
    }
}

/// Whether what is passed on came along; its values are nobody's business.
fn arrived(secrets: &[String]) -> DoctorCheck {
    let is_there = |name: &&String| std::env::var_os(name).is_some();
    let missing: Vec<&str> = { secrets.iter() }
        .filter(|name| !is_there(name))
        .map(String::as_str)
        .collect();
    match (secrets, missing.as_slice()) {
        ([], _) => DoctorCheck::fine("secrets", "no variable is set that would be sent"),
        (sent, []) => DoctorCheck::fine("secrets", format!("arrived: {}", sent.join(", "))),
        (_, missing) => {
            let message = format!("did not arrive: {}", missing.join(", "));
            let fix = "check that `srun` from this machine reaches the nodes";
            DoctorCheck::error("secrets", message, fix)
        }
    }
}
