//! How the machine is doing: memory, load, disk.
//!
//! Reads what the kernel says; what follows from it is decided elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the kernel tells of itself; another folder may stand in for it.
const PROC: &str = "PLEACH_PROC";

/// Less than this part of the memory is too little to start something new.
const LEAST_MEMORY: f64 = 0.05;

/// So much of the time somebody waits for memory, in percent, when it is short.
const SHORT_OF_MEMORY: f64 = 25.0;

#[derive(Debug)]
pub struct Machine {
    proc: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineLoad {
    pub cores: usize,
    /// How many processes want to run, over a minute.
    pub load: f64,
    pub memory: f64,
}

impl Default for Machine {
    fn default() -> Self {
        let elsewhere = std::env::var_os(PROC).filter(|path| !path.is_empty());
        Self {
            proc: elsewhere.unwrap_or_else(|| "/proc".into()).into(),
        }
    }
}

impl Machine {
    /// Why memory is too short to start something new, if it is.
    pub fn lacks_memory(&self) -> Option<String> {
        // A kernel that does not say is believed to be well.
        if self.memory().is_some_and(|part| part < LEAST_MEMORY) {
            return Some("memory is nearly used up".to_owned());
        }
        let pressed = self.pressure().is_some_and(|part| part > SHORT_OF_MEMORY);
        pressed.then(|| "processes are waiting for memory".to_owned())
    }

    /// How busy it is, as far as the kernel tells.
    pub fn load(&self) -> Option<MachineLoad> {
        let load = fs::read_to_string(self.proc.join("loadavg")).ok()?;
        Some(MachineLoad {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load: load.split_whitespace().next()?.parse().ok()?,
            memory: self.memory()?,
        })
    }

    fn memory(&self) -> Option<f64> {
        let text = fs::read_to_string(self.proc.join("meminfo")).ok()?;
        let kilobytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        let total = kilobytes("MemTotal:")?;
        Some(kilobytes("MemAvailable:")? / total.max(1.0))
    }

    /// How much of the last ten seconds somebody waited for memory, in percent.
    fn pressure(&self) -> Option<f64> {
        let text = fs::read_to_string(self.proc.join("pressure/memory")).ok()?;
        let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
        let mut words = some.split_whitespace();
        words.find_map(|word| word.strip_prefix("avg10=")?.parse().ok())
    }
}

/// How many bytes can still be written beneath a folder, or where it will be.
pub fn free_disk(folder: &Path) -> io::Result<u64> {
    let mut at = folder;
    let stat = loop {
        match rustix::fs::statvfs(at) {
            Err(rustix::io::Errno::NOENT) if let Some(above) = at.parent() => at = above,
            other => break other?,
        }
    };
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("pressure")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let proc = folder.path().to_owned();
        (folder, Machine { proc })
    }

    #[test]
    fn short_memory_is_told_by_what_is_left_and_by_who_waits() {
        let plenty = "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 51 kB\n";
        let little = "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 49 kB\n";
        let calm = "some avg10=24.00 avg60=99.00 avg300=9.00 total=1\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=0\n";
        let pressed = "some avg10=26.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        let lacks = |memory: &str, pressure: &str| {
            let files = [("meminfo", memory), ("pressure/memory", pressure)];
            machine(&files).1.lacks_memory().is_some()
        };
        assert!(!lacks(plenty, calm));
        assert!(lacks(little, calm));
        assert!(lacks(plenty, pressed));
        let (_folder, silent) = machine(&[]);
        assert_eq!(silent.lacks_memory(), None);
        assert_eq!(silent.load(), None);
    }

    #[test]
    fn load_and_memory_are_read_as_the_kernel_writes_them() {
        let files = [
            ("loadavg", "1.50 0.90 0.40 2/345 6789\n"),
            (
                "meminfo",
                "MemTotal:       8000 kB\nMemAvailable:   2000 kB\n",
            ),
        ];
        let (_folder, machine) = machine(&files);
        let busy = machine.load().unwrap();
        assert!(
            (busy.load, busy.memory) == (1.5, 0.25) && busy.cores > 0,
            "{busy:?}"
        );
    }

    #[test]
    fn the_disk_of_a_folder_that_is_not_there_yet_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let here = free_disk(folder.path()).unwrap();
        let below = free_disk(&folder.path().join("a/b")).unwrap();
        assert!(here > 0 && here.abs_diff(below) < 1 << 30);
    }
}
