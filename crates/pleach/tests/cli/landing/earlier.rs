//! Results that build on a batch that is not merged yet, and bases that get its work, or something else, meanwhile.

use pleach_testkit::ForgeStyle;
use serde_json::json;

use super::Harbour;
use crate::scene::Scene;

const PLAN: &str = "- [ ] 1.1 Make it\n- [ ] 1.2 Use it (depends: 1.1)\n- [ ] 1.3 Something else\n";

/// Each task makes a file of its own.
const SHELL: &str = "cat > /dev/null; echo x > file-$PLEACH_TASK";

/// The first task is on the server, in a pull request of its own.
fn after_the_first(shell: &str) -> Harbour {
    let settings = "retries = 0\nvalidate = \"true\"\nforge.kind = \"github\"";
    let harbour = Harbour::of(Scene::with(settings, PLAN, shell), ForgeStyle::GitHub);
    let first = harbour.story(&["run", "1.1", "--yes"]);
    first.check(0, "1.1:merged");
    harbour
}

#[test]
fn a_pull_request_says_on_which_one_it_builds_until_the_base_has_that() {
    let harbour = after_the_first(SHELL);
    harbour
        .story(&["run", "1.2", "--yes"])
        .check(0, "1.2:merged");
    let opened = harbour.forge.pull_requests();
    let (first, second) = (&opened[0], &opened[1]);
    let link = format!("/{}>", first.number);
    let mut lines = second.body.lines();
    let builds_on = lines.find(|line| line.contains("Builds on batch 1"));
    assert!(
        builds_on.is_some_and(|line| line.contains(&link)),
        "{}",
        second.body
    );
    let pushed = harbour.there("refs/heads/pleach/batch-2");
    harbour.git_there(&[
        "merge-base",
        "--is-ancestor",
        "pleach/batch-1",
        "pleach/batch-2",
    ]);
    // As a squash merge of the first one would.
    harbour.move_base_now("file-1.1", "x\n");
    let again = harbour.story(&["land", "2"]);
    again.check(0, "1.2:merged");
    assert_eq!(again.summary()["buildsOn"], json!([]));
    let files = harbour.git_there(&["ls-tree", "--name-only", "pleach/batch-2"]);
    assert!(
        files.contains("file-1.1") && files.contains("file-1.2"),
        "{files}"
    );
    for early in [pushed.as_str(), "main"] {
        harbour.git_there(&["merge-base", "--is-ancestor", early, "pleach/batch-2"]);
    }
}

#[test]
fn a_base_that_got_the_work_meanwhile_is_followed_without_doubling_it() {
    let only_a_line = "cat > /dev/null; echo $PLEACH_TASK >> all.txt";
    let harbour = after_the_first(only_a_line);
    harbour
        .story(&["run", "1.2", "--yes", "--no-pr"])
        .check(0, "1.2:merged");
    harbour.move_base_now("all.txt", "1.1\n");
    let landed = harbour.story(&["land", "2"]);
    landed.check(0, "1.2:merged");
    assert_eq!(landed.summary()["buildsOn"], json!([]));
    assert_eq!(harbour.scene.show("pleach/batch-2", "all.txt"), "1.1\n1.2");
    let brought = harbour.git_there(&["log", "--format=%s", "main..pleach/batch-2"]);
    assert!(!brought.contains("1.1"), "{brought}");
}

#[test]
fn what_builds_on_work_that_conflicts_with_the_new_base_is_left_out() {
    let harbour = after_the_first(SHELL);
    let both = harbour.story(&["run", "1.2,1.3", "--yes", "--no-pr"]);
    both.check(0, "1.2:merged 1.3:merged");
    harbour.move_base_now("file-1.1", "theirs\n");
    harbour
        .story(&["land", "2"])
        .check(0, "1.2:conflicted 1.3:merged");
    assert_eq!(harbour.scene.show("pleach/batch-2", "file-1.1"), "theirs");
    let files = harbour.git_there(&["ls-tree", "--name-only", "pleach/batch-2"]);
    assert!(
        files.contains("file-1.3") && !files.contains("file-1.2"),
        "{files}"
    );
}
