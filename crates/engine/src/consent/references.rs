//! Finds the words of settings that may name files, such as scripts of hooks, and the patterns that name instructions.
//!
//! Reads JSON, TOML and YAML as text, and finds rather too many than too few: whether there is such a file is seen
//! elsewhere.

/// The longest word that is taken for a path or a pattern.
const LONGEST: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reference {
    Path(String),
    Pattern(String),
}

pub(super) fn references(text: &str) -> Vec<Reference> {
    let unescaped = unescaped(text);
    let mut found = Vec::new();
    for text in [text, &unescaped] {
        // Whole strings first: a path may have blanks.
        let strings = text.split('"').filter(|string| !string.contains('\n'));
        let words = text.split(|c: char| c.is_whitespace() || "\"'`;&|<>,".contains(c));
        for word in strings.chain(words).filter(|word| word.len() <= LONGEST) {
            found.extend(paths(word).map(|path| Reference::Path(path.to_owned())));
        }
    }
    found.extend(instructions(&unescaped).map(Reference::Pattern));
    found.sort();
    found.dedup();
    found
}

/// What may be a path in a word: without a variable for the folder of the project, and without what stands around it.
fn paths(word: &str) -> impl Iterator<Item = &str> {
    let behind = |separator: &str| word.split_once(separator).map(|(_, path)| path);
    let variable = word.starts_with('$').then(|| behind("/")).flatten();
    let all = [
        Some(word),
        variable,
        behind("}/"),
        behind(")/"),
        behind("="),
        behind("file:"),
    ];
    all.into_iter().flatten().filter_map(move |path| {
        let path = path.trim_start_matches(['(', '[', '{', '/', '-', ' ']);
        let path = path.trim_end_matches([')', ']', '}', ':', ' ']);
        (!path.is_empty()).then_some(path)
    })
}

/// The strings in lists of that name, in which `OpenCode` has patterns.
fn instructions(text: &str) -> impl Iterator<Item = String> {
    let lists = text.split("\"instructions\"").skip(1);
    lists.flat_map(|text| {
        let list = text.trim_start_matches(|c: char| c.is_whitespace() || c == ':');
        let mut parts = list.strip_prefix('[').unwrap_or("]").split('"');
        let mut found = Vec::new();
        // What stands outside of strings and inside of them takes turns.
        while let (Some(outside), Some(inside)) = (parts.next(), parts.next()) {
            if outside.contains(']') {
                break;
            }
            let pattern = inside.trim_start_matches("./");
            if pattern.len() <= LONGEST && pattern.contains(['*', '?', '{', '[']) {
                found.push(pattern.to_owned());
            }
        }
        found
    })
}

/// The text with characters in the place of escapes, by which a path could be written so that nobody finds it.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let escaped = chars.next();
        let digits = match escaped {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let code = chars.as_str().get(..digits);
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        let decoded = code.filter(|_| digits > 0).and_then(char::from_u32);
        rest = chars.as_str();
        match (decoded, escaped) {
            (Some(c), _) => {
                out.push(c);
                rest = &rest[digits..];
            }
            (None, Some('n' | 'r' | 't' | '"')) => out.push(' '),
            (None, Some(c)) => out.push(c),
            (None, None) => {}
        }
    }
    out.push_str(rest);
    out
}

pub(super) struct Pattern {
    pieces: Vec<Piece>,
    pub(super) start: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Byte(u8),
    /// One character of a name.
    One,
    /// Any characters of a name.
    Name,
    Any,
}

impl Pattern {
    /// Reads a pattern; alternatives and classes are taken for anything.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            let close = |end: u8| after.iter().position(|byte| *byte == end);
            let piece = match byte {
                b'*' if after.first() == Some(&b'*') => {
                    rest = after[1..].strip_prefix(b"/").unwrap_or(&after[1..]);
                    Piece::Any
                }
                b'*' => Piece::Name,
                b'?' => Piece::One,
                b'{' | b'[' => {
                    let end = close(if *byte == b'{' { b'}' } else { b']' });
                    rest = end.map_or(&[][..], |end| &after[end + 1..]);
                    Piece::Any
                }
                byte => Piece::Byte(*byte),
            };
            pieces.push(piece);
        }
        let start = pieces.iter().map_while(|piece| match piece {
            Piece::Byte(byte) => Some(*byte),
            _ => None,
        });
        Self {
            start: start.collect(),
            pieces,
        }
    }

    /// Whether a whole path matches; takes no longer than the pattern is long for each of its bytes.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let mut places = vec![false; self.pieces.len() + 1];
        places[0] = true;
        self.pass_over(&mut places);
        for byte in path {
            let mut next = vec![false; places.len()];
            for (at, piece) in self.pieces.iter().enumerate() {
                if !places[at] {
                    continue;
                }
                match piece {
                    Piece::Byte(wanted) => next[at + 1] |= wanted == byte,
                    Piece::One => next[at + 1] |= *byte != b'/',
                    Piece::Name => next[at] |= *byte != b'/',
                    Piece::Any => next[at] = true,
                }
            }
            self.pass_over(&mut next);
            places = next;
        }
        places[self.pieces.len()]
    }

    /// Pieces that may be nothing are passed over.
    fn pass_over(&self, places: &mut [bool]) {
        for (at, piece) in self.pieces.iter().enumerate() {
            if places[at] && matches!(piece, Piece::Name | Piece::Any) {
                places[at + 1] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let wanted = Reference::Path(expected.to_owned());
        assert!(references(text).contains(&wanted), "{text}");
    }

    #[test]
    fn words_of_settings_that_may_be_paths_are_found() {
        check(r#"{"command": "./scripts/x.sh --fast"}"#, "./scripts/x.sh");
        check(r#"{"command": "cd a&&sh b/c.sh;d"}"#, "b/c.sh");
        check(r#"{"command": "\"$CLAUDE_PROJECT_DIR\"/a/b.sh"}"#, "a/b.sh");
        check(r#"{"command": "$CLAUDE_PROJECT_DIR/a/b.sh"}"#, "a/b.sh");
        check(r#"["${workspaceFolder}/a.js"]"#, "a.js");
        check("run: $(git rev-parse --show-toplevel)/a.sh", "a.sh");
        check("- --config=tools/a.yml", "tools/a.yml");
        check(r#"{"prompt": "{file:./prompts/a.md}"}"#, "./prompts/a.md");
        check("repos: [tools/a, tools/b]", "tools/b");
        check(r#"{"a": "b/of two words.js"}"#, "b/of two words.js");
        check(r#"{"a": "scripts\/\u0078.sh"}"#, "scripts/x.sh");
        let permission = references(r#"{"deny": ["Read(./src/a.rs)"]}"#);
        assert!(!permission.contains(&Reference::Path("./src/a.rs".to_owned())));
        check("\\u12 \\", "u12");
    }

    #[test]
    fn patterns_are_taken_from_lists_of_instructions_alone() {
        let text =
            r#"{"globs": ["a/*"], "instructions": ["b.md", "./c/*.md", "d/[x]*"], "e": ["f/*"]}"#;
        let found = references(text).into_iter();
        let patterns: Vec<Reference> = found
            .filter(|reference| matches!(reference, Reference::Pattern(_)))
            .collect();
        assert_eq!(
            patterns,
            [
                Reference::Pattern("c/*.md".to_owned()),
                Reference::Pattern("d/[x]*".to_owned())
            ]
        );
    }

    #[test]
    fn patterns_match_as_in_a_shell_or_more() {
        for (pattern, path, expected) in [
            ("docs/*.md", "docs/a.md", true),
            ("docs/*.md", "docs/b/a.md", false),
            ("docs/**/*.md", "docs/a.md", true),
            ("docs/**/*.md", "docs/b/c/a.md", true),
            ("**/a.md", "b/a.md", true),
            ("?.md", "a.md", true),
            ("?.md", "/.md", false),
            ("{a,b}.md", "b.md", true),
            ("[ab].md", "b.md", true),
            ("docs/*", "docs", false),
        ] {
            let matches = Pattern::new(pattern.as_bytes()).matches(path.as_bytes());
            assert_eq!(matches, expected, "{pattern} {path}");
        }
        let hostile = Pattern::new("*a".repeat(500).as_bytes());
        assert!(!hostile.matches(&b"a".repeat(400)));
    }
}
