//! Plan files on a real disk: what is kept, what is refused, and what survives people and kills.

mod children;
mod late;
mod stress;

use std::convert::Infallible;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pleach_engine::plan_file::{
    PlanFile, PlanFileError, RewriteError, RewriteOutcome, SIZE_LIMIT, Swap,
};
use rustix::fs::{XattrFlags, getxattr, setxattr};

const SWAPS: [Swap; 2] = [Swap::Exchange, Swap::Rename];

struct Folder(tempfile::TempDir);

impl Folder {
    fn with_plan(text: impl AsRef<[u8]>) -> (Self, PathBuf) {
        let folder = Self(tempfile::tempdir().unwrap());
        let plan = folder.0.path().join("TODO.md");
        fs::write(&plan, text).unwrap();
        (folder, plan)
    }

    #[track_caller]
    fn check_names(&self, expected: &[&str]) {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, expected);
    }
}

fn random(seed: &mut u64) -> usize {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    usize::try_from(*seed >> 33).unwrap()
}

/// Ticks the first open box.
#[expect(clippy::unnecessary_wraps, reason = "it has the shape of an edit")]
fn tick(text: &str) -> Result<Option<String>, Infallible> {
    Ok(text.contains("[ ]").then(|| text.replacen("[ ]", "[x]", 1)))
}

/// Ticks by both ways to swap and compares the file byte for byte.
#[track_caller]
fn check_tick(before: &str, after: &str) {
    for swap in SWAPS {
        let (folder, plan) = Folder::with_plan(before);
        let rewritten = PlanFile::rewrite_by(swap, &plan, tick).unwrap();
        assert_eq!(rewritten.outcome, RewriteOutcome::Written);
        drop(rewritten);
        assert_eq!(fs::read(&plan).unwrap(), after.as_bytes());
        folder.check_names(&["TODO.md"]);
    }
}

#[track_caller]
fn check_refused(path: &Path, message: &str, hint: &str) {
    let loaded = PlanFile::load(path).unwrap_err();
    assert_eq!(
        loaded.to_string(),
        format!("cannot read the plan {}: {message}", path.display())
    );
    assert!(loaded.hint().contains(hint), "{}", loaded.hint());
    let Err(RewriteError::File(rewritten)) = PlanFile::rewrite(path, tick) else {
        panic!("was rewritten")
    };
    assert_eq!(rewritten.to_string(), loaded.to_string());
}

#[test]
fn only_the_edited_bytes_change() {
    check_tick("- [ ] a\n- [ ] b\n", "- [x] a\n- [ ] b\n");
    check_tick(
        "- [ ] crlf\r\nlf\nspaces  \r\n",
        "- [x] crlf\r\nlf\nspaces  \r\n",
    );
    check_tick("\u{feff}- [ ] bom\n", "\u{feff}- [x] bom\n");
    check_tick("- [ ] no final newline", "- [x] no final newline");
}

#[test]
fn a_loaded_plan_has_its_whole_text_and_its_path() {
    let (_folder, plan) = Folder::with_plan("\u{feff}- [ ] a\r\n");
    let loaded = PlanFile::load(&plan).unwrap();
    assert_eq!(
        (loaded.text(), loaded.path()),
        ("\u{feff}- [ ] a\r\n", plan.as_path())
    );
}

#[test]
fn mode_owner_and_attributes_are_kept() {
    for (swap, mode) in SWAPS.into_iter().zip([0o664, 0o640]) {
        let (_folder, plan) = Folder::with_plan("- [ ] a\n");
        fs::set_permissions(&plan, Permissions::from_mode(mode)).unwrap();
        let has_attributes = setxattr(&plan, "user.note", b"kept", XattrFlags::empty()).is_ok();
        let before = fs::metadata(&plan).unwrap();
        drop(PlanFile::rewrite_by(swap, &plan, tick).unwrap());
        let after = fs::metadata(&plan).unwrap();
        assert_eq!(after.mode() & 0o7777, mode);
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        let mut note = [0; 8];
        let length = getxattr(&plan, "user.note", &mut note).unwrap_or(0);
        assert_eq!(
            &note[..length],
            if has_attributes {
                b"kept".as_slice()
            } else {
                b""
            }
        );
    }
}

#[test]
fn a_symlink_stays_and_its_target_is_rewritten() {
    let (folder, plan) = Folder::with_plan("- [ ] a\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link.md");
    symlink(&plan, &link).unwrap();
    drop(PlanFile::rewrite(&link, tick).unwrap());
    assert_eq!(fs::read_link(&link).unwrap(), plan);
    assert_eq!(fs::read_to_string(&plan).unwrap(), "- [x] a\n");
    folder.check_names(&["TODO.md"]);
}

#[test]
fn a_missing_file_a_folder_and_a_device_are_refused() {
    let (folder, plan) = Folder::with_plan("");
    check_refused(
        &plan.with_file_name("NONE.md"),
        "there is no such file",
        "path",
    );
    check_refused(folder.0.path(), "it is a folder", "TODO.md");
    check_refused(
        Path::new("/dev/null"),
        "it is not a regular file",
        "regular file",
    );
    folder.check_names(&["TODO.md"]);
}

#[test]
fn what_is_no_text_is_refused_with_the_place() {
    let (_folder, plan) = Folder::with_plan(b"- [ ] a\0\xff");
    check_refused(&plan, "it is binary (NUL byte at offset 7)", "text file");
    fs::write(&plan, b"- [ ] \xe9t\xe9\n").unwrap();
    check_refused(&plan, "not UTF-8 from byte offset 6", "UTF-8");
}

#[test]
fn a_file_over_the_limit_is_refused_unread() {
    let (_folder, plan) = Folder::with_plan("");
    File::options()
        .write(true)
        .open(&plan)
        .unwrap()
        .set_len(SIZE_LIMIT + 1)
        .unwrap();
    check_refused(
        &plan,
        "it has 67108865 bytes and the limit is 67108864",
        "64 MiB",
    );
}

#[test]
fn a_file_marked_read_only_is_refused_for_root_as_well() {
    let (folder, plan) = Folder::with_plan("- [ ] a\n");
    fs::set_permissions(&plan, Permissions::from_mode(0o444)).unwrap();
    let error = PlanFile::rewrite(&plan, tick).unwrap_err();
    assert!(
        matches!(error, RewriteError::File(PlanFileError::ReadOnly { .. })),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("chmod u+w"));
    assert_eq!(fs::read_to_string(&plan).unwrap(), "- [ ] a\n");
    folder.check_names(&["TODO.md"]);
}

#[test]
fn an_edit_that_refuses_or_has_nothing_to_do_leaves_the_file_untouched() {
    let (folder, plan) = Folder::with_plan("- [x] a\n");
    let inode = fs::metadata(&plan).unwrap().ino();
    assert_eq!(
        PlanFile::rewrite(&plan, tick).unwrap().outcome,
        RewriteOutcome::Unchanged
    );
    let error = PlanFile::rewrite(&plan, |_| Err("task 7 is gone")).unwrap_err();
    assert!(
        matches!(error, RewriteError::Edit("task 7 is gone")),
        "{error}"
    );
    assert_eq!(fs::read(&plan).unwrap(), b"- [x] a\n");
    assert_eq!(fs::metadata(&plan).unwrap().ino(), inode);
    folder.check_names(&["TODO.md"]);
}

#[test]
fn a_save_during_the_edit_is_kept_and_edited() {
    for swap in SWAPS {
        let (folder, plan) = Folder::with_plan("- [ ] a\n");
        let mut calls = 0;
        let edit = |text: &str| {
            calls += 1;
            if calls == 1 {
                fs::write(&plan, format!("{text}a person's line\n")).unwrap();
            }
            tick(text)
        };
        drop(PlanFile::rewrite_by(swap, &plan, edit).unwrap());
        assert_eq!(calls, 2);
        assert_eq!(
            fs::read_to_string(&plan).unwrap(),
            "- [x] a\na person's line\n"
        );
        folder.check_names(&["TODO.md"]);
    }
}

#[test]
fn a_file_that_is_saved_again_and_again_stays_as_the_person_saved_it() {
    let (folder, plan) = Folder::with_plan("- [ ] 0\n");
    let mut saves = 0;
    let error = PlanFile::rewrite(&plan, |text| {
        saves += 1;
        fs::write(&plan, format!("- [ ] {saves}\n")).unwrap();
        tick(text)
    });
    let error = error.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("changed during each of 24 attempts"),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(&plan).unwrap(),
        format!("- [ ] {saves}\n")
    );
    folder.check_names(&["TODO.md"]);
}
