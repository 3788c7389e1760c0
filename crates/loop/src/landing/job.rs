//! Brings a proved commit to the server: looks it over, pushes exactly it, and opens one pull request.
//!
//! Every step looks at what is there first, so that doing it again comes to the same. Knows nothing of batches but
//! what their account says.

use pleach_domain::choice::{ForgeKind, Landing};
use pleach_git::git::{CommitId, Logins, Pauses, PushError, PushTarget, ServerBranches, Store};
use pleach_git::weave::tree_of;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::process::Cancel;
use pleach_system::secrets::Hider;
use pleach_system::state_folder::write_private;
use pleach_system::text::causes::with_causes;
use std::path::PathBuf;

use super::body::{self, Account};
use super::effects::CommitEffects;
use pleach_engine::forge::{
    ForgeError, ForgeProject, PullRequestDraft, connect, open_pull_request, recognise,
};

/// More names than anybody needs; a limit against going on for ever.
const MOST_NAMES: usize = 1_000;

#[derive(Debug)]
pub(crate) struct LandingJob {
    pub(crate) tip: CommitId,
    pub(crate) base: CommitId,
    /// Whether that is the commit that the batch began with, which a person chose.
    pub(crate) is_first_base: bool,
    /// The branch that it should have on the server.
    pub(crate) branch: String,
    /// The branch that it has there already, and what was pushed to it.
    pub(crate) pushed: Option<(String, CommitId)>,
    /// The branch that it was about to get, which the server may have and nobody knows.
    pub(crate) pushing: Option<(String, CommitId)>,
    /// The branch of the server that it is meant for; the server's own choice if none.
    pub(crate) target: Option<String>,
    pub(crate) landing: Landing,
    pub(crate) forge: Option<ForgeKind>,
    pub(crate) account: Account,
    pub(crate) hider: Hider,
    pub(crate) body_file: PathBuf,
    pub(crate) if_moved: IfMoved,
    /// What to do when something is found that should not leave the machine.
    pub(crate) if_found: IfFound,
    /// What a person calls to land it again.
    pub(crate) again: String,
    pub(crate) stop: Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMoved {
    Tell,
    /// Push all the same: it was followed often enough, or cannot be.
    GoOn,
}

/// What to do when something is found that should not leave the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfFound {
    Stop,
    /// Push all the same, because a person said so.
    GoOn,
}

#[derive(Debug)]
pub(crate) enum LandingOutcome {
    Landed {
        pr_url: Option<String>,
    },
    Failed {
        because: String,
        hint: Option<String>,
        no_server: bool,
    },
    /// Nothing was pushed, because the target has moved on to this commit.
    BaseMoved(CommitId),
    /// Nothing was pushed, because the branch of the server cannot be added to any more.
    Diverged {
        because: String,
    },
}

impl LandingOutcome {
    pub(super) fn failed(because: String, hint: impl Into<Option<String>>) -> Self {
        Self::Failed {
            because,
            hint: hint.into(),
            no_server: false,
        }
    }
}

pub(crate) trait LandingObserver {
    /// A branch of the server is about to be moved to a commit, and why it has another name than usual; whether that is
    /// stored.
    fn is_pushing(&mut self, branch: &str, commit: &CommitId, because: Option<String>) -> bool;
    /// A branch of the server is at a commit; returns when that is stored.
    fn pushed(&mut self, branch: &str, commit: &CommitId);
    /// What is left to do starts no program, and nobody needs to wait for it.
    fn no_more_programs(&mut self);
    fn note(&mut self, note: String);
}

impl LandingJob {
    pub(crate) fn run(
        mut self,
        store: &Store,
        logins: &Logins,
        observer: &mut dyn LandingObserver,
    ) -> LandingOutcome {
        match CommitEffects::find(store, &self.base, &self.there(), &self.tip) {
            Ok(effects) => self.account.effects = effects,
            Err(error) => {
                let why = with_causes(&error);
                observer.note(format!(
                    "could not find out which commits close issues or mention people: {why}"
                ));
            }
        }
        if !self.account.effects.is_empty() {
            observer.note(body::effects(&self.account.effects));
        }
        self.try_to_run(store, logins, observer)
            .unwrap_or_else(|ended| ended)
    }

    fn try_to_run(
        &mut self,
        store: &Store,
        logins: &Logins,
        observer: &mut dyn LandingObserver,
    ) -> Result<LandingOutcome, LandingOutcome> {
        self.write_body(observer);
        let failed = |error: pleach_git::git::StoreError| {
            let hint = error.hint();
            LandingOutcome::failed(with_causes(&error), hint)
        };
        let remote = store.remote().map_err(failed)?;
        let Some(_) = remote else {
            let hint = format!("run `git remote add origin URL`, then `{}`", self.again);
            return Err(LandingOutcome::Failed {
                because: "the repository has no remote to push to".to_owned(),
                hint: Some(hint),
                no_server: true,
            });
        };
        self.go_on()?;
        let mut server = store
            .fetch_target(self.target.as_deref(), logins, &self.pauses())
            .map_err(|error| LandingOutcome::failed(with_causes(&error), error.hint()))?;
        self.go_on()?;
        self.recognise_own_push(&server, observer);
        self.look_over(store, &server.tips())?;
        self.go_on()?;
        let target = self.look_at_target(store, server.target.take(), observer)?;
        self.go_on()?;
        let branch = self.push(store, &server, logins, observer)?;
        crash_point(CrashPoint::ResultPushed);
        observer.pushed(&branch, &self.tip);
        crash_point(CrashPoint::PushStored);
        if self.landing != Landing::PullRequest {
            if let Some(page) = page(store, &branch, target.as_deref()) {
                observer.note(format!("a pull request can be opened at {page}"));
            }
            return Ok(LandingOutcome::Landed { pr_url: None });
        }
        self.go_on()?;
        self.open(store, logins, &branch, target, observer)
    }

    /// What is on the server because a process died there, or an answer was lost, is added to and never left behind.
    fn recognise_own_push(&mut self, server: &ServerBranches, observer: &mut dyn LandingObserver) {
        let is_there =
            |(branch, commit): &(String, CommitId)| server.tip_of(branch) == Some(commit);
        let meant = self.pushing.take().filter(is_there);
        let meant = meant.filter(|meant| self.pushed.as_ref() != Some(meant));
        if let Some((branch, commit)) = meant {
            observer.pushed(&branch, &commit);
            self.pushed = Some((branch, commit));
        }
    }

    /// Ends it if somebody wants that.
    fn go_on(&self) -> Result<(), LandingOutcome> {
        if self.stop.is_cancelled() {
            return Err(LandingOutcome::failed(
                "landing was cancelled".to_owned(),
                None,
            ));
        }
        Ok(())
    }

    fn pauses(&self) -> Pauses {
        Pauses::usual().until(self.stop.clone())
    }

    /// The title and the body of the pull request, which leave the machine.
    fn text(&self) -> (String, String) {
        let hidden = |text| self.hider.hidden(text);
        (
            hidden(body::title(&self.account)),
            hidden(body::body(&self.account)),
        )
    }

    fn write_body(&self, observer: &mut dyn LandingObserver) {
        let (title, body) = self.text();
        let text = format!("{title}\n\n{body}");
        if let Err(error) = write_private(&self.body_file, &text) {
            let path = self.body_file.display();
            observer.note(format!(
                "could not write the text of the pull request to {path}: {error}"
            ));
        }
    }

    /// What the server has already.
    fn there(&self) -> Vec<CommitId> {
        let there = self.pushed.iter().map(|(_, commit)| commit.clone());
        there.collect()
    }

    /// The branch that the result is meant for, if the server has it and it has not moved on.
    fn look_at_target(
        &self,
        store: &Store,
        target: Option<PushTarget>,
        observer: &mut dyn LandingObserver,
    ) -> Result<Option<String>, LandingOutcome> {
        let nowhere = || {
            let because = "its base is not on any branch of the server".to_owned();
            LandingOutcome::failed(because, None)
        };
        let Some(target) = target else {
            return self.is_first_base.then_some(None).ok_or_else(nowhere);
        };
        let (target, there) = (target.branch, target.at);
        let Some(there) = there else {
            if self.landing != Landing::PullRequest {
                return self.is_first_base.then_some(None).ok_or_else(nowhere);
            }
            let because = format!("the server has no branch {target} for the pull request");
            let hint = format!(
                "push {target} first, or set another base; then `{}`",
                self.again
            );
            return Err(LandingOutcome::failed(because, hint));
        };
        self.compare(store, &target, there, observer)?;
        Ok(Some(target))
    }

    /// Whether the result may go to a target that is at a commit.
    fn compare(
        &self,
        store: &Store,
        target: &str,
        there: CommitId,
        observer: &mut dyn LandingObserver,
    ) -> Result<(), LandingOutcome> {
        let is_before = |early: &CommitId, late: &CommitId| {
            store
                .is_ancestor(early, late)
                .map_err(|error| LandingOutcome::failed(with_causes(&error), None))
        };
        let tree = |commit| {
            tree_of(store, commit)
                .map_err(|error| LandingOutcome::failed(with_causes(&error), None))
        };
        let has_base = is_before(&self.base, &there)?;
        if !has_base && !self.is_first_base {
            // It was brought to a branch of this machine before, whose commits are nobody else's business.
            return Err(LandingOutcome::BaseMoved(there));
        }
        if is_before(&there, &self.tip)? {
            return Ok(());
        }
        if tree(&there)? == tree(&self.tip)? {
            observer.note(format!("{target} already contains everything"));
            return Err(LandingOutcome::Landed { pr_url: None });
        }
        if self.if_moved == IfMoved::Tell && has_base {
            return Err(LandingOutcome::BaseMoved(there));
        }
        let at = &there.as_str()[..12];
        observer.note(format!(
            "{target} is now at {at} on the server; the result is based on an earlier commit"
        ));
        Ok(())
    }

    /// Pushes exactly the commit; a branch that is somebody else's is left alone.
    fn push(
        &self,
        store: &Store,
        server: &ServerBranches,
        logins: &Logins,
        observer: &mut dyn LandingObserver,
    ) -> Result<String, LandingOutcome> {
        let failed = |error: PushError| {
            let hint = error.hint();
            LandingOutcome::failed(with_causes(&error), hint)
        };
        if let Some((branch, commit)) = &self.pushed {
            self.mean_to_push(branch, None, observer)?;
            return match store.push(&self.tip, branch, Some(commit), logins, &self.pauses()) {
                Ok(_) => Ok(branch.clone()),
                // Whoever deleted it or added to it had a reason, so nothing is forced.
                Err(
                    error @ (PushError::Gone { .. }
                    | PushError::Taken { .. }
                    | PushError::NotForward { .. }),
                ) => Err(LandingOutcome::Diverged {
                    because: with_causes(&error),
                }),
                Err(error) => Err(failed(error)),
            };
        }
        // The first name is that of a pull request that could not be continued.
        let first = if self.account.follows.is_some() { 2 } else { 1 };
        // Of another machine, or of an earlier state folder.
        let mut somebody_elses = None;
        for number in first..MOST_NAMES {
            let branch = match number {
                1 => self.branch.clone(),
                _ => format!("{}-{number}", self.branch),
            };
            if server.tip_of(&branch).is_none_or(|at| *at == self.tip) {
                self.mean_to_push(&branch, somebody_elses.as_deref(), observer)?;
                match store.push(&self.tip, &branch, None, logins, &self.pauses()) {
                    Ok(_) => return Ok(branch),
                    // Somebody was faster.
                    Err(PushError::Taken { .. }) => {}
                    Err(error) => return Err(failed(error)),
                }
            }
            somebody_elses.get_or_insert(branch);
        }
        let because = format!(
            "the server already has {MOST_NAMES} branches named like {}",
            self.branch
        );
        Err(LandingOutcome::failed(because, None))
    }

    /// Notes what is about to be pushed, and where: a branch of the name that it should have may be somebody else's.
    fn mean_to_push(
        &self,
        branch: &str,
        somebody_elses: Option<&str>,
        observer: &mut dyn LandingObserver,
    ) -> Result<(), LandingOutcome> {
        let because = somebody_elses
            .map(|other| format!("{other} on the server does not belong to this batch"));
        if !observer.is_pushing(branch, &self.tip, because) {
            return Err(LandingOutcome::failed(
                "landing was interrupted".to_owned(),
                None,
            ));
        }
        crash_point(CrashPoint::PushMeant);
        self.go_on()
    }

    fn open(
        &self,
        store: &Store,
        logins: &Logins,
        branch: &str,
        target: Option<String>,
        observer: &mut dyn LandingObserver,
    ) -> Result<LandingOutcome, LandingOutcome> {
        let by_hand = page(store, branch, target.as_deref());
        let address = store.remote_by_its_real_name();
        let Ok(Some(address)) = address else {
            return Ok(self.without_forge(branch, "", by_hand, observer));
        };
        let project = match recognise(&address, self.forge) {
            Ok(project) => project,
            Err(why) => {
                let why = format!(" ({why})");
                return Ok(self.without_forge(branch, &why, by_hand, observer));
            }
        };
        let Some(target) = target else {
            let because = "the server has no branch for the pull request".to_owned();
            return Err(LandingOutcome::failed(because, None));
        };
        let (title, body) = self.text();
        let draft = PullRequestDraft {
            head: branch.to_owned(),
            base: target.clone(),
            title,
            body,
        };
        let login = project.login(store, logins);
        let login =
            login.map_err(|error| LandingOutcome::failed(with_causes(&error), error.hint()))?;
        observer.no_more_programs();
        self.go_on()?;
        let opened = connect(&project, login)
            .and_then(|forge| open_pull_request(&*forge, &draft, &self.pauses()))
            .or_else(|error| self.not_opened(&error, &project, &draft, observer))?;
        crash_point(CrashPoint::PullRequestOpened);
        Ok(LandingOutcome::Landed {
            pr_url: Some(opened.url),
        })
    }

    fn not_opened(
        &self,
        error: &ForgeError,
        project: &ForgeProject,
        draft: &PullRequestDraft,
        observer: &mut dyn LandingObserver,
    ) -> Result<pleach_engine::forge::PullRequest, LandingOutcome> {
        if let Some(there) = error.pull_request() {
            observer.note(with_causes(error));
            return Ok(there.clone());
        }
        let page = project.compare_url(&draft.base, &draft.head);
        let by_hand = format!("`{}` tries again; or open it yourself: {page}", self.again);
        let hint = match error.hint() {
            Some(hint) => format!("{hint}; {by_hand}"),
            None => by_hand,
        };
        let why = with_causes(error);
        let because = format!(
            "pushed {}, but could not open a pull request: {why}",
            draft.head
        );
        Err(LandingOutcome::failed(because, hint))
    }

    fn without_forge(
        &self,
        branch: &str,
        why: &str,
        by_hand: Option<String>,
        observer: &mut dyn LandingObserver,
    ) -> LandingOutcome {
        let file = self.body_file.display();
        let by_hand = by_hand.map(|page| format!("; open one yourself: {page}"));
        observer.note(format!(
            "pushed {branch}; Pleach cannot open a pull request there{why}; its text is in {file}{}",
            by_hand.unwrap_or_default()
        ));
        LandingOutcome::Landed { pr_url: None }
    }
}

/// Where a person opens the pull request, if the address of the server tells.
fn page(store: &Store, branch: &str, target: Option<&str>) -> Option<String> {
    let address = store.remote_by_its_real_name().ok()??;
    let project = recognise(&address, None).ok()?;
    Some(project.compare_url(target?, branch))
}
