//! Finds out how a project is tested and prepared, and which agents are installed, by looking at files.
//!
//! Runs nothing and writes nothing.

use std::fs;
use std::path::Path;

use pleach_system::files::regular_file::read_settings;

/// A command that a project seems to want, and what tells so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetectedCommand {
    pub command: String,
    pub because: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Ways to test it, the likeliest first.
    pub tests: Vec<DetectedCommand>,
    /// Ways to prepare a fresh checkout, the likeliest first.
    pub setups: Vec<DetectedCommand>,
}

impl Commands {
    fn test(&mut self, command: &str, because: &str) {
        self.tests.push(DetectedCommand {
            command: command.to_owned(),
            because: because.to_owned(),
        });
    }

    fn setup(&mut self, command: &str, because: &str) {
        self.setups.push(DetectedCommand {
            command: command.to_owned(),
            because: because.to_owned(),
        });
    }
}

/// How the project in a folder seems to be tested and prepared.
pub(crate) fn commands(folder: &Path) -> Commands {
    let project = ProjectFiles(folder);
    let mut found = Commands::default();
    if project.has("Cargo.toml") {
        found.test("cargo test", "Cargo.toml");
    }
    project.node(&mut found);
    project.python(&mut found);
    if project.has("go.mod") {
        found.test("go test ./...", "go.mod");
    }
    project.jvm(&mut found);
    project.others(&mut found);
    for (file, program) in [("Makefile", "make"), ("justfile", "just")] {
        if project.has_target(file) {
            found.test(&format!("{program} test"), file);
        }
    }
    found
}

struct ProjectFiles<'a>(&'a Path);

impl ProjectFiles<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.join(name).is_file()
    }

    fn first(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has(name))
    }

    fn text(&self, name: &str) -> String {
        read_settings(&self.0.join(name)).unwrap_or_default()
    }

    /// Whether a file has a rule `test:`, also one with conditions.
    fn has_target(&self, name: &str) -> bool {
        let text = self.text(name);
        let mut lines = text.lines();
        lines.any(|line| {
            let rest = line.strip_prefix("test").map(str::trim_start);
            rest.is_some_and(|rest| rest.starts_with(':') && !rest.starts_with(":="))
        })
    }

    /// By the lock file, which says who installs.
    fn node(&self, found: &mut Commands) {
        let manifest: serde_json::Value =
            serde_json::from_str(&self.text("package.json")).unwrap_or_default();
        if manifest.is_object() {
            let old_yarn = !self.has(".yarnrc.yml");
            let locks = [
                (
                    "pnpm-lock.yaml",
                    "pnpm test",
                    "pnpm install --frozen-lockfile",
                ),
                (
                    "yarn.lock",
                    "yarn test",
                    if old_yarn {
                        "yarn install --frozen-lockfile"
                    } else {
                        "yarn install --immutable"
                    },
                ),
                ("bun.lock", "bun run test", "bun install --frozen-lockfile"),
                ("bun.lockb", "bun run test", "bun install --frozen-lockfile"),
                ("package-lock.json", "npm test", "npm ci"),
            ];
            let lock = locks.into_iter().find(|(lock, ..)| self.has(lock));
            let (because, test, setup) =
                lock.unwrap_or(("package.json", "npm test", "npm install"));
            let script = manifest["scripts"]["test"].as_str();
            // What `npm init` writes is no test.
            if script.is_some_and(|script| !script.contains("no test specified")) {
                found.test(test, "package.json");
            }
            let needs = ["dependencies", "devDependencies"];
            if lock.is_some() || needs.iter().any(|key| manifest[key].is_object()) {
                found.setup(setup, because);
            }
        }
        if let Some(file) = self.first(&["deno.json", "deno.jsonc"]) {
            found.test("deno test", file);
        }
    }

    fn python(&self, found: &mut Commands) {
        let names = [
            "pytest.ini",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
            "setup.py",
        ];
        let Some(file) = self.first(&names) else {
            return;
        };
        let uses_pytest = self.has("pytest.ini")
            || self.has("conftest.py")
            || self.has("tests/conftest.py")
            || names.iter().any(|name| self.text(name).contains("pytest"));
        let (runner, setup) = match self.first(&["uv.lock", "poetry.lock", "pdm.lock"]) {
            Some("uv.lock") => ("uv run ", Some(("uv sync", "uv.lock"))),
            Some("poetry.lock") => ("poetry run ", Some(("poetry install", "poetry.lock"))),
            Some("pdm.lock") => ("pdm run ", Some(("pdm sync", "pdm.lock"))),
            _ => ("", None),
        };
        if uses_pytest {
            found.test(&format!("{runner}pytest"), file);
        }
        if let Some((setup, because)) = setup {
            found.setup(setup, because);
        }
    }

    fn jvm(&self, found: &mut Commands) {
        if self.has("pom.xml") {
            let maven = if self.has("mvnw") { "./mvnw" } else { "mvn" };
            found.test(&format!("{maven} test"), "pom.xml");
        }
        if let Some(file) = self.first(&["build.gradle", "build.gradle.kts"]) {
            let gradle = if self.has("gradlew") {
                "./gradlew"
            } else {
                "gradle"
            };
            found.test(&format!("{gradle} test"), file);
        }
        if self.has("build.sbt") {
            found.test("sbt test", "build.sbt");
        }
    }

    fn others(&self, found: &mut Commands) {
        if self.has("mix.exs") {
            found.test("mix test", "mix.exs");
            found.setup("mix deps.get", "mix.exs");
        }
        if let Some(file) = self.ending([".sln", ".slnx", ".csproj", ".fsproj"]) {
            found.test("dotnet test", &file);
        }
        if self.has("Package.swift") {
            found.test("swift test", "Package.swift");
        }
        if self.has("Gemfile") {
            let rspec = self.has(".rspec") || self.text("Gemfile").contains("rspec");
            let test = if rspec {
                "bundle exec rspec"
            } else {
                "bundle exec rake test"
            };
            if rspec || self.has("Rakefile") {
                found.test(test, "Gemfile");
            }
            found.setup("bundle install", "Gemfile");
        }
        let composer: serde_json::Value =
            serde_json::from_str(&self.text("composer.json")).unwrap_or_default();
        if composer.is_object() {
            if !composer["scripts"]["test"].is_null() {
                found.test("composer test", "composer.json");
            }
            found.setup("composer install", "composer.json");
        }
    }

    /// The first file of the folder whose name ends so.
    fn ending(&self, endings: [&str; 4]) -> Option<String> {
        let entries = fs::read_dir(self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| endings.iter().any(|ending| name.ends_with(ending)))
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found among files that are written `name=text`.
    fn found(files: &[(&str, &str)]) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = commands(folder.path());
        let words = |found: &[DetectedCommand]| {
            let words: Vec<&str> = found.iter().map(|found| found.command.as_str()).collect();
            words.join("; ")
        };
        (words(&found.tests), words(&found.setups))
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], test: &str, setup: &str) {
        assert_eq!(
            found(files),
            (test.to_owned(), setup.to_owned()),
            "{files:?}"
        );
    }

    #[test]
    fn the_files_of_a_project_say_how_it_is_tested() {
        check(&[], "", "");
        check(&[("Cargo.toml", "")], "cargo test", "");
        check(&[("go.mod", "")], "go test ./...", "");
        check(&[("mix.exs", "")], "mix test", "mix deps.get");
        check(&[("deno.json", "{}")], "deno test", "");
        check(&[("pom.xml", "")], "mvn test", "");
        check(&[("pom.xml", ""), ("mvnw", "")], "./mvnw test", "");
        check(
            &[("build.gradle.kts", ""), ("gradlew", "")],
            "./gradlew test",
            "",
        );
        check(&[("a.sln", ""), ("b.csproj", "")], "dotnet test", "");
        check(&[("Package.swift", "")], "swift test", "");
        check(
            &[("Gemfile", "gem 'rspec'")],
            "bundle exec rspec",
            "bundle install",
        );
        check(
            &[("composer.json", "{\"scripts\": {\"test\": \"phpunit\"}}")],
            "composer test",
            "composer install",
        );
    }

    #[test]
    fn the_lock_file_says_who_installs() {
        let package = (
            "package.json",
            "{\"scripts\": {\"test\": \"vitest\"}, \"dependencies\": {}}",
        );
        check(&[package], "npm test", "npm install");
        for (lock, test, setup) in [
            ("package-lock.json", "npm test", "npm ci"),
            (
                "pnpm-lock.yaml",
                "pnpm test",
                "pnpm install --frozen-lockfile",
            ),
            ("yarn.lock", "yarn test", "yarn install --frozen-lockfile"),
            ("bun.lock", "bun run test", "bun install --frozen-lockfile"),
        ] {
            check(&[package, (lock, "")], test, setup);
        }
        let berry = [package, ("yarn.lock", ""), (".yarnrc.yml", "")];
        check(&berry, "yarn test", "yarn install --immutable");
        let none = "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}";
        check(&[("package.json", none)], "", "");
        check(&[("package.json", "no JSON")], "", "");
    }

    #[test]
    fn pytest_is_found_where_it_is_named_and_run_by_who_locks() {
        check(
            &[("pyproject.toml", "[tool.pytest.ini_options]")],
            "pytest",
            "",
        );
        check(&[("pyproject.toml", "[project]")], "", "");
        check(&[("setup.py", ""), ("tests/conftest.py", "")], "pytest", "");
        let uv = [("pyproject.toml", "dev = [\"pytest\"]"), ("uv.lock", "")];
        check(&uv, "uv run pytest", "uv sync");
        let poetry = [("pyproject.toml", "pytest = \"8\""), ("poetry.lock", "")];
        check(&poetry, "poetry run pytest", "poetry install");
    }

    #[test]
    fn a_rule_named_test_counts_and_comes_last() {
        check(&[("Makefile", "all:\n\ntest: all\n\tx\n")], "make test", "");
        check(&[("Makefile", "testing:\n\ttest: no rule\n")], "", "");
        check(&[("Makefile", "test := 1\n")], "", "");
        check(&[("justfile", "test:\n  x\n")], "just test", "");
        let both = [("Makefile", "test:\n"), ("Cargo.toml", "")];
        check(&both, "cargo test; make test", "");
    }
}
