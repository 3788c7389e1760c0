//! `pleach weave --validate`: finds the branches that the tests fail with.

use pleach_domain::bisect::TestResult;
use pleach_domain::choice::Strategy;
use pleach_engine::config::{Config, Settings};
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::start::GRACE;
use pleach_engine::validate::{
    JudgedTree, NoProof, ProvedTree, StandaloneProof, Tests, prove_alone,
};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::weave::{ForeseenWeave, Strand, StrandOutcome, WeaveFolder, foresee};
use pleach_system::process::Cancel;
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::state_folder::StateFolder;

use super::{BranchOutcome, branches, is_left_out};
use crate::args::WeaveArgs;
use crate::commands::run::own_program;
use crate::commands::watch::{OnHangup, on_signals};
use crate::failure::{Exit, Failure, Failures};
use crate::output::tell_error;
use crate::plan_source::current_folder;

/// What the tests say of the branches that merge.
pub(super) struct Proof {
    /// Their places among all.
    merging: Vec<usize>,
    proved: ProvedTree,
}

pub(super) fn prove(
    command: &str,
    arguments: &WeaveArgs,
    onto: &CommitId,
    strands: &[Strand],
    outcomes: &[StrandOutcome],
) -> Result<Proof, Failures> {
    let folder = current_folder()?;
    let state = StateFolder::of_user()?;
    let program = own_program()?;
    let store = Store::open(Git::find()?, &state.stores(), &folder)?;
    let settings = Settings::load(&project_folder(&folder), Config::default())?;
    let tests = Tests {
        command: command.to_owned(),
        timeout: settings.validate_timeout,
        // Whoever weaves has consented to this command, and to nothing that the repository says.
        env: Vec::new(),
        setup: None,
        sandbox: SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write)?
            .on_network(settings.network, &program)?,
    };
    // The store gets what it may lack.
    store.resolve_base(Some(onto.as_str()))?;
    let places = (0..strands.len()).filter(|place| !is_left_out(&outcomes[*place]));
    let merging: Vec<usize> = places.collect();
    let mut some = Vec::new();
    for place in &merging {
        store.resolve_base(Some(strands[*place].commit.as_str()))?;
        some.push(strands[*place].clone());
    }
    let cancel = Cancel::default();
    let stop = cancel.clone();
    on_signals(OnHangup::Stop, move |_| stop.cancel())?;
    let alone = StandaloneProof {
        store: &store,
        state: &state,
        program: &program,
        tests: &tests,
        grace: GRACE,
        cancel: &cancel,
    };
    let proved = prove_alone(&alone, onto, &some, &mut |judged| {
        if !arguments.json {
            tell(&judged);
        }
    });
    let proved = proved.map_err(|error| unproved(&error))?;
    Ok(Proof { merging, proved })
}

fn tell(judged: &JudgedTree<'_>) {
    let what = match judged.strands {
        0 => "on the base".to_owned(),
        1 => "with the first branch".to_owned(),
        number => format!("with the first {}", branches(number)),
    };
    let run = match judged.run {
        TestResult::Passed => "passed",
        TestResult::Failed => "failed",
    };
    let tree = &judged.tree.as_str()[..12];
    tell_error(format_args!("tests {run} {what} (tree {tree})\n"));
}

fn unproved(error: &NoProof) -> Failures {
    let failure = match error {
        NoProof::BaseRed => Failure::new(Exit::SomeTaskFailed, "base_red", error.to_string())
            .hint("fix the base first, or choose another one with --onto"),
        NoProof::Trouble(_) => Failure::new(Exit::Environment, "no_verdict", error.to_string())
            .hint("nothing was written; run the command yourself to see why"),
        NoProof::Stopped => Failure::new(Exit::Interrupted, "stopped", error.to_string()),
        NoProof::Weave(_) | NoProof::Worktree(_) => {
            Failure::new(Exit::Environment, "no_tests", error.to_string())
        }
    };
    failure.into()
}

impl Proof {
    /// Weaves what stays, and tells what became of every branch.
    pub(super) fn weave_again<'l>(
        &self,
        weave_folder: &'l WeaveFolder,
        onto: &CommitId,
        strands: &[Strand],
        strategy: Strategy,
        first: &ForeseenWeave<'l>,
    ) -> Result<(ForeseenWeave<'l>, Vec<BranchOutcome>), Failures> {
        let invalid: Vec<usize> = self
            .proved
            .invalid
            .iter()
            .map(|at| self.merging[*at])
            .collect();
        let left = |place: &usize| !invalid.contains(place);
        let places: Vec<usize> = self.merging.iter().copied().filter(left).collect();
        let some: Vec<Strand> = places.iter().map(|place| strands[*place].clone()).collect();
        let again = foresee(weave_folder, onto, &some, strategy)?;
        if again.weave.tree != self.proved.tree {
            let message = format!(
                "the tests passed on tree {}, but weaving gives {}",
                self.proved.tree, again.weave.tree
            );
            return Err(Failure::new(Exit::Bug, "other_tree", message).into());
        }
        let fates = (0..strands.len()).map(|place| {
            if invalid.contains(&place) {
                return BranchOutcome::Invalid;
            }
            let now = places.iter().position(|known| *known == place);
            BranchOutcome::Woven(match now {
                None => first.weave.outcomes[place].clone(),
                Some(now) => of_all(again.weave.outcomes[now].clone(), &places),
            })
        });
        let fates = fates.collect();
        Ok((again, fates))
    }
}

/// The same outcome, with partners by their place among all branches.
fn of_all(mut outcome: StrandOutcome, places: &[usize]) -> StrandOutcome {
    if let StrandOutcome::Conflict(conflict) = &mut outcome {
        for partner in &mut conflict.with {
            *partner = partner.map(|place| places[place]);
        }
    }
    outcome
}
