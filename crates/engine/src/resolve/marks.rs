//! Finds the marks that a merge leaves in a file around what it could not merge.
//!
//! Knows lines, and nothing of files or git.

use std::collections::BTreeSet;

/// How long git's marks are unless an attribute says otherwise.
const USUAL: usize = 7;

/// The lines of a text that look like marks, by their number from 1.
pub(super) fn marks(text: &[u8], size: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = text.split(|byte| *byte == b'\n').zip(1..);
    let lines = lines.map(|(line, number)| (number, line.strip_suffix(b"\r").unwrap_or(line)));
    lines.filter(move |(_, line)| is_mark(line, size))
}

/// The lines of a text that look like marks and stand there by right.
pub(super) fn meant(text: &[u8], size: usize) -> BTreeSet<String> {
    let lines = marks(text, size).map(|(_, line)| String::from_utf8_lossy(line).into_owned());
    lines.collect()
}

/// How long the marks are in a text that git put them into, with that name of our side.
pub(super) fn size(text: &[u8], name: &str) -> usize {
    let lines = text.split(|byte| *byte == b'\n');
    let mut sizes = lines.filter_map(|line| {
        let run = run(line, b'<');
        let is_ours = line[run..].strip_prefix(b" ")?.starts_with(name.as_bytes());
        (run > 0 && is_ours).then_some(run)
    });
    sizes.next().unwrap_or(USUAL)
}

fn is_mark(line: &[u8], size: usize) -> bool {
    let Some(first) = line.first() else {
        return false;
    };
    let run = run(line, *first);
    let ends = matches!(line.get(run), None | Some(b' '));
    match first {
        // Of merges within a merge they are longer.
        b'<' | b'>' => run >= size && ends,
        b'|' => run == size && ends,
        // A heading may be underlined with these.
        b'=' => run == size && line.len() == run,
        _ => false,
    }
}

/// How often a line begins with a byte.
fn run(line: &[u8], byte: u8) -> usize {
    line.iter().take_while(|there| **there == byte).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[usize]) {
        let found: Vec<usize> = marks(text.as_bytes(), 7).map(|(line, _)| line).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn marks_are_found_by_their_lines() {
        check(
            "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n",
            &[2, 4, 6],
        );
        check(
            "<<<<<<< ours\r\n||||||| base\r\n=======\r\n>>>>>>>\r\n",
            &[1, 2, 3, 4],
        );
        check("<<<<<<<<< Temporary merge branch 1\n", &[1]);
    }

    #[test]
    fn what_only_looks_alike_is_no_mark() {
        check("Title\n==========\n", &[]);
        check("====== \n ======= \n======= x\n", &[]);
        check("a <<<<<<< b\n<<<<<<<x\n>>>>>> x\n", &[]);
        check("||||||||\n|||||||x|\n", &[]);
    }

    #[test]
    fn the_size_of_marks_is_read_from_what_git_wrote() {
        assert_eq!(
            size(b"a\n<<<<<<<<<< pleach/batch-1\n", "pleach/batch-1"),
            10
        );
        assert_eq!(size(b"a\n<<<<<<<<<< other\n", "pleach/batch-1"), 7);
        assert_eq!(size(b"", "pleach/batch-1"), 7);
    }
}
