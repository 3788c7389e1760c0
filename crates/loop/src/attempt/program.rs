//! The programs of an attempt: setup and agent, with what is said to them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pleach_domain::batch::AttemptEnding;
use pleach_domain::choice::SandboxChoice;
use pleach_log::batch_paths::attempt_folder;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::process::ProcessRecord;
use pleach_system::state_folder::write_private;
use pleach_system::text::causes::with_causes;

use super::log_listener::run_heard;
use super::{
    Attempt, AttemptContext, Finished, NodePlace, StartPoint, TreeSource, explain, explained, judge,
};
use pleach_engine::agent::{Brief, Input, Launch};
use pleach_engine::prompt::CHANGED_NOTHING;
use pleach_engine::worktree_programs::{
    AttemptObserver, NotRun, Program, ProgramHost, WorktreePrograms,
};
use pleach_git::worktree::Worktree;

impl Attempt {
    /// What an agent is told that has no session to remember anything by.
    fn words(&self) -> Cow<'_, str> {
        match self.start {
            StartPoint::AskedAgain => format!("{}\n{CHANGED_NOTHING}\n", self.prompt).into(),
            StartPoint::Scratch | StartPoint::Limited | StartPoint::Result(_) => {
                (&self.prompt).into()
            }
        }
    }

    fn variables(&self, context: &AttemptContext) -> Vec<(&'static str, OsString)> {
        let mut variables = vec![
            ("PLEACH_TASK", self.task.as_str().into()),
            ("PLEACH_BATCH", context.number.to_string().into()),
            ("PLEACH_ATTEMPT", self.number.to_string().into()),
        ];
        variables.extend(context.said_node());
        if self.goes_on() {
            variables.push(("PLEACH_CONTINUES", "1".into()));
        }
        variables
    }

    /// Whether its agent worked on it before.
    fn goes_on(&self) -> bool {
        matches!(self.start, StartPoint::Limited | StartPoint::AskedAgain)
    }
}

fn broken_off(error: NotRun) -> AttemptEnding {
    match error {
        NotRun::Unnoted => AttemptEnding::Interrupted,
        error => AttemptEnding::Failed(with_causes(&error)),
    }
}

impl AttemptContext {
    /// On which machine of a cluster programs are, and what stays there for others.
    pub(super) fn said_node(&self) -> Vec<(&'static str, OsString)> {
        let Some(NodePlace { name, cache }) = &self.node else {
            return Vec::new();
        };
        vec![("PLEACH_NODE", name.into()), ("PLEACH_CACHE", cache.into())]
    }

    pub(super) fn program_host(&self) -> ProgramHost<'_> {
        ProgramHost {
            store: &self.store,
            state: &self.state,
            included: &self.included,
            wrapper: &self.wrapper,
            sandbox: &self.settings.sandbox,
            hide: &self.secrets,
            grace: self.settings.grace,
        }
    }

    /// The record of the agent, and what the sandbox refused it; or how the attempt ended before there was one.
    pub(super) fn run_afresh(
        &self,
        attempt: &Attempt,
        (worktree, source): (&Worktree, TreeSource),
        observer: &dyn AttemptObserver,
        finished: &mut Finished,
    ) -> Result<(ProcessRecord, Vec<String>), AttemptEnding> {
        let folder = attempt_folder(&self.folder, &attempt.segment, attempt.number);
        let place = self.program_host().enter(worktree, &folder);
        let place = place.map_err(broken_off)?;
        let prompt_file = folder.join("prompt.md");
        let prompt = attempt.words();
        write(&prompt_file, &prompt, "could not write its prompt")?;
        let is_new = source != TreeSource::Found;
        if is_new {
            let copied = place.copy_included(&mut finished.notes);
            copied.map_err(broken_off)?;
        }
        let launch = self.agent.launch(&Brief {
            program: &self.program,
            prompt: &prompt,
            prompt_file: &prompt_file,
            identity: self.store.identity(),
            said: &place.told(attempt.variables(self)),
            session: attempt.session.as_deref(),
            question: matches!(attempt.start, StartPoint::AskedAgain).then_some(CHANGED_NOTHING),
            spent: attempt.spent_before,
            is_held: !matches!(self.settings.sandbox.choice(), SandboxChoice::None),
        });
        let Launch { env, tool, .. } = &launch;
        // Agents may be driven by our own program, which lies in a folder of ours on a cluster.
        let read: &[&Path] = &[&prompt_file, &self.program];
        let programs = place.enclose(env.clone(), read, *tool, &mut finished.notes);
        let programs = programs.map_err(broken_off)?;
        if let Some(setup) = self.setup_to_run().filter(|_| is_new) {
            self.set_up(setup, &programs, observer, finished)?;
        }
        let agent = Program {
            stdin_file: Some(input_file(&launch.input, &folder, &prompt_file)?),
            argv: launch.argv,
            role: "agent",
            timeout: self.settings.timeout,
            stall: Some(self.settings.stall),
            polite: launch.polite,
        };
        let ended = run_heard(agent, &programs, observer, finished);
        let ended = ended.map_err(broken_off)?;
        Ok((ended.record, ended.refused))
    }

    fn set_up(
        &self,
        command: &str,
        programs: &WorktreePrograms<'_>,
        observer: &dyn AttemptObserver,
        finished: &mut Finished,
    ) -> Result<(), AttemptEnding> {
        let mut setup = Program::shell(command, "setup", self.settings.timeout);
        setup.stall = Some(self.settings.stall);
        let ended = programs.run(setup, observer, &mut finished.notes);
        let ended = ended.map_err(broken_off)?;
        crash_point(CrashPoint::SetupRun);
        judge::setup(&ended.record, command, &ended.log)
            .map_err(|ending| explained(ending, &ended.refused))?;
        self.note_setup();
        Ok(())
    }
}

fn input_file(input: &Input, folder: &Path, prompt_file: &Path) -> Result<PathBuf, AttemptEnding> {
    match input {
        Input::Prompt => Ok(prompt_file.to_owned()),
        Input::Text(text) => {
            let path = folder.join("agent.order.json");
            write(&path, text, "could not write its prompt")?;
            Ok(path)
        }
    }
}

fn write(path: &Path, text: &str, failure: &str) -> Result<(), AttemptEnding> {
    let written = write_private(path, text);
    written.map_err(|error| AttemptEnding::Failed(explain(failure, &error)))
}
