//! The guide's story of one plan in two batches is true: its plan and its commands are run as they stand there.

use std::path::Path;
use std::process::Command;

use pleach_testkit::ForgeStyle;

use crate::landing::{Harbour, PROJECT};
use crate::scene::Scene;

/// What the agent does for each task; 2.1 and 2.2 find nothing to work on without the first evening.
const AGENT: &str = "cat > /dev/null
case $PLEACH_TASK in
  1.1) printf 'bed 1: daily,\\nsee above\\nbed 2: weekly\\n' > watering.md ;;
  1.2) echo '9 to 5' > hours.md ;;
  1.3) echo 'NO CHANGES NEEDED: there is no fountain' ;;
  2.1) grep bed watering.md > shorter && mv shorter watering.md ;;
  2.2) cat hours.md watering.md > guide.md ;;
  2.3) echo 'I had a look around.' ;;
esac";

const SETTINGS: &str = "plan = \"TODO.md\"
retries = 0
no_changes = \"retry\"
validate = \"test -e README.md\"
forge.kind = \"github\"";

/// Declines the first push, in the words of a server that is being looked after.
const DECLINE_ONCE: &str = "#!/bin/sh
[ -e declined ] && exit 0
touch declined
echo 'closed for maintenance' >&2
exit 1
";

/// The blocks of a guide page in one language, one after the other.
fn blocks<'g>(guide: &'g str, language: &str) -> Vec<&'g str> {
    let fence = format!("```{language}\n");
    let blocks = guide.split(fence.as_str()).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

struct Evenings {
    harbour: Harbour,
    commands: Vec<String>,
}

impl Evenings {
    fn begin() -> Self {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/two-evenings.md");
        let guide = std::fs::read_to_string(page).unwrap();
        let plan = blocks(&guide, "markdown")[0];
        let scene = Scene::with(SETTINGS, plan, AGENT);
        scene.repo.write("README.md", "# Garden\n");
        let harbour = Harbour::of(scene, ForgeStyle::GitHub);
        harbour.forge.hook(PROJECT, "pre-receive", DECLINE_ONCE);
        let commands = blocks(&guide, "sh").into_iter().map(str::to_owned);
        Self {
            commands: commands.collect(),
            harbour,
        }
    }

    /// Runs one block of commands in a shell whose `pleach` is ours, and gives what it printed.
    #[track_caller]
    fn run(&self, block: usize) -> String {
        let program = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        // The environment of a call of the program, for a shell.
        let like = self.harbour.command(&[]);
        let mut shell = Command::new("bash");
        shell
            .args(["-euo", "pipefail", "-c", &self.commands[block]])
            .current_dir(self.harbour.scene.repo.path())
            .env_clear();
        for (name, value) in like.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        shell.env("PATH", format!("{}:{path}", program.display()));
        let output = shell.output().unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{out}\n{err}");
        out + &err
    }

    /// The ids of the plan's tasks that are ticked.
    fn ticked(&self) -> String {
        let plan = self.harbour.scene.plan();
        let ids = plan.lines().filter_map(|line| line.strip_prefix("- [x] "));
        let ids: Vec<&str> = ids.filter_map(|line| line.split(' ').next()).collect();
        ids.join(" ")
    }
}

#[test]
fn two_batches_of_one_plan_become_one_pull_request_with_right_ticks_and_exit_codes() {
    let evenings = Evenings::begin();
    let harbour = &evenings.harbour;
    assert_eq!(evenings.commands.len(), 4, "each block is run below");

    evenings.run(0);
    assert_eq!(evenings.ticked(), "1.1 1.2 1.3");
    assert_eq!(harbour.scene.branches(), "pleach/batch-1");
    assert_eq!(harbour.branches_there(), "");

    let told = evenings.run(1);
    assert!(told.contains("pleach land 2"), "{told}");
    assert!(told.contains("batch 1"), "{told}");
    assert_eq!(evenings.ticked(), "1.1 1.2 1.3 2.1 2.2");
    assert_eq!(harbour.forge.pull_requests().len(), 0);
    assert_eq!(harbour.branches_there(), "");

    evenings.run(2);
    let opened = harbour.forge.pull_requests();
    assert_eq!(opened.len(), 1, "{opened:?}");
    assert_eq!(opened[0].head, "pleach/batch-2");
    assert!(opened[0].body.contains("batch 1"), "{}", opened[0].body);
    assert!(opened[0].body.contains("2.3"), "{}", opened[0].body);
    let show = |file: &str| harbour.git_there(&["show", &format!("pleach/batch-2:{file}")]);
    assert_eq!(show("guide.md").lines().next(), Some("9 to 5"));
    assert_eq!(show("watering.md").trim(), "bed 1: daily,\nbed 2: weekly");
    assert_eq!(evenings.ticked(), "1.1 1.2 1.3 2.1 2.2");

    assert!(evenings.run(3).contains("2.3"));
    harbour.forge.assert_well_asked();
    harbour.scene.check_nobody_is_left();
}

#[test]
fn the_second_evening_ends_with_the_code_of_a_failure() {
    let evenings = Evenings::begin();
    evenings.run(0);
    let second = ["run", "phase:2", "--yes", "--json"];
    assert_eq!(evenings.harbour.pleach(&second).code, 1);
    let land = evenings.harbour.pleach(&["land", "2"]);
    assert_eq!(land.code, 0, "{}", land.err);
}
