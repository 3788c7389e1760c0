//! Lets a person tick the tasks to run, on a terminal.
//!
//! Borrows the keyboard and the terminal's last lines, and gives both back.

mod draw;
mod list;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::time::Duration;

use pleach_domain::graph::{Graph, Order, OrderRules};
use pleach_domain::plan::Plan;

use self::draw::{draw, page};
pub(crate) use self::list::Picked;
use self::list::{Choice, List};
use crate::draw::{Picture, reasons};
use crate::keys;
use crate::output::one_line;
use crate::region::{NarrowingEffect, Region};
use crate::terminal::{self, BorrowedModes, TerminalSize};

/// How often the size of the terminal is looked at while nothing is typed.
const LOOK: Duration = Duration::from_millis(250);

/// The open tasks of a plan, as they are offered, and their positions in it.
fn choices(graph: &Graph<'_>, rules: OrderRules) -> (Vec<Choice>, Vec<usize>) {
    let open = graph.open_members();
    let positions: Vec<usize> = (0..open.len()).filter(|position| open[*position]).collect();
    let order = Order::new(graph, &open, rules);
    let picture = Picture {
        name: "",
        graph,
        order: &order,
        chosen: &positions,
    };
    let remarks = reasons(&picture);
    let place = |position: usize| positions.binary_search(&position).ok();
    let choice = |position: &usize| {
        let task = graph.task(*position);
        Choice {
            id: one_line(task.id.as_str()),
            title: one_line(&task.title),
            group: task.phase.map(|phase| heading(graph.plan(), phase.0)),
            needs: graph.open_needs(*position).filter_map(place).collect(),
            remark: remarks[*position].clone(),
        }
    };
    (positions.iter().map(choice).collect(), positions.clone())
}

fn heading(plan: &Plan, number: u32) -> String {
    let mut phases = plan.phases.iter();
    let phase = phases.find(|phase| phase.number.0 == number);
    match phase.map(|phase| one_line(&phase.title)) {
        Some(title) if !title.is_empty() => format!("Phase {number}: {title}"),
        _ => format!("Phase {number}"),
    }
}

/// Asks which tasks of a plan to run; nothing if nobody can be asked that way.
///
/// What was picked are positions in the plan.
pub(crate) fn pick(graph: &Graph<'_>, name: &str, rules: OrderRules) -> Option<Picked> {
    if !terminal::can_draw(&std::io::stderr()) {
        return None;
    }
    let (choices, positions) = choices(graph, rules);
    if choices.is_empty() {
        return None;
    }
    terminal::give_back_on_signals();
    let modes = BorrowedModes::for_keys()?;
    let picked = ask(List::new(choices), &one_line(name));
    drop(modes);
    Some(match picked {
        Picked::These(places) => {
            Picked::These(places.into_iter().map(|place| positions[place]).collect())
        }
        other => other,
    })
}

fn ask(mut list: List, name: &str) -> Picked {
    let output = std::io::stderr();
    let mut region = Region::new(
        NarrowingEffect::of_terminal(),
        terminal::has_colours(&output),
    );
    let picked = loop {
        let size = TerminalSize::of(&output);
        write(&region.frame(&[], draw(&list, name, size), size.columns));
        // Somebody whose terminal is gone wants nothing.
        let Some(keys) = keys::read(LOOK) else {
            break Picked::Interrupted;
        };
        let mut pressed = keys.into_iter().map(|key| list.press(key, page(size)));
        if let Some(picked) = pressed.find_map(|picked| picked) {
            break picked;
        }
    };
    write(&region.frame(&[], Vec::new(), TerminalSize::of(&output).columns));
    picked
}

fn write(frame: &str) {
    let mut output = std::io::stderr().lock();
    // Whoever cannot see the list can still leave it.
    let _ = output
        .write_all(frame.as_bytes())
        .and_then(|()| output.flush());
}
