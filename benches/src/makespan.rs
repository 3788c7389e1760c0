//! How long whole plans take against the shortest time possible, in simulated minutes.
//!
//! Goes through the real design, batch and schedule; knows no clock, so it gives the same numbers
//! everywhere.

use pleach_domain::batch::{
    AttemptEnding, Barriers, Batch, BatchSettings, Design, Jitter, Message, Mode,
};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::{Graph, OrderRules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::plan::Plan;
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task::{Dependency, Effort, IfUnknown, Task};
use pleach_domain::task_state::Commit;

/// The most that the mean over all shapes and slots may be, with small, medium and large estimates.
pub(crate) const MOST: f64 = 1.06;

const TASKS: usize = 50;
const SLOTS: [usize; 3] = [3, 5, 8];
const MEDIAN_MINUTES: f64 = 8.0;
const SPREAD: f64 = 0.9;

/// How the tasks of a plan hang together.
#[derive(Clone, Copy)]
enum Shape {
    Independent,
    Star,
    ChainAndFree,
    Chains,
    Layers,
    Sparse,
    Diamonds,
}

const SHAPES: [(Shape, &str); 7] = [
    (Shape::Independent, "independent"),
    (Shape::Star, "star 1+49"),
    (Shape::ChainAndFree, "chain of 20 + 30 free"),
    (Shape::Chains, "chains of 1-8"),
    (Shape::Layers, "5 layers"),
    (Shape::Sparse, "random sparse"),
    (Shape::Diamonds, "3 diamonds"),
];

/// What the scheduler is told of durations.
#[derive(Clone, Copy, PartialEq)]
enum Estimates {
    SmallMediumLarge,
    None,
}

/// Ratios to the shortest time possible, as means.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ratios {
    /// Longest remaining path first, by small, medium and large.
    pub(crate) estimated: f64,
    /// The same, by the number of tasks.
    pub(crate) hops: f64,
    /// Each wave waits for the one before.
    pub(crate) waves: f64,
}

impl Ratios {
    fn mean(all: &[Self]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a few thousand plans")]
        let count = all.len() as f64;
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / count;
        Self {
            estimated: mean(|ratios| ratios.estimated),
            hops: mean(|ratios| ratios.hops),
            waves: mean(|ratios| ratios.waves),
        }
    }
}

/// One line of the comparison.
pub(crate) struct Line {
    /// The shape and the slots.
    pub(crate) name: String,
    /// The means over its plans.
    pub(crate) ratios: Ratios,
}

/// A line for each shape and number of slots, and the mean over all of them.
pub(crate) fn compare(plans: u64) -> (Vec<Line>, Ratios) {
    let mut lines = Vec::new();
    for (shape, name) in SHAPES {
        for slots in SLOTS {
            let ratios: Vec<Ratios> = (0..plans).map(|seed| ratios(shape, slots, seed)).collect();
            lines.push(Line {
                name: format!("{name}, {slots} slots"),
                ratios: Ratios::mean(&ratios),
            });
        }
    }
    let all: Vec<Ratios> = lines.iter().map(|line| line.ratios).collect();
    let mean = Ratios::mean(&all);
    (lines, mean)
}

fn ratios(shape: Shape, slots: usize, seed: u64) -> Ratios {
    let mut dice = MakespanRng(seed);
    let needs = needs(shape, &mut dice);
    let minutes: Vec<f64> = (0..TASKS).map(|_| dice.minutes()).collect();
    let least = shortest(&needs, &minutes, slots);
    let took = |estimates, barriers| {
        let plan = plan(&needs, &minutes, estimates);
        makespan(&plan, &minutes, slots, barriers) / least
    };
    Ratios {
        estimated: took(Estimates::SmallMediumLarge, Barriers::Stages),
        hops: took(Estimates::None, Barriers::Stages),
        waves: took(Estimates::SmallMediumLarge, Barriers::Waves),
    }
}

fn needs(shape: Shape, dice: &mut MakespanRng) -> Vec<Vec<usize>> {
    let mut needs = vec![Vec::new(); TASKS];
    let mut rest = 0;
    for (task, own) in needs.iter_mut().enumerate().skip(1) {
        *own = match shape {
            Shape::Independent => Vec::new(),
            Shape::Star => vec![0],
            Shape::ChainAndFree => (task < 20).then(|| task - 1).into_iter().collect(),
            Shape::Chains if rest == 0 => {
                rest = dice.below(8);
                Vec::new()
            }
            Shape::Chains => {
                rest -= 1;
                vec![task - 1]
            }
            Shape::Layers if task < 10 => Vec::new(),
            Shape::Layers => {
                let layer = (task / 10 - 1) * 10;
                (0..2).map(|_| layer + dice.below(10)).collect()
            }
            Shape::Sparse => {
                let some = dice.below(3).min(task);
                (0..some).map(|_| dice.below(task)).collect()
            }
            Shape::Diamonds => match task % 16 {
                0 => vec![task - 1],
                15 => (1..15).map(|back| task - back).collect(),
                place => vec![task - place],
            },
        };
        own.sort_unstable();
        own.dedup();
    }
    needs
}

/// No schedule is shorter than the longest chain, nor than the work shared out evenly.
fn shortest(needs: &[Vec<usize>], minutes: &[f64], slots: usize) -> f64 {
    let mut ends: Vec<f64> = Vec::new();
    for (task, needs) in needs.iter().enumerate() {
        let begins = needs.iter().map(|need| ends[*need]).fold(0.0, f64::max);
        ends.push(begins + minutes[task]);
    }
    let chain = ends.into_iter().fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "there are a few slots")]
    let shared = minutes.iter().sum::<f64>() / slots as f64;
    chain.max(shared)
}

fn plan(needs: &[Vec<usize>], minutes: &[f64], estimates: Estimates) -> Plan {
    let name = |task: usize| format!("{}", task + 1);
    let tasks = needs.iter().enumerate().map(|(number, needs)| {
        let mut task = Task::new(name(number), "some work", 1);
        let needs = needs.iter().map(|need| Dependency {
            on: TaskId::new(name(*need)),
            line: 1,
            if_unknown: IfUnknown::Error,
        });
        task.needs = needs.collect();
        if estimates == Estimates::SmallMediumLarge {
            task.effort = Effort::read(size(minutes[number]));
        }
        task
    });
    Plan {
        tasks: tasks.collect(),
        ..Plan::default()
    }
}

/// A third of all tasks each.
fn size(minutes: f64) -> &'static str {
    let third = (0.4307 * SPREAD).exp();
    if minutes < MEDIAN_MINUTES / third {
        "small"
    } else if minutes < MEDIAN_MINUTES * third {
        "medium"
    } else {
        "large"
    }
}

/// Runs a whole batch with agents that change nothing, and tells when the last one ended.
fn makespan(plan: &Plan, minutes: &[f64], slots: usize, barriers: Barriers) -> f64 {
    let graph = Graph::new(plan, Strictness::AsWritten);
    let chosen: Vec<usize> = (0..plan.tasks.len()).collect();
    let settings = BatchSettings {
        mode: Mode::Parallel { slots },
        ..BatchSettings::default()
    };
    let design = Design::new(&graph, &chosen, OrderRules::default(), barriers, settings);
    let mut batch = Batch::new(design);
    let legal = "the core made it for this state";
    batch
        .apply(&Event::Batch(BatchEvent::Started))
        .expect(legal);
    let mut now = 0.0;
    let mut at_work: Vec<(f64, usize)> = Vec::new();
    loop {
        let actions = schedule(&batch);
        let moved = !actions.is_empty();
        for action in actions {
            let event = match action {
                Action::Start(task) => {
                    at_work.push((now + minutes[task], task));
                    started(&batch, task)
                }
                Action::Note(event) | Action::Finish(event) => Event::Batch(event),
                other => unreachable!("nothing goes wrong here: {other:?}"),
            };
            batch.apply(&event).expect(legal);
        }
        if moved {
            continue;
        }
        at_work.sort_by(|one, other| other.0.total_cmp(&one.0));
        let Some((then, task)) = at_work.pop() else {
            assert!(batch.status.is_over(), "nothing runs, and it is not over");
            return now;
        };
        now = then;
        for event in batch.decide(unchanged(&batch, task)) {
            batch.apply(&event).expect(legal);
        }
    }
}

fn started(batch: &Batch, task: usize) -> Event {
    Event::Task {
        task: batch.tasks[task].design.id.clone(),
        event: TaskEvent::Started {
            attempt: 1,
            basis: Commit(String::new()),
        },
    }
}

fn unchanged(batch: &Batch, task: usize) -> Message {
    Message::AttemptEnded {
        task: batch.tasks[task].design.id.clone(),
        attempt: 1,
        ending: AttemptEnding::Unchanged(Some("nothing is needed".to_owned())),
        kept: None,
        spent: None,
        chance: Jitter(0),
    }
}

/// Numbers that are the same for the same seed (splitmix64).
struct MakespanRng(u64);

impl MakespanRng {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).expect("limits are small");
        usize::try_from(self.number() % limit).expect("limits are small")
    }

    /// Between 0 and 1, never 0.
    fn share(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
        let bits = (self.number() >> 11) as f64;
        (bits + 1.0) / 9_007_199_254_740_993.0
    }

    /// How long an agent takes: mostly minutes, now and then an hour.
    fn minutes(&mut self) -> f64 {
        let (one, other) = (self.share(), self.share());
        let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
        MEDIAN_MINUTES * (SPREAD * normal).exp()
    }
}
