//! What a run needs of git, the repository and its server, and what earlier runs left.
//!
//! Knows nothing of agents and of the machine.

use std::path::{Path, PathBuf};

use pleach_domain::choice::{Landing, RunMode};
use pleach_domain::id::BatchNumber;
use pleach_git::git::{
    Git, GitError, LoginPurpose, Logins, NotFollowed, Repository, Store, StoreError, what_to_set,
};
use pleach_git::worktree::{TreeState, list};
use pleach_log::branches::BranchNames;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use pleach_system::text::shell_words::quoted;

use super::{DoctorCheck, DoctorScope};
use crate::config::Settings;
use crate::forge::recognise;
use crate::plan_in_use;
use crate::run::interrupted;

pub(super) fn look(
    folder: &Path,
    settings: Option<&Settings>,
    program: &Path,
    reach: DoctorScope,
    findings: &mut Vec<DoctorCheck>,
) {
    match plan_in_use::find(folder) {
        Ok(plan) => findings.push(DoctorCheck::fine("plan", plan.display().to_string())),
        // Told already.
        Err(plan_in_use::NoPlan::Config(_)) => {}
        Err(error) => findings.push(DoctorCheck::warning(
            "plan",
            error.to_string(),
            error.hint(),
        )),
    }
    let git = match found_git() {
        Ok((git, finding)) => {
            findings.push(finding);
            git
        }
        Err(finding) => return findings.push(finding),
    };
    let repository = match Repository::find(git.clone(), folder) {
        Ok(repository) => repository,
        Err(error) => return findings.push(no_repository(&error, settings)),
    };
    base(&repository, settings, findings);
    not_followed(&repository, settings, findings);
    if let Err(error) = repository.checkout().check_writable() {
        let fix = error.hint().unwrap_or_default();
        findings.push(DoctorCheck::error("repository", with_causes(&error), fix));
    }
    prefixes(&repository, settings, findings);
    locks_of_user(&repository, findings);
    let state = StateFolder::of_user().ok();
    let store = state
        .as_ref()
        .and_then(|state| Store::existing(git, &state.stores(), folder).ok().flatten());
    let logins = Logins::of_user(program);
    server(&repository, store.as_ref(), settings, &logins, findings);
    if let (Some(state), Some(store)) = (&state, &store) {
        left_over(state, store, folder, findings);
    }
    if reach == DoctorScope::Server {
        findings.extend(state.map(|state| reachable(&state, folder, &logins)));
    }
}

/// The git that is on the path, and whether it is new enough.
pub(super) fn found_git() -> Result<(Git, DoctorCheck), DoctorCheck> {
    let error = |error: GitError| {
        let fix = match &error {
            GitError::NotInstalled => "install git and put it on the PATH".to_owned(),
            GitError::TooOld { needed, .. } => format!("install git {needed} or newer"),
            _ => "check that `git version` works".to_owned(),
        };
        DoctorCheck::error("git", with_causes(&error), fix)
    };
    let git = Git::find().map_err(error)?;
    let version = git.version().map_err(error)?;
    Ok((git, DoctorCheck::fine("git", format!("version {version}"))))
}

fn no_repository(error: &StoreError, settings: Option<&Settings>) -> DoctorCheck {
    let (message, fix) = (with_causes(error), error.hint());
    let fix = fix.unwrap_or_else(|| "check that `git status` works here".to_owned());
    let is_queue = settings.is_some_and(|settings| settings.mode != RunMode::Parallel);
    match error {
        StoreError::NotARepository { .. } if is_queue => {
            DoctorCheck::warning("repository", message, fix)
        }
        _ => DoctorCheck::error("repository", message, fix),
    }
}

fn base(repository: &Repository, settings: Option<&Settings>, findings: &mut Vec<DoctorCheck>) {
    let named = settings.and_then(|settings| settings.base.as_deref());
    findings.push(match repository.resolve_base(named) {
        Ok(commit) => {
            let name = named.unwrap_or("the current branch");
            let short = &commit.as_str()[..10];
            DoctorCheck::fine(
                "repository",
                format!("batches start from {name}, at {short}"),
            )
        }
        Err(error) => {
            let fix = error.hint();
            let fix = fix.unwrap_or_else(|| "set base to an existing branch".to_owned());
            DoctorCheck::error("repository", with_causes(&error), fix)
        }
    });
}

fn not_followed(
    repository: &Repository,
    settings: Option<&Settings>,
    findings: &mut Vec<DoctorCheck>,
) {
    let named = settings.and_then(|settings| settings.base.as_deref());
    // What is wrong with the base is told already.
    let Ok(base) = repository.resolve_base(named) else {
        return;
    };
    let all = repository.not_followed(&base).unwrap_or_default();
    let warning =
        |each: &NotFollowed| DoctorCheck::warning(each.topic(), each.to_string(), each.fix());
    findings.extend(all.iter().map(warning));
}

fn prefixes(repository: &Repository, settings: Option<&Settings>, findings: &mut Vec<DoctorCheck>) {
    let names = settings.map_or_else(BranchNames::default, Settings::branch_names);
    let mut checked = names.places().into_iter();
    let clash = checked.find_map(|place| repository.check_prefixes(&place).err());
    findings.push(match clash {
        None => DoctorCheck::fine(
            "branches",
            format!("named like {}", names.batch(BatchNumber(1))),
        ),
        Some(error) => {
            let fix = error.hint().unwrap_or_default();
            DoctorCheck::error("branches", with_causes(&error), fix)
        }
    });
}

/// Locks in the user's repository that would keep branches from being made.
fn locks_of_user(repository: &Repository, findings: &mut Vec<DoctorCheck>) {
    let common = &repository.checkout().common_dir;
    let lock = common.join("packed-refs.lock");
    let written = lock.symlink_metadata().and_then(|meta| meta.modified());
    let age = written.ok().and_then(|written| written.elapsed().ok());
    if age.is_some_and(|age| age.as_secs() > 600) {
        let message = format!("{} was left by a killed git process", lock.display());
        let fix = format!(
            "if no git process is running here: rm {}",
            quoted(&lock.to_string_lossy())
        );
        findings.push(DoctorCheck::warning("locks", message, fix));
    }
}

fn server(
    repository: &Repository,
    store: Option<&Store>,
    settings: Option<&Settings>,
    logins: &Logins,
    findings: &mut Vec<DoctorCheck>,
) {
    let topic = "server";
    let land = settings.map_or(Landing::PullRequest, |settings| settings.land);
    if land == Landing::Nowhere {
        findings.push(DoctorCheck::fine(
            topic,
            "nothing is pushed (land = \"none\")",
        ));
        return;
    }
    if land == Landing::Local {
        let message = "nothing is pushed (land = \"local\": the base branch is fast-forwarded)";
        findings.push(DoctorCheck::fine(topic, message));
        return;
    }
    let Some((address, written)) = repository.checkout().origin() else {
        let message = "no remote: results stay local branches";
        let fix = "git remote add origin URL, or pleach config set land local --repo";
        findings.push(DoctorCheck::warning(topic, message, fix));
        return;
    };
    let Some(host) = address.web_host() else {
        findings.push(DoctorCheck::fine(
            topic,
            "origin is a folder; no login needed",
        ));
        return;
    };
    // With a store git's own helpers are asked as well.
    let forge = settings.and_then(|settings| settings.forge);
    let by_helpers = || {
        let project = recognise(&address, forge).ok()?;
        project.login(store?, logins).ok()?
    };
    let login = logins.find(&host, &written).or_else(by_helpers);
    let name = host.host.as_str();
    findings.push(match login {
        Some(login) => {
            DoctorCheck::fine(topic, format!("logged in to {name} (from {})", login.from))
        }
        None if address.is_ssh() && land == Landing::Push => {
            DoctorCheck::fine(topic, format!("{name} over ssh (keys not tested)"))
        }
        None => {
            let message = format!("no login for {name}: pull requests cannot be opened");
            DoctorCheck::warning(topic, message, what_to_set(name, LoginPurpose::PullRequest))
        }
    });
}

/// Whether the store is as git left it; what is not goes out of the way.
fn store_files(store: &Store, findings: &mut Vec<DoctorCheck>) {
    match store.repair() {
        Ok(None) => {}
        Ok(Some(found)) => {
            let message = found.to_string();
            let fix = "fixed: fetched the objects again from your repository";
            findings.push(DoctorCheck::warning("store", message, fix));
        }
        Err(error) => {
            let fix = format!(
                "if the problem persists, move {} away",
                store.home().display()
            );
            findings.push(DoctorCheck::error("store", with_causes(&error), fix));
        }
    }
}

fn left_over(state: &StateFolder, store: &Store, folder: &Path, findings: &mut Vec<DoctorCheck>) {
    store_files(store, findings);
    match interrupted(state, folder) {
        Ok(rows) => findings.extend(rows.iter().map(|row| {
            let number = row.number;
            let message = format!("batch {number} is interrupted");
            DoctorCheck::warning("batches", message, format!("pleach resume {number}"))
        })),
        Err(error) => findings.push(DoctorCheck::warning(
            "batches",
            with_causes(&error),
            "check the database and the repository first",
        )),
    }
    let is_left = |tree: &pleach_git::worktree::ListedWorktree| {
        matches!(
            tree.state,
            TreeState::Left | TreeState::HalfMade | TreeState::FolderGone | TreeState::Unregistered
        )
    };
    let trees = list(store).unwrap_or_default();
    let left = trees.iter().filter(|tree| is_left(tree)).count();
    findings.push(match left {
        0 => DoctorCheck::fine("worktrees", "no leftovers"),
        1 => DoctorCheck::warning("worktrees", "1 leftover worktree", "pleach gc"),
        count => DoctorCheck::warning(
            "worktrees",
            format!("{count} leftover worktrees"),
            "pleach gc",
        ),
    });
    let locks: Vec<PathBuf> = store.stale_locks();
    if let Some(lock) = locks.first() {
        let message = format!("{} was left by a killed git process", lock.display());
        let fix = "nothing to do: the next run removes it";
        findings.push(DoctorCheck::warning("locks", message, fix));
    }
}

fn reachable(state: &StateFolder, folder: &Path, logins: &Logins) -> DoctorCheck {
    let topic = "reach";
    let asked = Git::find()
        .map_err(StoreError::from)
        .and_then(|git| Store::open(git, &state.stores(), folder))
        .and_then(|store| store.remote_branch("main", logins));
    match asked {
        Ok(_) => DoctorCheck::fine(topic, "the server responds"),
        Err(error) => {
            let fix = error.hint();
            let fix =
                fix.unwrap_or_else(|| "check the network and the address of origin".to_owned());
            DoctorCheck::warning(topic, with_causes(&error), fix)
        }
    }
}
