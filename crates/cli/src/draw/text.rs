//! Draws a plan as a tree of waves, for terminals and pipes.
//!
//! Colours only underline what the characters say; the caller strips them where none are wanted.

use anstyle::{AnsiColor, Style};
use pleach_domain::task::TaskStatus;
use unicode_width::UnicodeWidthStr;

use super::Picture;
use super::remarks::remarks;
use super::wait_reasons::{Gate, WaitReasons};
use super::words::{count, duration, few, one_line};
use crate::columns::cut;

/// More tasks than this are summed up unless everything is asked for.
const MOST_TASKS: usize = 60;
const MOST_WAVES: usize = 12;
/// How many lines of tasks a wave has in a summary.
const HANDFUL: usize = 4;
/// The widest id that keeps its column.
const WIDEST_ID: usize = 16;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const ACCENT: Style = AnsiColor::Cyan.on_default().bold();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// A page of it, whatever its size.
    Summary,
    Everything,
}

/// Draws the waves; no line is wider than `width`.
pub(crate) fn draw(picture: &Picture<'_>, width: Option<usize>, detail: Detail) -> String {
    let stuck = picture.stuck();
    let is_short = picture.in_waves() + stuck.len() <= MOST_TASKS;
    let mut page = Page {
        picture,
        waiting: WaitReasons::new(picture),
        is_critical: picture.is_critical(),
        width: width.unwrap_or(usize::MAX),
        limits: match detail {
            Detail::Summary if !is_short => Limits::SUMMARY,
            Detail::Summary | Detail::Everything => Limits::NONE,
        },
        is_folded: false,
        out: String::new(),
    };
    let settled = picture.settled();
    page.headline(&settled, &stuck);
    page.waves();
    page.stuck(&stuck);
    page.settled(&settled);
    for (label, text) in remarks(picture) {
        page.line(&[(DIM, &label), (PLAIN, "  "), (PLAIN, &text)]);
    }
    if page.is_folded {
        page.blank();
        page.line(&[(DIM, "`pleach plan --all` shows every task")]);
    }
    page.out
}

#[derive(Clone, Copy)]
struct Limits {
    waves: usize,
    tasks: usize,
}

impl Limits {
    const NONE: Self = Self {
        waves: usize::MAX,
        tasks: usize::MAX,
    };
    const SUMMARY: Self = Self {
        waves: MOST_WAVES,
        tasks: HANDFUL,
    };
}

struct Page<'p, 'a> {
    picture: &'p Picture<'a>,
    waiting: WaitReasons<'p, 'a>,
    is_critical: Vec<bool>,
    width: usize,
    limits: Limits,
    is_folded: bool,
    out: String,
}

impl<'a> Page<'_, 'a> {
    fn headline(&mut self, settled: &[usize], stuck: &[usize]) {
        let name = one_line(self.picture.name);
        let to_do = match self.picture.in_waves() + stuck.len() {
            0 => "nothing to do".to_owned(),
            open => format!("{} to do", count(open, "task")),
        };
        let mut facts = vec![to_do];
        if !settled.is_empty() {
            facts.push(format!("{} done", settled.len()));
        }
        if !self.picture.order.waves.is_empty() {
            facts.push(count(self.picture.order.waves.len(), "wave"));
        }
        let facts = facts.join(" · ");
        self.line(&[(BOLD, &name), (PLAIN, " · "), (PLAIN, &facts)]);
        if !self.picture.chain().is_empty() {
            let chain = self.chain();
            let label = format!("{MARK} critical path ");
            self.line(&[(ACCENT, &label), (PLAIN, &chain)]);
        }
    }

    /// The ids of the longest chain, and how long it takes if that is known.
    fn chain(&self) -> String {
        let path = self.picture.chain();
        let ids = |part: &[usize]| {
            let ids = part.iter().map(|at| short_id(self.picture, *at));
            ids.collect::<Vec<String>>().join(" → ")
        };
        let mut chain = match path.len() {
            0..=8 => ids(path),
            length => format!(
                "{} → … {} more … → {}",
                ids(&path[..4]),
                length - 6,
                ids(&path[length - 2..])
            ),
        };
        let estimated = |at: &usize| self.picture.task(*at).effort.is_some();
        if path.iter().all(estimated) {
            let minutes = self.picture.order.remaining[path[0]];
            chain.push_str(", about ");
            chain.push_str(&duration(minutes));
        }
        chain
    }

    fn waves(&mut self) {
        let waves = &self.picture.order.waves;
        // One wave more takes no more room than the line that leaves it out.
        let shown = match waves.len() {
            length if length <= self.limits.waves.saturating_add(1) => length,
            _ => self.limits.waves,
        };
        for (number, wave) in (1..).zip(&waves[..shown]) {
            self.blank();
            self.wave(number, wave);
        }
        let rest = &waves[shown..];
        if !rest.is_empty() {
            let tasks = rest.iter().map(Vec::len).sum();
            let label = format!("waves {}–{}", shown + 1, waves.len());
            let tasks = format!(" · {}", count(tasks, "task"));
            self.blank();
            self.line(&[(BOLD, &label), (DIM, &tasks)]);
            self.is_folded = true;
        }
    }

    fn wave(&mut self, number: usize, wave: &[usize]) {
        let shared = self.shared_by(wave);
        let mut facts = format!(" · {}", count(wave.len(), "task"));
        match shared {
            WaveGate::Gate(gate) => {
                facts.push_str(" · ");
                facts.push_str(&gate.to_string());
            }
            WaveGate::Phase(phase) => {
                facts.push_str(" · ");
                facts.push_str(&self.phase_name(phase));
            }
            WaveGate::Nothing => {}
        }
        self.line(&[(BOLD, &format!("wave {number}")), (DIM, &facts)]);
        self.branches(wave, shared);
    }

    /// What every task of a wave has in common need only be said once.
    fn shared_by(&self, wave: &[usize]) -> WaveGate<'a> {
        let gate = self.waiting.gate(wave[0]);
        let same_gate = |at: &usize| self.waiting.gate(*at) == gate;
        let phase = self.picture.task(wave[0]).phase;
        let same_phase = |at: &usize| self.picture.task(*at).phase == phase;
        if let Some(gate) = gate.filter(|_| wave.iter().all(same_gate)) {
            return WaveGate::Gate(gate);
        }
        match phase.filter(|_| wave.iter().all(same_phase)) {
            Some(phase) => WaveGate::Phase(phase.0),
            None => WaveGate::Nothing,
        }
    }

    fn phase_name(&self, number: u32) -> String {
        let phases = &self.picture.graph.plan().phases;
        let title = phases
            .iter()
            .find(|phase| phase.number.0 == number)
            .map_or("", |phase| phase.title.as_str());
        match one_line(title).as_str() {
            "" => format!("phase {number}"),
            title => format!("phase {number}: {title}"),
        }
    }

    fn stuck(&mut self, stuck: &[usize]) {
        if stuck.is_empty() {
            return;
        }
        let tasks = format!(
            " · {} in a cycle or waiting for one",
            count(stuck.len(), "task")
        );
        self.blank();
        self.line(&[(BOLD, "in no wave"), (DIM, &tasks)]);
        self.branches(stuck, WaveGate::Nothing);
    }

    fn settled(&mut self, settled: &[usize]) {
        if settled.is_empty() {
            return;
        }
        let ids = settled.iter().map(|at| self.picture.task(*at).id.as_str());
        let ids = format!("  {}", few(ids, 12));
        let label = format!("{} done", settled.len());
        self.blank();
        self.line(&[(BOLD, &label), (DIM, &ids)]);
    }

    fn branches(&mut self, tasks: &[usize], shared: WaveGate<'_>) {
        let shown = handful(tasks, self.limits.tasks, &self.is_critical);
        let more = tasks.len() - shown.len();
        let ids: Vec<String> = shown.iter().map(|at| short_id(self.picture, *at)).collect();
        let column = ids.iter().map(|id| id.width()).max().unwrap_or(0);
        for (place, (position, id)) in shown.iter().zip(&ids).enumerate() {
            let is_last = more == 0 && place + 1 == shown.len();
            let branch = if is_last { "└─ " } else { "├─ " };
            let padding = column - id.width();
            self.task(branch, *position, &format!("{id}{:padding$}", ""), shared);
        }
        if more > 0 {
            self.line(&[(DIM, "└─ "), (DIM, &format!("… and {more} more"))]);
            self.is_folded = true;
        }
    }

    fn task(&mut self, branch: &str, position: usize, id: &str, shared: WaveGate<'_>) {
        let task = self.picture.task(position);
        let (mark, style) = if self.is_critical[position] {
            (MARK, ACCENT)
        } else {
            (NO_MARK, PLAIN)
        };
        let id = format!("{mark} {id}  ");
        let status = status_words(task.status);
        let tail = self.tail(position, shared);
        let (title, tail) = self.fitted(
            branch.width() + id.width() + status.0.width(),
            &one_line(&task.title),
            &tail,
        );
        self.line(&[
            (DIM, branch),
            (style, &id),
            (PLAIN, &title),
            (status.1, status.0),
            (DIM, &tail),
        ]);
    }

    /// Why a task waits, as far as the heading does not say it.
    fn tail(&self, position: usize, shared: WaveGate<'_>) -> String {
        let mut parts = self.waiting.reasons(position);
        match (
            self.waiting.gate(position),
            self.picture.task(position).phase,
        ) {
            (Some(gate), _) if !matches!(shared, WaveGate::Gate(_)) => parts.push(gate.to_string()),
            (None, Some(phase)) if matches!(shared, WaveGate::Nothing) => {
                parts.push(format!("phase {phase}"));
            }
            _ => {}
        }
        let notes = self.picture.task(position).notes.iter();
        parts.extend(notes.map(|note| format!("note: {}", one_line(note))));
        parts.join(" · ")
    }

    /// Title and tail, both cut so that they fit behind what takes `used` columns.
    fn fitted(&self, used: usize, title: &str, tail: &str) -> (String, String) {
        if tail.is_empty() {
            return (cut(title, self.width.saturating_sub(used)), String::new());
        }
        let room = self.width.saturating_sub(used + GAP.width());
        let half = room / 2;
        // What one of the two does not use of its half is the other's.
        let for_tail = tail
            .width()
            .min(half.max(room.saturating_sub(title.width())));
        let title = cut(title, room.saturating_sub(for_tail));
        let tail = cut(tail, room.saturating_sub(title.width()));
        (title, format!("{GAP}{tail}"))
    }

    fn blank(&mut self) {
        self.out.push('\n');
    }

    /// Writes one line, cut where the width ends.
    fn line(&mut self, parts: &[(Style, &str)]) {
        let mut room = self.width;
        for (style, part) in parts {
            let fits = part.width() <= room;
            let part = cut(part, room);
            room -= part.width();
            if !part.is_empty() {
                push_styled(&mut self.out, *style, &part);
            }
            if !fits {
                break;
            }
        }
        self.out.push('\n');
    }
}

const MARK: &str = "●";
const NO_MARK: &str = "○";
const GAP: &str = "  ";

/// What the tasks of a wave have in common.
#[derive(Clone, Copy)]
enum WaveGate<'a> {
    Nothing,
    Gate(Gate<'a>),
    Phase(u32),
}

fn push_styled(out: &mut String, style: Style, text: &str) {
    use std::fmt::Write as _;
    let _ = write!(out, "{style}{text}{style:#}");
}

fn short_id(picture: &Picture<'_>, position: usize) -> String {
    cut(&one_line(picture.task(position).id.as_str()), WIDEST_ID)
}

fn status_words(status: TaskStatus) -> (&'static str, Style) {
    match status {
        TaskStatus::InProgress => ("  in progress", AnsiColor::Yellow.on_default()),
        TaskStatus::Failed => ("  failed", AnsiColor::Red.on_default()),
        _ => ("", PLAIN),
    }
}

/// The first tasks in plan order; one on the longest chain is always among them.
fn handful(tasks: &[usize], most: usize, is_critical: &[bool]) -> Vec<usize> {
    if tasks.len() <= most {
        return tasks.to_vec();
    }
    // One line says how many there are besides.
    let (shown, rest) = tasks.split_at(most - 1);
    let mut shown = shown.to_vec();
    let is_critical = |at: &&usize| is_critical[**at];
    if let (Some(last), Some(found)) = (shown.last_mut(), rest.iter().find(is_critical)) {
        *last = *found;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::sample::{self, drawn};

    fn plain(text: &str, width: Option<usize>, detail: Detail) -> String {
        let coloured = drawn(text, |picture| draw(picture, width, detail));
        anstream::adapter::strip_str(&coloured).to_string()
    }

    #[test]
    fn waves_are_trees_that_say_why_tasks_wait() {
        insta::assert_snapshot!(plain(sample::SECTIONS, None, Detail::Summary), @"
        TODO.md · 5 tasks to do · 1 done · 3 waves
        ● critical path 61 → 63 → 65, about 4 h 30 min

        wave 1 · 2 tasks
        ├─ ● 61  Read the plan
        └─ ○ 62  Write the docs  in progress

        wave 2 · 2 tasks
        ├─ ● 63  Check the graph  needs 61
        └─ ○ 64  Explain the graph  after 62: both declare docs/plan.md

        wave 3 · 1 task
        └─ ● 65  Draw it  needs 63, 62

        1 done  60
        ");
    }

    #[test]
    fn what_a_whole_wave_waits_for_is_said_once() {
        insta::assert_snapshot!(plain(sample::PHASED, None, Detail::Summary), @"
        TODO.md · 4 tasks to do · 3 waves
        ● critical path 1.1 → 2.1 → 2.2

        wave 1 · 2 tasks · phase 1: Ground
        ├─ ● 1.1  Dig
        └─ ○ 1.2  Level

        wave 2 · 1 task · phase 2 waits for phase 1
        └─ ● 2.1  Lay bricks

        wave 3 · 1 task · phase 2: Walls
        └─ ● 2.2  Plaster  needs 2.1: 2.1-2.2 are sequential: wet mortar
        ");
    }

    #[test]
    fn tasks_in_a_cycle_are_listed_apart() {
        insta::assert_snapshot!(plain(sample::CYCLE, None, Detail::Summary), @"
        TODO.md · 4 tasks to do · 1 wave

        wave 1 · 1 task
        └─ ○ 4  Free

        in no wave · 3 tasks in a cycle or waiting for one
        ├─ ○ 1  One  needs 2
        ├─ ○ 2  Two  needs 1
        └─ ○ 3  Three  needs 2
        ");
    }

    #[test]
    fn a_finished_plan_has_nothing_to_do() {
        let text = plain("- [x] One\n- [x] Two\n", None, Detail::Summary);
        assert_eq!(text, "TODO.md · nothing to do · 2 done\n\n2 done  1, 2\n");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for plan in [
            sample::SECTIONS,
            sample::PHASED,
            sample::CYCLE,
            sample::NASTY,
        ] {
            for width in 0..90 {
                let text = plain(plan, Some(width), Detail::Everything);
                let widest = text.lines().map(UnicodeWidthStr::width).max();
                assert!(widest <= Some(width), "{width}:\n{text}");
            }
        }
    }

    #[test]
    fn no_task_reaches_the_terminal_with_control_characters() {
        let coloured = drawn(sample::NASTY, |picture| {
            draw(picture, None, Detail::Everything)
        });
        assert!(coloured.contains("[31mred"));
        assert!(!coloured.contains("\u{1b}[31mred") && !coloured.contains('\u{7}'));
    }

    #[test]
    fn a_big_plan_is_summed_up_on_a_page() {
        for (waves, tasks) in [(1000, 1), (20, 50), (1, 1000), (13, 5), (12, 90)] {
            let text = plain(&sample::grid(waves, tasks), None, Detail::Summary);
            let lines = text.lines().count();
            assert!(lines < 100, "{waves} waves of {tasks}: {lines} lines");
            assert!(text.ends_with("`pleach plan --all` shows every task\n"));
        }
        let text = plain(&sample::grid(20, 50), None, Detail::Summary);
        assert!(text.contains("└─ … and 47 more\n"), "{text}");
        assert!(text.contains("\nwaves 13–20 · 400 tasks\n"), "{text}");
    }

    #[test]
    fn everything_is_everything() {
        let text = plain(&sample::grid(20, 50), None, Detail::Everything);
        let tasks = text.lines().filter(|line| line.contains(" of row "));
        assert_eq!(tasks.count(), 1000);
        assert!(!text.contains("--all"));
    }

    #[test]
    fn the_longest_chain_is_always_shown() {
        let is_critical = [false, false, false, false, false, true];
        assert_eq!(handful(&[0, 1, 2, 3, 4, 5], 4, &is_critical), [0, 1, 5]);
        assert_eq!(handful(&[0, 1, 2], 4, &is_critical), [0, 1, 2]);
    }
}
