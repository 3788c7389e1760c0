//! Reads files that a repository brings along: regular ones of a bounded size, and nothing that waits or never ends.
//!
//! Links are followed, for people have them; pipes, devices and folders are refused before they are opened.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The largest file of settings that is read, in bytes.
const LARGEST_SETTINGS: u64 = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("it is a folder")]
    Folder,
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it has {size} bytes and the limit is {most}")]
    TooLarge { size: u64, most: u64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Unreadable> for io::Error {
    fn from(why: Unreadable) -> Self {
        match why {
            Unreadable::Io(error) => error,
            Unreadable::Folder => Self::new(io::ErrorKind::IsADirectory, why.to_string()),
            Unreadable::NotRegular => Self::new(io::ErrorKind::InvalidInput, why.to_string()),
            Unreadable::TooLarge { .. } => Self::new(io::ErrorKind::FileTooLarge, why.to_string()),
        }
    }
}

/// Reads all of a file that has at most so many bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Unreadable> {
    // Some devices do something when they are opened, so the kind is looked at first.
    check(&fs::metadata(path)?, most)?;
    // Another one may stand there by now: opening a pipe must not wait, nor a terminal become ours.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from)?;
    let file = File::from(file);
    check(&file.metadata()?, most)?;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    if size > most {
        return Err(Unreadable::TooLarge { size, most });
    }
    Ok(bytes)
}

pub fn read_settings(path: &Path) -> io::Result<String> {
    let bytes = read(path, LARGEST_SETTINGS)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn check(metadata: &Metadata, most: u64) -> Result<(), Unreadable> {
    if metadata.is_dir() {
        return Err(Unreadable::Folder);
    }
    if !metadata.is_file() {
        return Err(Unreadable::NotRegular);
    }
    let size = metadata.len();
    if size > most {
        return Err(Unreadable::TooLarge { size, most });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            Mode::RWXU,
            0,
        )
        .unwrap();
        assert_eq!(read(&at("link"), 5).unwrap(), b"12345");
        let why = |name: &str, most| read(&at(name), most).unwrap_err().to_string();
        assert_eq!(why("file", 4), "it has 5 bytes and the limit is 4");
        assert_eq!(why("pipe", 4), "it is not a regular file");
        assert_eq!(why("endless", 4), "it is not a regular file");
        assert_eq!(why(".", 4), "it is a folder");
        let missing = read_settings(&at("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
