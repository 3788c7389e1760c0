//! Side-by-side benchmarks: each prints a ratio against a reference run in the same breath.
//!
//! Run with `cargo xtask bench`; exits with 1 when a ratio is beyond its limit.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

mod measure;
mod plan_text;

use std::hint::black_box;
use std::process::{Command, ExitCode};

use plan_text::Dialect;
use pleach_domain::graph::{Graph, Order, Rules, Strictness};
use pleach_domain::next::{NextRules, next};

const LARGE: usize = 100_000;
const SMALL: usize = 10_000;
const ROUNDS: usize = 7;
const MOST_TIMES_PARSER: f64 = 3.0;
const MOST_GROWTH: f64 = 12.0;
const MOST_MEMORY: u64 = 1 << 30;

fn main() -> ExitCode {
    if let Some(dialect) = std::env::args().skip_while(|arg| arg != "--peak-of").nth(1) {
        return print_own_peak(&dialect);
    }
    let mut all_kept = true;
    for dialect in [Dialect::Sections, Dialect::Checklist] {
        all_kept &= load_plan(dialect);
    }
    if all_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Everything between a plan's text and the answer to "what now?".
fn load(text: &str) -> usize {
    let document = pleach_formats::read(text);
    let graph = Graph::of(&document.plan, Strictness::AsWritten);
    assert_eq!(graph.errors(), [], "the generated plan is right");
    let members = graph.open_members();
    let order = Order::of(&graph, &members, Rules::default());
    let offers = next(&graph, 10, NextRules::default());
    order.waves.len() + offers.len()
}

fn load_plan(dialect: Dialect) -> bool {
    let small = plan_text::generate(dialect, SMALL);
    let large = plan_text::generate(dialect, LARGE);
    let mut times = measure::Times::default();
    for _ in 0..ROUNDS {
        times.parser.push(measure::cpu(|| {
            black_box(pleach_formats::events_alone(&large))
        }));
        times.ours.push(measure::cpu(|| black_box(load(&large))));
        times.parser_small.push(measure::cpu(|| {
            black_box(pleach_formats::events_alone(&small))
        }));
        times
            .ours_small
            .push(measure::cpu(|| black_box(load(&small))));
    }
    let [parser, ours] = [&times.parser, &times.ours].map(|samples| measure::median(samples));
    let [parser_small, ours_small] =
        [&times.parser_small, &times.ours_small].map(|samples| measure::median(samples));
    let edges = plan_text::EDGES_PER_TASK * LARGE;
    println!(
        "{} of {LARGE} tasks, {edges} edges, {} MB",
        dialect.name(),
        large.len() / 1_000_000
    );
    println!(
        "  CommonMark parser alone        {:8.0} ms CPU",
        parser * 1e3
    );
    println!("  read, graph, waves, next 10    {:8.0} ms CPU", ours * 1e3);
    let peak = peak_memory(dialect);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let memory = measure::verdict(
        "  peak memory in GiB",
        peak as f64 / MOST_MEMORY as f64,
        1.0,
    );
    measure::figure("  the parser's own growth", parser / parser_small);
    let (ratio, growth) = (ours / parser, ours / ours_small);
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

/// Asks a process of its own, so that nothing else is counted.
fn peak_memory(dialect: Dialect) -> u64 {
    let own = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(own)
        .args(["--peak-of", dialect.name()])
        .output();
    let output = output.expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim()
        .parse()
        .expect("the other process prints a number")
}

fn print_own_peak(dialect: &str) -> ExitCode {
    let dialect = Dialect::named(dialect).expect("this program names it");
    black_box(load(&plan_text::generate(dialect, LARGE)));
    println!("{}", measure::peak_memory());
    ExitCode::SUCCESS
}
