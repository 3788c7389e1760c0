//! Turns task ids into pieces of ref names and folder names.
//!
//! Knows nothing of refs that exist.

const LONGEST: usize = 48;
const KEPT_OF_LONG: usize = 40;

/// Writes a task id so that it can stand in a ref or a path: `[a-z0-9-]`, at most 48 characters.
pub fn ref_segment(task_id: &str) -> String {
    let mut segment = String::with_capacity(task_id.len());
    for byte in task_id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => segment.push(char::from(byte)),
            _ => segment.extend(['-', hex_digit(byte >> 4), hex_digit(byte & 0xf)]),
        }
    }
    if segment.is_empty() {
        // No id is written as a lone dash, and a ref needs at least one character.
        segment.push('-');
    }
    if segment.len() > LONGEST {
        let hash = format!("{:016x}", fnv1a(task_id.as_bytes()));
        segment.truncate(KEPT_OF_LONG);
        segment.push('-');
        segment.push_str(&hash[hash.len() - (LONGEST - KEPT_OF_LONG - 1)..]);
    }
    segment
}

fn hex_digit(half: u8) -> char {
    char::from_digit(half.into(), 16).expect("half a byte is one hexadecimal digit")
}

/// FNV-1a with 64 bits.
///
/// It only has to keep apart the few names of one user, who gains nothing from a collision, so a
/// cryptographic hash would be a dependency without a purpose.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use pleach_testkit::TestRepo;

    use super::*;

    fn samples() -> Vec<String> {
        let pieces = [
            "", "a", "A", "-", "-41", "1", "1.1", "1-1", "é", "/", "..", ".lock", "@{", " ", "\n",
            "~", "task", "Task", "HEAD", "-2e",
        ];
        let mut all = Vec::new();
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    all.push(format!("{first}{second}{third}"));
                }
            }
        }
        all.extend((0..500).map(|n| format!("{}{n}", "a-very-long-task-name-".repeat(4))));
        all.extend((0..500).map(|n| format!("{n}{}", "É".repeat(30))));
        all.sort();
        all.dedup();
        all
    }

    #[test]
    fn different_ids_have_different_segments() {
        let mut seen: HashMap<String, String> = HashMap::new();
        for id in samples() {
            if let Some(other) = seen.insert(ref_segment(&id), id.clone()) {
                panic!("{id:?} and {other:?} are both {}", ref_segment(&id));
            }
        }
    }

    #[test]
    fn every_segment_is_short_and_plain() {
        for id in samples() {
            let segment = ref_segment(&id);
            assert!((1..=LONGEST).contains(&segment.len()), "{id:?}: {segment}");
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            assert!(segment.bytes().all(plain), "{id:?}: {segment}");
        }
    }

    #[test]
    fn git_accepts_segments_in_branch_names() {
        let repo = TestRepo::empty();
        for id in samples().iter().step_by(251) {
            let name = format!("refs/heads/pleach/task-1/{}", ref_segment(id));
            repo.git(&["check-ref-format", &name]);
        }
    }

    #[test]
    fn readable_ids_stay_readable() {
        assert_eq!(ref_segment("63"), "63");
        assert_eq!(ref_segment("2.1"), "2-2e1");
        assert_eq!(ref_segment("Ab"), "-41b");
    }
}
