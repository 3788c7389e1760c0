//! What tests need of the system's packages: found, or installed where that is possible.
//!
//! Knows nothing of the tests.

use std::path::PathBuf;
use std::process::Command;

use crate::step;

/// Where programs are that only administrators start.
const FOR_ADMINISTRATORS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// A cluster for the tests of clusters.
const SLURM: [&str; 4] = ["slurmctld", "slurmd", "slurm-client", "munge"];

/// Makes sure that a real Slurm can be started.
pub(crate) fn slurm() -> Result<(), String> {
    let is_missing = |name: &str| find(&[name]).is_none();
    let programs = [
        "slurmctld",
        "slurmd",
        "munged",
        "sbatch",
        "squeue",
        "scancel",
    ];
    if !programs.iter().any(|name| is_missing(name)) {
        return Ok(());
    }
    install(&SLURM)
}

/// Makes sure that a folder can be shown as by a network file system that remembers much.
pub(crate) fn bindfs() -> Result<(), String> {
    match find(&["bindfs"]) {
        Some(_) => Ok(()),
        None => install(&["bindfs"]),
    }
}

/// The first program of these names that is there.
pub(crate) fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders = std::env::split_paths(&path).chain(FOR_ADMINISTRATORS.map(PathBuf::from));
    folders
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|program| program.is_file())
}

/// Installs packages; an error has the line to type.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    let words = ["install", "--yes", "--no-install-recommends"];
    // A new machine has no list of packages yet.
    let installed = step(Command::new("apt-get").arg("update")).and_then(|()| {
        step(
            Command::new("apt-get")
                .args(words)
                .args(packages)
                .env("DEBIAN_FRONTEND", "noninteractive"),
        )
    });
    installed.map_err(|error| {
        let (words, packages) = (words.join(" "), packages.join(" "));
        format!("{error}\nthe tests need this, as root: apt-get {words} {packages}")
    })
}
