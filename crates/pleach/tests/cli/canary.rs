//! Secrets that are everywhere a real run has them, and that must be seen nowhere it writes or says anything.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use pleach_testkit::{ForgeServer, ForgeStyle, find_below};
use serde_json::json;

use crate::Answer;
use crate::scene::{Scene, Story};

/// Each is passed on in another way; all hold letters that other ways of writing change.
const FOR_AGENTS: &str = "canary-1/Zq7@x9Lm2+kPwT8";
const FOR_TESTS: &str = "canary-2/Bn4@v6Rs3+hJdY5";
const IN_ADDRESS: &str = "canary-3.Gt8-c2Wf7.eXoU4";
const IN_FILE: &str = "canary-4/Mk5@p8Ub6+sQzE1";
/// Only in our own environment, where an agent cannot see it.
const OURS: &str = "canary-5/Da3@i7Vj9+lNyC2";

const ALL: [&str; 5] = [FOR_AGENTS, FOR_TESTS, IN_ADDRESS, IN_FILE, OURS];

const PROJECT: &str = "people/hedge";

/// Says everything that a program can get at, in every way.
const TELL: &str = r#". ./.env
password=$(git config --file BESIDE/project/.git/config remote.origin.url | sed 's,.*://ann:,,; s,@.*,,')
for secret in "$WANTED" "$TESTED" "$DB_PASSWORD" "$password"; do
  [ -n "$secret" ] || continue
  echo "raw $secret"
  echo "json {\"key\": \"$secret\"}"
  first=$(echo "$secret" | cut -c 1-9)
  printf 'cut %s' "$first"; sleep 0.05; printf '%s\n' "${secret#"$first"}"
  printf %s "$secret" | base64 | sed 's/^/base64 /'
  printf %s "ann:$secret" | base64 | sed 's/^/basic /'
  echo "address https://ann:$secret@host.example/x"
done
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' >> BESIDE/seen
tail -n 2 key.pem"#;

/// The body of a key, made here so that no file holds one.
fn key_line() -> String {
    "MIIEpAIBAAKCAQEAx9Yw7".repeat(3)
}

struct Cage {
    scene: Scene,
    forge: ForgeServer,
}

impl Cage {
    fn new() -> Self {
        let scene = Scene::of("1, 2", "", "true");
        let beside = scene.repo.beside("");
        let tell = TELL.replace("BESIDE", beside.to_str().unwrap().trim_end_matches('/'));
        scene.repo.write("tell.sh", tell);
        let agent = "sh tell.sh; echo x > file-$PLEACH_TASK; [ $PLEACH_TASK = 1 ] || { echo \"died of $WANTED\"; exit 1; }";
        let config = format!(
            "plan = \"plan.json\"\nretries = 0\nkeep_failed = false\nforge.kind = \"github\"\n\
             sandbox_write = [{0:?}]\n\
             validate = \"sh tell.sh; echo tested with $TESTED\"\nvalidate_env = [\"TESTED\"]\n\
             [agents.shell]\ncommand = {1}\nenv = [\"WANTED\"]\n",
            beside.display().to_string(),
            json!(["sh", "-c", agent])
        );
        scene.repo.write("pleach.toml", config);
        let tasks = json!({"tasks": [
            {"id": "1", "title": "One", "prompt": format!("Log in with {FOR_AGENTS}.")},
            {"id": "2", "title": format!("Two, not {OURS}"), "prompt": "x"},
        ]});
        scene.repo.write("plan.json", tasks.to_string());
        scene.repo.write(".gitignore", ".env\n*.pem\n");
        scene.repo.write(".worktreeinclude", ".env\n*.pem\n");
        scene.repo.commit("everything");
        scene.repo.write(
            ".env",
            format!("DB_PASSWORD='{IN_FILE}'\nMODE=production\n"),
        );
        let key = format!(
            "-----BEGIN PRIVATE {0}-----\n{1}\n-----END PRIVATE {0}-----\n",
            "KEY",
            key_line()
        );
        scene.repo.write("key.pem", key);
        let forge = ForgeServer::start(ForgeStyle::GitHub, IN_ADDRESS);
        forge.make_private();
        forge.add(PROJECT, &scene.repo);
        let address = forge
            .url(PROJECT)
            .replace("://", &format!("://ann:{IN_ADDRESS}@"));
        scene.repo.git(&["remote", "add", "origin", "nowhere"]);
        let cage = Self { scene, forge };
        cage.set_address("nowhere", &address);
        cage
    }

    /// By hand: whoever looks for a secret in words of programs must not find ours there.
    fn set_address(&self, before: &str, address: &str) {
        let config = self.scene.repo.path().join(".git/config");
        let text = fs::read_to_string(&config).unwrap();
        let (start, end) = text
            .rsplit_once(before)
            .expect("the address that stood there");
        fs::write(config, [start, address, end].concat()).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = crate::command(self.scene.repo.path(), &self.scene.home(), words);
        command
            .env("WANTED", FOR_AGENTS)
            .env("TESTED", FOR_TESTS)
            .env("SERVICE_TOKEN", OURS);
        command
    }

    fn pleach(&self, words: &[&str]) -> Answer {
        self.command(words).output().unwrap().into()
    }
}

/// Every way in which a secret could be recognised.
fn needles() -> Vec<String> {
    let mut needles = vec![key_line()];
    for secret in ALL {
        needles.push(secret.to_owned());
        let in_address = [('/', "%2F"), ('@', "%40"), ('+', "%2B")]
            .iter()
            .fold(secret.to_owned(), |text, (from, to)| {
                text.replace(*from, to)
            });
        needles.push(in_address);
        for text in [secret.to_owned(), format!("ann:{secret}")] {
            let mut base64 = Command::new("sh");
            base64.args(["-c", "printf %s \"$SECRET\" | base64"]);
            let written = base64.env("SECRET", text).output().unwrap().stdout;
            needles.push(String::from_utf8(written).unwrap().trim().to_owned());
        }
    }
    needles
}

#[track_caller]
fn check_clean(what: &str, bytes: &[u8]) {
    static NEEDLES: LazyLock<Vec<String>> = LazyLock::new(needles);
    let text = String::from_utf8_lossy(bytes);
    for needle in NEEDLES.iter() {
        assert!(!text.contains(needle), "{what} holds {needle}: {text}");
    }
}

#[test]
fn a_secret_is_seen_nowhere_that_a_run_writes_or_says() {
    let cage = Cage::new();
    let run = cage.pleach(&["run", "--yes", "-j", "1", "--json"]);
    let story = Story::of(&run);
    story.check(1, "1:merged 2:failed");
    assert_eq!(
        story.error_of("2"),
        "the agent exited with 1: died of [hidden:WANTED]"
    );
    let opened = cage.forge.pull_requests();
    assert_eq!(opened.len(), 1, "{:?} {}", story.notes(), run.out);
    assert!(opened[0].body.contains("died of"), "{}", opened[0].body);
    check_clean("the pull request", format!("{opened:?}").as_bytes());
    check_clean(
        "what was asked of the forge",
        format!("{:?}", cage.forge.requests()).as_bytes(),
    );
    cage.forge.assert_well_asked();

    let told: [&[&str]; 8] = [
        &["status", "1"],
        &["status", "1", "--json"],
        &["status", "--all", "--json"],
        &["logs", "1", "1"],
        &["logs", "1", "2"],
        &["logs", "1", "--validation"],
        &["land", "1", "--json"],
        &["run", "--yes", "2"],
    ];
    check_clean("the run", format!("{}{}", run.out, run.err).as_bytes());
    for words in told {
        let answer = cage.pleach(words);
        check_clean(
            &format!("{words:?}"),
            format!("{}{}", answer.out, answer.err).as_bytes(),
        );
    }
    let log = cage.pleach(&["logs", "1", "1"]).out;
    for line in [
        "raw [hidden:WANTED]",
        "json {\"key\": \"[hidden:WANTED]\"}",
        "cut [hidden:WANTED]",
        "base64 [hidden:WANTED]",
        "basic YW5uO",
        "raw [hidden:DB_PASSWORD]",
        "raw [hidden]",
        "[hidden]\n-----END",
    ] {
        assert!(log.contains(line), "{line} is missing in {log}");
    }
    let tested = cage.pleach(&["logs", "1", "--validation"]).out;
    assert!(tested.contains("tested with [hidden:TESTED]"), "{tested}");
    let seen = fs::read(cage.scene.repo.beside("seen")).unwrap();
    assert!(
        seen.windows(11).any(|part| part == b"pleach-shim"),
        "processes were seen"
    );
    check_clean("a command line", &seen);
    check_state(&cage.scene.state());
}

/// Searches every byte that Pleach keeps, and looks who could.
#[track_caller]
fn check_state(state: &Path) {
    let is_private = |path: &Path| {
        let mode = fs::symlink_metadata(path).unwrap().permissions().mode();
        mode.trailing_zeros() >= 6
    };
    assert!(is_private(state));
    let files = find_below(state, |_| true);
    assert!(files.iter().any(|path| path.ends_with("pleach.db")));
    assert!(files.iter().any(|path| path.ends_with("agent.log")));
    for path in files {
        let bytes = fs::read(state.join(&path)).unwrap_or_default();
        check_clean(&path.display().to_string(), &bytes);
        // What git writes is behind a folder that is private.
        let is_gits = path.starts_with("stores") || path.starts_with("worktrees");
        assert!(
            is_gits || is_private(&state.join(&path)),
            "{}",
            path.display()
        );
    }
    for folder in ["stores", "batches"] {
        assert!(is_private(&state.join(folder)), "{folder}");
    }
}

#[test]
fn an_error_that_repeats_an_address_or_a_value_hides_it() {
    let cage = Cage::new();
    // One of its own: another test looks at the command lines of all processes meanwhile.
    let typed = "canary-6/Wq4@r1Hs8+bTfJ5";
    let words = ["run", "--yes", "--base", typed];
    let mut command = cage.command(&words);
    let answer: Answer = command.env("OTHER_TOKEN", typed).output().unwrap().into();
    let error = answer.bad(2);
    assert!(
        error.contains("[hidden:OTHER_TOKEN]") && !error.contains(typed),
        "{error}"
    );
    let address = format!("http://ann:{IN_ADDRESS}@127.0.0.1:9/none.git");
    let before = cage.forge.url(PROJECT);
    let before = before.replace("://", &format!("://ann:{IN_ADDRESS}@"));
    cage.set_address(&before, &address);
    let error = cage.pleach(&["run", "--yes", "--fetch"]).bad(3);
    check_clean("the error", error.as_bytes());
}
