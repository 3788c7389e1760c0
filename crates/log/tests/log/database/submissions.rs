//! What a cluster was given: noted before it is sent, and no more of it at once than it may have.

use pleach_domain::id::TaskId;
use pleach_log::database::{ProcessPurpose, SubmittedUnit};

use super::{Home, create};

fn units(cluster: &str, submission: &str, tasks: &str) -> Vec<SubmittedUnit> {
    let unit = |(unit, task): (u32, &str)| SubmittedUnit {
        whose: ProcessPurpose::Attempt(TaskId::new(task), 1),
        fence: format!("{submission}-{task}"),
        cluster: cluster.to_owned(),
        submission: submission.to_owned(),
        unit,
    };
    (1..).zip(tasks.split(' ')).map(unit).collect()
}

#[test]
fn a_cluster_has_no_more_units_than_it_may_over_all_batches() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "one", "1 2 3").unwrap();
    let second = create(&mut database, "two", "1 2 3").unwrap();
    let mut note = |batch, cluster, submission, tasks| {
        let units = units(cluster, submission, tasks);
        database.note_units(batch, &units, 4).unwrap()
    };
    assert_eq!(note(first, "slurm", "a", "1 2 3"), 3);
    assert_eq!(note(second, "slurm", "b", "1 2 3"), 1);
    assert_eq!(note(second, "slurm", "c", "2 3"), 0);
    // Another cluster has room of its own.
    assert_eq!(note(second, "other", "d", "2 3"), 2);
    let open = database.open_units(second).unwrap();
    let open: Vec<&str> = open.iter().map(|unit| unit.fence.as_str()).collect();
    assert_eq!(open, ["b-1", "d-2", "d-3"]);
    let ended = ["a-1".to_owned(), "a-3".to_owned()];
    database.end_units(&ended).unwrap();
    let again = units("slurm", "e", "2 3");
    assert_eq!(database.note_units(second, &again, 4).unwrap(), 2);
    assert_eq!(database.note_units(second, &[], 4).unwrap(), 0);
}
