//! Lets tests keep their temporary files in memory, where this user may mount a file system.
//!
//! Thousands of small repositories come and go there, and no test looks at them after a power failure. Knows nothing of
//! what is tested.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::step;

/// Seen by the programs that are started here alone, and gone with the last of them.
const MOUNT: &str = r#"mount -t tmpfs -o mode=1777,size=50% pleach-tests "$TMPDIR" && exec "$@""#;

/// Runs tests to their end, with temporary files in memory or, where nobody may mount that, where they always are.
pub(crate) fn step_in_memory(tests: &mut Command) -> Result<(), String> {
    let Some(folder) = MountPoint::new() else {
        return step(tests);
    };
    let mut probe = folder.mounted(&mut Command::new("true"));
    let probe = probe.stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        return step(tests);
    }
    step(&mut folder.mounted(tests))
}

/// An empty folder, removed when it is not needed any more.
struct MountPoint(PathBuf);

impl MountPoint {
    fn new() -> Option<Self> {
        let name = format!("pleach-tests-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).ok().map(|()| Self(path))
    }

    /// The same program in a mount namespace of its own.
    fn mounted(&self, program: &mut Command) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", MOUNT, "sh"]);
        command.arg(program.get_program()).args(program.get_args());
        for (name, value) in program.get_envs() {
            set(&mut command, name, value);
        }
        set(&mut command, "TMPDIR".as_ref(), Some(self.0.as_os_str()));
        command
    }
}

impl Drop for MountPoint {
    fn drop(&mut self) {
        // The mount was seen by others alone; here the folder stayed empty.
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn set(command: &mut Command, name: &OsStr, value: Option<&OsStr>) {
    match value {
        Some(value) => command.env(name, value),
        None => command.env_remove(name),
    };
}
