//! The beginning of what git prints, however much that is.
//!
//! Knows sizes; what is printed is the caller's business.

use std::io::{PipeReader, Read as _, pipe};
use std::thread;

use super::{Call, GitError};

#[derive(Debug)]
pub struct OutputStart {
    pub bytes: Vec<u8>,
    pub is_cut: bool,
}

impl Call {
    /// Runs the call and returns at most so many bytes of what it printed; it ends early if it prints more.
    pub fn beginning(mut self, most: usize) -> Result<OutputStart, GitError> {
        let what = self.what();
        let failed = |source| GitError::Io {
            what: what.clone(),
            source,
        };
        let (printed, end) = pipe().map_err(failed)?;
        self.printed = Some(end);
        let reader = thread::Builder::new().name("git".to_owned());
        let reader = reader.spawn(move || read(printed, most)).map_err(failed)?;
        // Its end of the pipe is gone by then, so that the reader comes to an end too.
        let output = self.run();
        let read = reader.join().expect("reading does not panic");
        let beginning = read.map_err(failed)?;
        match output {
            Ok(output) if output.code != 0 && !beginning.is_cut => Err(output.failure()),
            Ok(_) => Ok(beginning),
            Err(error) => Err(error),
        }
    }
}

/// Reads one byte more than is wanted; whoever goes on writing then has nobody to write to.
fn read(printed: PipeReader, most: usize) -> std::io::Result<OutputStart> {
    let mut bytes = Vec::new();
    let enough = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    printed.take(enough).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    Ok(OutputStart { bytes, is_cut })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn begun(script: &str, most: usize) -> Result<OutputStart, GitError> {
        Call::of(Path::new("/bin/sh"))
            .args(["-c", script])
            .beginning(most)
    }

    #[test]
    fn whoever_prints_without_end_is_ended() {
        let beginning = begun("yes", 100_000).unwrap();
        assert_eq!((beginning.bytes.len(), beginning.is_cut), (100_000, true));
        assert!(beginning.bytes.starts_with(b"y\ny\n"));
    }

    #[test]
    fn what_is_short_is_whole_and_a_failure_stays_one() {
        let beginning = begun("printf 12345", 5).unwrap();
        assert_eq!(beginning.bytes, b"12345");
        assert!(!beginning.is_cut);
        let failed = begun("printf 12345; exit 3", 5);
        assert!(matches!(failed, Err(GitError::Failed { code: 3, .. })));
    }
}
