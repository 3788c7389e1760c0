//! Tells which code spans name a file.
//!
//! Knows text, not the repository: a file that a task creates does not exist yet.

/// Endings of files that stand without a folder; a bare `user.name` is no file.
const ENDINGS: [&str; 66] = [
    "astro",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "cu",
    "dart",
    "env",
    "erl",
    "ex",
    "exs",
    "fish",
    "go",
    "gradle",
    "graphql",
    "h",
    "hpp",
    "hs",
    "html",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "jsx",
    "kt",
    "lean",
    "less",
    "lock",
    "lua",
    "md",
    "mdx",
    "mjs",
    "ml",
    "nix",
    "php",
    "pl",
    "properties",
    "proto",
    "ps1",
    "py",
    "r",
    "rb",
    "rs",
    "rst",
    "scala",
    "scss",
    "sh",
    "sql",
    "svelte",
    "swift",
    "toml",
    "ts",
    "tsx",
    "txt",
    "yaml",
    "yml",
];

const BARE_NAMES: [&str; 8] = [
    "Makefile",
    "Dockerfile",
    "Justfile",
    "Gemfile",
    "Rakefile",
    "LICENSE",
    "README",
    "CHANGELOG",
];

/// The file that a code span names, if it names one.
pub(super) fn declared(span: &str) -> Option<&str> {
    let path = span.trim();
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = without_line_number(path);
    if !is_plain_path(path) {
        return None;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let names_file = match ending {
        _ if BARE_NAMES.contains(&name) => true,
        Some(ending) if path.contains('/') => {
            (1..=10).contains(&ending.len())
                && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        }
        // `.md` alone is an ending, and `.env` is a file.
        Some(ending) if name.len() == ending.len() + 1 => ending == "env",
        Some(ending) => ENDINGS.binary_search(&ending).is_ok(),
        None => false,
    };
    names_file.then_some(path)
}

/// The path that a bare word of prose may be; whether there is such a file is for others to say.
pub(super) fn mentioned(word: &str) -> Option<&str> {
    // Asked of every word of a plan, and nearly always this is the answer.
    let is_marked = word.bytes().any(|byte| matches!(byte, b'/' | b'.'));
    if !is_marked && !word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let is_around = |c: char| "()[]{}<>\"'*_,;:!?".contains(c);
    let word = word.trim_matches(is_around).trim_end_matches('.');
    let path = without_line_number(word.strip_prefix("./").unwrap_or(word));
    let path = path.trim_matches(is_around);
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_named_so = path.contains(['/', '.']) || BARE_NAMES.contains(&name);
    let has_letter = name.contains(|c: char| c.is_alphabetic());
    (is_named_so && has_letter && is_plain_path(path)).then_some(path)
}

/// The files that an entry of a file list names: its code spans, or else its paths.
pub(super) fn listed(entry: &str) -> Vec<&str> {
    let spans: Vec<&str> = entry
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(path_in_list)
        .collect();
    if !spans.is_empty() {
        return spans;
    }
    let entry = entry.split(" (").next().unwrap_or(entry);
    let parts = entry.split(',').flat_map(|part| part.split(" and "));
    parts
        .filter_map(|part| part.split_whitespace().find_map(path_in_list))
        .collect()
}

/// A word that is a path: it has a folder or an ending, or is a well-known name.
fn path_in_list(word: &str) -> Option<&str> {
    let word = word.trim_matches(['*', '`', '"', '\'', ':', ';', ' ']);
    // A link is named by its text.
    let word = word
        .strip_prefix('[')
        .and_then(|link| link.split(']').next())
        .unwrap_or(word);
    let path = without_line_number(word.strip_prefix("./").unwrap_or(word));
    let name = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path);
    let has_ending = name
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ending.starts_with(|c: char| c.is_ascii_alphabetic()));
    let names_file = path.contains('/') || has_ending || BARE_NAMES.contains(&name);
    (is_plain_path(path) && names_file).then_some(path)
}

/// `src/a.rs:10-20` is about `src/a.rs`.
fn without_line_number(path: &str) -> &str {
    match path.split_once(':') {
        Some((file, place)) if place.starts_with(|c: char| c.is_ascii_digit()) => file,
        _ => path,
    }
}

fn is_plain_path(path: &str) -> bool {
    let starts_odd = path.starts_with(['/', '-', '~', '@', '#']);
    let steps_out = path.contains("..") && path.split('/').any(|part| part == "..");
    !path.is_empty() && !starts_odd && !steps_out && !path.bytes().any(is_odd)
}

/// Bytes that a shell, a glob or a programming language would write, but hardly a path.
fn is_odd(byte: u8) -> bool {
    matches!(
        byte,
        0..=b' '
            | 0x7f
            | b'<'
            | b'>'
            | b'|'
            | b'"'
            | b'\''
            | b'`'
            | b'*'
            | b'?'
            | b'='
            | b';'
            | b','
            | b':'
            | b'&'
            | b'$'
            | b'\\'
            | b'('
            | b')'
            | b'{'
            | b'}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_that_name_files_are_told_from_other_code() {
        for path in [
            "src/a.rs",
            "README.md",
            "Makefile",
            "web/app/[id]/page.tsx",
            "docs/über.md",
            ".env",
        ] {
            assert_eq!(declared(path), Some(path));
        }
        assert_eq!(declared("./src/a.rs:12"), Some("src/a.rs"));
        for code in [
            "cargo test",
            "foo()",
            "std::fs",
            "/api/users",
            "origin/main",
            "user.name",
            "v1.2",
            "--flag.x",
            "../out.rs",
            "http://x.org/a.html",
            "",
            "*.rs",
            ".md",
            "src/",
        ] {
            assert_eq!(declared(code), None, "{code}");
        }
    }

    #[test]
    fn bare_words_that_may_be_paths_are_found_in_prose() {
        for (word, path) in [
            ("src/app.ts", "src/app.ts"),
            ("(src/app.ts:12),", "src/app.ts"),
            ("./README.md.", "README.md"),
            ("Makefile", "Makefile"),
        ] {
            assert_eq!(mentioned(word), Some(path), "{word}");
        }
        for word in ["login", "e.g.", "http://x.org/a", "src/", "…", "../up.rs"] {
            let found = mentioned(word);
            assert!(matches!(found, None | Some("e.g")), "{word}: {found:?}");
        }
    }

    #[test]
    fn file_lists_are_read_as_people_write_them() {
        let check =
            |entry: &'static str, files: &[&str]| assert_eq!(listed(entry), files, "{entry}");
        check("src/parser/ (new)", &["src/parser/"]);
        check("`src/a.rs` - the reader", &["src/a.rs"]);
        check("`src/a.rs`: the reader", &["src/a.rs"]);
        check("**src/b.rs**: x", &["src/b.rs"]);
        check("[src/c.rs](src/c.rs)", &["src/c.rs"]);
        check("Create: `src/parser.rs`", &["src/parser.rs"]);
        check("Modify: src/parser.rs", &["src/parser.rs"]);
        check(
            "src/a.rs,src/b.rs and src/c.rs",
            &["src/a.rs", "src/b.rs", "src/c.rs"],
        );
        check("Documentation updates", &[]);
        check("change the loop", &[]);
        check("None", &[]);
        check("", &[]);
    }

    #[test]
    fn the_endings_are_sorted_for_the_search() {
        assert!(ENDINGS.is_sorted());
    }
}
