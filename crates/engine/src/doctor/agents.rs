//! The agent that would run: whether it is there, logged in and free to work; and others that are there.
//!
//! Asks nobody over the network.

use super::DoctorCheck;
use crate::agent::{ChosenAgent, LoginState, NoAgent, Presence, Versions, choose};
use crate::config::Settings;
use pleach_domain::choice::{SandboxChoice, Where};
use pleach_driver::known_agent;
use pleach_system::sandbox::SandboxPolicy;

/// Looks at agents; without settings, at those that are known by name.
pub(super) fn look(
    program: &std::path::Path,
    settings: Option<&Settings>,
    findings: &mut Vec<DoctorCheck>,
) {
    let fallback = Settings::of([], std::path::Path::new("/")).ok();
    let Some(known) = settings.or(fallback.as_ref()) else {
        return;
    };
    let mut all = Presence::all(known);
    Versions::asked_by(program.to_owned()).fill(&mut all);
    findings.extend(installed(&all));
    let Some(settings) = settings else {
        return;
    };
    if let Err(error) = choose(settings) {
        findings.push(DoctorCheck::error("agent", error.to_string(), error.hint()));
    }
    let default = all.iter().find(|agent| agent.is_default);
    findings.extend(default.into_iter().flat_map(|agent| of(agent, settings)));
}

/// Those that are on a node: the one that would run, and the login of every other that is known by name.
pub(super) fn on_node(program: &std::path::Path, chosen: &ChosenAgent) -> Vec<DoctorCheck> {
    let mut default = Presence::of(chosen);
    let fallback = Settings::of([], std::path::Path::new("/")).ok();
    let mut known = fallback.map_or_else(Vec::new, |settings| Presence::all(&settings));
    known.retain(|agent| agent.is_installed() && agent.name != default.name);
    let versions = Versions::asked_by(program.to_owned());
    versions.fill(&mut known);
    versions.fill(std::slice::from_mut(&mut default));
    let mut findings = presence(&default);
    findings.extend(installed(&known));
    findings.extend(known.iter().filter_map(login));
    findings
}

fn installed(all: &[Presence]) -> Option<DoctorCheck> {
    let there = all.iter().filter(|agent| {
        let is_usual = agent.preset.as_ref() == Some(&agent.name);
        is_usual && agent.is_installed()
    });
    let names: Vec<String> = there.map(named).collect();
    let message = format!("installed: {}", names.join(", "));
    (!names.is_empty()).then(|| DoctorCheck::fine("agents", message))
}

fn named(agent: &Presence) -> String {
    match &agent.version {
        Some(version) => format!("{} {version}", agent.name),
        None => agent.name.clone(),
    }
}

/// The one that would run.
fn of(agent: &Presence, settings: &Settings) -> Vec<DoctorCheck> {
    if !agent.is_installed() && settings.place != Where::Local {
        let message = format!(
            "{} is not installed on this machine, and runs on nodes",
            agent.name
        );
        return vec![DoctorCheck::fine("agent", message)];
    }
    let mut findings = presence(agent);
    if agent.is_installed() {
        findings.extend(root(agent, settings));
    }
    findings
}

/// Whether it is there and logged in.
fn presence(agent: &Presence) -> Vec<DoctorCheck> {
    if !agent.is_installed() {
        let missing = NoAgent::NotInstalled {
            name: agent.name.clone(),
            program: agent.program.clone(),
            install: agent.install.map(str::to_owned),
        };
        return vec![DoctorCheck::error(
            "agent",
            missing.to_string(),
            missing.hint(),
        )];
    }
    let version = agent.version.as_ref();
    let version = version.map(|version| format!(", version {version}"));
    let message = format!("{} found{}", agent.name, version.unwrap_or_default());
    let mut findings = vec![DoctorCheck::fine("agent", message)];
    findings.extend(login(agent));
    findings
}

fn login(agent: &Presence) -> Option<DoctorCheck> {
    match &agent.login {
        LoginState::By(what) => {
            let message = format!("{}: {what}", agent.title);
            Some(DoctorCheck::fine("login", message))
        }
        LoginState::No(hint) => {
            let message = format!("no login found for {}", agent.title);
            Some(DoctorCheck::warning("login", message, *hint))
        }
        LoginState::Unknown => None,
    }
}

/// Some agents refuse to work unattended as root where nothing holds them.
fn root(agent: &Presence, settings: &Settings) -> Option<DoctorCheck> {
    let known = known_agent(agent.preset.as_deref()?)?;
    let variable = known.root_variable?;
    if !rustix::process::geteuid().is_root() || std::env::var_os(variable).is_some() {
        return None;
    }
    let held = SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write).ok()?;
    (*held.choice() == SandboxChoice::None).then(|| {
        let title = known.title;
        let message = format!("{title} refuses to work unattended as root without a sandbox");
        let fix = format!(
            "run as another user, set sandbox, or set {variable}=1 if it is sandboxed otherwise"
        );
        DoctorCheck::warning("root", message, fix)
    })
}
