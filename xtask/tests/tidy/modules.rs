//! The modules of a crate form no cycle, so that each can be read, and moved, without the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::{production, sources};

/// Which modules of a crate each of its modules uses, itself left out.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The uses among the modules at the top of each crate, by the crate's name.
fn uses() -> BTreeMap<String, Uses> {
    let mut crates: BTreeMap<String, Uses> = BTreeMap::new();
    let files: Vec<(String, String, String)> = sources()
        .iter()
        .filter_map(|(path, text)| {
            let (name, below) = path.strip_prefix("crates/")?.split_once("/src/")?;
            let module = below.split('/').next()?.trim_end_matches(".rs");
            let is_test = below.contains("/tests/") || below.ends_with("/tests.rs");
            let is_module = !["lib", "main"].contains(&module) && !is_test;
            is_module.then(|| (name.to_owned(), module.to_owned(), code(text)))
        })
        .collect();
    for (name, module, _) in &files {
        let uses = crates.entry(name.clone()).or_default();
        uses.entry(module.clone()).or_default();
    }
    for (name, module, code) in &files {
        let modules: Vec<String> = crates[name].keys().cloned().collect();
        for used in modules.iter().filter(|used| *used != module) {
            if is_named(code, used) {
                let uses = crates.entry(name.clone()).or_default();
                uses.entry(module.clone()).or_default().insert(used.clone());
            }
        }
    }
    crates
}

/// What is no test and no comment.
fn code(text: &str) -> String {
    let lines = production(text).lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_named(code: &str, module: &str) -> bool {
    let ends = |rest: &str| {
        !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '!')
    };
    let is_here = |rest: &str| rest.trim_start().strip_prefix(module).is_some_and(ends);
    let mut named = code.split("crate::").skip(1);
    named.any(|rest| match rest.strip_prefix('{') {
        Some(several) => several
            .split('}')
            .next()
            .unwrap_or("")
            .split(',')
            .any(is_here),
        None => is_here(rest),
    })
}

/// A way from a module back to itself, if there is one.
fn cycle(uses: &Uses) -> Option<Vec<String>> {
    let mut left: BTreeSet<&String> = uses.keys().collect();
    // What uses nothing that is left is in no cycle.
    while let Some(leaf) = left
        .iter()
        .copied()
        .find(|module| uses[*module].iter().all(|used| !left.contains(used)))
    {
        left.remove(leaf);
    }
    let mut way: Vec<&String> = vec![left.first().copied()?];
    loop {
        let next = uses[*way.last()?].iter().find(|used| left.contains(used))?;
        if let Some(at) = way.iter().position(|module| *module == next) {
            let around = way[at..].iter().copied().chain([next]);
            return Some(around.cloned().collect());
        }
        way.push(next);
    }
}

#[test]
fn modules_of_a_crate_form_no_cycle() {
    for (name, uses) in uses() {
        if let Some(cycle) = cycle(&uses) {
            panic!("{name}: {} is a cycle", cycle.join(" → "));
        }
    }
}

#[test]
fn a_cycle_is_found_and_a_diamond_is_none() {
    let uses = |text: &str| -> Uses {
        let modules = text.split("; ").map(|line| line.split_once(':').unwrap());
        modules
            .map(|(module, used)| {
                let used = used.split_whitespace().map(str::to_owned);
                (module.to_owned(), used.collect())
            })
            .collect()
    };
    assert_eq!(cycle(&uses("a: b c; b: d; c: d; d:")), None);
    let found = cycle(&uses("a: b; b: c; c: d b; d:")).unwrap();
    assert_eq!(found.join(" "), "b c b");
    assert!(is_named("use crate::git::Store;", "git"));
    assert!(is_named("use crate::git;", "git"));
    assert!(is_named("use crate::{forge, git};", "git"));
    assert!(!is_named("use crate::github::Store;", "git"));
}
