//! Side-by-side benchmarks: each prints a ratio against a reference run in the same breath.
//!
//! Run with `cargo xtask bench`; exits with 1 when a ratio is beyond its limit.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

mod bisect;
mod cluster;
mod conflicts;
mod makespan;
mod measure;
mod plan_text;
mod relay;
mod run;
mod serve;
mod weave;
mod worktrees;

use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use plan_text::Dialect;
use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::next::{NextRules, next};

const LARGE: usize = 100_000;
const SMALL: usize = 10_000;
const ROUNDS: usize = 7;
const MOST_TIMES_PARSER: f64 = 3.0;
const MOST_GROWTH: f64 = 12.0;
const MOST_MEMORY: u64 = 1 << 30;
const PLANS_OF_EACH_SHAPE: u64 = 400;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, dialect, tasks] = words.as_slice()
        && flag == "--cost-of"
    {
        return print_own_cost(dialect, tasks);
    }
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let mut all_kept = true;
    if wanted("plans") {
        for dialect in [Dialect::Sections, Dialect::Checklist] {
            all_kept &= load_plan(dialect);
        }
    }
    if wanted("makespan") {
        all_kept &= share_out();
    }
    if wanted("bisect") {
        all_kept &= bisect::compare();
    }
    if wanted("worktrees") {
        all_kept &= worktrees::compare();
    }
    if wanted("weave") {
        all_kept &= weave::run(&program());
    }
    if wanted("conflicts") {
        all_kept &= conflicts::compare();
    }
    if wanted("relay") {
        all_kept &= relay::run(&program());
    }
    if wanted("run") {
        all_kept &= run::run(&program());
    }
    // It needs a Slurm, and has its own call.
    if words.iter().any(|word| word == "cluster") {
        all_kept &= cluster::run(&program());
    }
    if wanted("serve") {
        all_kept &= serve::run(&program());
    }
    if all_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The program itself, which is built beside this one.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    own.with_file_name("pleach")
}

/// Everything between a plan's text and the answer to "what now?".
fn load(text: &str) -> usize {
    let document = pleach_formats::read(text);
    let graph = Graph::new(&document.plan, Strictness::AsWritten);
    assert_eq!(graph.errors(), [], "the generated plan is right");
    let members = graph.open_members();
    let order = Order::new(&graph, &members, OrderRules::default());
    let offers = next(&graph, 10, NextRules::default());
    order.waves.len() + offers.len()
}

/// Simulated: how long plans take against the longest chain and the work shared out evenly.
fn share_out() -> bool {
    let (lines, mean) = makespan::compare(PLANS_OF_EACH_SHAPE);
    println!("{PLANS_OF_EACH_SHAPE} plans of 50 tasks of each shape, times the shortest possible");
    println!(
        "{:<32} {:>6} {:>12} {:>6}",
        "", "S/M/L", "no estimates", "waves"
    );
    let print = |name: &str, ratios: makespan::Ratios| {
        let makespan::Ratios {
            estimated,
            hops,
            waves,
        } = ratios;
        println!("  {name:<30} {estimated:>6.3} {hops:>12.3} {waves:>6.3}");
    };
    for line in &lines {
        print(&line.name, line.ratios);
    }
    print("mean over all", mean);
    measure::verdict("  mean with S/M/L", mean.estimated, makespan::MOST)
}

fn load_plan(dialect: Dialect) -> bool {
    let text = plan_text::generate(dialect, LARGE);
    let (mut parser, mut ours) = (Vec::new(), Vec::new());
    let (mut small, mut large, mut peak) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        parser.push(measure::cpu(|| {
            black_box(pleach_formats::events_alone(&text))
        }));
        ours.push(measure::cpu(|| black_box(load(&text))));
        small.push(cost_in_own_process(dialect, SMALL).seconds);
        let cost = cost_in_own_process(dialect, LARGE);
        large.push(cost.seconds);
        peak = peak.max(cost.peak);
    }
    let [parser, ours, small, large] =
        [parser, ours, small, large].map(|samples| measure::least(&samples));
    let edges = plan_text::EDGES_PER_TASK * LARGE;
    println!(
        "{} of {LARGE} tasks, {edges} edges, {} MB",
        dialect.name(),
        text.len() / 1_000_000
    );
    println!(
        "  CommonMark parser alone        {:8.0} ms CPU",
        parser * 1e3
    );
    println!("  read, graph, waves, next 10    {:8.0} ms CPU", ours * 1e3);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let memory = measure::verdict(
        "  peak memory in GiB",
        peak as f64 / MOST_MEMORY as f64,
        1.0,
    );
    let (ratio, growth) = (ours / parser, large / small);
    match dialect {
        Dialect::Sections => {
            let ratio = measure::verdict("  times the parser", ratio, MOST_TIMES_PARSER);
            let growth = measure::verdict("  growth from 10,000 tasks", growth, MOST_GROWTH);
            memory && ratio && growth
        }
        // To the parser a checklist is one list of plain text, which it all but skips: no yardstick.
        Dialect::Checklist => {
            measure::figure("  times the parser", ratio);
            measure::figure("  growth from 10,000 tasks", growth);
            memory
        }
    }
}

/// What loading a plan once costs a process that does nothing else, as `pleach plan` does.
struct LoadCost {
    seconds: f64,
    peak: u64,
}

fn cost_in_own_process(dialect: Dialect, tasks: usize) -> LoadCost {
    let own = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(own)
        .args(["--cost-of", dialect.name(), &tasks.to_string()])
        .output();
    let output = output.expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (seconds, peak) = text
        .trim()
        .split_once(' ')
        .expect("the other process prints two numbers");
    LoadCost {
        seconds: seconds.parse().expect("the first is a time"),
        peak: peak.parse().expect("the second is a size"),
    }
}

fn print_own_cost(dialect: &str, tasks: &str) -> ExitCode {
    let dialect = Dialect::named(dialect).expect("this program names it");
    let text = plan_text::generate(dialect, tasks.parse().expect("this program counts them"));
    let seconds = measure::cpu(|| black_box(load(&text)));
    println!("{seconds} {}", measure::peak_memory());
    ExitCode::SUCCESS
}
