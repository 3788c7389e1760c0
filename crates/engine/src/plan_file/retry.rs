//! Tries again what failed for a reason that can pass.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

pub(super) const PAUSES: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
    Duration::from_millis(160),
    Duration::from_millis(320),
];

const PASSING: [Errno; 6] = [
    Errno::AGAIN,
    Errno::BUSY,
    Errno::INTR,
    Errno::TXTBSY,
    Errno::NOSPC,
    Errno::DQUOT,
];

/// Runs `operation` until it succeeds, fails for good, or the pauses are used up.
pub(super) fn retry<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for pause in PAUSES {
        match operation() {
            Err(error) if can_pass(&error) => thread::sleep(pause),
            result => return result,
        }
    }
    operation()
}

fn can_pass(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(|errno| PASSING.contains(&errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries_until(errno: Errno, succeeds_at: u32) -> (u32, bool) {
        let mut tries = 0;
        let result = retry(|| {
            tries += 1;
            if tries == succeeds_at {
                Ok(())
            } else {
                Err(errno.into())
            }
        });
        (tries, result.is_ok())
    }

    #[test]
    fn a_full_disk_that_gets_room_is_written_in_the_end() {
        assert_eq!(tries_until(Errno::NOSPC, 3), (3, true));
    }

    #[test]
    fn a_disk_that_stays_full_is_given_up_after_six_tries() {
        assert_eq!(tries_until(Errno::NOSPC, 99), (6, false));
    }

    #[test]
    fn a_refusal_is_not_tried_again() {
        assert_eq!(tries_until(Errno::ACCESS, 2), (1, false));
    }
}
