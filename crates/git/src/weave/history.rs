//! Writes the commits of a weaving, as the strategy wants them.
//!
//! Every strategy ends at the same tree; only what stands between base and tip differs.

use gix_hash::ObjectId;
use gix_object::Kind as ObjectKind;
use pleach_domain::choice::Strategy;
use pleach_system::text::neutral_text::neutral_lines;

use super::WeaveError;
use super::objects::{Commit, WeaveObjects};
use super::weaving::{Merged, StepHistory, WeaveStep, Weaving};
use crate::git::Identity;

/// Writes the commits and returns the last one.
pub(super) fn write(weaving: &Weaving<'_>, strategy: Strategy) -> Result<ObjectId, WeaveError> {
    let mut chain = CommitChain::kept_from(weaving);
    if strategy == Strategy::Octopus {
        chain.octopus()?;
        return Ok(chain.tip());
    }
    for step in &weaving.steps {
        match strategy {
            Strategy::Merge => chain.merge(step)?,
            Strategy::Squash => chain.squash(step)?,
            Strategy::Rebase => chain.replay(step)?,
            Strategy::Octopus => {}
        }
    }
    Ok(chain.tip())
}

pub(super) struct CommitChain<'c> {
    weaving: &'c Weaving<'c>,
    tip: Commit,
    /// Whether they are part of the result, or only for git to find its way.
    destiny: CommitUse,
}

#[derive(Clone, Copy)]
enum CommitUse {
    Kept,
    Shown,
}

fn capitalised(subject: &str) -> String {
    let mut letters = subject.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Whether a commit's message begins with a subject, whatever its capitals.
fn names(commit: &Commit, subject: &str) -> bool {
    let beginning = commit.message.get(..subject.len());
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(subject.as_bytes()))
}

/// What a commit says besides its tree and parents.
struct CommitText<'a> {
    author: Option<&'a [u8]>,
    seconds: i64,
    message: &'a [u8],
    encoding: Option<&'a [u8]>,
}

impl<'c> CommitChain<'c> {
    fn kept_from(weaving: &'c Weaving<'c>) -> Self {
        Self::from(weaving, CommitUse::Kept)
    }

    /// Commits that git sees in the weave folder and nobody keeps.
    pub(super) fn shown_from(weaving: &'c Weaving<'c>) -> Self {
        Self::from(weaving, CommitUse::Shown)
    }

    fn from(weaving: &'c Weaving<'c>, destiny: CommitUse) -> Self {
        let tip = weaving.onto.clone();
        Self {
            weaving,
            tip,
            destiny,
        }
    }

    pub(super) fn tip(&self) -> ObjectId {
        self.tip.id
    }

    fn objects(&self) -> &'c WeaveObjects {
        &self.weaving.objects
    }

    /// One merge commit, as `git merge --no-ff` makes it.
    pub(super) fn merge(&mut self, step: &WeaveStep) -> Result<(), WeaveError> {
        let strand = &self.weaving.commits[step.place];
        let (mut merged, seconds) = (strand.id, strand.seconds);
        let onto = self.tip.clone();
        if step.history == StepHistory::Apart {
            // Its own commits would bring back what was left out; what it did is one commit on top of the rest.
            self.squash(step)?;
            merged = std::mem::replace(&mut self.tip, onto.clone()).id;
        }
        let subject = &self.weaving.strands[step.place].subject;
        let message = format!("Merge {subject}\n");
        let words = CommitText {
            author: None,
            seconds: onto.seconds.max(seconds),
            message: message.as_bytes(),
            encoding: None,
        };
        self.add(step.tree, &[onto.id, merged], &words)
    }

    fn squash(&mut self, step: &WeaveStep) -> Result<(), WeaveError> {
        let brought = self.brought(step)?;
        let seconds = self.weaving.commits[step.place].seconds;
        let author = brought.first().map(|first| first.author.as_slice());
        let person = |commit: &Commit| person(&commit.author).to_vec();
        let is_one_author = brought.iter().map(person).collect::<Vec<_>>();
        let is_one_author = is_one_author.windows(2).all(|pair| pair[0] == pair[1]);
        let encoding = brought.first().and_then(|first| first.encoding.as_deref());
        let is_one_encoding = brought
            .iter()
            .all(|one| one.encoding.as_deref() == encoding);
        let mut message = self.squashed_message(step, &brought);
        let is_of_task = self.basis(step).is_some();
        if is_of_task {
            // The words are the agent's and the commit is ours, which closes and mentions nothing.
            message = neutral_lines(&String::from_utf8_lossy(&message)).into_bytes();
        }
        let words = CommitText {
            author: author.filter(|_| is_one_author),
            seconds: self.tip.seconds.max(seconds),
            message: &message,
            encoding: encoding.filter(|_| is_one_encoding && !is_of_task),
        };
        self.add(step.tree, &[self.tip.id], &words)
    }

    fn squashed_message(&self, step: &WeaveStep, brought: &[Commit]) -> Vec<u8> {
        let subject = &self.weaving.strands[step.place].subject;
        match brought {
            // A commit of an agent does not say which task it was for.
            [only] if self.basis(step).is_none() || names(only, subject) => only.message.clone(),
            several => {
                let title = match self.basis(step) {
                    // As the work of a task is called that is one commit anyway.
                    Some(_) => capitalised(subject),
                    None => format!("Squash {subject}"),
                };
                let mut message = format!("{title}\n").into_bytes();
                for (number, commit) in several.iter().enumerate() {
                    message.extend_from_slice(if number == 0 { b"\n* " } else { b"* " });
                    let line = commit.message.split(|byte| *byte == b'\n').next();
                    message.extend_from_slice(line.unwrap_or_default());
                    message.push(b'\n');
                }
                message
            }
        }
    }

    /// The strand's own commits, or one if they do not lead to the same tree.
    fn replay(&mut self, step: &WeaveStep) -> Result<(), WeaveError> {
        let before = self.tip.clone();
        if !self.replay_each(step)? || self.tip.tree != step.tree {
            self.tip = before;
            self.squash(step)?;
        }
        Ok(())
    }

    fn replay_each(&mut self, step: &WeaveStep) -> Result<bool, WeaveError> {
        let brought = self.brought(step)?;
        if brought.is_empty() {
            return Ok(false);
        }
        for commit in &brought {
            let Some(parent) = self.weaving.lineage.only_parent(commit.id) else {
                return Ok(false);
            };
            let is_alone = brought.len() == 1 && step.base == Some(parent);
            let tree = if is_alone {
                step.tree
            } else {
                match self
                    .weaving
                    .merge_freely(self.tip.tree, parent, commit.id)?
                {
                    Merged::Clean { tree, .. } => tree,
                    Merged::Conflict(_) => return Ok(false),
                }
            };
            let was_empty = self.objects().commit(parent)?.tree == commit.tree;
            if tree == self.tip.tree && !was_empty {
                // Everything of it is there already, and git's own rebase drops it too.
                continue;
            }
            let words = CommitText {
                author: Some(&commit.author),
                seconds: self.tip.seconds.max(commit.seconds),
                message: &commit.message,
                encoding: commit.encoding.as_deref(),
            };
            self.add(tree, &[self.tip.id], &words)?;
        }
        Ok(true)
    }

    fn octopus(&mut self) -> Result<(), WeaveError> {
        let steps = &self.weaving.steps;
        let Some(last) = steps.last() else {
            return Ok(());
        };
        let joined = steps
            .iter()
            .filter(|step| step.history == StepHistory::Joined);
        let mut parents = vec![self.tip.id];
        parents.extend(joined.map(|step| self.weaving.commits[step.place].id));
        let times = steps
            .iter()
            .map(|step| self.weaving.commits[step.place].seconds);
        let seconds = times.fold(self.tip.seconds, i64::max);
        let subject = |step: &WeaveStep| self.weaving.strands[step.place].subject.as_str();
        let message = match steps.as_slice() {
            [only] => format!("Merge {}\n", subject(only)),
            several => {
                let lines = several.iter().map(|step| format!("* {}\n", subject(step)));
                let lines: String = lines.collect();
                format!("Merge {} branches\n\n{lines}", several.len())
            }
        };
        let words = CommitText {
            author: None,
            seconds,
            message: message.as_bytes(),
            encoding: None,
        };
        self.add(last.tree, &parents, &words)
    }

    /// The commits that a strand brought, the oldest first.
    fn basis(&self, step: &WeaveStep) -> Option<ObjectId> {
        let basis = self.weaving.strands[step.place].basis.as_ref()?;
        ObjectId::from_hex(basis.as_str().as_bytes()).ok()
    }

    fn brought(&self, step: &WeaveStep) -> Result<Vec<Commit>, WeaveError> {
        let basis = match (step.history, step.base) {
            (StepHistory::Apart, Some(basis)) => Some(basis),
            // What it began with is no work of its own, merges that only brought that together included.
            _ => self.basis(step),
        };
        let own: Vec<ObjectId> = match basis {
            Some(basis) => {
                let below = self.weaving.lineage.brings_before(basis);
                let is_own = |commit: &&ObjectId| !below.contains(*commit);
                step.brought.iter().filter(is_own).copied().collect()
            }
            None => step.brought.clone(),
        };
        let read = |commit: &ObjectId| self.objects().commit(*commit);
        own.iter().map(read).collect()
    }

    fn add(
        &mut self,
        tree: ObjectId,
        parents: &[ObjectId],
        words: &CommitText<'_>,
    ) -> Result<(), WeaveError> {
        let us = signature(self.weaving.weave_folder.identity(), words.seconds);
        let mut data = format!("tree {tree}\n").into_bytes();
        for parent in parents {
            data.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        data.extend_from_slice(b"author ");
        data.extend_from_slice(words.author.unwrap_or(us.as_bytes()));
        data.extend_from_slice(format!("\ncommitter {us}\n").as_bytes());
        if let Some(encoding) = words.encoding {
            data.extend_from_slice(&[b"encoding ", encoding, b"\n"].concat());
        }
        data.push(b'\n');
        data.extend(words.message.iter().filter(|byte| **byte != 0));
        if data.last() != Some(&b'\n') {
            data.push(b'\n');
        }
        let id = match self.destiny {
            CommitUse::Kept => self.objects().put(ObjectKind::Commit, data)?,
            CommitUse::Shown => self.objects().show_only(ObjectKind::Commit, &data)?,
        };
        self.tip = Commit {
            id,
            tree,
            seconds: words.seconds,
            author: Vec::new(),
            message: Vec::new(),
            encoding: None,
        };
        Ok(())
    }
}

/// Name and address, without the date.
fn person(author: &[u8]) -> &[u8] {
    let end = author.iter().rposition(|byte| *byte == b'>');
    &author[..end.map_or(author.len(), |end| end + 1)]
}

fn signature(identity: &Identity, seconds: i64) -> String {
    let plain = |text: &str| {
        let inner: String = text
            .chars()
            .filter(|c| !matches!(c, '<' | '>' | '\n' | '\0'))
            .collect();
        // What git takes off the ends as well.
        let crud = |c: char| c.is_ascii_control() || " .,:;\"\\'".contains(c);
        inner.trim_matches(crud).to_owned()
    };
    let (name, email) = (plain(&identity.name), plain(&identity.email));
    format!("{name} <{email}> {seconds} +0000")
}
