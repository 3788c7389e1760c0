//! Several processes that weave in one store at the same time.

use pleach_testkit::TestRepo;

use super::life::{Life, plain_git, steps};

const ROUNDS: usize = 5;

#[test]
fn processes_that_weave_in_one_store_at_once_all_end_right() {
    let repo = TestRepo::with_branches();
    let before = repo.fingerprint();
    for round in 0..ROUNDS {
        let lives = ["a", "b", "c"].map(|name| {
            let name = format!("{name}-{round}");
            // The first round makes the store as well.
            Life::new(&repo, &format!("stores-{}", round / 3), &name)
        });
        let running = lives.map(|life| {
            let child = life.process(&plain_git()).spawn().unwrap();
            (life, child)
        });
        for (life, child) in running {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{life:?}: {output:?}");
            let steps = steps(&output.stdout);
            let published = steps
                .iter()
                .find_map(|step| step.strip_prefix("published "));
            let (tip, name) = published.unwrap().split_once(' ').unwrap();
            life.check(&repo, &tip.parse().unwrap(), name);
        }
    }
    assert_eq!(repo.fingerprint(), before);
}
