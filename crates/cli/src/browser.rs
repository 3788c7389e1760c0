//! Opens a page of a file in the user's browser.
//!
//! Everybody on the machine reads command lines, so nothing that is secret may stand in the file's name.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SNAP_STARTERS: &str = "/var/lib/snapd/desktop/applications";

/// Hands a file to the browser that the user has chosen; does not wait for it.
pub(crate) fn open(file: &Path) -> io::Result<()> {
    let chosen = chosen();
    if is_snap(chosen.as_ref()) {
        return Err(io::Error::other(
            "browsers installed as snaps cannot read the file with the link",
        ));
    }
    let mut address = OsString::from("file://");
    address.push(encoded(file));
    let mut command = Command::new(chosen.unwrap_or_else(|| "xdg-open".into()));
    command.arg(address);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

fn chosen() -> Option<OsString> {
    std::env::var_os("BROWSER").filter(|browser| !browser.is_empty())
}

/// Whether the browser is one of snap's, which may not look into folders whose names begin with a dot.
fn is_snap(chosen: Option<&OsString>) -> bool {
    if let Some(program) = chosen {
        return Path::new(program).starts_with("/snap");
    }
    let asked = Command::new("xdg-settings")
        .args(["get", "default-web-browser"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(answer) = asked else {
        return false;
    };
    let name = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    !name.is_empty() && PathBuf::from(SNAP_STARTERS).join(name).is_file()
}

/// A path as it stands in an address.
fn encoded(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let letters = bytes.map(|&byte| match byte {
        b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_letters_of_a_path_are_encoded() {
        let path = Path::new("/home/añ b/#x%");
        assert_eq!(encoded(path), "/home/a%C3%B1%20b/%23x%25");
    }
}
