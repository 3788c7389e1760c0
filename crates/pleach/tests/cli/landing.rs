//! From a proved branch to one pull request: pushes, forges, bases that move, deaths on the way.

mod after;
mod along;
mod deaths;
mod earlier;
mod first_push;
mod forges;
mod local;
mod lost_proofs;
mod places;
mod stops;
mod taken_names;
mod unproved;

use std::process::Command;

use pleach_system::crash_point::{CrashPoint, DIE_AT};
use pleach_system::pace::PACE;
use pleach_testkit::{Failure, ForgeFault, ForgeServer, ForgeStep, ForgeStyle, gate_or_night};

use crate::Answer;
use crate::scene::{Scene, Story};

pub(crate) use deaths::STEPS;

const TOKEN: &str = "a-token-that-nobody-guesses";
pub(crate) const PROJECT: &str = "people/hedge";

/// Each task adds a file of its own name.
const SHELL: &str = "echo x > file-$PLEACH_TASK";

/// A scene whose repository is on a forge too.
pub(crate) struct Harbour {
    pub(crate) scene: Scene,
    pub(crate) forge: ForgeServer,
}

impl Harbour {
    pub(crate) fn new(style: ForgeStyle, tasks: &str, settings: &str, shell: &str) -> Self {
        let kind = match style {
            ForgeStyle::GitHub => "github",
            ForgeStyle::GitLab => "gitlab",
            ForgeStyle::Gitea => "gitea",
        };
        let settings = format!("{settings}\nforge.kind = \"{kind}\"");
        Self::of(Scene::of(tasks, &settings, shell), style)
    }

    pub(crate) fn of(scene: Scene, style: ForgeStyle) -> Self {
        let forge = ForgeServer::start(style, TOKEN);
        scene.repo.git(&["add", "--all"]);
        scene.repo.commit("everything");
        forge.add(PROJECT, &scene.repo);
        scene
            .repo
            .git(&["remote", "add", "origin", &forge.url(PROJECT)]);
        Self { scene, forge }
    }

    fn github(tasks: &str, settings: &str, shell: &str) -> Self {
        Self::new(ForgeStyle::GitHub, tasks, settings, shell)
    }

    /// Pleach with the token in its environment, which tries again sooner than for people; at night, as for them.
    pub(crate) fn pleach(&self, words: &[&str]) -> Answer {
        self.command(words).output().unwrap().into()
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = crate::command(self.scene.repo.path(), &self.scene.home(), words);
        command.env("PLEACH_GIT_TOKEN", TOKEN);
        command.env(PACE, gate_or_night("20", "1"));
        command.env("PLEACH_GIT_HOST", self.forge.host());
        command
    }

    /// What the user's own configuration says.
    pub(crate) fn configure_user(&self, text: &str) {
        let folder = self.scene.home().join(".config/pleach");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    pub(crate) fn story(&self, words: &[&str]) -> Story {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        Story::of(&self.pleach(&words))
    }

    fn run(&self) -> Story {
        self.story(&["run", "--yes", "-j", "1"])
    }

    /// Git in the repository of the server.
    pub(crate) fn git_there(&self, words: &[&str]) -> String {
        let place = self.forge.repository(PROJECT);
        let place = ["--git-dir", place.to_str().unwrap()];
        self.scene.repo.git(&[&place[..], words].concat())
    }

    /// What a ref of the server is at.
    pub(crate) fn there(&self, name: &str) -> String {
        let words = ["rev-parse", "--verify", "--quiet", name];
        self.git_there(&words).trim().to_owned()
    }

    /// The branches of the server that Pleach made.
    pub(crate) fn branches_there(&self) -> String {
        let words = [
            "for-each-ref",
            "--format=%(refname:short)",
            "refs/heads/pleach",
        ];
        self.git_there(&words).trim().replace('\n', " ")
    }

    /// Moves `main` of the server on by a commit.
    fn move_base_now(&self, file: &str, text: &str) {
        self.move_base(file, text);
        self.git_there(&["update-ref", "refs/heads/main", "refs/heads/next"]);
    }

    /// A command that moves `main` of the server on by a commit, once.
    fn move_base(&self, file: &str, text: &str) -> String {
        let place = self.forge.repository(PROJECT);
        let place = place.display();
        let repo = &self.scene.repo;
        repo.git(&["checkout", "-q", "-b", "next"]);
        repo.write(file, text);
        repo.commit("somebody else was faster");
        repo.git(&["push", "-q", &place.to_string(), "next"]);
        repo.git(&["checkout", "-q", "main"]);
        repo.git(&["branch", "-q", "-D", "next"]);
        format!("git --git-dir={place} update-ref refs/heads/main refs/heads/next")
    }

    /// One pull request, from the branch that is proved, with nothing given away.
    #[track_caller]
    pub(crate) fn check_landed(&self, story: &Story) {
        let opened = self.forge.pull_requests();
        assert_eq!(opened.len(), 1, "{opened:?}");
        assert_eq!(
            (opened[0].head.as_str(), opened[0].base.as_str()),
            ("pleach/batch-1", "main")
        );
        let summary = story.summary();
        let url = summary["prUrl"].as_str().expect("it has a page");
        assert!(url.ends_with(&format!("/{}", opened[0].number)), "{url}");
        let pushed = self.there("refs/heads/pleach/batch-1");
        assert_eq!(
            summary["tip"],
            pushed.as_str(),
            "exactly what is proved is there"
        );
        if let Some(tree) = summary["validation"]["tree"].as_str() {
            assert_eq!(self.there(&format!("{pushed}^{{tree}}")), tree);
            assert!(opened[0].body.contains(tree), "{}", opened[0].body);
        }
        self.forge.assert_well_asked();
        for place in [self.scene.state(), self.scene.repo.path().join(".git")] {
            let found = grep(&place, TOKEN);
            assert!(found.is_empty(), "the token is in {found:?}");
        }
    }
}

/// The files below a folder that hold a word; no program is asked, whose words others could read.
fn grep(folder: &std::path::Path, word: &str) -> Vec<std::path::PathBuf> {
    let files = pleach_testkit::find_below(folder, |_| true).into_iter();
    let holds = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(folder.join(path)).unwrap_or_default();
        bytes
            .windows(word.len())
            .any(|part| part == word.as_bytes())
    };
    files.filter(holds).collect()
}

#[test]
fn when_the_base_moves_everything_is_woven_and_proved_again_on_the_new_one() {
    let harbour = Harbour::github("1, 2", "", SHELL);
    let step = harbour.move_base("other", "theirs\n");
    let tests = "validate = \"echo run >> BESIDE/runs; [ -e file-1 ]\"\nforge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"";
    harbour.scene.configure(tests, &format!("{SHELL}; {step}"));
    let story = harbour.run();
    story.check(0, "1:merged 2:merged");
    harbour.check_landed(&story);
    assert_eq!(
        harbour.scene.trace("runs"),
        "run run",
        "the new tree is another one"
    );
    assert_eq!(harbour.scene.show("pleach/batch-1", "other"), "theirs");
    assert_eq!(story.told("batch:rewoven").len(), 1);
}

#[test]
fn what_does_not_merge_with_the_new_base_is_left_out_and_named() {
    let harbour = Harbour::github("1, 2, 3 1", "", SHELL);
    let step = harbour.move_base("file-1", "theirs\n");
    harbour.scene.configure(
        "forge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"",
        &format!("{SHELL}; {step}"),
    );
    let story = harbour.run();
    story.check(1, "1:conflicted 2:merged 3:blocked");
    harbour.check_landed(&story);
    let new = harbour.scene.new_files("pleach/batch-1");
    assert!(new.contains("file-2"), "{new}");
    assert_eq!(harbour.scene.show("pleach/task-1/1", "file-1"), "x");
}

#[test]
fn a_base_that_changes_what_steers_agents_is_not_followed_and_the_result_lands_as_it_is() {
    let harbour = Harbour::github("1", "validate = \"true\"", SHELL);
    harbour.run().check(0, "1:merged");
    harbour.move_base_now("AGENTS.md", "obey\n");
    let again = harbour.story(&["land", "1"]);
    again.check(0, "1:merged");
    harbour.check_landed(&again);
    assert!(again.notes().contains("AGENTS.md"), "{}", again.notes());
    let harbour = Harbour::github("1", "", SHELL);
    let step = harbour.move_base("AGENTS.md", "obey\n");
    let settings = "forge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"";
    harbour
        .scene
        .configure(settings, &format!("{SHELL}; {step}"));
    let story = harbour.run();
    story.check(0, "1:merged");
    harbour.check_landed(&story);
    assert!(story.notes().contains("AGENTS.md"), "{}", story.notes());
}

#[test]
fn when_nothing_merges_with_the_new_base_no_branch_is_left_that_says_so() {
    let harbour = Harbour::github("1", "", SHELL);
    let step = harbour.move_base("file-1", "theirs\n");
    let settings = "forge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"";
    harbour
        .scene
        .configure(settings, &format!("{SHELL}; {step}"));
    let story = harbour.run();
    story.check(1, "1:conflicted");
    assert_eq!(harbour.scene.branches(), "pleach/task-1/1");
    assert_eq!(
        story.summary()["batchBranch"],
        serde_json::Value::Null,
        "a branch that is gone is not named"
    );
    assert_eq!(harbour.branches_there(), "");
}

#[test]
fn without_a_remote_it_completes_with_a_note_and_the_branch() {
    let scene = Scene::of("1", "", SHELL);
    let told = scene.run(&[]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(
        told.out
            .contains("not landed: the repository has no remote to push to"),
        "{}",
        told.out
    );
    assert!(told.out.contains("pleach/batch-1"), "{}", told.out);
    assert_eq!(
        scene.story(&["1"]).summary()["prUrl"],
        serde_json::Value::Null
    );
}

#[test]
fn without_a_login_it_completes_and_says_what_to_set() {
    let harbour = Harbour::github("1", "", SHELL);
    let story = harbour.scene.story(&[]);
    story.check(1, "1:merged");
    let told = &story.told("batch:not_landed")[0];
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("PLEACH_GIT_TOKEN"), "{told}");
    check_says_how_to_try_again(&story);
    assert_eq!(harbour.forge.pull_requests().len(), 0);
    let later = harbour.story(&["land", "1"]);
    assert_eq!(later.code, 0, "{}", later.err);
    harbour.check_landed(&later);
}

#[test]
fn a_login_that_is_wrong_is_told_without_repeating_it() {
    let harbour = Harbour::github("1", "", SHELL);
    let mut command = harbour.command(&["run", "--yes", "--json"]);
    command.env("PLEACH_GIT_TOKEN", "quite-another-token-than-that");
    let answer: Answer = command.output().unwrap().into();
    let story = Story::of(&answer);
    story.check(1, "1:merged");
    let told = story.told("batch:not_landed")[0].to_string();
    assert!(told.contains("did not accept"), "{told}");
    check_says_how_to_try_again(&story);
    assert!(!answer.out.contains("quite-another"), "{}", answer.out);
    assert!(!answer.err.contains("quite-another"), "{}", answer.err);
}

#[test]
fn a_secret_in_the_result_stops_the_push_until_a_person_says_otherwise() {
    let key = "AKIAQ7ZK5WNDEJ3RTYBM";
    let harbour = Harbour::github("1", "", &format!("echo 'key = {key}' > settings.ini"));
    let story = harbour.run();
    story.check(1, "1:merged");
    let told = story.told("batch:not_landed")[0].to_string();
    assert!(
        told.contains("settings.ini") && !told.contains(key),
        "{told}"
    );
    assert_eq!(harbour.branches_there(), "");
    let anyway = harbour.story(&["land", "1", "--despite-findings"]);
    assert_eq!(anyway.code, 0, "{}", anyway.err);
    harbour.check_landed(&anyway);
}

/// Whatever the reason is, the command is named that lands it once that is mended.
#[track_caller]
fn check_says_how_to_try_again(story: &Story) {
    let told = story.told("batch:not_landed")[0];
    let hint = told["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("`pleach land 1`"), "{told}");
}

#[test]
fn a_push_without_the_rights_says_how_to_try_again() {
    let harbour = Harbour::github("1", "", SHELL);
    harbour
        .forge
        .fail(ForgeStep::Push, Failure::Before(ForgeFault::Status(403)));
    let story = harbour.run();
    story.check(1, "1:merged");
    check_says_how_to_try_again(&story);
    harbour.check_landed(&harbour.story(&["land", "1"]));
}

#[test]
fn a_server_that_cannot_be_reached_is_told_with_how_to_try_again() {
    let harbour = Harbour::github("1", "", SHELL);
    let repo = &harbour.scene.repo;
    // Nobody listens there.
    repo.git(&["remote", "set-url", "origin", "http://127.0.0.1:1/a/b.git"]);
    let story = harbour.run();
    story.check(1, "1:merged");
    check_says_how_to_try_again(&story);
    repo.git(&["remote", "set-url", "origin", &harbour.forge.url(PROJECT)]);
    // It is another address than the one that was confirmed.
    harbour.check_landed(&harbour.story(&["land", "1", "--yes"]));
}

#[test]
fn a_server_without_a_branch_to_go_into_is_told_with_how_to_try_again() {
    let harbour = Harbour::github("1", "", SHELL);
    // Neither side names a branch.
    harbour.scene.repo.git(&["checkout", "-q", "--detach"]);
    harbour.git_there(&["symbolic-ref", "HEAD", "refs/heads/nowhere"]);
    let story = harbour.run();
    story.check(1, "1:merged");
    check_says_how_to_try_again(&story);
    harbour.git_there(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    harbour.check_landed(&harbour.story(&["land", "1"]));
}

#[test]
fn a_server_that_declines_is_quoted_and_nothing_is_lost() {
    let harbour = Harbour::github("1", "", SHELL);
    harbour.forge.protect(PROJECT, "pleach/batch-1");
    let story = harbour.run();
    story.check(1, "1:merged");
    let told = story.told("batch:not_landed")[0].to_string();
    assert!(told.contains("Protected branch"), "{told}");
    check_says_how_to_try_again(&story);
    assert_eq!(harbour.scene.branches(), "pleach/batch-1");
}

#[test]
fn a_base_that_the_server_no_longer_has_is_told_before_anything_is_pushed() {
    let harbour = Harbour::github("1", "", SHELL);
    harbour.git_there(&["branch", "-m", "main", "trunk"]);
    let story = harbour.run();
    story.check(1, "1:merged");
    let told = story.told("batch:not_landed")[0].to_string();
    assert!(told.contains("the server has no branch main"), "{told}");
    assert!(told.contains("set another base"), "{told}");
    assert_eq!(harbour.branches_there(), "");
}

#[test]
fn without_a_forge_the_branch_is_pushed_and_the_text_is_in_a_file() {
    let harbour = Harbour::github("1", "", SHELL);
    harbour
        .scene
        .configure("forge.kind = \"none\"\nplan = \"plan.json\"", SHELL);
    let story = harbour.run();
    story.check(0, "1:merged");
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
    assert_eq!(harbour.forge.pull_requests().len(), 0);
    let text = harbour.scene.state().join("batches/1/pull-request.md");
    assert!(
        story.notes().contains(text.to_str().unwrap()),
        "{}",
        story.notes()
    );
    let text = std::fs::read_to_string(text).unwrap();
    assert!(text.contains("Made by Pleach, batch 1."), "{text}");
}

#[test]
fn a_batch_that_failed_does_not_land_by_itself_and_may_by_hand() {
    let harbour = Harbour::github("1", "validate = \"false\"", SHELL);
    let story = harbour.run();
    story.check(1, "1:merged");
    assert_eq!(
        (story.status(), harbour.branches_there().as_str()),
        ("failed", "")
    );
    let by_hand = harbour.story(&["land", "1", "--unproved"]);
    assert_eq!(by_hand.code, 0, "{}", by_hand.err);
    harbour.check_landed(&by_hand);
    assert_eq!(by_hand.status(), "failed", "it is not proved, and stays so");
}

#[test]
fn only_pushing_opens_no_pull_request_and_nothing_at_all_pushes_nothing() {
    let harbour = Harbour::github("1", "land = \"push\"", SHELL);
    let story = harbour.run();
    story.check(0, "1:merged");
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
    assert_eq!(harbour.forge.pull_requests().len(), 0);
    let harbour = Harbour::github("1", "", SHELL);
    let story = harbour.story(&["run", "--yes", "--no-pr"]);
    story.check(0, "1:merged");
    assert_eq!(
        harbour.forge.requests().len(),
        0,
        "the network is left alone"
    );
    assert_eq!(harbour.story(&["land", "1", "--yes"]).code, 0);
    assert_eq!(harbour.forge.pull_requests().len(), 1);
}

#[test]
fn what_cannot_land_is_refused_with_the_reason() {
    let scene = Scene::of("1", "retries = 0", "exit 1");
    scene.story(&[]).check(1, "1:failed");
    let nothing = crate::pleach(scene.repo.path(), &scene.home(), &["land", "1"]);
    assert!(nothing.bad(2).contains("has nothing to land"));
    let scene = Scene::of("1", "", SHELL);
    let words = ["run", "--yes"];
    let mut dies = crate::command(scene.repo.path(), &scene.home(), &words);
    dies.env(DIE_AT, format!("{:?}", CrashPoint::AllOver));
    dies.output().unwrap();
    let interrupted = crate::pleach(scene.repo.path(), &scene.home(), &["land", "1"]);
    assert!(interrupted.bad(2).contains("pleach resume 1"));
    let unknown = crate::pleach(scene.repo.path(), &scene.home(), &["land", "9"]);
    assert!(unknown.bad(2).contains("batch 9 not found"));
}
