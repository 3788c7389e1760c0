//! Finds the files that a text of instructions imports, as in `@docs/rules.md`.
//!
//! Finds rather too many than too few, in code too, which some agents do not pass over: whether there is such a file is
//! seen elsewhere.

/// What may stand behind a path without being part of it.
const PUNCTUATION: [char; 15] = [
    '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '*', '_', '`',
];

/// The paths that a text imports, as they are written there, relative ones only.
pub(super) fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (place, _) in text.match_indices('@') {
        let before = text[..place].chars().next_back();
        // A letter before it makes an address of it.
        if before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let path = path_at(&text[place + 1..]);
        // What is behind it may be a part of the file, or of its name.
        let file = path.split('#').next().unwrap_or_default();
        for path in [path.as_str(), file] {
            if path.is_empty() || path.starts_with(['/', '~', '@']) {
                continue;
            }
            let trimmed = path.trim_end_matches(PUNCTUATION);
            found.push(path.to_owned());
            if trimmed != path && !trimmed.is_empty() {
                found.push(trimmed.to_owned());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Everything up to a space that no backslash stands before.
fn path_at(text: &str) -> String {
    let mut path = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&' ') => {
                chars.next();
                path.push(' ');
            }
            c if c.is_whitespace() => break,
            c => path.push(c),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(imports(text).join(" | "), expected, "{text:?}");
    }

    #[test]
    fn paths_behind_an_at_sign_are_imports() {
        check("@docs/a.md", "docs/a.md");
        check(
            "see @./a.md, @../b.md and\n@c",
            "../b.md | ./a.md | ./a.md, | c",
        );
        check("- @docs/git.md.", "docs/git.md | docs/git.md.");
        check("(@a.md) **@b.md**", "a.md | a.md) | b.md | b.md**");
        check("@of\\ two\\ words.md x", "of two words.md");
        check("@a.md#part", "a.md | a.md#part");
        check("<!-- @a.md -->", "a.md");
        check("    @indented.md", "indented.md");
    }

    #[test]
    fn addresses_and_what_is_not_in_the_tree_are_none() {
        check("me@example.com @~/mine.md @/etc/passwd @ x", "");
    }

    #[test]
    fn imports_in_code_count_as_some_agents_follow_them() {
        check(
            "see `@a.md` and\n\n```\n@b.md\n```\n\n~~~\n@c.md",
            "a.md | a.md` | b.md | c.md",
        );
    }
}
