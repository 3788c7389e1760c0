//! Merging branch after branch the way a person does it, as the reference for anything faster.
//!
//! Knows nothing of how it could be faster.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::hermetic;

/// What came of merging branches in order, leaving out those that conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeLoop {
    pub tree: String,
    /// The branches that the result contains, in order.
    pub merged: Vec<String>,
    /// The branches that could not be merged, in order.
    pub left_out: Vec<String>,
}

/// How one branch fared.
enum Outcome {
    Merged,
    LeftOut,
}

/// Nothing but merging, in every git process of the loops.
const CALM: [&str; 12] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "merge.verifySignatures=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "advice.diverging=false",
];

/// Takes the working tree out of the comparison.
///
/// A file whose committed bytes are not what its attributes would commit looks changed, or not,
/// depending on the second in which it was checked out, and git refuses to merge over it. A merge
/// itself never looks at these attributes.
const NO_CONVERSION: &str = "* -text !eol !ident !filter !working-tree-encoding\n";

/// Merges with `git merge --no-ff` in a working tree, and `git merge --abort` on conflict.
///
/// Everything is written beside the repository, which stays as it is.
pub fn merge_loop(repo: &Path, base: &str, branches: &[String]) -> MergeLoop {
    let scratch = Scratch::beside(repo);
    scratch.ask(&["checkout", "--quiet", "--detach", base]);
    let merge = |branch: &String| scratch.merge(branch);
    let (merged, left_out) = sort(branches, merge);
    MergeLoop {
        tree: scratch.ask(&["rev-parse", "HEAD^{tree}"]),
        merged,
        left_out,
    }
}

/// Merges with `git merge-tree` and `git commit-tree`, which need no working tree.
///
/// Everything is written beside the repository, which stays as it is.
pub fn merge_tree_loop(repo: &Path, base: &str, branches: &[String]) -> MergeLoop {
    let scratch = Scratch::beside(repo);
    let mut tip = scratch.ask(&["rev-parse", &format!("{base}^{{commit}}")]);
    let merge = |branch: &String| scratch.merge_trees(&mut tip, branch);
    let (merged, left_out) = sort(branches, merge);
    MergeLoop {
        tree: scratch.ask(&["rev-parse", &format!("{tip}^{{tree}}")]),
        merged,
        left_out,
    }
}

fn sort(
    branches: &[String],
    mut merge: impl FnMut(&String) -> Outcome,
) -> (Vec<String>, Vec<String>) {
    let branches = branches.iter().cloned();
    branches.partition(|branch| matches!(merge(branch), Outcome::Merged))
}

/// A repository that borrows all objects and settings of another one.
struct Scratch {
    folder: TempDir,
    path: PathBuf,
}

impl Scratch {
    /// Next to the repository, so that both are on the same kind of disk.
    fn beside(repo: &Path) -> Self {
        let real = hermetic::ask(
            repo,
            &["rev-parse", "--path-format=absolute", "--git-common-dir"],
        );
        let real = Path::new(&real);
        let beside = repo.parent().expect("a repository is not the root");
        let folder = TempDir::new_in(beside).expect("a temporary folder can be made");
        let path = folder.path().join("merging");
        // By hand rather than with `git init`, for tests do this by the hundred.
        for folder in ["info", "objects/info", "refs"] {
            let folder = path.join(".git").join(folder);
            fs::create_dir_all(folder).expect("the folder is new");
        }
        let lender = format!("{}\n", real.join("objects").display());
        let config = format!(
            "[include]\n\tpath = {}\n[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n",
            real.join("config").display()
        );
        for (name, content) in [
            ("HEAD", "ref: refs/heads/nothing\n"),
            ("config", &config),
            ("info/attributes", NO_CONVERSION),
            ("objects/info/alternates", &lender),
        ] {
            fs::write(path.join(".git").join(name), content).expect("the folder is new");
        }
        let scratch = Self { folder, path };
        scratch.borrow_refs(real);
        scratch
    }

    fn borrow_refs(&self, real: &Path) {
        let format = "--format=%(objectname) %(refname)";
        let refs = hermetic::ask(real, &["for-each-ref", format, "refs/heads", "refs/tags"]);
        let packed = self.path.join(".git/packed-refs");
        fs::write(packed, refs + "\n").expect("the folder is new");
    }

    fn merge(&self, branch: &str) -> Outcome {
        let args = [
            "merge",
            "--quiet",
            "--no-ff",
            "--no-edit",
            "-m",
            "merge",
            branch,
        ];
        let mut output = self.run(&args);
        if output.status.code() == Some(2) {
            // Something is in the way that an abort did not clear, which a person would do now.
            self.clear();
            output = self.run(&args);
        }
        match output.status.code() {
            Some(0) => Outcome::Merged,
            Some(1) if self.path.join(".git/MERGE_HEAD").exists() => {
                if !self.run(&["merge", "--abort"]).status.success() {
                    self.clear();
                }
                Outcome::LeftOut
            }
            Some(128) if self.is_unrelated("HEAD", branch) => Outcome::LeftOut,
            _ if is_beyond_git(&output) => {
                self.clear();
                Outcome::LeftOut
            }
            _ => panic!("{}", hermetic::told(&args, &output)),
        }
    }

    /// Back to the last merge, whatever state git is in.
    fn clear(&self) {
        // Left behind when git aborts.
        drop(fs::remove_file(self.path.join(".git/index.lock")));
        self.ask(&["reset", "--quiet", "--hard"]);
        self.ask(&["clean", "--quiet", "-ffdx"]);
    }

    fn merge_trees(&self, tip: &mut String, branch: &str) -> Outcome {
        if self.is_in(branch, tip) {
            return Outcome::Merged;
        }
        let args = ["merge-tree", "--write-tree", "--no-messages", tip, branch];
        let output = self.run_with("GIT_ATTR_SOURCE", tip, &args);
        let text = String::from_utf8_lossy(&output.stdout);
        match output.status.code() {
            Some(0) => {
                let commit = ["commit-tree", "-m", "merge", "-p", tip, "-p", branch];
                *tip = self.ask(&[&commit, &[text.trim_end()][..]].concat());
                Outcome::Merged
            }
            // Git exits 1 for a branch that is not there as well, but prints no tree then.
            Some(1) if !text.is_empty() => Outcome::LeftOut,
            Some(128) if self.is_unrelated(tip, branch) => Outcome::LeftOut,
            _ if is_beyond_git(&output) => Outcome::LeftOut,
            _ => panic!("{}", hermetic::told(&args, &output)),
        }
    }

    fn is_in(&self, branch: &str, tip: &str) -> bool {
        let args = ["merge-base", "--is-ancestor", branch, tip];
        self.run(&args).status.success()
    }

    fn is_unrelated(&self, tip: &str, branch: &str) -> bool {
        self.run(&["merge-base", tip, branch]).status.code() == Some(1)
    }

    #[track_caller]
    fn ask(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{}", hermetic::told(args, &output));
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.run_with("GIT_OPTIONAL_LOCKS", "0", args)
    }

    fn run_with(&self, variable: &str, value: &str, args: &[&str]) -> Output {
        let mut git = hermetic::git(&self.path);
        // A search for a repository must never leave the temporary folder.
        git.env("GIT_CEILING_DIRECTORIES", self.folder.path());
        git.env(variable, value).args(CALM).args(args);
        git.output().expect("git is installed")
    }
}

/// Whether git died of the merge itself: on odd enough changes it finds a conflict that it cannot
/// write into an index, or gives up on a state that it holds to be impossible.
///
/// A person cannot get such a branch in either.
fn is_beyond_git(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(128) => said.lines().any(|line| line.starts_with("CONFLICT (")),
        Some(_) => false,
        None => complained.contains("merge-ort.c:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::gate_or_night;
    use crate::repo::TestRepo;
    use crate::tangle::Tangle;

    #[test]
    fn both_ways_of_merging_agree_on_wild_repositories() {
        let mut merged = 0;
        let seeds = gate_or_night(1, 10);
        for seed in 0..seeds {
            let repo = Tangle::wild(seed).make();
            let slow = merge_loop(repo.path(), &repo.base, &repo.branches);
            let quick = merge_tree_loop(repo.path(), &repo.base, &repo.branches);
            assert_eq!(slow, quick, "seed {seed}");
            merged += slow.merged.len();
        }
        assert!(
            (8 * seeds..20 * seeds).contains(&(merged as u64)),
            "{merged} of {} teach little",
            24 * seeds
        );
    }

    #[test]
    fn merging_leaves_the_repository_as_it_was() {
        let repo = TestRepo::new();
        repo.branch("task");
        repo.write("new", "new");
        repo.commit("task");
        repo.git(&["switch", "--quiet", "main"]);
        let before = (repo.fingerprint(), repo.git(&["count-objects", "-v"]));
        let expected = repo.git(&["rev-parse", "task^{tree}"]);
        for merge in [merge_loop, merge_tree_loop] {
            let done = merge(repo.path(), "main", &["task".to_owned()]);
            assert_eq!(done.tree, expected);
            assert_eq!(done.merged, ["task"]);
        }
        let after = (repo.fingerprint(), repo.git(&["count-objects", "-v"]));
        assert_eq!(before, after);
    }

    #[test]
    #[should_panic(expected = "missing")]
    fn a_branch_that_is_not_there_is_no_conflict() {
        let repo = TestRepo::new();
        merge_loop(repo.path(), "main", &["missing".to_owned()]);
    }

    #[test]
    #[should_panic(expected = "missing")]
    fn nor_is_it_without_a_working_tree() {
        let repo = TestRepo::new();
        merge_tree_loop(repo.path(), "main", &["missing".to_owned()]);
    }
}
