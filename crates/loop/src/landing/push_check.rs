//! The look over what a push would send, and what is said when it finds something.

use pleach_git::git::{CommitId, Store, count_of_commits};
use pleach_system::text::causes::with_causes;
use pleach_system::text::shell_words::line;

use super::job::{IfFound, LandingJob, LandingOutcome};
use super::scan::{Finding, NewCommits, ScanError, scan};

/// So many findings are named, and the rest counted.
const MOST_FINDINGS: usize = 5;

impl LandingJob {
    /// Nothing leaves the machine that should not: everything counts that no branch of the server has, the user's
    /// own commits below the base too.
    pub(super) fn look_over(
        &self,
        store: &Store,
        there: &[CommitId],
    ) -> Result<(), LandingOutcome> {
        if self.if_found == IfFound::GoOn {
            return Ok(());
        }
        let failed = |error: ScanError| {
            let why = with_causes(&error);
            let because = format!("could not check for secrets before the push: {why}");
            LandingOutcome::failed(because, None)
        };
        let found = scan(store, there, &self.tip, &self.hider).map_err(failed)?;
        if found.is_empty() {
            return Ok(());
        }
        let mut words: Vec<String> = found
            .iter()
            .take(MOST_FINDINGS)
            .map(Finding::to_string)
            .collect();
        if found.len() > MOST_FINDINGS {
            words.push(format!("and {} more", found.len() - MOST_FINDINGS));
        }
        let own =
            NewCommits::find(store, there, &self.base).map_err(|error| failed(error.into()))?;
        let along = match own.commits.len() {
            0 => String::new(),
            number => format!(
                "; {} of yours that the server does not have would be pushed too",
                count_of_commits(number)
            ),
        };
        let because = format!(
            "nothing was pushed; the check found {}{along}",
            words.join("; ")
        );
        let anyway = format!("`{} --despite-findings`", self.again);
        let hint = match store.checkout() {
            Ok(_) => {
                let (rewrite, push) = self.without_findings(own.made_on.first());
                format!(
                    "rewrite it: `{rewrite}`, remove it, `{push}`; or push it as it is: {anyway}"
                )
            }
            Err(_) => format!("to push it as it is: {anyway}"),
        };
        Err(LandingOutcome::failed(because, hint))
    }

    /// The commands before and after a person takes out what was found: one new commit, as every commit that is
    /// pushed holds it in its files, its message or its author.
    fn without_findings(&self, own_made_on: Option<&CommitId>) -> (String, String) {
        let (to, since) = match &self.pushed {
            Some((branch, commit)) => (branch, commit),
            None => (&self.branch, own_made_on.unwrap_or(&self.base)),
        };
        let words = |words: &[&str]| {
            line(
                &words
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let switch = words(&["git", "switch", &self.branch]);
        let reset = words(&["git", "reset", "--soft", &since.as_str()[..12]]);
        let push = words(&["git", "push", "origin", &format!("HEAD:refs/heads/{to}")]);
        (
            format!("{switch} && {reset}"),
            format!("git commit --all && {push}"),
        )
    }
}
