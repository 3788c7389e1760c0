//! Agents that change what steers them, in every way there is.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

/// An agent's folder, and a state folder.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(home.agent("commands/deep")).unwrap();
        fs::write(home.agent("settings.json"), "{}").unwrap();
        fs::write(home.agent("commands/deep/a.md"), "a").unwrap();
        symlink("elsewhere", home.agent("link.md")).unwrap();
        fs::write(home.secret(), "secret").unwrap();
        home
    }

    fn agent(&self, inside: &str) -> PathBuf {
        let top = self.folder.path().canonicalize().unwrap();
        top.join("agent").join(inside)
    }

    fn secret(&self) -> PathBuf {
        self.folder.path().join("secret")
    }

    fn begin(&self) -> (SettingsWatch, Vec<String>) {
        let state = StateFolder::at(&self.folder.path().join("state")).unwrap();
        let places = [
            "settings.json",
            "commands",
            "link.md",
            "hooks",
            "config.toml",
            "projects/*/memory",
        ]
        .map(PathBuf::from);
        let steering = SteeringPaths {
            places: BTreeSet::from(places),
            own: BTreeSet::from(["commands/own".into()]),
        };
        let places = AgentFolders::from([(self.agent(""), steering)]);
        SettingsWatch::begin(&state, &self.agent("worktree"), &places).unwrap()
    }

    fn read(&self, inside: &str) -> String {
        fs::read_to_string(self.agent(inside)).unwrap()
    }

    /// Checks that everything is as it was in the beginning.
    #[track_caller]
    fn check(&self) {
        assert_eq!(self.read("settings.json"), "{}");
        assert_eq!(self.read("commands/deep/a.md"), "a");
        let link = fs::read_link(self.agent("link.md")).unwrap();
        assert_eq!(link, Path::new("elsewhere"));
        let kind = self.agent("commands/deep").symlink_metadata().unwrap();
        assert!(kind.is_dir());
        assert_eq!(fs::read_to_string(self.secret()).unwrap(), "secret");
    }

    /// What is kept of what was found instead, by its contents.
    fn kept(&self) -> String {
        let all = fs::read_dir(self.folder.path().join("state/agent-settings/replaced"));
        let mut kept = Vec::new();
        for folder in all.into_iter().flatten().flatten() {
            let files = fs::read_dir(folder.path()).unwrap().flatten();
            kept.extend(files.filter_map(|file| fs::read_to_string(file.path()).ok()));
        }
        kept.sort_unstable();
        kept.join(" ")
    }
}

#[test]
fn what_was_changed_is_put_back_and_told_once() {
    let home = Home::new();
    let (watch, told) = home.begin();
    assert_eq!(told, [""; 0]);
    fs::write(home.agent("settings.json"), "hook").unwrap();
    fs::write(home.agent("history"), "not looked at").unwrap();
    let told = watch.compare();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("agent/settings.json") && told[0].contains("restored"));
    home.check();
    assert_eq!(home.kept(), "hook");
    assert_eq!(watch.compare(), [""; 0]);
    assert_eq!(home.read("history"), "not looked at");
}

#[test]
fn what_agents_write_by_themselves_stays() {
    let home = Home::new();
    let (watch, _) = home.begin();
    let trust = format!(
        "[projects.{:?}]\ntrust_level = \"trusted\"\n",
        home.agent("worktree")
    );
    fs::write(home.agent("config.toml"), &trust).unwrap();
    fs::write(home.agent("commands/own"), "own").unwrap();
    assert_eq!(watch.compare(), [""; 0]);
    assert_eq!(home.read("config.toml"), trust);
    fs::write(home.agent("config.toml"), "notify = [\"x\"]").unwrap();
    assert_eq!(watch.compare().len(), 1);
    assert!(!home.agent("config.toml").exists());
    assert_eq!(home.read("commands/own"), "own");
}

#[test]
fn files_that_came_or_went_and_links_are_put_right_without_following_any() {
    let home = Home::new();
    let (watch, _) = home.begin();
    fs::create_dir(home.agent("hooks")).unwrap();
    fs::write(home.agent("hooks/x"), "new").unwrap();
    let long = format!("hooks/{}%", "é".repeat(127));
    fs::write(home.agent(&long), "new").unwrap();
    fs::remove_dir_all(home.agent("commands/deep")).unwrap();
    symlink(home.folder.path(), home.agent("commands/deep")).unwrap();
    fs::remove_file(home.agent("settings.json")).unwrap();
    symlink(home.secret(), home.agent("settings.json")).unwrap();
    fs::remove_file(home.agent("link.md")).unwrap();
    let told = watch.compare();
    assert_eq!(told.len(), 6, "{told:#?}");
    home.check();
    assert_eq!(fs::read_dir(home.agent("hooks")).unwrap().count(), 0);
    assert_eq!(watch.compare(), [""; 0]);
}

#[test]
fn a_change_of_mode_or_kind_is_a_change_and_a_new_date_is_none() {
    let home = Home::new();
    let (watch, _) = home.begin();
    fs::write(home.agent("settings.json"), "{}").unwrap();
    assert_eq!(watch.compare(), [""; 0]);
    fs::set_permissions(
        home.agent("settings.json"),
        fs::Permissions::from_mode(0o777),
    )
    .unwrap();
    assert_eq!(watch.compare().len(), 1);
    fs::remove_file(home.agent("commands/deep/a.md")).unwrap();
    fs::create_dir(home.agent("commands/deep/a.md")).unwrap();
    assert_eq!(watch.compare().len(), 1);
    home.check();
}

#[test]
fn what_others_changed_while_they_run_is_no_state_to_go_back_to() {
    let home = Home::new();
    let (first, _) = home.begin();
    fs::write(home.agent("settings.json"), "hook").unwrap();
    let (second, told) = home.begin();
    assert_eq!(told.len(), 1, "{told:?}");
    home.check();
    drop(first);
    fs::write(home.agent("settings.json"), "hook").unwrap();
    drop(second);
    home.check();
}

#[test]
fn what_the_user_changes_while_nothing_runs_stays() {
    let home = Home::new();
    drop(home.begin());
    fs::write(home.agent("settings.json"), "mine").unwrap();
    let (watch, told) = home.begin();
    assert_eq!(told, [""; 0]);
    assert_eq!(watch.compare(), [""; 0]);
    assert_eq!(home.read("settings.json"), "mine");
}

#[test]
fn what_was_changed_before_a_process_was_killed_is_put_back_by_the_next() {
    let home = Home::new();
    let (mut watch, _) = home.begin();
    // As the kernel does it.
    drop(watch.in_use.take());
    fs::write(home.agent("settings.json"), "hook").unwrap();
    let (_watch, told) = home.begin();
    assert_eq!(told.len(), 1, "{told:?}");
    home.check();
}

#[test]
fn more_files_than_anybody_looks_through_go_all_at_once() {
    let home = Home::new();
    let (watch, _) = home.begin();
    let deep: PathBuf = std::iter::repeat_n("x", DEEPEST + 1).collect();
    fs::create_dir_all(home.agent("commands").join(deep)).unwrap();
    let told = watch.compare();
    assert!(
        told[0].contains("agent/commands, which a task changed"),
        "{told:?}"
    );
    home.check();
    assert!(!home.agent("commands/x").exists());
}

#[test]
fn a_folder_that_came_meanwhile_is_looked_at_where_a_star_stands_for_it() {
    let home = Home::new();
    let (watch, _) = home.begin();
    fs::create_dir_all(home.agent("projects/new/memory")).unwrap();
    fs::write(home.agent("projects/new/memory/MEMORY.md"), "attack").unwrap();
    fs::write(home.agent("projects/new/session"), "its own").unwrap();
    assert_eq!(watch.compare().len(), 1);
    assert!(!home.agent("projects/new/memory/MEMORY.md").exists());
    assert_eq!(home.read("projects/new/session"), "its own");
}

#[test]
fn a_place_with_more_than_is_looked_at_is_told_and_what_fits_is_put_back() {
    let home = Home::new();
    let deep: PathBuf = std::iter::repeat_n("x", DEEPEST + 1).collect();
    fs::create_dir_all(home.agent("commands").join(deep)).unwrap();
    let (watch, told) = home.begin();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(&MOST_FILES.to_string()), "{told:?}");
    fs::write(home.agent("commands/deep/a.md"), "attack").unwrap();
    fs::write(
        home.agent("commands/new.md"),
        "cannot be told from what was there",
    )
    .unwrap();
    assert_eq!(watch.compare().len(), 1);
    home.check();
    assert!(home.agent("commands/x").exists());
}

#[test]
fn what_is_put_back_at_the_end_is_told_by_the_next() {
    let home = Home::new();
    let (watch, _) = home.begin();
    fs::write(home.agent("settings.json"), "hook").unwrap();
    drop(watch);
    home.check();
    let (_watch, told) = home.begin();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("settings.json"), "{told:?}");
}

#[test]
fn what_was_found_instead_is_kept_up_to_a_size_and_an_age() {
    let home = Home::new();
    let state = StateFolder::at(&home.folder.path().join("state")).unwrap();
    for text in ["first", "second"] {
        let (watch, _) = home.begin();
        fs::write(home.agent("settings.json"), text).unwrap();
        assert_eq!(watch.compare().len(), 1);
    }
    assert_eq!(home.kept(), "first second");
    let newest = home_in(&state).join("replaced/2");
    replaced::keep_within(&home_in(&state), replaced::size(&newest));
    assert_eq!(home.kept(), "second");
    clear_replaced(&state, Duration::from_hours(1));
    assert_eq!(home.kept(), "second");
    clear_replaced(&state, Duration::ZERO);
    assert_eq!(home.kept(), "");
}
