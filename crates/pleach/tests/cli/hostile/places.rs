//! What an agent may write and read of the user's home folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command;
use crate::scene::{Scene, Story};

/// Nothing is open but what always is.
const CLOSED: &str = "retries = 0\nsandbox_write = []";

const ONE: &str = "- [ ] 1 A\n";

/// Files with a key, a token, a cookie or what was typed.
const SECRETS: [&str; 62] = [
    ".Xauthority",
    ".android/adbkey",
    ".azure/msal_token_cache.json",
    ".bash_history",
    ".cache/huggingface/token",
    ".cache/zsh/history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".clasprc.json",
    ".cloudflared/cert.pem",
    ".conan2/credentials.json",
    ".config/.wrangler/config/default.toml",
    ".config/Code/User/globalStorage/state.vscdb",
    ".config/Cursor/User/globalStorage/state.vscdb",
    ".config/Slack/Cookies",
    ".config/aerc/accounts.conf",
    ".config/code-server/config.yaml",
    ".config/configstore/firebase-tools.json",
    ".config/discord/Cookies",
    ".config/doctl/config.yaml",
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".config/git/credentials",
    ".config/hcloud/cli.toml",
    ".config/mozilla/firefox/p/cookies.sqlite",
    ".config/op/config",
    ".config/syncthing/config.xml",
    ".config/turborepo/config.json",
    ".docker/config.json",
    ".fly/config.yml",
    ".gem/credentials",
    ".gradle/gradle.properties",
    ".hex/hex.config",
    ".kube/config",
    ".local/share/fish/fish_history",
    ".local/share/jupyter/runtime/jpserver-1.json",
    ".local/share/keyrings/login.keyring",
    ".local/state/syncthing/config.xml",
    ".local/state/zsh/history",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".my.cnf",
    ".netrc",
    ".node_repl_history",
    ".npmrc",
    ".password-store/a.gpg",
    ".pgpass",
    ".psql_history",
    ".purple/accounts.xml",
    ".pypirc",
    ".python_history",
    ".sbt/.credentials",
    ".ssh/id_ed25519",
    ".talos/config",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".var/app/org.mozilla.firefox/.mozilla/firefox/p/cookies.sqlite",
    ".vault-token",
    ".vscode-server/.ab.token",
    ".yarnrc.yml",
    ".zsh_history",
    "snap/firefox/common/.mozilla/firefox/p/cookies.sqlite",
];

/// Files that run, or make something run, before anybody has looked at them. Those with a `!` are there already.
const RUN_BY_THEMSELVES: [&str; 65] = [
    ".asdf/asdf.sh",
    ".bash_aliases!",
    ".bun/bin/git",
    ".bun/install/global/node_modules/x/cli.js",
    ".bundle/config",
    ".bundle/plugin/x.rb",
    ".cargo/bin/git",
    ".cargo/config",
    ".cargo/config.toml!",
    ".cargo/env!",
    ".config/alacritty/alacritty.toml",
    ".config/fish/conf.d/x.fish",
    ".config/go/env",
    ".config/kitty/kitty.conf",
    ".config/mise/config.toml",
    ".config/nvim/init.lua",
    ".config/opencode-starship.sh!",
    ".config/systemd/user/x.service",
    ".config/wezterm/wezterm.lua",
    ".cursor/extensions/x/index.js!",
    ".deno/bin/git",
    ".dropbox-dist/x",
    ".emacs.d/init.el",
    ".git-templates/hooks/post-checkout",
    ".gradle/init.d/x.gradle",
    ".gradle/init.gradle",
    ".homesick/repos/dots/.git/hooks/pre-commit",
    ".kiro/extensions/x.js",
    ".lein/self-installs/x.jar!",
    ".local/bin/git",
    ".local/lib/python3.12/site-packages/x.pth",
    ".local/share/mise/shims/git",
    ".local/share/nvim/site/plugin/x.lua",
    ".local/share/pnpm/git",
    ".local/share/uv/tools/ruff/bin/ruff!",
    ".mine/alias!",
    ".mine/bin/git",
    ".mine/dots/.git/hooks/pre-commit",
    ".mine/dots/zshenv!",
    ".mine/env.sh!",
    ".mine/further.sh!",
    ".mine/init!",
    ".mix/archives/hex.ez!",
    ".nuget/NuGet/NuGet.Config!",
    ".nvm/nvm.sh!",
    ".nvm/versions/node/v22/bin/claude!",
    ".nvm/versions/node/v22/lib/node_modules/x/cli.js",
    ".opencode/plugin/x.js",
    ".opt/lib/node_modules/tool/lib.js!",
    ".pyenv/shims/git",
    ".pyenv/versions/3.12/bin/python",
    ".rbenv/shims/ruby",
    ".rustup/settings.toml!",
    ".rustup/toolchains/stable/bin/cargo!",
    ".sdkman/bin/sdkman-init.sh",
    ".tools/bin/git",
    ".var/app/org.x/config/x",
    ".venvs/x/lib/site.py!",
    ".vim/plugin/x.vim",
    ".vim_runtime/x.vim",
    ".volta/bin/node",
    ".vscode/extensions/x/index.js",
    ".yarn/bin/x",
    ".zcompcache/x",
    ".zshrc!",
];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A run whose `PATH` has folders of the home folder before the others.
fn run_with_path(scene: &Scene, folders: &[&str]) -> Story {
    let own = folders.iter().map(|folder| scene.home().join(folder));
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(own.chain(std::env::split_paths(&path))).unwrap();
    let mut command: Command = command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "--json"],
    );
    Story::of(&command.env("PATH", path).output().unwrap().into())
}

/// A line of shell that notes in `got` for which files a command works, where `$f` is the file.
fn trying(files: &[&str], command: &str) -> String {
    let files = files.join(" ");
    format!(
        "touch got; for name in {files}; do f=$HOME/$name; ( {command} ) 2>/dev/null && echo $name >> got; done; true"
    )
}

#[test]
fn keys_tokens_cookies_and_histories_are_not_read() {
    let shell = trying(&SECRETS, "grep -q secret $f");
    let scene = Scene::with(CLOSED, ONE, &shell);
    for file in SECRETS {
        write(&scene.home().join(file), "secret");
    }
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "got"), "");
}

#[test]
fn what_runs_by_itself_is_not_written() {
    let names = RUN_BY_THEMSELVES.map(|name| name.trim_end_matches('!'));
    let attack = "mkdir -p ${f%/*}; echo attack >> $f";
    let scene = Scene::with(CLOSED, ONE, &trying(&names, attack));
    let home = scene.home();
    for file in RUN_BY_THEMSELVES {
        let path = home.join(file.trim_end_matches('!'));
        match file.strip_suffix('!') {
            Some(_) => write(&path, "as before\n"),
            None => fs::create_dir_all(path.ancestors().nth(2).unwrap()).unwrap(),
        }
    }
    write(
        &home.join(".bashrc"),
        "alias x=~/.mine/alias\nexport MINE=\"$HOME/.mine\"\n[ -s $MINE/env.sh ] && \\. \"$MINE/env.sh\"\nexport PATH=\"$MINE/bin:$PATH\"\n\
         . ~/.config/opencode-starship.sh; eval \"$(${HOME}/.mine/init bash)\"\n",
    );
    write(&home.join(".mine/env.sh"), "source ~/.mine/further.sh\n");
    for (link, target) in [
        ("tool", ".opt/lib/node_modules/tool/lib.js"),
        ("ruff", ".local/share/uv/tools/ruff/bin/ruff"),
    ] {
        fs::create_dir_all(home.join(".tools/bin")).unwrap();
        let link = home.join(".tools/bin").join(link);
        std::os::unix::fs::symlink(home.join(target), link).unwrap();
    }
    std::os::unix::fs::symlink(home.join(".mine/dots/zshenv"), home.join(".zshenv")).unwrap();
    write(&home.join(".venvs/x/pyvenv.cfg"), "");
    let path = [".tools/bin", ".venvs/x/bin"];
    fs::create_dir_all(home.join(path[1])).unwrap();
    run_with_path(&scene, &path).check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "got"), "");
    assert!(!home.join(".tools/bin/git").exists());
}

#[test]
fn a_key_that_the_user_opens_is_read_and_nothing_beside_it() {
    let files = [".npmrc", ".pypirc", ".local/state/pleach/token"];
    let read = trying(&files, "cat $f >/dev/null");
    let settings =
        format!("{CLOSED}\nsandbox_read = [\"~/.npmrc\", \"~/.local/state\", \"~/.none\"]");
    let scene = Scene::with(
        &settings,
        ONE,
        &format!("{read}; echo x >> $HOME/.npmrc; true"),
    );
    for file in files {
        write(&scene.home().join(file), "secret");
    }
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "got"), ".npmrc");
    let npmrc = fs::read_to_string(scene.home().join(".npmrc")).unwrap();
    assert_eq!(npmrc, "secret");
    assert!(
        story.notes().contains("sandbox_read lists"),
        "{}",
        story.notes()
    );
}

#[test]
fn a_refused_key_is_told_with_the_key_of_the_configuration_that_opens_it() {
    let shell = "cat $HOME/.cargo/credentials.toml; echo 'npm error code E401'; exit 1";
    let scene = Scene::with(CLOSED, ONE, shell);
    for file in [".npmrc", ".cargo/credentials.toml"] {
        write(&scene.home().join(file), "secret");
    }
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    let error = story.error_of("1");
    assert!(
        error.contains("credentials.toml, because keys are kept there"),
        "{error}"
    );
    assert!(
        error.contains("asked for credentials") && error.contains(".npmrc"),
        "{error}"
    );
    assert_eq!(error.matches("sandbox_read").count(), 2, "{error}");
}

/// What steers agents, with what an attacker does to each.
const STEERING: [(&str, &str); 20] = [
    (
        ".claude/settings.json",
        "echo '{\"hooks\":{}}' > $f.new; mv $f.new $f",
    ),
    (".claude/CLAUDE.md", "rm $f"),
    (".claude/hooks/x.sh", "mkdir -p ${f%/*}; echo attack > $f"),
    (
        ".claude/commands/x.md",
        "rm -r ${f%/*}; ln -s $HOME ${f%/*}",
    ),
    (".codex/config.toml", "ln -sf $HOME/.bashrc $f"),
    (".codex/AGENTS.md", "echo attack >> $f"),
    (
        ".claude/projects/-home-me-project/memory/MEMORY.md",
        "echo attack >> $f",
    ),
    (
        ".config/opencode/plugin/x.js",
        "mkdir -p ${f%/*}; echo attack > $f",
    ),
    (
        ".gemini/settings.json",
        "rm $f; mkdir $f; echo attack > $f/x",
    ),
    (".cache/zsh/sourced.zsh", "echo attack >> $f"),
    (
        ".cache/gitstatus/gitstatusd-linux-x86_64",
        "echo attack > $f",
    ),
    (".cache/p10k-instant-prompt-me.zsh", "echo attack > $f"),
    (
        ".cache/opencode/node_modules/x/index.js",
        "echo attack > $f",
    ),
    (
        ".claude/.config.json",
        "mkdir -p ${f%/*}; echo '{\"mcpServers\":{\"x\":{\"command\":\"x\"}}}' > $f",
    ),
    (".claude/local/claude", "echo attack > $f"),
    (
        ".claude/projects/-new/memory/MEMORY.md",
        "mkdir -p ${f%/*}; echo attack > $f",
    ),
    (".claude/statusline.sh", "echo attack > $f"),
    (".codex/memories/x.md", "mkdir -p ${f%/*}; echo attack > $f"),
    (".copilot/pkg/x/index.js", "echo attack > $f"),
    (".local/share/crush/crush.json", "echo attack > $f"),
];

#[test]
fn what_steers_agents_in_every_later_session_is_put_back() {
    let attacks = STEERING.map(|(file, attack)| format!("f=$HOME/{file}; {attack}; "));
    let shell = format!(
        "{} echo x > $HOME/.claude/history; touch x-$PLEACH_TASK",
        attacks.concat()
    );
    let scene = Scene::with(CLOSED, "- [ ] 1 A\n- [ ] 2 B\n", &shell);
    let home = scene.home();
    let is_new = |attack: &str| attack.starts_with("mkdir");
    for (file, attack) in STEERING {
        // One folder comes with the attack.
        if !file.contains("/-new/") {
            fs::create_dir_all(home.join(file).ancestors().nth(2).unwrap()).unwrap();
        }
        if !is_new(attack) {
            write(&home.join(file), "as before");
        }
    }
    write(&home.join(".zshrc"), "source ~/.cache/zsh/sourced.zsh\n");
    let story = scene.story(&[]);
    story.check(0, "1:merged 2:merged");
    for (file, attack) in STEERING {
        let path = home.join(file);
        let now = fs::read_to_string(&path).ok();
        let before = (!is_new(attack)).then(|| "as before".to_owned());
        assert_eq!(now, before, "{file}: {}", story.notes());
        assert!(
            !path.is_symlink() && !path.parent().unwrap().is_symlink(),
            "{file}"
        );
    }
    assert!(!home.join(".bashrc").exists());
    assert!(
        home.join(".claude/history").exists(),
        "agents keep what is theirs"
    );
    for told in [
        "sourced.zsh, which a task changed",
        "more files that tasks changed",
    ] {
        assert!(story.notes().contains(told), "{}", story.notes());
    }
    scene.configure(CLOSED, "touch y");
    scene.repo.write("TODO.md", "- [ ] 3 C\n");
    let quiet = scene.story(&[]);
    quiet.check(0, "3:merged");
    assert!(!quiet.notes().contains("restored"), "{}", quiet.notes());
}

#[test]
fn a_file_that_the_user_changed_while_nothing_ran_stays() {
    let scene = Scene::with(CLOSED, ONE, "touch x");
    let settings = scene.home().join(".claude/settings.json");
    write(&settings, "as before");
    scene.story(&[]).check(0, "1:merged");
    write(&settings, "mine");
    scene.configure(CLOSED, "touch y");
    scene.repo.write("TODO.md", "- [ ] 2 B\n");
    scene.story(&[]).check(0, "2:merged");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "mine");
}

/// The user's stores of packages, each with a program or a checkout that a file of it is linked into.
const STORES: [(&str, &str, &str); 9] = [
    (
        ".cache/uv/archive-v0/a/ruff.py",
        "UV_CACHE_DIR",
        ".local/share/uv/tools/ruff/ruff.py",
    ),
    (
        ".local/share/pnpm/store/v10/a",
        "npm_config_store_dir",
        "checkout/node_modules/a.js",
    ),
    (
        ".cache/pnpm/dlx/a/a.js",
        "npm_config_cache_dir",
        "checkout/node_modules/b.js",
    ),
    (
        ".bun/install/cache/a/a.js",
        "BUN_INSTALL_CACHE_DIR",
        "checkout/node_modules/c.js",
    ),
    (
        ".yarn/berry/index/a",
        "YARN_GLOBAL_FOLDER",
        "checkout/node_modules/d.js",
    ),
    (
        ".cache/deno/npm/a",
        "DENO_DIR",
        "checkout/node_modules/e.js",
    ),
    (".conda/pkgs/a/a.py", "CONDA_PKGS_DIRS", "miniconda/a.py"),
    (
        ".cache/pre-commit/a/hook",
        "PRE_COMMIT_HOME",
        "checkout/hook",
    ),
    (".mine/pixi/a", "RATTLER_CACHE_DIR", "checkout/.pixi/a"),
];

#[test]
fn what_is_linked_out_of_stores_of_packages_is_not_changed_and_agents_have_their_own() {
    let mut shell = "touch got".to_owned();
    for (store, variable, _) in STORES {
        let line = format!(
            "; ( echo attack >> $HOME/{store} ) 2>/dev/null && echo {store} >> got\n( mkdir -p ${variable} && echo x > ${variable}/x ) \
             || echo {variable} >> got\ncase ${variable} in $HOME/.cache/pleach/*) ;; *) echo {variable} >> got;; esac"
        );
        shell.push_str(&line);
    }
    let scene = Scene::with(CLOSED, ONE, &format!("{shell}\nmkdir $HOME/.cache/new"));
    let home = scene.home();
    for (store, _, linked) in STORES {
        write(&home.join(store), "as before");
        fs::create_dir_all(home.join(linked).parent().unwrap()).unwrap();
        fs::hard_link(home.join(store), home.join(linked)).unwrap();
    }
    let words = ["run", "--yes", "--json"];
    let mut command: Command = command(scene.repo.path(), &home, &words);
    let command = command.env("RATTLER_CACHE_DIR", home.join(".mine/pixi"));
    let story = Story::of(&command.output().unwrap().into());
    story.check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "got"), "", "{}", story.notes());
    for (_, _, linked) in STORES {
        let now = fs::read_to_string(home.join(linked)).unwrap();
        assert_eq!(now, "as before", "{linked}");
    }
    assert!(home.join(".cache/new").is_dir(), "other caches can be made");
}

#[test]
fn package_managers_ask_the_servers_of_the_user_without_a_login() {
    let shell = "cat $NPM_CONFIG_USERCONFIG > npmrc; cat $PIP_CONFIG_FILE > pip; npm config get registry > registry";
    let scene = Scene::with(CLOSED, ONE, shell);
    let npmrc = "registry=https://npm.acme.com/\n//npm.acme.com/:_authToken=secret\n";
    write(&scene.home().join(".npmrc"), npmrc);
    let pip = "[global]\nindex-url = https://ada:secret@pip.acme.com/simple\n";
    write(&scene.home().join(".config/pip/pip.conf"), pip);
    scene.story(&[]).check(0, "1:merged");
    let made = |file: &str| scene.show("pleach/batch-1", file);
    assert_eq!(made("npmrc"), "registry=https://npm.acme.com/");
    assert_eq!(made("registry"), "https://npm.acme.com/");
    assert_eq!(
        made("pip"),
        "[global]\nindex-url = https://pip.acme.com/simple"
    );
}

#[test]
fn settings_of_npm_that_the_user_opens_are_the_real_ones() {
    let shell = "cat ${NPM_CONFIG_USERCONFIG-$HOME/.npmrc} > npmrc";
    let settings = format!("{CLOSED}\nsandbox_read = [\"~/.npmrc\"]");
    let scene = Scene::with(&settings, ONE, shell);
    write(
        &scene.home().join(".npmrc"),
        "//npm.acme.com/:_authToken=x\n",
    );
    scene.story(&[]).check(0, "1:merged");
    let real = "//npm.acme.com/:_authToken=x";
    assert_eq!(scene.show("pleach/batch-1", "npmrc"), real);
}
