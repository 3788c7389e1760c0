//! The ref guard: lets a worktree of the store move its own branch and nothing that others rely on.
//!
//! A guard-rail and no wall: it judges what git tells a `reference-transaction` hook, which is not
//! told of copies (`git branch -c`) and can be switched off. Knows nothing of what is in the commits.

use std::fmt;
use std::path::Path;

use super::ref_segment;

/// The hook that the guard is called as.
pub const HOOK: &str = "reference-transaction";

/// The only moment at which a hook can still refuse.
const PREPARED: &str = "prepared";

/// Refs that each worktree has for itself.
const OWN_REFS: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// The marks by which git tells a hook that a ref leads to another one.
const LINK: &str = "ref:";

/// A change of refs that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    refs: Vec<String>,
    is_worktree: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.refs.join(", ");
        writeln!(f, "pleach: refused to change {names}")?;
        if !self.is_worktree {
            return write!(
                f,
                "pleach: this repository is shared by all tasks and is changed from a task's own worktree only"
            );
        }
        writeln!(
            f,
            "pleach: this repository is shared with other tasks, so a task may change its own branch only; other \
             branches, tags, remotes and the stash stay as they are"
        )?;
        write!(
            f,
            "pleach: nothing is lost: leave your work in the files, or commit it to the branch that you were given"
        )
    }
}

/// Judges a change at the moment that git calls the hook for.
///
/// `git_dir` is the folder that git works in: `…/worktrees/<id>` of the store in a worktree.
pub fn judge(moment: &str, git_dir: &Path, updates: &str) -> Result<(), Refusal> {
    if moment != PREPARED {
        return Ok(());
    }
    let worktree = worktree_id(git_dir);
    let is_foreign = |line: &&str| !worktree.is_some_and(|id| is_own(id, line));
    let refs: Vec<String> = updates
        .lines()
        .filter(is_foreign)
        .map(|line| name_of(line).to_owned())
        .collect();
    if refs.is_empty() {
        Ok(())
    } else {
        Err(Refusal {
            refs,
            is_worktree: worktree.is_some(),
        })
    }
}

/// The name of the worktree whose git folder it is.
fn worktree_id(git_dir: &Path) -> Option<&str> {
    let above = git_dir.parent()?;
    let is_admin = above.file_name()? == "worktrees";
    git_dir.file_name()?.to_str().filter(|_| is_admin)
}

/// Whether a line `<old> <new> <ref>` changes something that belongs to the worktree alone.
fn is_own(worktree: &str, line: &str) -> bool {
    let mut fields = line.splitn(3, ' ');
    let (Some(_), Some(new), Some(name)) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    let is_own_branch = |name: &str| {
        name.strip_prefix("refs/heads/")
            .is_some_and(|branch| ref_segment(branch) == worktree)
    };
    match new.strip_prefix(LINK) {
        // What is committed there would go to a branch of somebody else.
        Some(target) if target.starts_with("refs/heads/") && !is_own_branch(target) => false,
        // Git begins a rename with it, and asks for the new name when it is too late.
        None if is_own_branch(name) && new.bytes().all(|digit| digit == b'0') => false,
        _ => {
            is_pseudo_ref(name)
                || is_own_branch(name)
                || OWN_REFS.iter().any(|own| name.starts_with(own))
        }
    }
}

/// Whether it is one of `HEAD`, `ORIG_HEAD`, `AUTO_MERGE` …, which each worktree has for itself.
fn is_pseudo_ref(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_plain)
}

fn name_of(line: &str) -> &str {
    let mut fields = line.splitn(3, ' ');
    fields.nth(2).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "0000000000000000000000000000000000000000";
    const NEW: &str = "5c1107fce41d707c379e19969f8a8a8ba682dd97";

    /// What is refused to the worktree of `pleach/task-1/63`.
    fn refused(updates: &[(&str, &str)]) -> Vec<String> {
        let admin = format!("/store.git/worktrees/{}", ref_segment("pleach/task-1/63"));
        let lines: Vec<String> = updates
            .iter()
            .map(|(new, name)| format!("{OLD} {new} {name}\n"))
            .collect();
        match judge(PREPARED, Path::new(&admin), &lines.concat()) {
            Ok(()) => Vec::new(),
            Err(refusal) => refusal.refs,
        }
    }

    #[test]
    fn a_task_may_change_its_branch_and_what_only_it_sees() {
        let own = [
            (NEW, "HEAD"),
            (NEW, "refs/heads/pleach/task-1/63"),
            (OLD, "AUTO_MERGE"),
            (NEW, "ORIG_HEAD"),
            (NEW, "CHERRY_PICK_HEAD"),
            (NEW, "refs/bisect/bad"),
            (NEW, "refs/worktree/mine"),
            (NEW, "refs/rewritten/onto"),
            ("ref:refs/heads/pleach/task-1/63", "HEAD"),
        ];
        assert_eq!(refused(&own), [""; 0]);
    }

    #[test]
    fn everything_else_is_refused_by_name() {
        let foreign = [
            "refs/heads/main",
            "refs/heads/pleach/task-1/6",
            "refs/heads/pleach/task-1/63/below",
            "refs/heads/pleach/task-1/63-2",
            "refs/heads/pleach-2ftask-2d1-2f63",
            "refs/tags/v1",
            "refs/stash",
            "refs/notes/commits",
            "refs/replace/5c1107fce41d707c379e19969f8a8a8ba682dd97",
            "refs/pleach/keep/1",
            "refs/remotes/origin/main",
            "main-worktree/HEAD",
            "worktrees/other/HEAD",
            "",
        ];
        for name in foreign {
            assert_eq!(refused(&[(NEW, "HEAD"), (NEW, name)]), [name]);
        }
        assert_eq!(refused(&[("ref:refs/heads/main", "HEAD")]), ["HEAD"]);
        let own = "refs/heads/pleach/task-1/63";
        assert_eq!(refused(&[(OLD, own)]), [own], "a deletion");
    }

    #[test]
    fn outside_a_worktree_nothing_may_change() {
        let line = format!("{OLD} {NEW} HEAD\n");
        for folder in ["/store.git", "/", "worktrees", "/store.git/worktrees/.."] {
            let refusal = judge(PREPARED, Path::new(folder), &line).unwrap_err();
            assert!(!refusal.is_worktree, "{folder}");
        }
    }

    #[test]
    fn only_the_moment_that_can_be_refused_is_judged() {
        for moment in ["committed", "aborted", "preparing", ""] {
            let line = format!("{OLD} {NEW} refs/heads/main\n");
            assert_eq!(judge(moment, Path::new("/"), &line), Ok(()), "{moment}");
        }
    }

    #[test]
    fn a_refusal_says_what_why_and_what_to_do() {
        let admin = Path::new("/store.git/worktrees/a");
        let line = format!("{OLD} {NEW} refs/stash\n");
        let told = judge(PREPARED, admin, &line).unwrap_err().to_string();
        for part in ["refs/stash", "shared with other tasks", "nothing is lost"] {
            assert!(told.contains(part), "{told}");
        }
    }
}
