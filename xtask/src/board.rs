//! Builds the board and proves it: npm for its packages, Chromium for its pages.
//!
//! Knows where things are and what must be there; what a page must do is said in `web/e2e`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{build_tried, cargo, packages, root, step_in, target, tried_program};

/// The browser of the tests, by its names.
const CHROMIUM: [&str; 2] = ["chromium", "chromium-browser"];

/// `cargo xtask board`, with what comes after it.
pub(crate) fn run(word: Option<&str>) -> Result<(), String> {
    match word {
        None => build(),
        Some("types") => write_types(),
        Some("test") => {
            check()?;
            build_tried()?;
            try_in_chromium()
        }
        Some(script @ ("bench" | "pictures")) => {
            build()?;
            cargo(&["build", "--release", "--locked", "--package", "pleach"])?;
            in_chromium(script, &root().join(target()).join("release/pleach"))
        }
        Some(_) => Err(crate::HELP.to_owned()),
    }
}

/// Builds the board where the next build of the program finds it.
pub(crate) fn build() -> Result<(), String> {
    install()?;
    npm(["run", "build"])
}

/// The same, or a word of why there will be no board.
pub(crate) fn build_if_possible() {
    if let Err(error) = build() {
        eprintln!("{error}\n── going on without the board: `cargo xtask board` tries again");
    }
}

/// Everything about it that needs no browser; that its copy of the API's document is fresh is a test of the server.
pub(crate) fn check() -> Result<(), String> {
    install()?;
    npm(["run", "types", "--", "--check"])?;
    npm(["run", "check"])?;
    npm(["test"])?;
    npm(["run", "build"])
}

/// Its pages in a browser, served by the program as it is built for tests.
pub(crate) fn try_in_chromium() -> Result<(), String> {
    packages::slurm()?;
    build_cluster()?;
    in_chromium("e2e", &tried_program())
}

/// The Slurm of its tests, by itself.
fn build_cluster() -> Result<(), String> {
    let example = ["--package", "pleach-testkit", "--example", "slurm"];
    cargo(&[&["build", "--locked"][..], &example[..]].concat())
}

fn in_chromium(script: &str, program: &Path) -> Result<(), String> {
    let chromium = chromium()?;
    let mut npm = Command::new("npm");
    npm.args(["run", script])
        .env("CHROMIUM", chromium)
        .env("PLEACH", program)
        .env("SLURM", root().join(target()).join("debug/examples/slurm"));
    step_in(&web(), &mut npm)
}

/// Writes the document of the API, and the types that are made of it.
fn write_types() -> Result<(), String> {
    install()?;
    let written = std::fs::write(document(), fresh_document()?);
    written.map_err(|error| format!("{}: {error}", document().display()))?;
    npm(["run", "types"])
}

/// What the server says of itself.
fn fresh_document() -> Result<Vec<u8>, String> {
    let mut print = Command::new("cargo");
    let example = ["--package", "pleach-server", "--example", "document"];
    print.args(["run", "--quiet", "--locked"]).args(example);
    let printed = print.current_dir(root()).stderr(Stdio::inherit()).output();
    match printed {
        Ok(printed) if printed.status.success() => Ok(printed.stdout),
        Ok(printed) => Err(format!("the API's document: {}", printed.status)),
        Err(error) => Err(format!("the API's document: {error}")),
    }
}

/// Installs the packages of the lock file, unless they are there.
fn install() -> Result<(), String> {
    let lock = web().join("package-lock.json");
    let mark = web().join("node_modules/.pleach-installed");
    let wanted = std::fs::read(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    if std::fs::read(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    // Nobody's scripts are run.
    npm(["ci", "--ignore-scripts", "--loglevel", "error"]).map_err(|error| {
        format!(
            "{error}\nhint: the board is built with npm of Node 20.19 or newer, from its registry"
        )
    })?;
    std::fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))
}

/// A browser; where there is none it is installed, if this user may.
fn chromium() -> Result<PathBuf, String> {
    if let Some(set) = std::env::var_os("CHROMIUM") {
        return Ok(PathBuf::from(set));
    }
    if let Some(found) = packages::find(&CHROMIUM) {
        return Ok(found);
    }
    packages::install(&CHROMIUM[..1])
        .map_err(|error| format!("{error}, or CHROMIUM with the path of one"))?;
    packages::find(&CHROMIUM).ok_or_else(|| "Chromium was installed and is not there".to_owned())
}

fn npm<const N: usize>(arguments: [impl AsRef<OsStr>; N]) -> Result<(), String> {
    step_in(&web(), Command::new("npm").args(arguments))
}

fn web() -> PathBuf {
    root().join("web")
}

fn document() -> PathBuf {
    web().join("openapi.json")
}
