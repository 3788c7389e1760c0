//! Pages in the state folder that lead a browser to a link: command lines can be read by everybody, these files by
//! their owner alone, and by no agent in a sandbox.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::token::to_hex;

const FOLDER: &str = "open";
/// How long such a page waits for a browser.
const LIFETIME: Duration = Duration::from_mins(1);
/// How often those are looked for that nobody used.
const PAUSE: Duration = Duration::from_secs(15);

/// Writes a page that leads to a link, which ends with its code.
pub fn write_opener(state: &Path, link: &str) -> io::Result<PathBuf> {
    let (_, code) = link
        .split_once("#enter=")
        .ok_or(io::ErrorKind::InvalidInput)?;
    let path = path_of(state, code);
    let mut folder = DirBuilder::new();
    let folder = folder.recursive(true).mode(0o700);
    folder.create(state.join(FOLDER))?;
    let mut options = File::options();
    options.create_new(true).write(true).mode(0o600);
    let mut file = options.open(&path)?;
    write!(
        file,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  \
         <meta name=\"referrer\" content=\"no-referrer\">\n  \
         <meta http-equiv=\"refresh\" content=\"0;url={link}\">\n  <title>Pleach</title>\n</head>\n\
         <body><a href=\"{link}\">Open the board</a></body>\n</html>\n"
    )?;
    Ok(path)
}

/// Takes the page of a link away that was used.
pub(crate) fn remove(state: &Path, code: &str) {
    // Most links never had one.
    let _ = fs::remove_file(path_of(state, code));
}

/// The code does not stand in the name: the name is what stands on a command line.
fn path_of(state: &Path, code: &str) -> PathBuf {
    let mut name = to_hex(&Sha256::digest(code));
    name.truncate(16);
    state.join(FOLDER).join(format!("{name}.html"))
}

/// Takes those away that were not used for a minute, also those of other processes.
pub(crate) async fn sweep(state: &Path) {
    loop {
        let folder = state.join(FOLDER);
        let swept = tokio::task::spawn_blocking(move || remove_old(&folder));
        // What could not be looked at now can be the next time.
        let _ = swept.await;
        tokio::time::sleep(PAUSE).await;
    }
}

fn remove_old(folder: &Path) {
    for page in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = page.metadata().and_then(|page| page.modified());
        let age = modified.map(|at| SystemTime::now().duration_since(at));
        if matches!(age, Ok(Ok(age)) if age > LIFETIME) {
            let _ = fs::remove_file(page.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_when_it_was_used_or_is_old() {
        let state = tempfile::tempdir().unwrap();
        let link = |code: &str| format!("http://127.0.0.1:1/#enter={code}");
        let used = write_opener(state.path(), &link("a")).unwrap();
        let old = write_opener(state.path(), &link("b")).unwrap();
        let new = write_opener(state.path(), &link("c")).unwrap();
        let text = fs::read_to_string(&used).unwrap();
        assert!(text.contains(&format!("url={}\"", link("a"))), "{text}");
        remove(state.path(), "a");
        remove(state.path(), "unknown");
        let before = SystemTime::now() - 2 * LIFETIME;
        let file = File::options().write(true).open(&old).unwrap();
        file.set_modified(before).unwrap();
        remove_old(&state.path().join(FOLDER));
        assert!(!used.exists() && !old.exists() && new.exists());
    }
}
