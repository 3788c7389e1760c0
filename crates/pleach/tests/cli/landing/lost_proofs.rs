//! A proof that a moved base takes away: the plan and the branch say what is still so.

use super::{Harbour, SHELL};
use crate::scene::Scene;
use pleach_testkit::ForgeStyle;

const PLAN: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n\n### 63. C\n**Status**: [PLANNED]\n";

/// A batch of all tasks that is proved, and then the server has a base on which these tests are something else.
#[track_caller]
fn check_lost(settings: &str, doubt: &str) {
    let scene = Scene::with("", PLAN, SHELL);
    let harbour = Harbour::of(scene, ForgeStyle::GitHub);
    let step = harbour.move_base("other", "theirs\n");
    let settings = format!("{settings}\nforge.kind = \"github\"\nsandbox = \"none\"");
    harbour
        .scene
        .configure(&settings, &format!("{SHELL}; {step}"));
    let story = harbour.run();
    assert_eq!(story.status(), "failed");
    let proved = story.told("batch:proved");
    assert_eq!(proved.len(), 1, "on the base that it began with");
    assert_eq!(story.told("batch:not_proved")[0]["doubt"], doubt);
    assert_eq!(harbour.scene.plan(), PLAN, "nothing of it is done");
    assert_eq!(harbour.branches_there(), "", "nothing landed");
    let branch = ["rev-parse", "pleach/batch-1^{tree}"];
    let tree = harbour.scene.repo.git(&branch);
    assert_eq!(
        proved[0]["tree"],
        tree.trim(),
        "the branch is what is proved"
    );
    let tip = harbour.scene.repo.git(&["rev-parse", "pleach/batch-1"]);
    assert_eq!(story.summary()["tip"], tip.trim());
}

#[test]
fn a_base_that_is_red_unticks_what_was_proved_on_the_one_before() {
    check_lost("validate = \"[ ! -e other ]\"", "base_red");
}

#[test]
fn tests_that_hang_on_the_new_base_untick_what_was_proved_on_the_one_before() {
    let hangs = "validate = \"[ ! -e other ] || sleep 600\"\nvalidate_timeout = \"2s\"";
    check_lost(hangs, "trouble");
}

#[test]
fn a_result_that_is_red_on_the_new_base_and_fails_the_batch_is_unticked() {
    let red = "validate = \"[ ! -e other -o ! -e file-1.1 ]\"\non_invalid = \"fail\"";
    check_lost(red, "red");
}

#[test]
fn what_is_proved_on_the_new_base_by_a_later_landing_is_ticked_again() {
    let harbour = Harbour::of(Scene::with("", PLAN, SHELL), ForgeStyle::GitHub);
    let step = harbour.move_base("other", "theirs\n");
    let tests = "validate = \"[ ! -e other -o -e BESIDE/mended ]\"\nforge.kind = \"github\"\nsandbox = \"none\"";
    harbour.scene.configure(tests, &format!("{SHELL}; {step}"));
    assert_eq!(harbour.run().status(), "failed");
    assert_eq!(harbour.scene.plan(), PLAN);
    std::fs::write(harbour.scene.repo.beside("mended"), "").unwrap();
    let story = harbour.story(&["land", "1"]);
    story.check(0, "1.1:merged 1.2:merged 63:merged");
    let ticked = "- [x] 1.1 A\n- [x] 1.2 B\n\n### 63. C\n**Status**: [COMPLETED]\n";
    assert_eq!(harbour.scene.plan(), ticked);
    assert_eq!(harbour.scene.show("pleach/batch-1", "other"), "theirs");
}

#[test]
fn what_does_not_merge_with_the_new_base_is_open_again() {
    let harbour = Harbour::of(Scene::with("", PLAN, SHELL), ForgeStyle::GitHub);
    let step = harbour.move_base("file-1.1", "theirs\n");
    let settings = "forge.kind = \"github\"\nsandbox = \"none\"";
    harbour
        .scene
        .configure(settings, &format!("{SHELL}; {step}"));
    harbour
        .run()
        .check(1, "1.1:conflicted 1.2:merged 63:merged");
    let plan = "- [ ] 1.1 A\n- [x] 1.2 B\n\n### 63. C\n**Status**: [COMPLETED]\n";
    assert_eq!(harbour.scene.plan(), plan);
}
