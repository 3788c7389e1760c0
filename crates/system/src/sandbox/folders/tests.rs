//! Home folders of many kinds, and what of them is open.

use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A home folder, the state folder in it, and what an environment says.
struct Home {
    folder: TempDir,
    env: Vec<(OsString, OsString)>,
}

impl Home {
    /// A home folder with these folders; a name with a dot at its end is a file.
    fn with(places: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        for place in places.split(' ') {
            match place.strip_suffix("=") {
                Some(file) => fs::write(home.join(file), "").unwrap(),
                None => fs::create_dir_all(home.join(place)).unwrap(),
            }
        }
        let env = vec![("HOME".into(), home.into())];
        Self { folder, env }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.push((name.into(), value.into()));
    }

    fn user(&self, checkout: &[&str]) -> User<'_> {
        let checkout = checkout.iter().map(|place| self.path().join(place));
        let state = self.path().join(".local/state/pleach");
        User::at(&self.env, &state, checkout.collect())
    }

    /// What of the home folder is in a list, by its names there.
    fn named(&self, found: &[PathBuf]) -> String {
        let home = self.path();
        let mut names: Vec<&str> = found
            .iter()
            .filter_map(|path| path.strip_prefix(&home).ok()?.to_str())
            .collect();
        names.sort_unstable();
        names.join(" ")
    }

    #[track_caller]
    fn check_caches(&self, expected: &str) {
        assert_eq!(self.named(&self.user(&[]).caches()), expected);
    }
}

#[test]
fn folders_of_tools_are_open_and_files_keys_shells_and_autostart_are_not() {
    let home = Home::with(
        ".cargo .npm .cache/pip .claude .codex .ssh .gnupg .aws .kube .oh-my-zsh .bashrc= .netrc= .claude.json= \
         Documents bin",
    );
    home.check_caches(".cache .claude .codex .npm");
}

#[test]
fn folders_that_hold_something_closed_are_divided() {
    let home = Home::with(
        ".config/opencode .config/autostart .config/gh .config/mimeapps.list= .local/bin .local/lib \
         .local/share/opencode .local/share/keyrings .local/state/pleach/stores .local/state/goose",
    );
    home.check_caches(".config/opencode .local/share/opencode .local/state/goose");
}

#[test]
fn what_is_closed_stays_so_before_it_is_there() {
    let home = Home::with(".config/opencode .local/share/opencode");
    home.check_caches(".config/opencode .local/share/opencode");
}

#[test]
fn the_users_checkout_is_closed_wherever_it_lies() {
    let home = Home::with(".work/project/src .work/other .mine/.git");
    let user = home.user(&[".work/project", ".mine"]);
    assert_eq!(home.named(&user.caches()), ".work/other");
}

#[test]
fn a_link_opens_the_folder_it_leads_to_unless_something_closed_is_near() {
    let home = Home::with("big/cache .ssh Documents");
    for (name, target) in [
        (".cache", "big/cache"),
        (".up", "."),
        (".keys", ".ssh"),
        (".all", "/"),
    ] {
        symlink(home.path().join(target), home.path().join(name)).unwrap();
    }
    let found = home.user(&[]).caches();
    assert_eq!(home.named(&found), "big/cache");
    assert!(!found.contains(&PathBuf::from("/")), "{found:?}");
}

#[test]
fn folders_of_installed_tools_are_made_and_variables_say_where() {
    let mut home = Home::with("programs");
    let programs = home.path().join("programs");
    for name in ["cargo", "opencode", "go"] {
        fs::write(programs.join(name), "").unwrap();
    }
    home.set("PATH", programs);
    let elsewhere = home
        .folder
        .path()
        .canonicalize()
        .unwrap()
        .join("cold/cache");
    home.set("GOCACHE", &elsewhere);
    home.set("CLAUDE_CONFIG_DIR", home.path().join("claude/own"));
    let found = home.user(&[]).caches();
    assert_eq!(
        home.named(&found),
        ".cache .cargo/.global-cache .cargo/.package-cache .cargo/.package-cache-mutate .cargo/git .cargo/registry \
         .config/go/telemetry .config/opencode .local/share/opencode .local/state/opencode claude/own go/pkg"
    );
    assert!(found.contains(&elsewhere) && elsewhere.is_dir());
}

#[test]
fn a_variable_that_names_the_home_folder_opens_nothing() {
    let mut home = Home::with("Documents .cache");
    home.set("CARGO_HOME", home.path());
    home.set("GOCACHE", "/");
    home.check_caches(".cache");
}

#[test]
fn folders_of_xdg_follow_their_variables_and_so_does_what_is_closed_in_them() {
    let mut home = Home::with("conf/opencode conf/autostart conf/gh");
    home.set("XDG_CONFIG_HOME", home.path().join("conf"));
    home.check_caches("conf/opencode");
    let readable = home.user(&[]).readable();
    let reads = |place: &str| {
        let path = home.path().join(place);
        readable.iter().any(|open| path.starts_with(open))
    };
    assert!(reads("conf/autostart/x") && !reads("conf/gh/hosts.yml"));
}

#[test]
fn everything_is_read_but_keys_and_what_is_ours() {
    let home = Home::with(
        ".ssh .netrc= .bashrc= .config/gh .config/git .config/git/config= Documents .local/state/pleach/stores \
         .local/state/other",
    );
    symlink(home.path().join(".ssh"), home.path().join("keys")).unwrap();
    let readable = home.user(&[]).readable();
    let reads = |path: &Path| readable.iter().any(|open| path.starts_with(open));
    for place in [
        ".bashrc",
        ".config/git/config",
        "Documents/a",
        ".local/state/other",
    ] {
        assert!(reads(&home.path().join(place)), "{place}");
    }
    for place in [
        ".ssh/id",
        ".netrc",
        ".config/gh/hosts.yml",
        "keys",
        ".local/state/pleach/token",
    ] {
        assert!(!reads(&home.path().join(place)), "{place}");
    }
    for path in ["/usr/bin/env", "/proc/self/status", "/etc/passwd"] {
        assert!(
            reads(&Path::new(path).canonicalize().unwrap_or(path.into())),
            "{path}"
        );
    }
}

#[test]
fn devices_are_open_by_a_short_list() {
    let devices = devices();
    for name in ["null", "zero", "urandom"] {
        assert!(devices.contains(&Path::new("/dev").join(name)), "{name}");
    }
    for name in ["mem", "pts", "fuse", "uinput", "tty0"] {
        assert!(!devices.contains(&Path::new("/dev").join(name)), "{name}");
    }
    let places = ["/dev", "/dev/pts", "/dev/shm/x", "/devices", "/etc"];
    let left = without_devices(places.map(PathBuf::from).to_vec());
    assert_eq!(left, ["/dev/shm/x", "/devices", "/etc"].map(PathBuf::from));
}

#[test]
fn a_tool_has_its_folders_whatever_its_program_is_called() {
    let home = Home::with(".config");
    let found = |tool: Option<&str>| {
        let tool = tool.map(str::to_owned);
        let user = User {
            tool,
            ..home.user(&[])
        };
        home.named(&user.caches())
    };
    assert_eq!(found(None), "");
    assert!(!home.path().join(".codex").exists());
    assert!(found(Some("codex")).contains(".codex"));
    assert!(home.path().join(".codex").is_dir());
}

#[test]
fn what_is_on_the_path_and_what_links_there_lead_to_are_closed() {
    let mut home = Home::with(
        ".tools/bin .tools/cache .opt/lib/node_modules/x .opt/cache .py/tools/ruff/bin .py/cache .dotnet",
    );
    for (link, target) in [
        ("x", ".opt/lib/node_modules/x/cli.js"),
        ("ruff", ".py/tools/ruff/bin/ruff"),
    ] {
        fs::write(home.path().join(target), "").unwrap();
        let link = home.path().join(".tools/bin").join(link);
        symlink(home.path().join(target), link).unwrap();
    }
    let path = [".tools/bin", ".dotnet", ""].map(|folder| home.path().join(folder));
    home.set("PATH", std::env::join_paths(path).unwrap());
    home.check_caches(".opt/cache .py/cache .tools/cache");
}

#[test]
fn what_files_of_shells_name_is_closed_but_not_all_caches() {
    let home = Home::with(".mine/bin .mine/cache .cache/zsh .cargo/registry");
    let text = ". ~/.mine/env\nsource ~/.cache/zsh/dump\nPATH=$HOME/.mine/bin:$HOME/.cargo:$PATH\n";
    fs::write(home.path().join(".bashrc"), text).unwrap();
    home.check_caches(".cache .cargo/registry .mine/cache");
    let watched = home.user(&[]).watched();
    let caches = &watched[&home.path().join(".cache")].places;
    assert!(caches.contains(Path::new("zsh/dump")), "{caches:?}");
    assert!(caches.contains(Path::new("gitstatus")), "{caches:?}");
}

#[test]
fn stores_of_packages_are_closed_and_hidden_where_files_of_any_name_are_made() {
    let home = Home::with(".local/share/pnpm/store .cache/uv .cache/pip .bun/install/cache .other");
    let stores = [".local/share/pnpm/store", ".cache/uv", ".bun/install/cache"];
    let stores = stores.map(|place| home.path().join(place)).to_vec();
    let user = |means| home.user(&[]).closing(stores.clone(), means);
    let hiding = user(ClosingMethod::Hiding);
    assert_eq!(home.named(&hiding.caches()), ".cache .other");
    assert_eq!(home.named(&hiding.hidden()), ".cache/uv");
    let dividing = user(ClosingMethod::Dividing);
    assert_eq!(home.named(&dividing.caches()), ".cache/pip .other");
}

#[test]
fn files_of_shells_that_are_links_are_closed_with_the_repository_they_come_from() {
    let home = Home::with(".mine/dots/.git .mine/dots/bin .mine/cache .other/a .other/b .config");
    for (file, link) in [
        (".mine/dots/bashrc", ".bashrc"),
        (".other/a/gitconfig", ".gitconfig"),
        (".other/a/starship.toml", ".config/starship.toml"),
    ] {
        fs::write(home.path().join(file), "").unwrap();
        symlink(home.path().join(file), home.path().join(link)).unwrap();
    }
    home.check_caches(".mine/cache .other/b");
}

#[test]
fn a_python_environment_on_the_path_is_closed_with_what_it_loads() {
    let mut home = Home::with(".venvs/x/bin .venvs/x/lib .venvs/y .tool/bin .tool/lib");
    fs::write(home.path().join(".venvs/x/pyvenv.cfg"), "").unwrap();
    let path = [".venvs/x/bin", ".tool/bin"].map(|folder| home.path().join(folder));
    home.set("PATH", std::env::join_paths(path).unwrap());
    home.check_caches(".tool/lib .venvs/y");
}

#[test]
fn what_settings_of_git_and_variables_of_languages_name_is_closed() {
    let mut home = Home::with(".hooks .template .py .zdot/run .open .npm .cargo/registry");
    let text = "[core]\n\thooksPath = ~/.hooks\n[init]\n\ttemplateDir=\"~/.template\"\n[x]\n\ty = ~/.npm\n";
    fs::write(home.path().join(".gitconfig"), text).unwrap();
    fs::write(
        home.path().join(".zshrc"),
        "alias x=~/.zdot/run/x; ls ~/.cargo/registry\n",
    )
    .unwrap();
    home.set("PYTHONPATH", home.path().join(".py"));
    home.check_caches(".cargo/registry .npm .open");
}

#[test]
fn keys_are_closed_where_a_variable_says_that_they_are() {
    let mut home = Home::with(".a .b .secret .docker-mine .cache/x .vscode-server");
    for file in [
        ".a/k1",
        ".b/k2",
        ".secret/npmrc",
        ".vscode-server/.ab.token",
        ".cache/x/typed",
    ] {
        fs::write(home.path().join(file), "").unwrap();
    }
    let configs = [".a/k1", ".b/k2"].map(|file| home.path().join(file));
    home.set("KUBECONFIG", std::env::join_paths(configs).unwrap());
    home.set("npm_config_userconfig", home.path().join(".secret/npmrc"));
    home.set("PGPASSFILE", "/dev/null");
    home.set("DOCKER_CONFIG", home.path().join(".docker-mine"));
    home.set("HISTFILE", home.path().join(".cache/x/typed"));
    let user = home.user(&[]);
    let keys = user.keys();
    for key in [
        ".a/k1",
        ".b/k2",
        ".secret/npmrc",
        ".docker-mine",
        ".vscode-server/.ab.token",
    ] {
        assert!(keys.contains(&home.path().join(key)), "{key}");
    }
    assert!(!keys.contains(&PathBuf::from("/dev/null")));
    assert_eq!(home.named(&user.hidden()), ".cache/x/typed");
}

#[test]
fn settings_of_package_managers_are_keys_only_with_a_login_in_them() {
    let home = Home::with(".config/pip .nuget/NuGet .pip");
    let pip = home.path().join(".config/pip/pip.conf");
    fs::write(&pip, "index-url = https://ada:secret@pip.acme.com/simple").unwrap();
    let nuget = home.path().join(".nuget/NuGet/NuGet.Config");
    fs::write(&nuget, "<packageSources/>").unwrap();
    let user = home.user(&[]);
    assert!(user.keys().contains(&pip) && !user.keys().contains(&nuget));
}

#[test]
fn an_agent_reads_no_login_of_another() {
    let home = Home::with(".claude .codex .local/share/opencode");
    for file in [
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".local/share/opencode/auth.json",
    ] {
        fs::write(home.path().join(file), "").unwrap();
    }
    let hidden = |tool: Option<&str>| {
        let user = User {
            tool: tool.map(str::to_owned),
            ..home.user(&[])
        };
        home.named(&user.hidden())
    };
    assert_eq!(
        hidden(Some("codex")),
        ".claude/.credentials.json .local/share/opencode/auth.json"
    );
    assert_eq!(hidden(None), "");
}

#[test]
fn settings_of_agents_are_watched_where_a_variable_says_that_they_are() {
    let mut home = Home::with(".claude/projects/-mine .own");
    home.set("CLAUDE_CONFIG_DIR", home.path().join(".own"));
    let watched = home.user(&[]).watched();
    for folder in [".claude", ".own"] {
        let places = &watched[&home.path().join(folder)].places;
        assert!(places.contains(Path::new("settings.json")), "{folder}");
    }
    let memory = Path::new("projects/*/memory");
    assert!(
        watched[&home.path().join(".claude")]
            .places
            .contains(memory)
    );
}
