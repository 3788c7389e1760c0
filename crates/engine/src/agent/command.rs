//! The agent that is any command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::environment::environment;
use super::{Agent, AttemptVerdict, Brief, Input, Launch, NoAgent};
use pleach_driver::Exit;
use pleach_git::git::is_executable;
use pleach_system::text::placeholder::{TemplatePart, template_parts};

/// The place in a command that becomes the path of the prompt.
pub(super) const PROMPT_FILE: &str = "prompt_file";

/// The place in a command that becomes the name of the model.
pub(super) const MODEL: &str = "model";

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommandAgent {
    pub name: String,
    /// The program and its arguments, at least one word.
    pub words: Vec<String>,
    /// Names of variables that it gets besides the usual ones.
    pub env: Vec<String>,
    pub model: Option<String>,
}

impl Agent for CommandAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> String {
        self.words.join(" ")
    }

    fn check_installed(&self) -> Result<(), NoAgent> {
        check_program(&self.name, &self.words[0], None)
    }

    fn launch(&self, brief: &Brief<'_>) -> Launch {
        Launch {
            argv: self.argv(brief.prompt_file),
            env: environment(&self.env, brief.identity, self.model.as_deref(), brief.said),
            input: Input::Prompt,
            polite: None,
            tool: None,
        }
    }

    fn verdict(&self, exit: Exit, tail: &[u8]) -> AttemptVerdict {
        AttemptVerdict::of_command(exit, tail)
    }
}

impl CommandAgent {
    fn argv(&self, prompt_file: &Path) -> Vec<OsString> {
        let filled = |word: &String| {
            let mut filled = OsString::new();
            for piece in template_parts(word) {
                match piece {
                    TemplatePart::Placeholder {
                        name: PROMPT_FILE, ..
                    } => filled.push(prompt_file),
                    TemplatePart::Placeholder { name: MODEL, .. } => {
                        filled.push(self.model.as_deref().unwrap_or_default());
                    }
                    TemplatePart::Placeholder { written: text, .. } | TemplatePart::Text(text) => {
                        filled.push(text);
                    }
                }
            }
            filled
        };
        self.words.iter().map(filled).collect()
    }
}

/// Checks that a program can be started; one that is named by a relative path is looked up in each worktree, which
/// may bring it along.
pub(super) fn check_program(
    name: &str,
    program: &str,
    install: Option<&'static str>,
) -> Result<(), NoAgent> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = match Path::new(program) {
        absolute if absolute.is_absolute() => vec![absolute.to_owned()],
        _ if program.contains('/') => return Ok(()),
        bare => std::env::split_paths(&path)
            .map(|folder| folder.join(bare))
            .collect(),
    };
    if places.iter().any(|place| is_executable(place)) {
        return Ok(());
    }
    match places.iter().find(|place| place.is_file()) {
        Some(found) => Err(NoAgent::NotExecutable {
            name: name.to_owned(),
            program: found.display().to_string(),
        }),
        None => Err(NoAgent::NotInstalled {
            name: name.to_owned(),
            program: program.to_owned(),
            install: install.map(str::to_owned),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use pleach_domain::batch::Spent;

    use super::*;
    use pleach_git::git::Identity;

    fn agent(words: &[&str], model: Option<&str>) -> CommandAgent {
        CommandAgent {
            name: "mine".to_owned(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            model: model.map(str::to_owned),
        }
    }

    #[test]
    fn places_are_filled_once_in_every_word() {
        let agent = agent(
            &[
                "run",
                "--file={{prompt_file}}",
                "{{model}}-{{model}}",
                "{{other}}",
            ],
            Some("{{prompt_file}}"),
        );
        assert_eq!(
            agent.argv(Path::new("/a b/{{model}}.md")),
            [
                "run",
                "--file=/a b/{{model}}.md",
                "{{prompt_file}}-{{prompt_file}}",
                "{{other}}"
            ]
        );
    }

    #[test]
    fn a_path_that_is_no_text_stays_what_it_is() {
        let path = std::ffi::OsStr::from_bytes(b"/caf\xe9/p.md");
        let argv = agent(&["run", "{{prompt_file}}"], None).argv(Path::new(path));
        assert_eq!(argv[1], path);
    }

    #[test]
    fn what_is_said_wins_over_what_is_inherited_and_the_model_is_said() {
        let identity = Identity::from_settings(Some("Ada".to_owned()), None);
        let mut agent = agent(&["run"], Some("big"));
        agent.env.push("CARGO_MANIFEST_DIR".to_owned());
        let said = [
            ("PATH", OsString::from("/ours")),
            ("PLEACH_TASK", "1".into()),
        ];
        let env_of = |agent: &CommandAgent, said: &[(&str, OsString)]| {
            let brief = Brief {
                program: Path::new("pleach"),
                prompt: "",
                prompt_file: Path::new("p.md"),
                identity: &identity,
                said,
                session: None,
                question: None,
                spent: Spent::default(),
                is_held: false,
            };
            agent.launch(&brief).env
        };
        let env = env_of(&agent, &said);
        let values = |name: &str| {
            let of_name = env.iter().filter(|(known, _)| known == name);
            of_name
                .map(|(_, value)| value.to_str().unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(values("PATH"), ["/ours"]);
        assert_eq!(values("PLEACH_TASK"), ["1"]);
        assert_eq!(values("PLEACH_MODEL"), ["big"]);
        assert_eq!(values("GIT_AUTHOR_NAME"), ["Ada"]);
        assert_eq!(values("CARGO_MANIFEST_DIR"), [env!("CARGO_MANIFEST_DIR")]);
        assert_eq!(values("CARGO_PKG_NAME"), Vec::<&str>::new());
        agent.model = None;
        let env = env_of(&agent, &[]);
        assert!(env.iter().all(|(name, _)| name != "PLEACH_MODEL"));
    }
}
