//! Small repositories in which everything happens that git can store.
//!
//! Knows nothing of what of it can be merged.

use super::Tangle;
use super::rng::{SeededRng, WORDS};
use super::stream::{Entry, FastImport, Mark, Mode, Snapshot};

mod changes;

use changes::RandomChanges;

/// Commits of `main` before the base.
const EARLIER: usize = 3;

/// A commit and all it holds.
#[derive(Clone)]
struct Tip {
    mark: Mark,
    snapshot: Snapshot,
}

/// Writes the base and all branches, and returns the names of the branches.
pub(super) fn write(tangle: &Tangle, stream: &mut FastImport) -> Vec<String> {
    let mut deeds = RandomChanges::new(SeededRng::from_seed(tangle.seed));
    let first = beginning(tangle, &mut deeds);
    let mark = stream.commit("main", &[], first.changes_since(&Snapshot::default()));
    let mut main = vec![Tip {
        mark,
        snapshot: first,
    }];
    for _ in 0..EARLIER {
        let last = main[main.len() - 1].clone();
        main.push(commit(stream, &mut deeds, "main", &last));
    }
    let mut tips: Vec<Tip> = Vec::new();
    let names: Vec<String> = (0..tangle.branches)
        .map(|n| format!("wild-{n:04}"))
        .collect();
    for name in &names {
        let tip = branch(stream, &mut deeds, name, &main, &tips);
        tips.push(tip);
    }
    names
}

fn beginning(tangle: &Tangle, deeds: &mut RandomChanges) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut folders = vec![String::new()];
    for file in 0..tangle.files {
        if file % 6 == 5 {
            let parent = deeds.chance.pick(&folders);
            if parent.matches('/').count() < 5 {
                let folder = format!("{parent}{}/", deeds.chance.clone().pick(&WORDS));
                folders.push(folder);
            }
            deeds.chance.next();
        }
        let folder = deeds.chance.pick(&folders).clone();
        let path = [folder.as_bytes(), &deeds.name()].concat();
        let entry = deeds.entry(tangle.median);
        if snapshot.entry(&path).is_none() && snapshot.below(&path).is_empty() {
            snapshot.put(path, entry);
        }
    }
    snapshot.write("hub.txt", deeds.chance.text(4_000));
    snapshot
}

/// One more commit on a tip, of one to three deeds.
fn commit(stream: &mut FastImport, deeds: &mut RandomChanges, name: &str, from: &Tip) -> Tip {
    let mut snapshot = from.snapshot.clone();
    for _ in 0..=deeds.chance.below(3) {
        deeds.one(&mut snapshot);
    }
    let mark = stream.commit(name, &[from.mark], snapshot.changes_since(&from.snapshot));
    Tip { mark, snapshot }
}

fn branch(
    stream: &mut FastImport,
    deeds: &mut RandomChanges,
    name: &str,
    main: &[Tip],
    tips: &[Tip],
) -> Tip {
    let base = &main[main.len() - 1];
    let shape = deeds.chance.weighted(&[60, 14, 10, 8, 4, 4]);
    match shape {
        1 => {
            let older = deeds.chance.pick(&main[..EARLIER]).clone();
            commit(stream, deeds, name, &older)
        }
        2 if !tips.is_empty() => {
            let below = deeds.chance.pick(tips).clone();
            commit(stream, deeds, name, &below)
        }
        3 if !tips.is_empty() => {
            let other = deeds.chance.pick(tips).clone();
            let own = commit(stream, deeds, name, base);
            merge(stream, name, &own, &other, base)
        }
        4 => {
            stream.branch(name, base.mark);
            base.clone()
        }
        5 if !tips.is_empty() => {
            let twin = deeds.chance.pick(tips).clone();
            let changes = twin.snapshot.changes_since(&base.snapshot);
            let mark = stream.commit(name, &[base.mark], changes);
            Tip { mark, ..twin }
        }
        _ => {
            let mut tip = commit(stream, deeds, name, base);
            while deeds.chance.percent(30) {
                tip = commit(stream, deeds, name, &tip);
            }
            tip
        }
    }
}

/// A merge commit that takes all that the other tip changed, as somebody might resolve it.
fn merge(stream: &mut FastImport, name: &str, own: &Tip, other: &Tip, base: &Tip) -> Tip {
    let mut snapshot = own.snapshot.clone();
    for (path, entry) in other.snapshot.iter() {
        if base.snapshot.entry(path) != Some(entry) {
            snapshot.put(path, entry.clone());
        }
    }
    let parents = [own.mark, other.mark];
    let mark = stream.commit(name, &parents, snapshot.changes_since(&own.snapshot));
    Tip { mark, snapshot }
}

/// A submodule at a made-up commit.
fn module(chance: &mut SeededRng) -> Entry {
    Entry::new(Mode::Module, chance.id())
}
