//! Turns task ids into pieces of ref names and folder names.
//!
//! Knows nothing of refs that exist.

use std::collections::{HashMap, HashSet};

use pleach_domain::id::TaskId;

const LONGEST: usize = 48;
const KEPT_OF_LONG: usize = 40;
/// A character may have several bytes, and file systems count those.
const MOST_BYTES: usize = 160;

/// What the tasks of a batch are called in refs and paths: their ids, as far as git, file systems and shells take them.
///
/// The names differ in more than case, because some file systems do not tell capitals apart.
pub fn task_segments(ids: &[&TaskId]) -> Vec<String> {
    let plain: Vec<String> = ids.iter().map(|id| plain_segment(id.as_str())).collect();
    let mut times: HashMap<String, usize> = HashMap::new();
    for name in &plain {
        *times.entry(name.to_lowercase()).or_default() += 1;
    }
    let is_alone = |name: &str| times[&name.to_lowercase()] == 1;
    let alone = plain.iter().filter(|name| is_alone(name));
    let mut taken: HashSet<String> = alone.map(|name| name.to_lowercase()).collect();
    let named = plain.iter().zip(ids).map(|(name, id)| {
        if is_alone(name) {
            return name.clone();
        }
        let mut hashed = (0..).map(|salt| with_hash(name, id.as_str(), salt));
        hashed
            .find(|name| taken.insert(name.to_lowercase()))
            .expect("there are more hashes than tasks")
    });
    named.collect()
}

/// Writes a task id by itself: what git or file systems refuse and what means something to shells is percent-encoded.
fn plain_segment(id: &str) -> String {
    let mut segment = String::with_capacity(id.len());
    for (at, character) in id.char_indices() {
        let behind = &id[at + character.len_utf8()..];
        let stays = match character {
            '.' => {
                let ends_a_lock = behind.eq_ignore_ascii_case("lock");
                at > 0 && !behind.is_empty() && !behind.starts_with('.') && !ends_a_lock
            }
            '-' => at > 0,
            '_' | '#' | '+' | '=' | ',' | '@' => true,
            other => other.is_alphanumeric(),
        };
        if stays {
            segment.push(character);
            continue;
        }
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            let digits = [hex_digit(byte >> 4), hex_digit(byte & 0xf)];
            segment.push('%');
            segment.extend(digits.map(|digit| digit.to_ascii_uppercase()));
        }
    }
    if segment.is_empty() {
        // No id is written as a lone percent sign, and a ref needs at least one character.
        segment.push('%');
    }
    if segment.chars().count() > LONGEST || segment.len() > MOST_BYTES {
        return with_hash(&segment, id, 0);
    }
    segment
}

/// The beginning of a name with a short hash of the id behind it.
fn with_hash(name: &str, id: &str, salt: u8) -> String {
    let mut beginning = String::new();
    for character in name.chars().take(KEPT_OF_LONG) {
        if beginning.len() + character.len_utf8() > MOST_BYTES - LONGEST + KEPT_OF_LONG {
            break;
        }
        beginning.push(character);
    }
    let mut hashed = id.as_bytes().to_vec();
    hashed.extend((salt > 0).then_some(salt));
    let hash = format!("{:016x}", fnv1a(&hashed));
    let short = &hash[hash.len() - (LONGEST - KEPT_OF_LONG - 1)..];
    format!("{beginning}-{short}")
}

/// Writes any text so that it can be a file's name: `[a-z0-9-]`, at most 48 characters.
///
/// Batches that were made before tasks had plain names have their tasks' ids written so.
pub fn ref_segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
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
        let hash = format!("{:016x}", fnv1a(text.as_bytes()));
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
    use pleach_testkit::TestRepo;

    use super::*;

    fn samples() -> Vec<String> {
        let pieces = [
            "", "a", "A", "-", "-41", "1", "1.1", "1-1", "é", "/", "..", ".lock", ".Lock", "@{",
            " ", "\n", "~", "%", "%41", "task", "Task", "HEAD", "-2e", "\u{202e}", "$(x)",
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
        all.extend((0..500).map(|n| format!("{}{n}", "\u{20000}".repeat(48))));
        all.sort();
        all.dedup();
        all
    }

    fn named(ids: &[&str]) -> Vec<String> {
        let ids: Vec<TaskId> = ids.iter().copied().map(TaskId::new).collect();
        task_segments(&ids.iter().collect::<Vec<_>>())
    }

    #[test]
    fn ids_that_git_and_file_systems_take_stay_as_they_are() {
        let ids = ["2.1", "AUTH-14", "T001", "#12", "ENG-7", "63", "größe_2"];
        assert_eq!(named(&ids), ids);
    }

    #[test]
    fn what_is_refused_is_percent_encoded() {
        let ids = [
            "a/b", "100%", "a b", ".a", "a.", "a..b", "x.LOCK", "-x", "$(x)", "",
        ];
        let names = [
            "a%2Fb",
            "100%25",
            "a%20b",
            "%2Ea",
            "a%2E",
            "a%2E.b",
            "x%2ELOCK",
            "%2Dx",
            "%24%28x%29",
            "%",
        ];
        assert_eq!(named(&ids), names);
    }

    #[test]
    fn ids_that_differ_in_case_only_get_a_hash_each() {
        let names = named(&["auth", "AUTH", "b"]);
        assert!(names[0].starts_with("auth-") && names[1].starts_with("AUTH-"));
        assert_eq!(names[2], "b");
        // Whoever has such an id from the start keeps it.
        let again = named(&["auth", "AUTH", &names[0]]);
        assert_eq!(again[2], names[0]);
        assert_ne!(again[0].to_lowercase(), again[2].to_lowercase());
    }

    #[test]
    fn the_names_of_a_batch_differ_and_are_short() {
        let ids: Vec<TaskId> = samples().iter().map(TaskId::new).collect();
        let names = task_segments(&ids.iter().collect::<Vec<_>>());
        let mut seen = HashSet::new();
        for (name, id) in names.iter().zip(&ids) {
            assert!(seen.insert(name.to_lowercase()), "{id:?}: {name}");
            assert!(
                (1..=LONGEST).contains(&name.chars().count()),
                "{id:?}: {name}"
            );
            assert!(name.len() <= MOST_BYTES, "{id:?}: {name}");
        }
    }

    #[test]
    fn git_accepts_the_names_in_branches() {
        let repo = TestRepo::empty();
        let samples = samples();
        let ids: Vec<&str> = samples.iter().map(String::as_str).step_by(151).collect();
        for name in named(&ids) {
            let name = format!("refs/heads/pleach/task-1/{name}");
            repo.git(&["check-ref-format", &name]);
        }
    }

    #[test]
    fn different_texts_have_different_file_names() {
        let mut seen: HashMap<String, String> = HashMap::new();
        for text in samples() {
            let segment = ref_segment(&text);
            assert!(
                (1..=LONGEST).contains(&segment.len()),
                "{text:?}: {segment}"
            );
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            assert!(segment.bytes().all(plain), "{text:?}: {segment}");
            if let Some(other) = seen.insert(segment, text.clone()) {
                panic!("{text:?} and {other:?} are both {}", ref_segment(&text));
            }
        }
    }

    /// Kept work and worktrees of earlier versions bear these.
    #[test]
    fn names_of_earlier_versions_stay() {
        assert_eq!(ref_segment("63"), "63");
        assert_eq!(ref_segment("2.1"), "2-2e1");
        assert_eq!(ref_segment("Ab"), "-41b");
    }
}
