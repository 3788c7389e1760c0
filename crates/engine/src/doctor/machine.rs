//! What the machine has: room, memory, open files, a state folder of our own, completions.
//!
//! Knows nothing of the project.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use super::{CheckLevel, DoctorCheck};
use crate::config::{MOST_LIMIT_WAIT, Settings};
use pleach_domain::choice::SandboxChoice;
use pleach_log::database::{AgentPause, Database};
use pleach_system::process::holds_our_own;
use pleach_system::sandbox::{Gap, NoSandbox, SandboxPolicy, gaps};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use pleach_system::text::moment::clock_time;
use pleach_system::text::shell_words::quoted;

/// With less memory than this to give, agents and builds are soon killed.
const LITTLE_MEMORY: u64 = 1 << 30;

/// An agent, its wrapper, its log and git want some dozens; a few agents at once some hundred.
const FEW_FILES: u64 = 512;

pub(super) fn look(
    top: &Path,
    program: &Path,
    settings: Option<&Settings>,
    findings: &mut Vec<DoctorCheck>,
) {
    let fallback = Settings::of([], top).ok();
    let settings = settings.or(fallback.as_ref());
    let limit_wait = settings.map_or(MOST_LIMIT_WAIT, |settings| settings.limit_wait);
    let state = state_folder(limit_wait, findings);
    if let Some(settings) = settings {
        let here = state.as_ref().map(|state| state.path().to_owned());
        let place = settings.worktrees.clone().or(here);
        let wanted = settings.min_free_disk;
        findings.extend(place.map(|place| disk(&place, "the folder for worktrees", wanted)));
        findings.push(sandbox(settings, program));
    }
    limits(findings);
    let shell = std::env::var_os("SHELL").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    findings.extend(
        shell
            .zip(home)
            .and_then(|(shell, home)| completions(&shell, &home)),
    );
}

/// What its kernel and whoever set it up leave to programs.
pub(super) fn limits(findings: &mut Vec<DoctorCheck>) {
    findings.extend(own_git(holds_our_own()));
    let meminfo = fs::read_to_string("/proc/meminfo").ok();
    findings.extend(meminfo.and_then(|text| memory(&text)));
    findings.push(open_files(getrlimit(Resource::Nofile).current));
}

fn sandbox(settings: &Settings, program: &Path) -> DoctorCheck {
    let chosen = SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write);
    let chosen = chosen.and_then(|chosen| chosen.on_network(settings.network, program));
    sandbox_of(chosen, program)
}

/// What holds programs here, if it is there.
pub(super) fn sandbox_of(chosen: Result<SandboxPolicy, NoSandbox>, program: &Path) -> DoctorCheck {
    match chosen {
        Err(none) => DoctorCheck::error("sandbox", none.to_string(), none.hint()),
        Ok(held) if *held.choice() == SandboxChoice::None => {
            let fix =
                "set sandbox to \"landlock\" on a kernel that has it, or to a wrapper command";
            DoctorCheck::warning("sandbox", held.description(), fix)
        }
        Ok(held) if !held.uses_landlock() => DoctorCheck::fine("sandbox", held.description()),
        Ok(held) => with_gaps(&held.description(), &gaps(program)),
    }
}

fn with_gaps(held: &str, gaps: &[Gap]) -> DoctorCheck {
    if gaps.is_empty() {
        return DoctorCheck::fine(
            "sandbox",
            format!("{held}; sockets of other programs are hidden"),
        );
    }
    let messages = gaps.iter().map(|gap| gap.message.as_str());
    let message: Vec<&str> = [held].into_iter().chain(messages).collect();
    let fixes: Vec<&str> = gaps.iter().map(|gap| gap.fix).collect();
    DoctorCheck::warning("sandbox", message.join("; "), fixes.join("; "))
}

/// What holds Pleach's own git, which works in folders that agents write to; nothing to tell where it is held.
fn own_git(is_held: bool) -> Option<DoctorCheck> {
    let message =
        "this kernel cannot confine Pleach's own git, which may follow links that an agent plants";
    let fix = "use Linux 5.19 or later with Landlock enabled (boot parameter lsm=)";
    (!is_held).then(|| DoctorCheck::warning("git sandbox", message.to_owned(), fix))
}

/// The state folder: there, private, and with a database that can be used.
fn state_folder(limit_wait: Duration, findings: &mut Vec<DoctorCheck>) -> Option<StateFolder> {
    let state = match StateFolder::of_user() {
        Ok(state) => state,
        Err(error) => {
            findings.push(DoctorCheck::error(
                "state",
                with_causes(&error),
                error.hint(),
            ));
            return None;
        }
    };
    let path = state.path();
    let shown = path.display();
    let mode = fs::metadata(path).map_or(0o700, |meta| meta.permissions().mode() & 0o777);
    if let Err(error) = tempfile::tempfile_in(path) {
        let message = format!("{shown} is not writable: {error}");
        let fix = "make it writable, or set PLEACH_HOME to another folder";
        findings.push(DoctorCheck::error("state", message, fix));
    } else if mode & 0o077 != 0 {
        let message = format!("{shown} is readable by other users (mode {mode:o})");
        findings.push(DoctorCheck::warning(
            "state",
            message,
            format!("chmod 700 {}", quoted(&path.to_string_lossy())),
        ));
    } else {
        findings.push(DoctorCheck::fine("state", format!("{shown} is private")));
    }
    match Database::open(&state) {
        Ok(database) => {
            let version = database.schema_version();
            findings.push(DoctorCheck::fine(
                "database",
                format!("valid, version {version}"),
            ));
            let pauses = database.agent_pauses(limit_wait).unwrap_or_default();
            findings.extend(pauses.iter().map(paused));
        }
        Err(error) => {
            let fix = error.hint().unwrap_or("set PLEACH_HOME to another folder");
            findings.push(DoctorCheck::error("database", with_causes(&error), fix));
        }
    }
    Some(state)
}

fn paused(pause: &AgentPause) -> DoctorCheck {
    let (agent, until) = (&pause.agent, clock_time(pause.until));
    let message = format!("{agent} is paused until {until}: {}", pause.because);
    DoctorCheck::warning("limit", message, pause.lifted_by())
}

/// The room where worktrees are made.
pub(super) fn disk(place: &Path, what: &str, wanted: u64) -> DoctorCheck {
    // The folder itself may not be there yet.
    let there = place.ancestors().find(|above| above.exists());
    let there = there.unwrap_or(Path::new("/"));
    let shown = there.display();
    match rustix::fs::statvfs(there) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let message = format!("{} free in {shown}, {what}", size(free));
            if free >= wanted {
                return DoctorCheck::fine("disk", message);
            }
            let message = format!("{message}; tasks need at least {}", size(wanted));
            let fix = "free some space (`pleach gc --dry-run` lists what can be removed), or set worktrees or min_free_disk";
            DoctorCheck::error("disk", message, fix)
        }
        Err(error) => {
            let message = format!("could not read the free space of {shown}: {error}");
            DoctorCheck::warning("disk", message, "set worktrees to another folder")
        }
    }
}

fn memory(meminfo: &str) -> Option<DoctorCheck> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    let free = kilobytes.saturating_mul(1024);
    let message = format!("{} memory free", size(free));
    Some(if free >= LITTLE_MEMORY {
        DoctorCheck::fine("memory", message)
    } else {
        let fix = "run fewer agents at once: pleach config set max_parallel 1";
        DoctorCheck::warning("memory", message, fix)
    })
}

fn open_files(limit: Option<u64>) -> DoctorCheck {
    match limit {
        Some(limit) if limit < FEW_FILES => {
            let message = format!("limit of {limit} open files per process is low");
            DoctorCheck::warning("files", message, "ulimit -n 4096")
        }
        Some(limit) => {
            DoctorCheck::fine("files", format!("limit of {limit} open files per process"))
        }
        None => DoctorCheck::fine("files", "no limit on open files"),
    }
}

/// Where the completions of a shell belong, if they are not there.
fn completions(shell: &Path, home: &Path) -> Option<DoctorCheck> {
    let name = shell.file_name()?.to_str()?;
    let place = match name {
        "bash" => ".local/share/bash-completion/completions/pleach",
        "fish" => ".config/fish/completions/pleach.fish",
        "zsh" => ".zfunc/_pleach",
        _ => return None,
    };
    let topic = "completions";
    Some(if home.join(place).exists() {
        DoctorCheck::fine(topic, format!("installed for {name}"))
    } else {
        DoctorCheck {
            fix: Some(format!("pleach completions {name} > ~/{place}")),
            level: CheckLevel::Fine,
            ..DoctorCheck::fine(topic, format!("not installed for {name} (optional)"))
        }
    })
}

/// A number of bytes, with one digit behind the point.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| (bytes / (unit / 10), bytes / unit);
    let (unit, name) = if bytes >= 1 << 30 {
        (1 << 30, "GiB")
    } else {
        (1 << 20, "MiB")
    };
    let (tenths, whole) = tenths(unit);
    format!(
        "{whole}.{} {name}",
        tenths.saturating_sub(whole * 10).min(9)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_of_anything_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("not/there");
        assert_eq!(disk(&missing, "here", 1).level, CheckLevel::Fine);
        let full = disk(&missing, "here", u64::MAX);
        assert_eq!(full.level, CheckLevel::Error);
        assert!(full.fix.unwrap().contains("pleach gc"));
        let memory = |kilobytes: u64| {
            let text = format!("MemTotal: 9 kB\nMemAvailable:   {kilobytes} kB\n");
            super::memory(&text).unwrap()
        };
        assert_eq!(memory(1 << 20).level, CheckLevel::Fine);
        let little = memory((1 << 20) - 1);
        assert_eq!(little.level, CheckLevel::Warning);
        assert_eq!(little.message, "1023.9 MiB memory free");
        assert_eq!(open_files(Some(256)).level, CheckLevel::Warning);
        assert_eq!(open_files(Some(1024)).level, CheckLevel::Fine);
        assert_eq!(open_files(None).level, CheckLevel::Fine);
        assert_eq!(own_git(true), None);
        assert_eq!(own_git(false).unwrap().level, CheckLevel::Warning);
    }

    #[test]
    fn completions_are_offered_until_they_are_there() {
        let home = tempfile::tempdir().unwrap();
        let fish = Path::new("/usr/bin/fish");
        let fix = completions(fish, home.path()).unwrap().fix;
        let place = ".config/fish/completions/pleach.fish";
        assert_eq!(fix, Some(format!("pleach completions fish > ~/{place}")));
        let place = home.path().join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "").unwrap();
        assert_eq!(completions(fish, home.path()).unwrap().fix, None);
        assert_eq!(completions(Path::new("/bin/tcsh"), home.path()), None);
    }
}
