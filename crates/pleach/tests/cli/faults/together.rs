//! Several `pleach weave` in one repository at the same time.

use std::process::{Child, Stdio};

use pleach_testkit::TestRepo;

use super::{STORY, check_objects};
use crate::{Answer, command};

const ROUNDS: usize = 10;

fn start(repo: &TestRepo, branches: &[&str], name: &str) -> Child {
    let rest = ["--onto", "main", "--as", name];
    let words = [&["weave"], branches, &rest].concat();
    let mut command = command(repo.path(), &repo.beside("home"), &words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(child: Child) -> Answer {
    child.wait_with_output().unwrap().into()
}

#[test]
fn weavings_of_different_names_do_not_notice_each_other() {
    let repo = TestRepo::with_branches();
    let before = repo.fingerprint();
    for round in 0..ROUNDS {
        let names = ["a", "b", "c"].map(|name| format!("hedge-{name}-{round}"));
        let running = names
            .each_ref()
            .map(|name| start(&repo, &["one", "three"], name));
        for answer in running.map(end) {
            assert_eq!(answer.code, 0, "{}", answer.err);
        }
        for name in names {
            assert_eq!(repo.git(&["show", &format!("{name}:story.txt")]), STORY);
            repo.git(&["branch", "--quiet", "-D", &name]);
        }
    }
    check_objects(&repo, repo.path());
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn weavings_of_the_same_to_one_name_agree() {
    let repo = TestRepo::with_branches();
    for _ in 0..ROUNDS {
        let running = [(); 3].map(|()| start(&repo, &["one", "three"], "hedge"));
        for answer in running.map(end) {
            assert_eq!(answer.code, 0, "{}", answer.err);
        }
        assert_eq!(repo.git(&["show", "hedge:story.txt"]), STORY);
        repo.git(&["branch", "--quiet", "-D", "hedge"]);
    }
}

#[test]
fn of_different_weavings_to_one_name_one_wins_and_the_others_are_told_why() {
    let repo = TestRepo::with_branches();
    for _ in 0..ROUNDS {
        let running = ["one", "two", "three"].map(|branch| start(&repo, &[branch], "hedge"));
        let answers = running.map(end);
        let tip = repo.git(&["rev-parse", "hedge^2"]);
        for (answer, branch) in answers.iter().zip(["one", "two", "three"]) {
            if repo.git(&["rev-parse", branch]) == tip {
                assert_eq!(answer.code, 0, "{}", answer.err);
            } else {
                assert_eq!(answer.code, 2, "{}", answer.err);
                assert!(answer.err.contains("already exists"), "{}", answer.err);
            }
        }
        repo.git(&["branch", "--quiet", "-D", "hedge"]);
    }
}
