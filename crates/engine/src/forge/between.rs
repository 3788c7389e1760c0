//! Looks whether there is anything between two branches, for forges that open a pull request without asking.

use serde_json::Value;

use super::client::{Answer, Client, Question};
use super::{ForgeError, PullRequestDraft};

const COMPARING: &str = "compare branches";

impl Client {
    /// Says why a pull request could not be opened: `base` tells of its base, `commits` lists what it would bring.
    pub(super) fn check_between(
        &self,
        draft: &PullRequestDraft,
        base: String,
        commits: String,
    ) -> Result<(), ForgeError> {
        let branch = self.compare(base)?;
        if branch.status == 404 {
            return Err(ForgeError::BaseMissing {
                host: self.host(),
                base: draft.base.clone(),
            });
        }
        self.read::<Value>(COMPARING, &branch)?;
        let commits = self.compare(commits)?;
        let head = draft.head.clone();
        if commits.status == 404 {
            let host = self.host();
            return Err(ForgeError::HeadMissing { host, head });
        }
        let commits: Vec<Value> = self.read(COMPARING, &commits)?;
        if commits.is_empty() {
            let base = draft.base.clone();
            return Err(ForgeError::NothingToLand { head, base });
        }
        Ok(())
    }

    fn compare(&self, target: String) -> Result<Answer, ForgeError> {
        self.ask(&Question {
            doing: COMPARING,
            method: "GET",
            target,
            body: None,
        })
    }
}
