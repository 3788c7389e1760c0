//! What a request for a batch may say, within which limits, and what that means for a run.
//!
//! Starts nothing, and knows no HTTP.

use pleach_domain::batch::{Barriers, Fallback};
use pleach_domain::choice::{Landing, OnConflict, RunMode, Strategy, Where};
use pleach_domain::graph::{OrderRules, Overlap, Strictness};
use pleach_domain::phase::Threshold;
use pleach_log::database::RequestKey;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::Dependencies;
use crate::config::{Config, MaxParallel};
use crate::fault::{Blame, Fault, Faults};
use crate::run::{EarlierBatches, RunRequest};

const MOST_TASKS: usize = 1_000;
const MOST_SLOTS: u32 = 64;
/// The same for a batch that runs on a cluster, which uses little of this machine.
const MOST_TASKS_ON_CLUSTER: usize = 10_000;
const MOST_SLOTS_ON_CLUSTER: u32 = 10_000;
const LONGEST_PROMPT: usize = 100_000;
/// The longest name, model or command.
const LONGEST_TEXT: usize = 10_000;

/// Options of a batch; omitted ones are taken from the configuration.
#[derive(Debug, Default, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the request that stands for itself"
)]
pub struct BatchOptions {
    /// The ids of the tasks, all of one project, from its board and its plan files
    pub task_ids: Vec<String>,
    pub mode: Option<RunMode>,
    /// Where its attempts and tests run
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<Where>,
    /// Additional instructions for the agents, or the whole prompt if it contains placeholders such as `{{title}}`
    pub prompt: Option<String>,
    /// The number of tasks that run at once, up to 64 on this machine
    #[schema(minimum = 1, maximum = 10000)]
    #[serde(deserialize_with = "whole_number")]
    pub max_concurrent: Option<u32>,
    pub agent: Option<String>,
    pub model: Option<String>,
    /// The branch, tag or commit to start from
    pub base: Option<String>,
    /// Whether a queue starts its next task without approval
    pub auto_approve: Option<bool>,
    pub stop_on_failure: Option<bool>,
    pub conflict_behavior: Option<OnConflict>,
    pub merge: Option<Strategy>,
    /// The command that proves the result
    pub validate: Option<String>,
    pub land: Option<Landing>,
    /// Whether to add missing dependencies
    pub with_deps: bool,
    /// Whether to assume that the base contains the work of earlier batches
    pub assume_landed: bool,
    /// Whether each wave is woven and proved before the next starts
    pub waves: bool,
    /// Whether tasks that declare the same file may run at the same time
    pub allow_overlap: bool,
    /// Whether the batch fails when parallel execution does not work, instead of running the tasks one at a time
    pub no_fallback: bool,
    /// The share of a phase that must be completed, skipped or cancelled before a later one starts; 0.8 by default
    #[schema(minimum = 0, maximum = 1)]
    pub phase_threshold: Option<f64>,
    /// Whether a dependency that is not in the plan is an error
    pub strict: bool,
    /// The fingerprint of a `no_consent` error, once a person has consented
    pub consent: Option<String>,
    /// Whether a person confirmed the push to the address of a `push_unconfirmed` error
    pub confirm_push: bool,
}

/// A whole number, which JSON may write as `3.0`.
pub fn whole_number<'de, D: Deserializer<'de>, T: TryFrom<i64>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let Some(number) = Option::<serde_json::Number>::deserialize(from)? else {
        return Ok(None);
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "one that is not in range is none of ours, and is cut to one that is not either"
    )]
    let rounded = |number: f64| (number.fract() == 0.0).then_some(number as i64);
    let whole = number
        .as_i64()
        .or_else(|| number.as_f64().and_then(rounded));
    let fitting = whole.and_then(|whole| T::try_from(whole).ok());
    fitting.map(Some).ok_or_else(|| {
        serde::de::Error::custom(format_args!("{number} is not a whole number in range"))
    })
}

impl BatchOptions {
    /// What a request is known by that may be repeated: the same key with the same options makes one batch. Nothing, if
    /// the key is not of 1 to 200 printable characters of ASCII.
    pub fn request_key(&self, what: &str, key: &str) -> Option<RequestKey> {
        let options = serde_json::to_string(self).expect("options are plain data");
        RequestKey::new(key, &format!("{what} {options}"))
    }

    /// That there are tasks, and that these are ids.
    pub(crate) fn check_ids(&self) -> Result<(), Faults> {
        if self.task_ids.is_empty() {
            let empty = Fault::field("taskIds", "a batch needs at least one task");
            return Err(Faults::from(Fault {
                code: "empty_batch",
                ..empty.hint("pass task ids in taskIds")
            }));
        }
        self.task_ids.iter().try_for_each(|id| check_id(id))
    }

    /// That there are not too many of them for where they run.
    pub(crate) fn check_number(&self, place: Where) -> Result<(), Faults> {
        let (most, here) = match place {
            Where::Local => (MOST_TASKS, " on this machine"),
            Where::Slurm => (MOST_TASKS_ON_CLUSTER, ""),
        };
        if self.task_ids.len() <= most {
            return Ok(());
        }
        let message = format!("a batch has at most {most} tasks{here}");
        Err(Faults::from(Fault {
            code: "too_many_tasks",
            ..Fault::field("taskIds", message).hint("start several batches")
        }))
    }

    pub(crate) fn check(&self, place: Where) -> Result<(), Faults> {
        let unfit = |path, message, hint| Err(Fault::field(path, message).hint(hint).into());
        let slots = self.max_concurrent;
        let most_slots = match place {
            Where::Local => MOST_SLOTS,
            Where::Slurm => MOST_SLOTS_ON_CLUSTER,
        };
        if slots.is_some_and(|slots| !(1..=most_slots).contains(&slots)) {
            let message = format!("must be 1 to {most_slots}");
            return unfit("maxConcurrent", message, "3 is a good start");
        }
        let threshold = self.phase_threshold;
        if threshold.is_some_and(|share| Threshold::new(share).is_none()) {
            let message = "must be between 0 and 1".to_owned();
            let hint = "the default is 0.8; 0 turns it off";
            return unfit("phaseThreshold", message, hint);
        }
        let prompt = self.prompt.as_ref();
        if prompt.is_some_and(|text| text.len() > LONGEST_PROMPT) {
            let message = format!("must have at most {LONGEST_PROMPT} bytes");
            return unfit("prompt", message, "shorten it, or move text into the tasks");
        }
        let texts = [
            ("agent", &self.agent),
            ("model", &self.model),
            ("base", &self.base),
            ("validate", &self.validate),
        ];
        for (path, text) in texts {
            let Some(text) = text else { continue };
            if text.len() > LONGEST_TEXT || text.contains('\0') {
                let message = format!("must have at most {LONGEST_TEXT} bytes and no NUL");
                return unfit(path, message, "write it as on the command line");
            }
        }
        Ok(())
    }

    pub(super) fn flags(&self) -> Config {
        let slots = self.max_concurrent;
        let slots = slots.and_then(|slots| usize::try_from(slots).ok());
        Config {
            mode: self.mode,
            place: self.place,
            max_parallel: slots.map(MaxParallel::AtMost),
            agent: self.agent.clone(),
            model: self.model.clone(),
            base: self.base.clone(),
            queue_auto_approve: self.auto_approve,
            stop_on_failure: self.stop_on_failure,
            phase_threshold: self.phase_threshold.and_then(Threshold::new),
            on_conflict: self.conflict_behavior,
            merge: self.merge,
            validate: self.validate.clone(),
            land: self.land,
            ..Config::default()
        }
    }

    pub(super) fn dependencies(&self) -> Dependencies {
        if self.with_deps {
            Dependencies::Added
        } else {
            Dependencies::Chosen
        }
    }

    pub(super) fn strictness(&self) -> Strictness {
        if self.strict {
            Strictness::Strict
        } else {
            Strictness::default()
        }
    }

    pub(super) fn rules(&self, threshold: Threshold) -> OrderRules {
        let overlap = if self.allow_overlap {
            Overlap::Allowed
        } else {
            Overlap::default()
        };
        OrderRules { overlap, threshold }
    }

    /// What it says of the order of tasks and of earlier batches.
    pub(super) fn put_in_order(&self, request: &mut RunRequest) {
        request.rules = self.rules(request.settings.phase_threshold);
        if self.waves {
            request.barriers = Barriers::Waves;
        }
        if self.no_fallback {
            request.fallback = Fallback::Fail;
        }
        if self.assume_landed {
            request.earlier = EarlierBatches::AssumeLanded;
        }
    }
}

/// That an id of a project or a task is well formed: letters, digits, `.`, `_` and `-`, so that it is no path and no option.
pub fn check_id(id: &str) -> Result<(), Faults> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_well_formed =
        (1..=200).contains(&id.len()) && id.chars().all(is_plain) && !id.starts_with('.');
    if is_well_formed {
        return Ok(());
    }
    let hint = "use the `id` that batches, projects and tasks are listed with";
    Err(Fault::new(Blame::User, "bad_id", "malformed id")
        .hint(hint)
        .into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn options(json: Value) -> BatchOptions {
        serde_json::from_value(json).unwrap()
    }

    /// The code and the wrong field of a refusal.
    #[track_caller]
    fn refused(checked: Result<(), Faults>) -> (&'static str, String) {
        let faults = checked.unwrap_err();
        let fault = faults.first();
        let field = fault.fields.first().map(|field| field.path.clone());
        (fault.code, field.unwrap_or_default())
    }

    #[test]
    fn what_is_out_of_its_limits_is_refused_by_its_field() {
        let long = "x".repeat(LONGEST_TEXT + 1);
        let prompt = "x".repeat(LONGEST_PROMPT + 1);
        for (field, value) in [
            ("maxConcurrent", json!(0)),
            ("maxConcurrent", json!(65)),
            ("phaseThreshold", json!(1.5)),
            ("prompt", json!(prompt)),
            ("agent", json!(long)),
            ("model", json!("a\0b")),
            ("base", json!(long)),
            ("validate", json!(long)),
        ] {
            let checked = options(json!({ field: value })).check(Where::Local);
            assert_eq!(refused(checked), ("bad_field", field.to_owned()));
        }
        let fit = json!({"maxConcurrent": 64.0, "phaseThreshold": 0, "prompt": "p", "agent": "a"});
        options(fit).check(Where::Local).unwrap();
        let many = options(json!({"maxConcurrent": 10_000}));
        many.check(Where::Slurm).unwrap();
        assert_eq!(refused(many.check(Where::Local)).1, "maxConcurrent");
    }

    #[test]
    fn a_batch_is_of_one_to_a_thousand_tasks_with_plain_ids_and_on_a_cluster_of_ten_thousand() {
        let of = |tasks: &[&str]| options(json!({ "taskIds": tasks }));
        let unnamed = ("empty_batch", "taskIds".to_owned());
        assert_eq!(refused(of(&[]).check_ids()), unnamed);
        for id in ["", "../x", ".x", "--force", "a b"] {
            let is_option = id == "--force";
            assert_eq!(of(&["a", id]).check_ids().is_ok(), is_option, "{id}");
        }
        let many = of(&vec!["a"; MOST_TASKS + 1]);
        assert_eq!(refused(many.check_number(Where::Local)).0, "too_many_tasks");
        many.check_number(Where::Slurm).unwrap();
        let all = of(&vec!["a"; MOST_TASKS]);
        all.check_number(Where::Local).unwrap();
        let many = of(&vec!["a"; MOST_TASKS_ON_CLUSTER + 1]);
        assert_eq!(refused(many.check_number(Where::Slurm)).0, "too_many_tasks");
    }

    #[test]
    fn what_is_said_goes_above_what_is_configured_and_nothing_else_does() {
        assert_eq!(BatchOptions::default().flags(), Config::default());
        let said = options(json!({
            "mode": "queue", "where": "slurm", "maxConcurrent": 2, "agent": "a", "model": "m", "base": "b", "autoApprove": true,
            "stopOnFailure": true, "phaseThreshold": 0.5, "conflictBehavior": "fail", "merge": "squash",
            "validate": "make test", "land": "none",
        }));
        let expected = Config {
            mode: Some(RunMode::Queue),
            place: Some(Where::Slurm),
            max_parallel: Some(MaxParallel::AtMost(2)),
            agent: Some("a".to_owned()),
            model: Some("m".to_owned()),
            base: Some("b".to_owned()),
            queue_auto_approve: Some(true),
            stop_on_failure: Some(true),
            phase_threshold: Threshold::new(0.5),
            on_conflict: Some(OnConflict::Fail),
            merge: Some(Strategy::Squash),
            validate: Some("make test".to_owned()),
            land: Some(Landing::Nowhere),
            ..Config::default()
        };
        assert_eq!(said.flags(), expected);
        let order = options(json!({"withDeps": true, "strict": true, "allowOverlap": true}));
        assert_eq!(order.dependencies(), Dependencies::Added);
        assert_eq!(order.strictness(), Strictness::Strict);
        let rules = order.rules(Threshold::default());
        assert_eq!(rules.overlap, Overlap::Allowed);
    }

    #[test]
    fn a_request_is_known_by_its_key_its_kind_and_its_options() {
        let one = options(json!({"taskIds": ["a"]}));
        let other = options(json!({"taskIds": ["b"]}));
        let key = |options: &BatchOptions, what: &str| options.request_key(what, "k").unwrap();
        assert_eq!(key(&one, "batch"), key(&one.clone(), "batch"));
        assert_ne!(key(&one, "batch"), key(&other, "batch"));
        assert_ne!(key(&one, "batch"), key(&one, "run"));
        assert_eq!(one.request_key("batch", ""), None);
        assert_eq!(one.request_key("batch", "a\nb"), None);
    }
}
