//! Whatever somebody did to a file: landing refuses when git would, and only then.

use std::fs;
use std::path::Path;
use std::process::Command;

use pleach_git::git::FastForwardError;

use crate::landing::fast_forward::scene;

/// What somebody may do to a file, as a script that has its name in `$f` and its folder in `$d`.
const DEEDS: [&str; 24] = [
    "true",
    "touch -d '2001-01-01' $f",
    "echo mine > $f",
    "echo mine >> $f",
    "mkdir -p $d && echo new > $f",
    "mkdir -p $d && echo mine > $f && git add $f",
    "mkdir -p $d && echo new > $f && git add $f",
    "mkdir -p $d && echo new > $f && git add $f && echo mine > $f",
    "mkdir -p $d && echo new > $f && git add $f && rm $f",
    "mkdir -p $d && echo mine > $f && git add $f && git show HEAD:$f > $f",
    "mkdir -p $d && echo mine > $f && git add --intent-to-add $f",
    "mkdir -p $d && echo mine > $f && echo /new > .git/info/exclude",
    "mkdir -p $d && ln -s nowhere $f",
    "chmod +x $f",
    "rm -f $f",
    "git rm --quiet $f",
    "git rm --quiet --cached $f",
    "git rm --quiet --cached $f && echo mine > $f",
    "rm -f $f; mkdir -p $f",
    "rm -f $f; mkdir -p $f/deep && echo mine > $f/deep/file",
    "test $d = . || echo mine > $d",
    "test $d = . || { mkdir real && ln -s real $d; }",
    "mkdir -p $d && echo mine > $d/beside",
    "git mv $f elsewhere",
];

#[test]
fn a_file_that_changes_is_in_the_way_when_git_says_so() {
    check_deeds("edited", ".");
}

#[test]
fn a_file_that_goes_is_in_the_way_when_git_says_so() {
    check_deeds("gone", ".");
}

#[test]
fn a_file_that_comes_is_in_the_way_when_git_says_so() {
    check_deeds("new/file", "new");
}

/// Git itself is asked in a copy.
#[track_caller]
fn check_deeds(file: &str, folder: &str) {
    let scene = scene();
    scene.land("main").unwrap();
    let script = |folder: &Path, text: &str| {
        let path = std::env::var_os("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", text]).current_dir(folder).env_clear();
        let output = shell.env("PATH", path).env("HOME", "/dev/null").output();
        output.unwrap().status.success()
    };
    let copy = scene.repo.beside("copy");
    let mut refusals = 0;
    for deed in DEEDS {
        scene
            .repo
            .git(&["reset", "--quiet", "--hard", scene.second.as_str()]);
        scene.repo.git(&["clean", "--quiet", "-ffdx"]);
        scene.repo.write(".git/info/exclude", "");
        script(scene.repo.path(), &format!("f={file} d={folder}; {deed}"));
        let _ = fs::remove_dir_all(&copy);
        let name = scene.repo.path().to_str().unwrap();
        assert!(script(
            Path::new("/"),
            &format!("cp -a '{name}' '{}'", copy.display())
        ));
        let merge = ["merge", "--quiet", "--ff-only", "--no-overwrite-ignore"];
        let merge = [&merge[..], &[scene.third.as_str()]].concat();
        let expected = scene.repo.git_succeeds(&copy, &merge);
        let before = scene.repo.fingerprint();
        let landed = scene.land("main");
        assert_eq!(landed.is_ok(), expected, "{file}: {deed}: {landed:?}");
        if let Err(error) = landed {
            refusals += 1;
            assert!(
                matches!(error, FastForwardError::InTheWay { .. }),
                "{file}: {deed}: {error}"
            );
            assert_eq!(scene.repo.fingerprint(), before, "{file}: {deed}");
            continue;
        }
        let differ = format!(
            "diff -r --no-dereference --exclude=.git '{name}' '{}'",
            copy.display()
        );
        assert!(script(Path::new("/"), &differ), "{file}: {deed}");
        let status = |folder: &Path| scene.repo.git_in(folder, &["status", "--porcelain"]);
        assert_eq!(status(scene.repo.path()), status(&copy), "{file}: {deed}");
    }
    assert!((6..18).contains(&refusals), "{refusals}");
}
