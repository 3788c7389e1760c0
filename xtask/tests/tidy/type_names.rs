//! A type's name is its own within its crate, so that a search for it finds one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{production, sources};

/// How often each crate declares a type of that name.
type Declared = BTreeMap<(String, String), usize>;

fn declared() -> Declared {
    let mut all = Declared::new();
    for (path, text) in sources() {
        let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
        if is_test || path.contains("/examples/") {
            continue;
        }
        let part = path.strip_prefix("crates/").unwrap_or(&path);
        let part = part.split('/').next().unwrap();
        for name in production(&text).lines().filter_map(type_name) {
            *all.entry((part.to_owned(), name.to_owned())).or_default() += 1;
        }
    }
    assert!(all.len() > 500, "the search for types is broken");
    all
}

/// The name of the type that a line declares. A type in an `impl` or a trait belongs to that one and may be called
/// anything.
fn type_name(line: &str) -> Option<&str> {
    let is_inside = line.starts_with(' ');
    let mut words = line.split_whitespace().skip_while(|word| {
        let is_visibility = *word == "pub" || word.starts_with("pub(");
        is_visibility || ["in", "unsafe", "auto"].contains(word) || word.ends_with(')')
    });
    let is_type = match words.next()? {
        "struct" | "enum" | "trait" | "union" => true,
        "type" => !is_inside,
        _ => false,
    };
    let name = words.next().filter(|_| is_type)?;
    let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    // The type of a macro has no name of its own.
    Some(&name[..end.unwrap_or(name.len())]).filter(|name| !name.is_empty())
}

/// The names that several types of a crate have, with how many, as in `engine Place 12`.
fn shared(declared: &Declared) -> BTreeSet<String> {
    let several = declared.iter().filter(|(_, count)| **count > 1);
    several
        .map(|((part, name), count)| format!("{part} {name} {count}"))
        .collect()
}

#[test]
fn a_type_shares_its_name_with_no_other_of_its_crate() {
    assert_eq!(shared(&declared()), BTreeSet::new());
}

#[test]
fn types_are_known_by_how_they_are_declared() {
    let names = |text: &str| -> Vec<String> {
        let names = text.lines().filter_map(type_name);
        names.map(str::to_owned).collect()
    };
    let text = "struct A;\npub(crate) enum B<T> {\npub(in crate::git) trait C: D {\npub type E = F;\n    pub(super) struct G(H);";
    assert_eq!(names(text), ["A", "B", "C", "E", "G"]);
    let text = "impl A for B {\n    type C = D;\n    fn e() {}\n/// A struct of many.\nuse a::struct_of;\nlet type_ = 1;";
    assert!(names(text).is_empty(), "{:?}", names(text));
    let twice = [(("git".to_owned(), "A".to_owned()), 2)].into();
    assert_eq!(shared(&twice), ["git A 2".to_owned()].into());
}
