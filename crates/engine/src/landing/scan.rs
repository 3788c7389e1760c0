//! Looks at what a push would send away, and names what had better stay: secrets, huge files, links that lead out.
//!
//! Reads every new version of every file between two commits, also those that a later commit took away again. Decides
//! nothing.

use std::collections::HashSet;
use std::fmt;

use gix_hash::ObjectId;

use crate::git::read::text;
use crate::git::{CommitId, GitError, Store, parse_id};
pub use crate::secrets::Secret;
use crate::secrets::hits;
use crate::weave::WeaveError;
use crate::weave::reading::{Changed, Item, ItemKind, Reading};

/// A file that is larger than this does not belong into a repository.
pub const LARGE: u64 = 5_000_000;

/// Longer files are not searched; each of them was large before, or is named for that.
const LONGEST_SEARCHED: u64 = 16_000_000;

/// Nobody reads more.
const MOST_FINDINGS: usize = 1_000;

/// Something that had better not be pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// The line, counted from 1, where there are lines.
    pub line: Option<u32>,
    /// What it is.
    pub kind: FindingKind,
    /// The commit that holds it, where the last one does not any more.
    pub earlier: Option<CommitId>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingKind {
    /// A key or a token.
    Secret {
        /// Whose it is.
        secret: Secret,
        /// How it begins: four characters at most, none of a key that is a file.
        begin: String,
    },
    /// A new file of settings that usually holds secrets.
    EnvFile,
    /// A file that is huge now and was not.
    Large {
        /// How long it is.
        bytes: u64,
    },
    /// A symbolic link that leads out of the repository.
    LinkOutside {
        /// Where it leads.
        target: String,
    },
    /// A commit of another repository.
    Submodule,
}

/// Why nobody can say what a push would send away.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// Objects of the store cannot be read.
    #[error("could not read what would be pushed")]
    Read(#[from] WeaveError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let visible = |text: &str| text.replace(char::is_control, "\u{fffd}");
        f.write_str(&visible(&self.path))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.kind {
            FindingKind::Secret { secret, begin } if begin.is_empty() => write!(f, ": {secret}"),
            FindingKind::Secret { secret, begin } => write!(f, ": {secret} ({begin}…)"),
            FindingKind::EnvFile => f.write_str(": a new file that usually holds secrets"),
            FindingKind::Large { bytes } => {
                write!(
                    f,
                    ": a file of {}.{} MB",
                    bytes / 1_000_000,
                    bytes / 100_000 % 10
                )
            }
            FindingKind::LinkOutside { target } => {
                let target: String = visible(target).chars().take(100).collect();
                write!(f, ": a link out of the repository, to {target}")
            }
            FindingKind::Submodule => f.write_str(": a new submodule"),
        }?;
        match &self.earlier {
            Some(commit) => write!(f, " (in commit {:.10}, gone later)", commit.as_str()),
            None => Ok(()),
        }
    }
}

/// Names what the commits up to `tip` hold that had better not be pushed, and that neither the base nor any other
/// commit that is there already has.
pub fn scan(
    store: &Store,
    base: &CommitId,
    there: &[CommitId],
    tip: &CommitId,
) -> Result<Vec<Finding>, ScanError> {
    let reading = Reading::of(store)?;
    let base_tree = reading.tree_of(base)?;
    let mut known = vec![base_tree];
    for commit in there {
        known.push(reading.tree_of(commit)?);
    }
    let mut before = Vec::new();
    let mut changes = reading.changes(Some(base_tree), reading.tree_of(tip)?)?;
    let mut is_new_at = Vec::new();
    for change in &changes {
        before.extend(change.old);
        let mut is_new = true;
        for tree in &known[1..] {
            let item = reading.item_at(*tree, &change.path)?;
            is_new &= item.map(|item| item.id) != change.new.map(|new| new.id);
            before.extend(item);
        }
        is_new_at.push(is_new);
    }
    let went = went(&changes);
    let mut is_new_at = is_new_at.into_iter();
    changes.retain(|_| is_new_at.next().unwrap_or(true));
    let mut scan = Scan {
        reading,
        known,
        before,
        old_secrets: None,
        searched: HashSet::new(),
        told: HashSet::new(),
        findings: Vec::new(),
    };
    for change in &changes {
        scan.look_at(change, &went, None)?;
        scan.look_at_links(change, &went)?;
    }
    scan.look_at_history(store, base, there, tip)?;
    Ok(scan.findings)
}

/// What was at the paths that changed, and may only have moved to another one.
fn went(changes: &[Changed]) -> HashSet<ObjectId> {
    let old = changes.iter().filter_map(|change| change.old);
    old.map(|old| old.id).collect()
}

struct Scan {
    reading: Reading,
    /// The trees of the base and of what is there already.
    known: Vec<ObjectId>,
    /// What they had at the paths that changed.
    before: Vec<Item>,
    /// The secrets that were in there; looked for when a secret is found.
    old_secrets: Option<HashSet<Vec<u8>>>,
    /// Contents that need no second look.
    searched: HashSet<ObjectId>,
    /// Secrets that were named.
    told: HashSet<Vec<u8>>,
    findings: Vec<Finding>,
}

impl Scan {
    /// Commits that the last one hides: what they hold is pushed as well.
    fn look_at_history(
        &mut self,
        store: &Store,
        base: &CommitId,
        there: &[CommitId],
        tip: &CommitId,
    ) -> Result<(), ScanError> {
        let tip = tip.as_str();
        let list = ["rev-list", "--topo-order", "--reverse", "--parents", tip];
        let known = [base].into_iter().chain(there);
        let known = known.map(|commit| format!("^{commit}"));
        let printed = text(&store.call().args(list).args(known).output()?);
        for line in printed.lines().filter(|line| !line.starts_with(tip)) {
            let mut ids = line
                .split(' ')
                .map(|id| parse_id("rev-list", id.as_bytes()));
            let Some(commit) = ids.next() else { continue };
            let parents = ids.collect::<Result<Vec<CommitId>, _>>()?;
            self.look_at_commit(&commit?, &parents)?;
        }
        Ok(())
    }

    fn look_at_commit(&mut self, commit: &CommitId, parents: &[CommitId]) -> Result<(), ScanError> {
        let mut trees = Vec::new();
        for parent in parents {
            trees.push(self.reading.tree_of(parent)?);
        }
        let tree = self.reading.tree_of(commit)?;
        let changes = self.reading.changes(trees.first().copied(), tree)?;
        let went = went(&changes);
        for change in &changes {
            let Some(new) = change.new.filter(|new| !self.searched.contains(&new.id)) else {
                continue;
            };
            // A merge brings what another parent has, and a revert what the base has.
            let others = trees.iter().skip(1).chain(&self.known);
            let mut others = others.copied();
            let is_known = others.try_fold(false, |is_known, tree| {
                let there = self.reading.item_at(tree, &change.path)?;
                Ok::<_, WeaveError>(is_known || there.is_some_and(|there| there.id == new.id))
            })?;
            if !is_known {
                self.look_at(change, &went, Some(commit))?;
            }
        }
        Ok(())
    }

    /// Looks at a file that is new or another one.
    fn look_at(
        &mut self,
        change: &Changed,
        went: &HashSet<ObjectId>,
        earlier: Option<&CommitId>,
    ) -> Result<(), ScanError> {
        let is_file = |item: &Item| item.kind == ItemKind::File;
        let Some(new) = change.new.filter(is_file) else {
            return Ok(());
        };
        if went.contains(&new.id) {
            return Ok(());
        }
        if change.old.is_none() && is_env_file(&change.path) {
            self.find(change, None, FindingKind::EnvFile, earlier);
        }
        if !self.searched.insert(new.id) {
            return Ok(());
        }
        let old = change.old.filter(is_file);
        let size = self.reading.size(new.id)?;
        if size > LARGE {
            let old_size = old.map(|old| self.reading.size(old.id)).transpose()?;
            if old_size.is_none_or(|old| old <= LARGE) {
                self.find(change, None, FindingKind::Large { bytes: size }, earlier);
            }
        }
        if size <= LONGEST_SEARCHED {
            self.search(change, new, old, earlier)?;
        }
        Ok(())
    }

    fn search(
        &mut self,
        change: &Changed,
        new: Item,
        old: Option<Item>,
        earlier: Option<&CommitId>,
    ) -> Result<(), ScanError> {
        let content = self.reading.content(new.id)?;
        let mut hits = hits(&content).peekable();
        if hits.peek().is_none() {
            return Ok(());
        }
        let before = match old {
            Some(old) => self.secrets_of(old)?,
            None => Vec::new(),
        };
        let is_text = !content[..content.len().min(8_000)].contains(&0);
        for hit in hits {
            let secret = hit.bytes.to_vec();
            let was_there = before.contains(&secret) || self.secrets_in_base()?.contains(&secret);
            if was_there || !self.told.insert(secret) {
                continue;
            }
            let line = is_text.then(|| line_of(&content, hit.place));
            let kind = FindingKind::Secret {
                secret: hit.secret,
                begin: hit.begin(),
            };
            self.find(change, line, kind, earlier);
        }
        Ok(())
    }

    fn secrets_in_base(&mut self) -> Result<&HashSet<Vec<u8>>, ScanError> {
        if self.old_secrets.is_none() {
            let mut found = HashSet::new();
            for old in &self.before {
                found.extend(self.secrets_of(*old)?);
            }
            self.old_secrets = Some(found);
        }
        Ok(self.old_secrets.get_or_insert_default())
    }

    fn secrets_of(&self, item: Item) -> Result<Vec<Vec<u8>>, ScanError> {
        if item.kind != ItemKind::File || self.reading.size(item.id)? > LONGEST_SEARCHED {
            return Ok(Vec::new());
        }
        let content = self.reading.content(item.id)?;
        let found = hits(&content).map(|hit| hit.bytes.to_vec());
        Ok(found.collect())
    }

    /// Looks at what is no file: where it leads counts in the last commit only.
    fn look_at_links(
        &mut self,
        change: &Changed,
        went: &HashSet<ObjectId>,
    ) -> Result<(), ScanError> {
        let Some(new) = change.new else {
            return Ok(());
        };
        match new.kind {
            ItemKind::File => {}
            ItemKind::Link => {
                let target = self.reading.content(new.id)?;
                if leads_outside(&change.path, &target) {
                    let target = text(&target);
                    self.find(change, None, FindingKind::LinkOutside { target }, None);
                }
            }
            ItemKind::Submodule => {
                let was_one = |old: &Item| old.kind == ItemKind::Submodule;
                if !went.contains(&new.id) && !change.old.as_ref().is_some_and(was_one) {
                    self.find(change, None, FindingKind::Submodule, None);
                }
            }
        }
        Ok(())
    }

    fn find(
        &mut self,
        change: &Changed,
        line: Option<u32>,
        kind: FindingKind,
        earlier: Option<&CommitId>,
    ) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding {
                path: text(&change.path),
                line,
                kind,
                earlier: earlier.cloned(),
            });
        }
    }
}

fn line_of(content: &[u8], place: usize) -> u32 {
    let breaks = content[..place].iter().filter(|byte| **byte == b'\n');
    u32::try_from(breaks.count())
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}

/// Whether a file holds settings of one machine, and not those that are an example for all.
fn is_env_file(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let name = name.to_ascii_lowercase();
    match name.strip_prefix(b".env") {
        Some([]) => true,
        Some([b'.', rest @ ..]) => {
            let is_example =
                |word: &[u8]| [&b"example"[..], b"sample", b"template", b"dist"].contains(&word);
            !rest.split(|byte| *byte == b'.').any(is_example)
        }
        _ => false,
    }
}

/// Whether a link at a path leads out of the tree, or into git's own folder.
fn leads_outside(path: &[u8], target: &[u8]) -> bool {
    let mut depth = path.split(|byte| *byte == b'/').count() - 1;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            name if name.eq_ignore_ascii_case(b".git") => return true,
            _ => depth += 1,
        }
    }
    target.starts_with(b"/")
}
