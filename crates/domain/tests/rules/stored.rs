//! What is stored of a batch comes back as it was.

use pleach_domain::batch::{
    Approval, Barriers, BatchSettings, Budget, Design, Fallback, Mode, OnFailure, Validation,
};
use pleach_domain::choice::{
    Choice, ForgeKind, Landing, NetworkChoice, NoChanges, OnConflict, OnInvalid, RunMode,
    SandboxChoice, Strategy,
};
use pleach_domain::event::{BatchEvent, Event, MergeStatus, Rollback, TaskEvent};
use pleach_domain::graph::OrderRules;
use pleach_domain::id::TaskId;

use crate::{graph, plan};

#[track_caller]
fn check<T>(value: &T)
where
    T: serde::Serialize + for<'de> serde::Deserialize<'de> + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(value).unwrap();
    let again: T = serde_json::from_str(&text).unwrap();
    assert_eq!(again, *value, "{text}");
}

#[test]
fn every_event_is_read_as_it_was_written() {
    for event in TaskEvent::one_of_each() {
        check(&event);
        let task = TaskId::new("3.1");
        check(&Event::Task { task, event });
    }
    for event in BatchEvent::one_of_each() {
        check(&event);
        check(&Event::Batch(event));
    }
    for stage in [None, Some(2)] {
        let reason = String::new();
        check(&Event::Batch(BatchEvent::FellBack { reason, stage }));
    }
    let rollback = Rollback::Remove;
    check(&Event::Batch(BatchEvent::CancelRequested { rollback }));
    for merge_status in [
        MergeStatus::Conflicts,
        MergeStatus::TestFailed,
        MergeStatus::Skipped,
    ] {
        check(&Event::Batch(BatchEvent::StageEnded {
            stage: 1,
            merge_status,
            success: false,
        }));
    }
}

#[test]
fn the_stored_form_of_an_event_is_plain() {
    let event = Event::Task {
        task: TaskId::new("1"),
        event: TaskEvent::Unchanged { reason: None },
    };
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(text, r#"{"task":"1","kind":"unchanged"}"#);
    let text = serde_json::to_string(&Event::Batch(BatchEvent::Started)).unwrap();
    assert_eq!(text, r#"{"kind":"started"}"#);
}

#[test]
fn every_design_is_read_as_it_was_written() {
    let plan = plan("0 done p1\n1 p1 @ f\n2 p1 @ f !high\n3 p2 < 1 ~30\n4");
    let graph = graph(&plan);
    let modes = [
        Mode::Parallel { slots: 7 },
        Mode::Queue {
            approval: Approval::Automatic,
        },
        Mode::Queue {
            approval: Approval::ByPerson,
        },
    ];
    for mode in modes {
        for barriers in [Barriers::Stages, Barriers::Waves] {
            for on_conflict in [OnConflict::Skip, OnConflict::Fail, OnConflict::Rerun] {
                let settings = BatchSettings {
                    mode,
                    on_conflict,
                    on_failure: OnFailure::Stop,
                    fallback: Fallback::Fail,
                    validation: Validation::Drop,
                    landing: Landing::PullRequest,
                    no_changes: NoChanges::Done,
                    retries: 9,
                    retry_pause: u64::MAX,
                    limit_wait: 1,
                    budget: Budget {
                        micro_usd: Some(1),
                        tokens: None,
                    },
                    task_budget: Budget {
                        micro_usd: None,
                        tokens: Some(u64::MAX),
                    },
                };
                let chosen = [1, 2, 3, 4];
                check(&Design::new(
                    &graph,
                    &chosen,
                    OrderRules::default(),
                    barriers,
                    settings,
                ));
            }
        }
    }
}

#[test]
fn every_choice_is_written_as_people_write_it() {
    #[track_caller]
    fn check<C: Choice + serde::Serialize>() {
        for (word, meant) in C::WORDS {
            assert_eq!(serde_json::to_value(meant).unwrap(), *word);
        }
    }
    check::<RunMode>();
    check::<OnConflict>();
    check::<Strategy>();
    check::<OnInvalid>();
    check::<NoChanges>();
    check::<Landing>();
    check::<ForgeKind>();
    check::<NetworkChoice>();
    check::<SandboxChoice>();
}

#[test]
fn the_landing_of_a_batch_of_an_earlier_version_is_known() {
    let landing = |word: &str| {
        let mut settings = serde_json::to_value(BatchSettings::default()).unwrap();
        settings["landing"] = word.into();
        serde_json::from_value::<BatchSettings>(settings).map(|settings| settings.landing)
    };
    assert_eq!(landing("pull_request").unwrap(), Landing::PullRequest);
    assert_eq!(landing("nowhere").unwrap(), Landing::Nowhere);
    for (word, meant) in Landing::WORDS {
        assert_eq!(landing(word).unwrap(), *meant);
    }
    landing("elsewhere").unwrap_err();
}
