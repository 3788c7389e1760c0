//! Names the files Pleach puts next to a plan, and finds those a killed process left there.
//!
//! A name holds who made it and the digests of the two texts that may rightly be in it: the one that was
//! read and the one that was written. Any other text was saved by somebody else and is never deleted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::displaced::SLOWEST_WRITER;
use super::source;

/// What the name of a file ends with until its text is complete.
pub(super) const PARTIAL: &str = ".part";

const MARK: &str = ".pleach-";
const LONGEST_STEM: usize = 96;
/// Guards the files of a process that cannot be seen from here, as in another container.
const UNSEEN_SWEPT_AFTER: Duration = Duration::from_mins(1);
/// Others may write to what a dead process displaced for as long as it would have watched; ages are in whole seconds.
const SWEPT_AFTER: Duration = SLOWEST_WRITER.saturating_add(Duration::from_secs(1));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signature {
    /// The processes among which it has its number.
    among: u64,
    pid: u32,
    started: u64,
    made: u64,
    serial: u64,
    was: u64,
    new: u64,
}

/// A fresh name next to `target` for the exchange of `was` by `new`.
pub(super) fn fresh_path(target: &Path, was: &str, new: &str) -> PathBuf {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let signature = Signature {
        among: own_processes(),
        pid: process::id(),
        started: own_start(),
        made: unix_seconds(),
        serial: SERIAL.fetch_add(1, Ordering::Relaxed),
        was: digest(was.as_bytes()),
        new: digest(new.as_bytes()),
    };
    target.with_file_name(format!("{}{}", prefix(target), signature.encode()))
}

/// Deletes what killed processes left next to the plan and what is known to hold nobody else's text.
pub(super) fn sweep(plan: &Path) {
    let old = left_by_the_dead(plan).filter(|(_, signature)| signature.rest().is_zero());
    for (path, _) in old.filter(|(path, signature)| is_ours(path, *signature)) {
        // Another process may have swept it first, and a file that stays does no harm.
        let _ = fs::remove_file(path);
    }
}

/// The same, after waiting for those who may still write to it.
pub(super) fn sweep_patiently(plan: &Path) {
    let seen = left_by_the_dead(plan).filter(|(_, signature)| signature.is_seen());
    let ours = seen.filter(|(path, signature)| is_ours(path, *signature));
    if let Some(rest) = ours.map(|(_, signature)| signature.rest()).max() {
        thread::sleep(rest);
        sweep(plan);
    }
}

/// What killed processes left next to the plan and what may hold somebody else's text.
pub(super) fn unexplained(plan: &Path) -> Vec<PathBuf> {
    left_by_the_dead(plan)
        .filter(|(path, signature)| !is_ours(path, *signature))
        .map(|(path, _)| path)
        .collect()
}

fn left_by_the_dead(plan: &Path) -> impl Iterator<Item = (PathBuf, Signature)> {
    let target = source::resolve(plan).unwrap_or_else(|_| plan.to_owned());
    let prefix = prefix(&target);
    let own = format!(
        "{:016x}-{}-{}-",
        own_processes(),
        process::id(),
        own_start()
    );
    let folder = target.parent().and_then(|folder| fs::read_dir(folder).ok());
    folder
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(move |entry| {
            let name = entry.file_name();
            let signature = name.to_str()?.strip_prefix(&prefix)?;
            // Spares a look at each of the many files this process may be watching.
            if signature.starts_with(&own) {
                return None;
            }
            let signature = Signature::decode(signature)?;
            (!signature.is_of_the_living()).then(|| (entry.path(), signature))
        })
}

fn is_ours(path: &Path, signature: Signature) -> bool {
    // A partial file has never been the plan, so nobody else can have written to it.
    path.to_string_lossy().ends_with(PARTIAL)
        || fs::read(path)
            .is_ok_and(|bytes| [signature.was, signature.new].contains(&digest(&bytes)))
}

fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let stem = &name[..name.floor_char_boundary(LONGEST_STEM)];
    format!(".{stem}{MARK}")
}

impl Signature {
    fn encode(self) -> String {
        let Self {
            among,
            pid,
            started,
            made,
            serial,
            was,
            new,
        } = self;
        format!("{among:016x}-{pid}-{started}-{made}-{serial}-{was:016x}-{new:016x}")
    }

    fn decode(text: &str) -> Option<Self> {
        let mut parts = text.strip_suffix(PARTIAL).unwrap_or(text).split('-');
        let signature = Self {
            among: u64::from_str_radix(parts.next()?, 16).ok()?,
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            made: parts.next()?.parse().ok()?,
            serial: parts.next()?.parse().ok()?,
            was: u64::from_str_radix(parts.next()?, 16).ok()?,
            new: u64::from_str_radix(parts.next()?, 16).ok()?,
        };
        parts.next().is_none().then_some(signature)
    }

    fn is_of_the_living(self) -> bool {
        running_since(&self.pid.to_string()) == Some(self.started)
    }

    /// Whether its process would be seen if it were alive.
    fn is_seen(self) -> bool {
        self.among == own_processes()
    }

    /// How long it stays although its process is dead.
    fn rest(self) -> Duration {
        let swept_after = if self.is_seen() {
            SWEPT_AFTER
        } else {
            UNSEEN_SWEPT_AFTER
        };
        swept_after.saturating_sub(self.age())
    }

    fn age(self) -> Duration {
        Duration::from_secs(unix_seconds().saturating_sub(self.made))
    }
}

/// This boot and this container: elsewhere the same number is another process.
fn own_processes() -> u64 {
    static AMONG: OnceLock<u64> = OnceLock::new();
    *AMONG.get_or_init(|| {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        digest(&[&boot, space.as_os_str().as_encoded_bytes()].concat())
    })
}

fn own_start() -> u64 {
    static START: OnceLock<u64> = OnceLock::new();
    *START.get_or_init(|| running_since("self").unwrap_or_default())
}

/// When the process was started, in ticks since boot; nothing for one that has ended.
fn running_since(pid: &str) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold spaces and brackets of its own.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    (!matches!(state, "Z" | "X")).then_some(())?;
    fields.nth(18)?.parse().ok()
}

fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

/// FNV-1a, which stays the same from one release to the next, as the standard hasher need not.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A plan with one file next to it, made `age` seconds ago by `pid` and now holding `text`.
    fn plan_with_aside(
        among: u64,
        pid: u32,
        age: u64,
        text: &str,
        suffix: &str,
    ) -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().canonicalize().unwrap().join("TODO.md");
        fs::write(&plan, "plan\n").unwrap();
        let signature = Signature {
            among,
            pid,
            started: if pid == process::id() { own_start() } else { 1 },
            made: unix_seconds() - age,
            serial: 0,
            was: digest(b"was\n"),
            new: digest(b"new\n"),
        };
        let aside = plan.with_file_name(format!("{}{}{suffix}", prefix(&plan), signature.encode()));
        fs::write(&aside, text).unwrap();
        (folder, plan, aside)
    }

    fn dead_pid() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[track_caller]
    fn check(pid: u32, age: u64, text: &str, suffix: &str, swept: &str) {
        check_among(own_processes(), pid, age, text, suffix, swept);
    }

    #[track_caller]
    fn check_among(among: u64, pid: u32, age: u64, text: &str, suffix: &str, swept: &str) {
        let (_folder, plan, aside) = plan_with_aside(among, pid, age, text, suffix);
        let unexplained = unexplained(&plan);
        sweep(&plan);
        let fate = match (aside.exists(), unexplained.is_empty()) {
            (false, true) => "deleted",
            (true, true) => "left alone",
            (true, false) => "kept and told",
            (false, false) => "deleted though told",
        };
        assert_eq!(fate, swept);
    }

    #[test]
    fn the_text_that_was_read_or_written_by_a_dead_process_is_deleted() {
        check(dead_pid(), 4, "was\n", "", "deleted");
        check(dead_pid(), 61, "new\n", "", "deleted");
        check(dead_pid(), 61, "ne", PARTIAL, "deleted");
    }

    #[test]
    fn a_text_that_somebody_saved_is_kept_and_told() {
        check(dead_pid(), 61, "was\nand more\n", "", "kept and told");
    }

    #[test]
    fn the_files_of_a_running_process_and_young_ones_are_left_alone() {
        check(process::id(), 3600, "was\n", "", "left alone");
        check(dead_pid(), 1, "was\n", "", "left alone");
    }

    #[test]
    fn a_process_elsewhere_may_be_alive_and_is_waited_for_a_minute() {
        let elsewhere = own_processes() ^ 1;
        check_among(elsewhere, dead_pid(), 50, "was\n", "", "left alone");
        check_among(elsewhere, dead_pid(), 61, "was\n", "", "deleted");
    }

    #[test]
    fn whoever_has_time_waits_until_what_is_left_may_go() {
        let (_folder, plan, aside) = plan_with_aside(own_processes(), dead_pid(), 2, "was\n", "");
        sweep_patiently(&plan);
        assert!(!aside.exists());
        let (_folder, plan, aside) =
            plan_with_aside(own_processes() ^ 1, dead_pid(), 0, "was\n", "");
        sweep_patiently(&plan);
        assert!(aside.exists(), "that would take a minute");
    }

    #[test]
    fn a_name_that_is_not_of_the_pattern_is_left_alone() {
        check(dead_pid(), 61, "was\n", "-copy", "left alone");
        check(dead_pid(), 61, "was\n", ".bak", "left alone");
    }

    #[test]
    fn a_name_of_full_length_leaves_room_for_the_signature() {
        let path = fresh_path(Path::new(&format!("/x/{}", "é".repeat(127))), "a", "b");
        let name = path.file_name().unwrap();
        assert!(name.len() + PARTIAL.len() <= 255, "{}", name.len());
    }
}
