//! `pleach run --fetch`, and projects that are an address: logins over real HTTP.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use pleach_git::git::{Git, LoginProblem, Logins, Store, StoreError};
use pleach_testkit::{Access, GitServer, TestRepo};

use crate::run::Scene;
use crate::{Answer, command};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pleach");

/// A project whose origin is a server that is one commit ahead of it.
struct Served {
    scene: Scene,
    server: GitServer,
    password: String,
}

/// A password that no other test puts on a command line.
fn new_password() -> String {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let number = MADE.fetch_add(1, Ordering::SeqCst);
    format!("t0p-s3cret-{}-{number}-", std::process::id())
}

impl Served {
    fn open() -> Self {
        Self::new(new_password(), |_| Access::Open)
    }

    fn locked() -> Self {
        Self::new(new_password(), Access::Password)
    }

    fn new(password: String, access: impl Fn(String) -> Access) -> Self {
        let scene = Scene::new("- [ ] 1.1 A\n", "cp news seen");
        let repo = &scene.repo;
        let old = repo.head();
        repo.write("news", "fresh\n");
        repo.commit("news");
        let up = repo.beside("served/up.git");
        let from = repo.path().to_str().unwrap();
        repo.git(&["clone", "--quiet", "--bare", from, up.to_str().unwrap()]);
        repo.git(&["reset", "--quiet", "--hard", &old]);
        let server = GitServer::start(&repo.beside("served"), access(password.clone()), &password);
        repo.git(&["remote", "add", "origin", &server.url("up.git")]);
        repo.git(&["update-ref", "refs/remotes/origin/main", &old]);
        repo.git(&["branch", "--quiet", "--set-upstream-to=origin/main"]);
        Self {
            scene,
            server,
            password,
        }
    }

    fn command(&self) -> Command {
        let words = ["run", "--yes", "--fetch"];
        command(self.scene.repo.path(), &self.scene.home(), &words)
    }

    fn run(&self, variables: &[(&str, &str)]) -> Answer {
        let variables = variables.iter().copied();
        let mut command = self.command();
        command.env("PLEACH_GIT_HOST", self.server.host());
        let answer: Answer = command.envs(variables).output().unwrap().into();
        assert!(!answer.out.contains(&self.password) && !answer.err.contains(&self.password));
        answer
    }

    /// A run that got in, started from what is on the server and left no trace of the password.
    #[track_caller]
    fn check_good(&self, answer: Answer) {
        answer.good();
        assert_eq!(self.scene.show("pleach/batch-1", "seen"), "fresh");
        self.check_secret();
    }

    #[track_caller]
    fn check_secret(&self) {
        for request in self.server.requests() {
            assert!(!request.is_password_in_argv, "{request:?}");
            assert!(!request.target.contains(&self.password), "{request:?}");
        }
        check_nowhere(&self.scene.home().join(".local"), &self.password);
        check_nowhere(&self.scene.repo.path().join(".git/refs"), &self.password);
    }
}

#[track_caller]
fn check_nowhere(folder: &Path, password: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            check_nowhere(&path, password);
        } else {
            let text = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains(password), "it is in {}", path.display());
        }
    }
}

/// Written by another process, because a file that this one had open could still be open in a child.
fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let write = "printf '%s' \"$1\" > \"$0\"; chmod +x \"$0\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", write]).arg(path).arg(text);
    assert!(shell.status().unwrap().success());
}

fn path_with(folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap();
    format!("{}:{path}", folder.display())
}

#[test]
fn without_fetch_no_server_is_asked() {
    let served = Served::locked();
    let answer = served.scene.run(&[]);
    assert_eq!(answer.code, 1, "the news are not here: {}", answer.out);
    assert_eq!(served.server.requests().len(), 0);
}

#[test]
fn an_open_server_needs_no_login() {
    let served = Served::open();
    let before = served.scene.repo.git(&["for-each-ref", "refs/remotes"]);
    let answer = served.run(&[]);
    served.check_good(answer);
    let after = served.scene.repo.git(&["for-each-ref", "refs/remotes"]);
    assert_eq!(after, before, "the user's own refs stay");
}

#[test]
fn a_missing_login_is_an_error_that_says_what_to_set() {
    let served = Served::locked();
    let told = served.run(&[]).bad(3);
    let host = served.server.host();
    assert!(told.contains(&format!("{host} requires a login")), "{told}");
    for word in ["PLEACH_GIT_TOKEN", "gh auth login", "credential helper"] {
        assert!(told.contains(word), "{told}");
    }
}

#[test]
fn a_wrong_token_is_an_error_that_says_where_it_is_from() {
    let served = Served::locked();
    let told = served.run(&[("PLEACH_GIT_TOKEN", "wr0ng")]).bad(3);
    assert!(
        told.contains("did not accept the login from PLEACH_GIT_TOKEN"),
        "{told}"
    );
    assert!(!told.contains("wr0ng"), "{told}");
}

#[test]
fn a_token_in_the_environment_lets_in_and_is_written_nowhere() {
    let served = Served::locked();
    let password = served.password.as_str();
    let answer = served.run(&[("PLEACH_GIT_TOKEN", password)]);
    served.check_good(answer);
    let requests = served.server.requests();
    let login = format!("x-access-token:{password}");
    assert!(
        requests
            .iter()
            .any(|asked| asked.login.as_ref() == Some(&login))
    );
    let first = &requests[0];
    assert_eq!(first.login, None, "nothing is sent before it is asked for");
}

#[test]
fn a_token_for_another_server_is_not_sent() {
    let served = Served::locked();
    let password = served.password.as_str();
    let others = [
        ("PLEACH_GIT_TOKEN", password),
        ("PLEACH_GIT_HOST", "git.example.com"),
        ("GH_TOKEN", password),
        ("GITLAB_TOKEN", password),
    ];
    let told = served.run(&others).bad(3);
    assert!(told.contains("requires a login"), "{told}");
    assert!(
        served
            .server
            .requests()
            .iter()
            .all(|asked| asked.login.is_none())
    );
}

#[test]
fn the_users_own_credential_helper_lets_in() {
    let served = Served::locked();
    let password = served.password.as_str();
    let home = served.scene.home();
    let helper = served.scene.repo.beside("bin/helper");
    let text =
        format!("#!/bin/sh\n[ \"$1\" = get ] && printf 'username=ann\\npassword={password}\\n'\n");
    script(&helper, &text);
    fs::create_dir_all(&home).unwrap();
    let config = format!("[credential]\n\thelper = {}\n", helper.display());
    fs::write(home.join(".gitconfig"), config).unwrap();
    let answer = served.run(&[]);
    served.check_good(answer);
}

#[test]
fn a_token_comes_before_the_users_helpers_which_are_not_even_asked() {
    let served = Served::locked();
    let repo = &served.scene.repo;
    let (helper, asked) = (repo.beside("bin/helper"), repo.beside("asked"));
    let text = format!("#!/bin/sh\necho \"$1\" >> '{}'\n", asked.display());
    script(&helper, &text);
    repo.git(&["config", "credential.helper", helper.to_str().unwrap()]);
    let answer = served.run(&[("PLEACH_GIT_TOKEN", &served.password)]);
    served.check_good(answer);
    assert!(!asked.exists());
}

#[test]
fn a_credential_helper_of_the_repository_lets_in() {
    let served = Served::locked();
    let password = served.password.as_str();
    let helper = served.scene.repo.beside("bin/helper");
    let text =
        format!("#!/bin/sh\n[ \"$1\" = get ] && printf 'username=ann\\npassword={password}\\n'\n");
    script(&helper, &text);
    let helper = helper.to_str().unwrap();
    served
        .scene
        .repo
        .git(&["config", "credential.helper", helper]);
    let answer = served.run(&[]);
    served.check_good(answer);
}

#[test]
fn the_tool_of_the_forge_lets_in_and_gets_no_other_token() {
    let served = Served::locked();
    let password = served.password.as_str();
    let tools = served.scene.repo.beside("tools");
    let text = format!(
        "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'auth token --hostname {}' ] || exit 1\n\
         printf '%s\\n' \"${{GH_TOKEN:-{password}}}\"\n",
        served.server.host()
    );
    script(&tools.join("gh"), &text);
    let path = path_with(&tools);
    let answer = served.run(&[("PATH", &path), ("GH_TOKEN", "of-github-com")]);
    served.check_good(answer);
}

#[test]
fn a_login_in_the_address_is_used_and_not_kept() {
    let served = Served::locked();
    let password = served.password.as_str();
    let host = served.server.host();
    let url = format!("http://ann:{password}@{host}/up.git");
    served
        .scene
        .repo
        .git(&["remote", "set-url", "origin", &url]);
    let answer = served.run(&[]);
    served.check_good(answer);
    let login = format!("ann:{password}");
    let requests = served.server.requests();
    assert!(
        requests
            .iter()
            .any(|asked| asked.login.as_ref() == Some(&login))
    );
}

#[test]
fn a_short_name_that_the_user_configured_leads_to_the_server_and_its_token() {
    let served = Served::locked();
    let repo = &served.scene.repo;
    let key = format!("url.{}.insteadOf", served.server.url(""));
    repo.git(&["config", &key, "short:"]);
    repo.git(&["remote", "set-url", "origin", "short:up.git"]);
    let answer = served.run(&[("PLEACH_GIT_TOKEN", &served.password)]);
    served.check_good(answer);
}

#[test]
fn a_server_that_sends_git_elsewhere_does_not_learn_the_token() {
    let served = Served::locked();
    let password = served.password.as_str();
    let elsewhere = format!("http://{}", served.server.host());
    let folder = served.scene.repo.beside("served");
    let sender = GitServer::start(&folder, Access::SentOnTo(elsewhere), password);
    let repo = &served.scene.repo;
    repo.git(&["remote", "set-url", "origin", &sender.url("up.git")]);
    let login = [
        ("PLEACH_GIT_TOKEN", password),
        ("PLEACH_GIT_HOST", &sender.host()),
    ];
    let told = served.run(&login).bad(3);
    assert!(told.contains("is not the server of the address"), "{told}");
    assert!(!sender.requests().is_empty() && !served.server.requests().is_empty());
    for asked in sender.requests().iter().chain(&served.server.requests()) {
        assert_eq!(asked.login, None, "{asked:?}");
    }
}

#[test]
fn a_server_that_took_the_token_cannot_pass_it_on() {
    let served = Served::locked();
    let password = served.password.as_str();
    let elsewhere = format!("http://{}", served.server.host());
    let folder = served.scene.repo.beside("served");
    let access = Access::PasswordThenSentOnTo(password.into(), elsewhere);
    let sender = GitServer::start(&folder, access, password);
    let repo = &served.scene.repo;
    repo.git(&["remote", "set-url", "origin", &sender.url("up.git")]);
    let login = [
        ("PLEACH_GIT_TOKEN", password),
        ("PLEACH_GIT_HOST", &sender.host()),
    ];
    served.run(&login).bad(3);
    assert!(sender.requests().iter().any(|asked| asked.login.is_some()));
    for asked in served.server.requests() {
        assert_eq!(asked.login, None, "{asked:?}");
    }
}

/// An ssh that notes its words and stays on this machine.
fn pretend_ssh(served: &Served, ending: &str) -> (String, PathBuf) {
    let repo = &served.scene.repo;
    let (tools, log) = (repo.beside("tools"), repo.beside("ssh.log"));
    let text = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\nfor last; do :; done\n{ending}\n",
        log.display()
    );
    script(&tools.join("ssh"), &text);
    let up = repo.beside("served/up.git");
    let url = format!("ssh://git@forge.example{}", up.display());
    repo.git(&["remote", "set-url", "origin", &url]);
    (path_with(&tools), log)
}

#[test]
fn ssh_is_run_as_the_user_wants_and_asks_nothing() {
    let served = Served::open();
    let (path, log) = pretend_ssh(&served, "exec sh -c \"$last\"");
    let run = |variables: &[(&str, &str)]| {
        served.scene.repo.write("TODO.md", "- [ ] 1.1 A\n");
        served.run(variables).good();
    };
    run(&[("PATH", &path)]);
    let config = served.scene.home().join(".gitconfig");
    fs::write(config, "[core]\n\tsshCommand = ssh -i of-home\n").unwrap();
    run(&[("PATH", &path)]);
    let set = ["config", "core.sshCommand", "ssh -i of-repo"];
    served.scene.repo.git(&set);
    run(&[("PATH", &path)]);
    run(&[("PATH", &path), ("GIT_SSH_COMMAND", "ssh -i of-shell")]);
    let log = fs::read_to_string(log).unwrap();
    // With -G it tells what is configured, and connects to nobody.
    for line in log.lines().filter(|line| !line.starts_with("-G ")) {
        assert!(line.contains("-oBatchMode=yes"), "{line}");
    }
    for way in ["", "-i of-home ", "-i of-repo ", "-i of-shell "] {
        let begins = format!("{way}-oBatchMode=yes");
        assert!(log.lines().any(|line| line.starts_with(&begins)), "{log}");
    }
}

#[test]
fn an_ssh_that_gets_nowhere_is_an_error_with_a_hint() {
    let served = Served::open();
    let (path, _) = pretend_ssh(&served, "exit 255");
    let told = served.run(&[("PATH", &path)]).bad(3);
    assert!(
        told.contains("could not fetch from ssh://git@forge.example"),
        "{told}"
    );
    assert!(told.contains("your key is loaded"), "{told}");
}

fn logins(variables: &[(&str, &str)]) -> Logins {
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Logins::new(Path::new(PROGRAM), variables)
}

fn open_url(repo: &TestRepo, address: &str, logins: &Logins) -> Result<Store, StoreError> {
    let stores: PathBuf = repo.beside("stores");
    Store::open_url(Git::find().unwrap(), &stores, address, logins)
}

#[test]
fn a_project_behind_a_login_can_be_cloned_by_its_address() {
    let served = Served::locked();
    let password = served.password.as_str();
    let (repo, url) = (&served.scene.repo, served.server.url("up.git"));
    let open = |logins: &Logins| open_url(repo, &url, logins);
    let error = open(&logins(&[])).unwrap_err();
    assert!(
        matches!(&error, StoreError::Login { problem: LoginProblem::Missing, host } if *host == served.server.host()),
        "{error}"
    );
    let host = served.server.host();
    let token = |token| logins(&[("PLEACH_GIT_TOKEN", token), ("PLEACH_GIT_HOST", &host)]);
    let error = open(&token("wr0ng")).unwrap_err();
    let problem = LoginProblem::Rejected {
        from: Some("PLEACH_GIT_TOKEN".into()),
    };
    assert!(matches!(&error, StoreError::Login { problem: found, .. } if *found == problem));
    let store = open(&token(password)).unwrap();
    let base = store.resolve_base(None).unwrap();
    let news = store.read_file_at(&base, "news").unwrap();
    assert_eq!(news.as_deref(), Some(&b"fresh\n"[..]));
    let with_login = url.replace("http://", &format!("http://ann:{password}@"));
    let same = open_url(repo, &with_login, &logins(&[])).unwrap();
    assert_eq!(same.home(), store.home(), "a login makes no other project");
    check_nowhere(&repo.beside("stores"), password);
    let printed = format!("{same:?}");
    assert!(!printed.contains(password), "{printed}");
}

#[test]
fn a_server_that_is_not_there_is_told_apart_from_a_login() {
    let served = Served::open();
    let password = served.password.clone();
    let repo = &served.scene.repo;
    let missing = served.server.url("missing.git");
    let error = open_url(repo, &missing, &logins(&[])).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    let host = served.server.host();
    drop(served.server);
    let gone = format!("http://ann:{password}@{host}/up.git");
    let error = open_url(repo, &gone, &logins(&[])).unwrap_err();
    let told = format!("{error} {error:?} {}", error.hint().unwrap());
    assert!(
        told.contains(&host) && !told.contains(password.as_str()),
        "{told}"
    );
}
