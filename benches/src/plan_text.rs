//! Makes large plans, the same every time.

use std::fmt::Write as _;

/// How many dependencies a task has, the first few aside.
pub(crate) const EDGES_PER_TASK: usize = 5;

/// How the plan is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dialect {
    Sections,
    Checklist,
}

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sections => "sections",
            Self::Checklist => "checklist",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Sections, Self::Checklist]
            .into_iter()
            .find(|dialect| dialect.name() == name)
    }
}

/// A plan in which each task needs five of the two hundred before it and declares a file that a few
/// others declare too.
pub(crate) fn generate(dialect: Dialect, tasks: usize) -> String {
    let mut random = Random(42);
    let mut text = "# Plan\n\n".to_owned();
    for number in 1..=tasks {
        let needs: Vec<String> = (0..EDGES_PER_TASK.min(number - 1))
            .map(|_| (number - 1 - random.below(200.min(number - 1))).to_string())
            .collect();
        let needs = if needs.is_empty() {
            "None".to_owned()
        } else {
            needs.join(", ")
        };
        let file = format!("src/part{}/file{}.rs", number % 97, number / 3);
        let done = random.below(10) == 0 && number < tasks / 10;
        let written = match dialect {
            Dialect::Sections => write!(
                text,
                "### {number}. Improve part {number} of the system\n\
                 - **Status**: [{}]\n- **Dependencies**: {needs}\n- **Priority**: High\n\
                 - **Files Affected**:\n  - `{file}`\n\nMake it do the right thing, with a test that shows it.\n\n",
                if done { "COMPLETED" } else { "NOT STARTED" },
            ),
            Dialect::Checklist => writeln!(
                text,
                "- [{}] {number}. Improve part {number} of the system in `{file}` (depends: {needs})\n  \
                 Make it do the right thing, with a test that shows it and a line in the changelog.",
                if done { "x" } else { " " },
            ),
        };
        written.expect("writing to a string works");
    }
    text
}

/// A small linear congruential generator: repeatable, and good enough to scatter edges.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let limit = u64::try_from(limit).expect("a small number");
        usize::try_from((self.0 >> 33) % limit).expect("below a usize")
    }
}
