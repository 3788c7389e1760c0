//! The live view at every width, from stories of what happened.

use std::collections::HashMap;
use std::time::Duration;

use pleach_domain::batch::{Approval, Barriers, BatchSettings, Design, Mode, Spent};
use pleach_domain::choice::Where;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::{Graph, OrderRules, Strictness};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::Commit;
use pleach_engine::run::Progress;
use pleach_log::database::StoredEvent;

use super::draw::{DrawClock, draw};
use super::state::LiveState;
use crate::terminal::TerminalSize;

/// Noon of some day, when batches begin here.
const NOON: u64 = 1_793_966_400_000;

const PLAN: &str = "\
- [ ] 1.1 Write a watering plan in `watering.md`
- [ ] 1.2 植物を植える: plant a third bed
- [ ] 1.3 Welcome visitors
- [ ] 2.1 Water the new bed too, in the morning and in the evening (depends: 1.1)
- [ ] 2.2 Open the greenhouse at night
- [ ] 2.3 Cafe\u{301} in the corner 👩‍👩‍👧
";

/// A batch, and the second since noon that it is at.
struct Story {
    state: LiveState,
    second: u64,
}

impl Story {
    fn of(plan: &str, settings: BatchSettings) -> Self {
        Self::at_place(Where::Local, plan, settings)
    }

    fn at_place(place: Where, plan: &str, settings: BatchSettings) -> Self {
        let plan = pleach_formats::read(plan).plan;
        let graph = Graph::new(&plan, Strictness::AsWritten);
        let all: Vec<usize> = (0..plan.tasks.len()).collect();
        let design = Design::new(
            &graph,
            &all,
            OrderRules::default(),
            Barriers::Stages,
            settings,
        );
        let titles = plan
            .tasks
            .iter()
            .map(|task| (task.id.clone(), task.title.clone()));
        let mut story = Self {
            state: LiveState::new(&design, place, &titles.collect(), HashMap::new()),
            second: 0,
        };
        story.batch(BatchEvent::Started);
        story
    }

    fn new() -> Self {
        Self::of(PLAN, BatchSettings::default())
    }

    fn at(&mut self, second: u64) -> &mut Self {
        self.second = second;
        self
    }

    fn hear(&mut self, event: Event) -> &mut Self {
        self.state.hear(&StoredEvent {
            number: BatchNumber(3),
            seq: 1,
            batch: 3,
            at: NOON + self.second * 1_000,
            event,
        });
        self
    }

    fn batch(&mut self, event: BatchEvent) -> &mut Self {
        self.hear(Event::Batch(event))
    }

    fn task(&mut self, id: &str, event: TaskEvent) -> &mut Self {
        let task = TaskId::new(id);
        self.hear(Event::Task { task, event })
    }

    fn start(&mut self, id: &str) -> &mut Self {
        let basis = Commit("c1".into());
        self.task(id, TaskEvent::Started { attempt: 1, basis })
    }

    fn merge(&mut self, id: &str) -> &mut Self {
        let commit = Commit("c2".into());
        let files = Vec::new();
        self.task(
            id,
            TaskEvent::Built {
                commit: commit.clone(),
                files,
            },
        );
        self.task(id, TaskEvent::Woven { tip: commit })
    }

    fn does(&mut self, id: &str, action: &str, tokens: u64, micro_usd: u64) -> &mut Self {
        self.state.hear_progress(&Progress {
            task: TaskId::new(id),
            attempt: 1,
            action: Some(action.to_owned()),
            spent: Spent { tokens, micro_usd },
        });
        self
    }

    fn drawn(&self, columns: usize, rows: usize) -> String {
        let clock = |moment: u64| {
            let minutes = moment / 60_000 % 1_440;
            format!("{:02}:{:02}", minutes / 60, minutes % 60)
        };
        let moment = DrawClock {
            now: NOON + self.second * 1_000,
            clock: &clock,
        };
        let lines = draw(&self.state, TerminalSize { columns, rows }, &moment);
        assert!(lines.len() < rows.max(2), "{} lines", lines.len());
        for line in &lines {
            assert!(line.width() < columns, "{}", line.plain());
        }
        let plain = lines.iter().map(|line| line.plain().trim_end().to_owned());
        plain.collect::<Vec<_>>().join("\n")
    }

    /// The same at every width that people have.
    fn at_every_width(&self) -> String {
        let drawn = [120, 80, 60, 40].map(|columns| {
            let ruler = "─".repeat(columns);
            format!("{ruler}\n{}", self.drawn(columns, 24))
        });
        drawn.join("\n")
    }
}

/// Three at work, one merged, one limited, one that failed and rests.
fn busy() -> Story {
    let mut story = Story::new();
    story.start("1.1").start("1.2").start("1.3");
    story.does("1.1", "edits watering.md", 1_200, 31_000);
    story
        .at(62)
        .merge("1.1")
        .start("2.1")
        .start("2.2")
        .start("2.3");
    story.does(
        "1.2",
        "edits src/greenhouse/beds/third_bed_of_many.rs",
        12_345,
        140_000,
    );
    story.does("1.3", "thinks", 812, 9_000);
    story.does("2.1", "runs the tests", 1_234_567, 4_500_000);
    let error = || "exit 1".to_owned();
    story.at(70).task(
        "2.2",
        TaskEvent::AttemptFailed {
            error: error(),
            pause: 20_000,
        },
    );
    story.task(
        "2.3",
        TaskEvent::Limited {
            error: error(),
            pause: 300_000,
        },
    );
    story.at(75);
    story
}

#[test]
fn what_runs_and_what_rests_stands_under_the_bar_at_every_width() {
    insta::assert_snapshot!(busy().at_every_width());
}

#[test]
fn where_nothing_is_known_of_tokens_and_actions_titles_have_the_room() {
    let mut story = Story::new();
    story.start("1.1").start("1.2").at(5);
    insta::assert_snapshot!(story.at_every_width());
}

#[test]
fn who_waits_for_a_person_comes_first_and_says_what_to_do() {
    let mode = Mode::Queue {
        approval: Approval::ByPerson,
    };
    let mut story = Story::of(
        PLAN,
        BatchSettings {
            mode,
            ..BatchSettings::default()
        },
    );
    story
        .start("1.1")
        .at(40)
        .merge("1.1")
        .task("1.2", TaskEvent::Waiting { consent: None })
        .at(100);
    insta::assert_snapshot!(story.at_every_width());
}

#[test]
fn tests_and_landing_are_shown_when_all_tasks_are_over() {
    let mut story = Story::of("- [ ] 1 A\n- [ ] 2 B\n", BatchSettings::default());
    story.start("1").start("2").at(30).merge("1").merge("2");
    story
        .batch(BatchEvent::Merging)
        .batch(BatchEvent::Validating { stage: None });
    story.at(42);
    let testing = story.drawn(60, 24);
    story
        .batch(BatchEvent::Proved { tree: "t".into() })
        .batch(BatchEvent::Landing { into: None });
    story.at(44);
    insta::assert_snapshot!(format!("{testing}\n\n{}", story.drawn(60, 24)));
}

#[test]
fn stopping_says_so_and_what_a_second_time_does() {
    let mut story = busy();
    story.state.hear_stop(0);
    let asked = story.drawn(80, 24);
    assert!(asked.contains("Ctrl-C again stops them at once"), "{asked}");
    story.state.hear_stop(1);
    let now = story.drawn(80, 24);
    assert!(now.contains("stopping at once; all work is kept"), "{now}");
}

#[test]
fn what_holds_everything_is_named() {
    let mut story = busy();
    story.state.batch.held = Some("disk is nearly full".to_owned());
    let drawn = story.drawn(60, 24);
    assert!(
        drawn.contains("\n  paused: disk is nearly full\n"),
        "{drawn}"
    );
}

#[test]
fn a_low_terminal_shows_as_many_as_fit_and_counts_the_rest() {
    let story = busy();
    assert!(story.drawn(80, 24).lines().count() == 6);
    for rows in 4..7 {
        let drawn = story.drawn(80, rows);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), rows - 1, "{drawn}");
        let more = 5 - (rows - 3);
        assert_eq!(lines[rows - 2], format!("  … and {more} more"));
    }
    assert_eq!(story.drawn(80, 1).lines().count(), 1);
}

#[test]
fn an_estimate_follows_what_tasks_took() {
    let mut story = Story::new();
    story.start("1.1").at(5);
    assert!(!story.drawn(120, 24).contains("left"), "nothing is known");
    story.at(60).merge("1.1").start("1.2");
    // Five tasks of a minute, three at once.
    let drawn = story.drawn(120, 24);
    assert!(drawn.contains("about 2m left  ends 12:02"), "{drawn}");
}

#[test]
fn what_tasks_took_last_time_is_known_from_the_start() {
    let plan = pleach_formats::read("- [ ] 1 A\n- [ ] 2 B\n").plan;
    let graph = Graph::new(&plan, Strictness::AsWritten);
    let settings = BatchSettings::default();
    let design = Design::new(
        &graph,
        &[0, 1],
        OrderRules::default(),
        Barriers::Stages,
        settings,
    );
    let past = HashMap::from([(TaskId::new("1"), Duration::from_mins(10))]);
    let state = LiveState::new(&design, Where::Local, &HashMap::new(), past);
    assert_eq!(state.left(NOON), Some(Duration::from_mins(10)));
}

#[test]
fn what_waits_for_a_node_says_what_for_and_then_where_it_runs() {
    let mut story = Story::at_place(Where::Slurm, PLAN, BatchSettings::default());
    story.start("1.1").start("1.2").start("1.3");
    story.does("1.2", "in Slurm's queue: Resources", 0, 0);
    let placed = |node: &str| TaskEvent::Placed {
        attempt: 1,
        node: node.to_owned(),
    };
    story.does("1.1", "in Slurm's queue: Priority", 0, 0);
    story
        .at(40)
        .task("1.1", placed("n1"))
        .task("1.3", placed("n2"));
    story.does("1.3", "reads", 0, 0).at(45);
    let drawn = story.drawn(100, 24);
    let rows: Vec<Vec<&str>> = { drawn.lines().skip(1) }
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .collect()
        })
        .collect();
    let ends: Vec<&[&str]> = rows.iter().map(|row| &row[row.len() - 2..]).collect();
    assert_eq!(
        ends,
        [
            ["5s", "on n1"],
            ["5s", "n2: reads"],
            ["45s", "in Slurm's queue: Resources"],
        ],
        "{drawn}"
    );
}

#[test]
fn progress_of_an_attempt_that_is_over_changes_nothing() {
    let mut story = Story::new();
    story.start("1.1").merge("1.1").does("1.1", "late", 5, 5);
    assert_eq!(story.state.spent(), Spent::default());
}

#[test]
fn a_spinner_turns_even_if_it_is_drawn_once_a_second() {
    let mut story = Story::new();
    story.start("1.1");
    let first = story.drawn(80, 24);
    story.at(1);
    let second = story.drawn(80, 24);
    let sign = |drawn: &str| drawn.lines().nth(1).and_then(|line| line.chars().nth(2));
    assert_ne!(sign(&first), sign(&second));
}

#[test]
fn what_agents_say_steers_no_terminal() {
    let mut story = Story::new();
    story.start("1.1").does("1.1", "a\x1b[2J\nb\u{202e}c", 0, 0);
    let drawn = story.drawn(120, 24);
    assert!(drawn.contains("a [2J b⟨U+202E⟩c"), "{drawn:?}");
}

#[test]
fn the_rest_takes_as_long_as_its_longest_chain() {
    let chain =
        "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C (depends: 1.2)\n- [ ] 1.4 D\n";
    let mut story = Story::of(chain, BatchSettings::default());
    story
        .start("1.1")
        .start("1.4")
        .at(60)
        .merge("1.1")
        .merge("1.4");
    story.start("1.2");
    let left = story.state.left(NOON + 60_000);
    assert_eq!(left, Some(Duration::from_mins(2)));
}
