//! Puts the board into the program, if it was built; else a page that says how to build it.
//!
//! Builds nothing itself and needs no Node: `cargo xtask board` does that.

use std::path::{Path, PathBuf};

/// Where `cargo xtask board` leaves the board. The folder around it is always there, so that Cargo sees it come and go.
const BUILT: &str = "../../web/dist/board";

fn main() {
    println!("cargo::rerun-if-env-changed=PLEACH_WEB_DIST");
    println!("cargo::rerun-if-env-changed=PLEACH_WEB");
    println!("cargo::rerun-if-changed=../../web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    let pages = board().unwrap_or_else(|| PathBuf::from("pages/no-board"));
    memory_serve::load_directory_with_embed(pages, true);
}

/// The files of the board, if somebody built it and wants it.
fn board() -> Option<PathBuf> {
    let wish = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    if wish("PLEACH_WEB").as_deref() == Some("skip") {
        return None;
    }
    let given = wish("PLEACH_WEB_DIST").map(PathBuf::from);
    let folder = given.as_deref().unwrap_or(Path::new(BUILT));
    if folder.join("index.html").is_file() {
        return Some(folder.to_owned());
    }
    assert!(
        given.is_none(),
        "PLEACH_WEB_DIST is {}, which has no index.html",
        folder.display()
    );
    println!(
        "cargo::warning=building without the board: run `cargo xtask board` (needs Node 20.19 or newer) and build \
         again, or set PLEACH_WEB=skip to hide this warning"
    );
    None
}
