//! Saves into a file that a rewrite has already displaced.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use pleach_engine::plan_file::{Displaced, DisplacedOutcome, PlanFile, PlanFileError, Rewritten};

use super::{Folder, SWAPS, tick};

/// Much longer than anything here takes, and shorter than anybody waits for a test.
const LONG: Duration = Duration::from_mins(1);

/// `save` gets the old file, opened before the rewrite and written to after it.
#[track_caller]
fn check_late_save(
    save: impl Fn(&File),
    settle: fn(Displaced) -> DisplacedOutcome,
    expected: &str,
) {
    for swap in SWAPS {
        let (folder, plan) = Folder::with_plan("- [ ] a\n- [ ] b\n");
        let held = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&plan)
            .unwrap();
        let Rewritten { displaced, .. } = PlanFile::rewrite_by(swap, &plan, tick).unwrap();
        save(&held);
        assert_eq!(settle(displaced), DisplacedOutcome::Merged);
        assert_eq!(fs::read_to_string(&plan).unwrap(), expected);
        folder.check_names(&["TODO.md"]);
    }
}

fn settle_at_once(displaced: Displaced) -> DisplacedOutcome {
    displaced.settle_after(Duration::ZERO).unwrap()
}

#[test]
fn what_is_appended_to_the_displaced_file_reaches_the_plan() {
    let append = |held: &File| held.write_all_at(b"late\n", 16).unwrap();
    check_late_save(append, settle_at_once, "- [x] a\n- [ ] b\nlate\n");
    check_late_save(
        append,
        |displaced| displaced.settle().unwrap(),
        "- [x] a\n- [ ] b\nlate\n",
    );
    let dropped = |displaced| {
        drop(displaced);
        DisplacedOutcome::Merged
    };
    check_late_save(append, dropped, "- [x] a\n- [ ] b\nlate\n");
}

#[test]
fn nobody_waits_for_a_displaced_file_that_nobody_has_open() {
    for swap in SWAPS {
        let (folder, plan) = Folder::with_plan("- [ ] a\n");
        let Rewritten { displaced, .. } = PlanFile::rewrite_by(swap, &plan, tick).unwrap();
        let began = Instant::now();
        assert_eq!(
            displaced.settle_after(LONG).unwrap(),
            DisplacedOutcome::Quiet
        );
        assert!(began.elapsed() < LONG / 2, "{:?}", began.elapsed());
        folder.check_names(&["TODO.md"]);
    }
}

#[test]
fn a_writer_that_has_the_displaced_file_open_is_waited_for() {
    let (folder, plan) = Folder::with_plan("- [ ] a\n");
    let held = OpenOptions::new().write(true).open(&plan).unwrap();
    let began = Instant::now();
    let Rewritten { displaced, .. } = PlanFile::rewrite(&plan, tick).unwrap();
    // Longer than is waited for writers that cannot be seen.
    let longest = Duration::from_millis(600);
    displaced.settle_after(longest).unwrap();
    assert!(began.elapsed() >= longest, "{:?}", began.elapsed());
    drop(held);
    folder.check_names(&["TODO.md"]);
}

#[test]
fn a_person_wins_where_a_late_save_changes_the_line_we_changed() {
    let save = |held: &File| held.write_all_at(b"- [ ] A\n- [ ] B\nlate\n", 0).unwrap();
    check_late_save(save, settle_at_once, "- [ ] A\n- [ ] B\nlate\n");
}

#[test]
fn a_displaced_file_that_was_only_emptied_takes_nothing_from_the_plan() {
    let (folder, plan) = Folder::with_plan("- [ ] a\n");
    let held = OpenOptions::new().write(true).open(&plan).unwrap();
    let Rewritten { displaced, .. } = PlanFile::rewrite(&plan, tick).unwrap();
    held.set_len(0).unwrap();
    assert_eq!(settle_at_once(displaced), DisplacedOutcome::Quiet);
    assert_eq!(fs::read_to_string(&plan).unwrap(), "- [x] a\n");
    folder.check_names(&["TODO.md"]);
}

#[test]
fn a_late_save_that_cannot_be_brought_back_is_kept_aside() {
    let (folder, plan) = Folder::with_plan("- [ ] a\n");
    let held = OpenOptions::new().write(true).open(&plan).unwrap();
    let Rewritten { displaced, .. } = PlanFile::rewrite(&plan, tick).unwrap();
    held.write_all_at(b"late\n", 8).unwrap();
    fs::remove_file(&plan).unwrap();
    let error = displaced.settle_after(Duration::ZERO).unwrap_err();
    let PlanFileError::Kept { ref aside, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(fs::read_to_string(aside).unwrap(), "- [ ] a\nlate\n");
    folder.check_names(&[aside.file_name().unwrap().to_str().unwrap()]);
}
