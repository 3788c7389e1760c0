//! What is chosen to hold programs, and what is said of it.

use super::*;

fn choose(wanted: Option<&SandboxChoice>, has_landlock: bool) -> Result<String, NoSandbox> {
    let chosen = SandboxPolicy::choose_on(wanted, &[], has_landlock)?;
    Ok(chosen.description())
}

#[test]
fn the_best_there_is_holds_unless_somebody_says_otherwise() {
    let landlock = "landlock: agents can write only to worktrees, caches and temporary files";
    assert_eq!(choose(None, true).unwrap(), landlock);
    assert_eq!(
        choose(None, false).unwrap(),
        "none: this kernel has no Landlock; agents can do whatever you can"
    );
    assert_eq!(
        choose(Some(&SandboxChoice::None), true).unwrap(),
        "none: agents can do whatever you can"
    );
    let wrapper = SandboxChoice::Wrapper(vec!["/bin/sh".into(), "-c".into()]);
    assert_eq!(choose(Some(&wrapper), false).unwrap(), "wrapper: sh");
}

#[test]
fn what_was_asked_for_and_cannot_be_had_is_an_error_with_a_way_out() {
    for (choice, wanted) in [
        (SandboxChoice::Landlock, "landlock"),
        (SandboxChoice::Strict, "strict"),
    ] {
        let error = choose(Some(&choice), false).unwrap_err();
        assert_eq!(error, NoSandbox::NoLandlock { wanted });
        assert!(error.to_string().contains(wanted) && error.hint().contains("\"none\""));
    }
    let wrapper = SandboxChoice::Wrapper(vec!["no-such-sandbox".into()]);
    let error = choose(Some(&wrapper), true).unwrap_err();
    assert!(error.to_string().contains("no-such-sandbox"), "{error}");
}

#[test]
fn a_batch_of_an_older_version_was_held_by_nothing() {
    assert_eq!(SandboxPolicy::default().label(), "none");
    let some =
        SandboxPolicy::choose_on(Some(&SandboxChoice::Strict), &["/x".into()], true).unwrap();
    let stored = serde_json::to_string(&some).unwrap();
    assert_eq!(
        serde_json::from_str::<SandboxPolicy>(&stored).unwrap(),
        some
    );
}

#[test]
fn a_folder_that_is_open_piece_by_piece_is_watched_too() {
    let confinement = Confinement {
        write: vec!["/home/ada/.claude/projects".into(), "/srv".into()],
        read: Vec::new(),
    };
    let is_open = |folder: &str| is_open_in_part(&confinement, Path::new(folder));
    assert!(is_open("/home/ada/.claude") && is_open("/srv/x"));
    assert!(!is_open("/home/ada/.codex"));
}
