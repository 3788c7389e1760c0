//! Conflicts say in which way the sides disagree, and with whom.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use pleach_git::git::CommitId;
use pleach_git::weave::ConflictKind;
use pleach_testkit::TestRepo;

use super::{branch, conflict, open, woven};

/// A branch from `main` that does something by hand.
fn by_hand(repo: &TestRepo, name: &str, work: impl Fn(&TestRepo)) -> CommitId {
    repo.git(&["switch", "--quiet", "--create", name, "main"]);
    work(repo);
    let commit = repo.commit(name);
    repo.git(&["switch", "--quiet", "main"]);
    commit.parse().unwrap()
}

/// Two branches that do not go together: the kind and the file of the conflict.
#[track_caller]
fn expect(
    base: impl Fn(&TestRepo),
    one: impl Fn(&TestRepo),
    two: impl Fn(&TestRepo),
    expected: &[(&str, ConflictKind)],
) {
    let repo = TestRepo::new();
    base(&repo);
    repo.commit("base");
    let (one, two) = (by_hand(&repo, "one", one), by_hand(&repo, "two", two));
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&one, &two]);
    let found = conflict(&weave, 1);
    let files: Vec<_> = found
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.kind))
        .collect();
    assert_eq!(files, expected);
    assert_eq!(found.with, [Some(0)]);
}

const LONG: &str = "a\nb\nc\nd\ne\nf\ng\nh\n";

#[test]
fn lines_that_both_changed_are_a_conflict_of_content() {
    expect(
        |repo| repo.write("f", LONG),
        |repo| repo.write("f", LONG.replace('c', "C1")),
        |repo| repo.write("f", LONG.replace('c', "C2")),
        &[("f", ConflictKind::Content)],
    );
}

#[test]
fn a_file_that_both_made_is_a_conflict_of_content() {
    expect(
        |_| {},
        |repo| repo.write("new", "1\n"),
        |repo| repo.write("new", "2\n"),
        &[("new", ConflictKind::Content)],
    );
}

#[test]
fn a_change_against_a_deletion_is_a_kind_of_its_own() {
    expect(
        |repo| repo.write("f", LONG),
        |repo| repo.write("f", "other\n"),
        |repo| fs::remove_file(repo.path().join("f")).unwrap(),
        &[("f", ConflictKind::ModifyDelete)],
    );
}

#[test]
fn two_names_for_one_file_are_a_rename() {
    let rename = |to: &'static str| {
        move |repo: &TestRepo| fs::rename(repo.path().join("f"), repo.path().join(to)).unwrap()
    };
    expect(
        |repo| repo.write("f", LONG),
        rename("g"),
        rename("h"),
        &[
            ("f", ConflictKind::Rename),
            ("g", ConflictKind::Rename),
            ("h", ConflictKind::Rename),
        ],
    );
}

#[test]
fn a_file_in_a_folder_that_was_renamed_is_a_rename() {
    expect(
        |repo| {
            repo.write("d/one", LONG);
            repo.write("d/two", LONG.repeat(2));
        },
        |repo| fs::rename(repo.path().join("d"), repo.path().join("e")).unwrap(),
        |repo| repo.write("d/three", "new\n"),
        &[("e/three", ConflictKind::Rename)],
    );
}

#[test]
fn a_file_against_a_link_is_a_matter_of_mode() {
    let remade = |make: fn(&std::path::Path)| {
        move |repo: &TestRepo| {
            let path = repo.path().join("f");
            if path.exists() {
                fs::remove_file(&path).unwrap();
            }
            make(&path);
        }
    };
    let repo = TestRepo::new();
    let one = by_hand(
        &repo,
        "one",
        remade(|path| fs::write(path, "a file\n").unwrap()),
    );
    let two = by_hand(
        &repo,
        "two",
        remade(|path| symlink("README.md", path).unwrap()),
    );
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&one, &two]);
    let found = conflict(&weave, 1);
    assert!(
        found
            .files
            .iter()
            .any(|file| file.kind == ConflictKind::Mode),
        "{found:?}"
    );
}

#[test]
fn files_without_lines_are_binary() {
    let bytes = |last: u8| [0, 1, 2, last];
    expect(
        |repo| repo.write("f", bytes(0)),
        |repo| repo.write("f", bytes(1)),
        |repo| repo.write("f", bytes(2)),
        &[("f", ConflictKind::Binary)],
    );
}

#[test]
fn a_submodule_that_both_moved_is_a_kind_of_its_own() {
    let at = |id: &'static str| {
        move |repo: &TestRepo| {
            let entry = format!("160000,{},sub", id.repeat(40));
            repo.git(&["update-index", "--add", "--cacheinfo", &entry]);
            repo.git(&["commit", "--quiet", "-m", id]);
        }
    };
    let repo = TestRepo::new();
    at("1")(&repo);
    let with_sub = |name: &str, id| -> CommitId {
        repo.git(&["switch", "--quiet", "--create", name, "main"]);
        at(id)(&repo);
        let commit = repo.head().parse().unwrap();
        repo.git(&["switch", "--quiet", "main"]);
        commit
    };
    let (one, two) = (with_sub("one", "2"), with_sub("two", "3"));
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&one, &two]);
    let [file] = conflict(&weave, 1).files.as_slice() else {
        panic!("{weave:?}");
    };
    assert_eq!(
        (file.path.as_str(), file.kind),
        ("sub", ConflictKind::Submodule)
    );
}

#[test]
fn a_file_against_a_folder_is_a_kind_of_its_own() {
    let repo = TestRepo::new();
    let one = branch(&repo, "one", &[("thing", "a file\n")]);
    let two = branch(&repo, "two", &[("thing/inner", "in a folder\n")]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&one, &two]);
    let found = conflict(&weave, 1);
    let [file] = found.files.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(
        (file.path.as_str(), file.kind),
        ("thing", ConflictKind::FileAndFolder)
    );
}

#[test]
fn only_those_are_named_whose_lines_collide() {
    let text = |at: usize, word: &str| {
        let line = |number: usize| {
            if number == at {
                word.to_owned()
            } else {
                number.to_string()
            }
        };
        (0..60)
            .map(|number| line(number) + "\n")
            .collect::<String>()
    };
    let repo = TestRepo::new();
    repo.write("hub", text(100, ""));
    repo.commit("hub");
    let commits: Vec<_> = [5, 15, 25, 35, 15]
        .iter()
        .enumerate()
        .map(|(number, at)| {
            let text = text(*at, &format!("task {number}"));
            branch(&repo, &format!("task-{number}"), &[("hub", &text)])
        })
        .collect();
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &commits.iter().collect::<Vec<_>>());
    assert_eq!(conflict(&weave, 4).with, [Some(1)]);
}

#[test]
fn a_branch_that_parted_long_ago_may_collide_with_the_base() {
    let repo = TestRepo::new();
    let old = branch(&repo, "old", &[("README.md", "old work\n")]);
    repo.write("README.md", "meanwhile\n");
    repo.commit("meanwhile");
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&old]);
    assert_eq!(conflict(&weave, 0).with, [None]);
    assert_eq!(weave.tip, base);
}

#[test]
fn an_executable_bit_and_an_edit_go_together() {
    let repo = TestRepo::new();
    repo.write("run.sh", LONG);
    repo.commit("a script");
    let mode = by_hand(&repo, "mode", |repo| {
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(repo.path().join("run.sh"), executable).unwrap();
    });
    let edit = branch(&repo, "edit", &[("run.sh", &LONG.replace('a', "A"))]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&mode, &edit]);
    let listed = repo.git_in(&store.git_dir(), &["ls-tree", weave.tip.as_str(), "run.sh"]);
    assert!(listed.starts_with("100755 "), "{listed}");
}

#[test]
fn a_partner_is_named_for_what_it_did_and_not_for_where_it_stands() {
    let repo = TestRepo::new();
    repo.write("f", LONG);
    repo.commit("f");
    repo.git(&["branch", "old"]);
    repo.write("f", format!("new\n{LONG}"));
    repo.commit("main moved on");
    let edit = branch(
        &repo,
        "edit",
        &[("f", &format!("new\n{}", LONG.replace('c', "C1")))],
    );
    repo.git(&["switch", "--quiet", "--create", "renames", "old"]);
    repo.git(&["mv", "f", "g"]);
    repo.write("g", LONG.replace('c', "C2"));
    let renames: CommitId = repo.commit("renames").parse().unwrap();
    repo.git(&["switch", "--quiet", "main"]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&edit, &renames]);
    assert_eq!(conflict(&weave, 1).with, [Some(0)]);
}
