//! The programs of an attempt: setup and agent, each under a wrapper, with what is said to them and what holds them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use pleach_domain::batch::AttemptEnding;

use super::super::Heard;
use super::super::judge;
use super::{Attempt, Finished, From, Launched, Line, NotRun, Workshop, explained};
use crate::agent::{Brief, Input};
use crate::batch_paths::attempt_folder;
use crate::database::Whose;
use crate::ports::PortLease;
use crate::process::{Isolation, LOG_CAP, ProcessSpec, Record, Shim};
use crate::prompt::CHANGED_NOTHING;
use crate::sandbox::Room;
use crate::state_folder::{private_folder, write_private};
use crate::step::{Step, reached};
use crate::validate::said_in;
use crate::worktree::Worktree;
use pleach_domain::choice::SandboxChoice;

impl Attempt {
    /// What an agent is told that has no session to remember anything by.
    fn words(&self) -> Cow<'_, str> {
        match self.from {
            From::AskedAgain => format!("{}\n{CHANGED_NOTHING}\n", self.prompt).into(),
            From::Scratch | From::Limited | From::Result(_) => (&self.prompt).into(),
        }
    }
}

impl Workshop {
    pub(super) fn run_afresh(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        line: &Line,
        finished: &mut Finished,
    ) -> Result<(Record, Vec<String>), NotRun> {
        let folder = attempt_folder(&self.folder, &attempt.segment, attempt.number);
        private_folder(&folder).map_err(NotRun::broke("its folder could not be made"))?;
        let prompt_file = folder.join("prompt.md");
        let prompt = attempt.words();
        write_private(&prompt_file, &prompt)
            .map_err(NotRun::broke("its prompt could not be written"))?;
        let is_new = !matches!(attempt.from, From::Limited | From::AskedAgain);
        if is_new {
            let copied = self.included.copy_into(&self.store, worktree);
            let notes = copied.map_err(NotRun::broke("its ignored files could not be copied"))?;
            finished.notes.extend(notes.iter().map(ToString::to_string));
        }
        // Held until everything that could listen there has ended.
        let ports = PortLease::take(&self.state).map_err(NotRun::broke("it got no ports"))?;
        let said = self.said(attempt, worktree, &ports);
        let whose = Whose::Attempt(attempt.task.clone(), attempt.number);
        let launch = self.agent.launch(&Brief {
            program: &self.program,
            prompt: &prompt,
            prompt_file: &prompt_file,
            identity: self.store.identity(),
            said: &said,
            session: attempt.session.as_deref(),
            question: matches!(attempt.from, From::AskedAgain).then_some(CHANGED_NOTHING),
            spent: attempt.spent_before,
            is_held: !matches!(self.record.sandbox.choice(), SandboxChoice::None),
        });
        let mut env = launch.env;
        let room = Room {
            git: &worktree.git_places(&self.store),
            state: &self.state,
            worktree: worktree.path(),
            read: &[&prompt_file],
            tool: launch.tool,
            program: &self.wrapper,
        };
        let enclosure = self.record.sandbox.enclose(&room, &mut env);
        let enclosure = enclosure.map_err(NotRun::broke("no sandbox could be made"))?;
        finished.notes.extend_from_slice(&enclosure.notes);
        if let Some(setup) = self.setup_to_run().filter(|_| is_new) {
            let argv = ["/bin/sh", "-c", setup].map(OsString::from).to_vec();
            let spec = self.spec(argv, worktree, env.clone(), &folder, "setup");
            let spec = enclosure.hold(spec);
            let record = self.run_wrapped(&whose, &spec, line)?;
            reached(Step::SetupRun);
            finished.notes.extend(enclosure.put_back());
            let refused = enclosure.refusals(&spec.log, worktree.path());
            finished.notes.extend_from_slice(&refused);
            judge::setup(&record, setup, &spec.log)
                .map_err(|ending| NotRun::Ended(explained(ending, &refused)))?;
            self.note_setup();
        }
        let mut spec = self.spec(launch.argv, worktree, env, &folder, "agent");
        spec.polite = launch.polite;
        spec.stdin_file = Some(input_file(&launch.input, &folder, &prompt_file)?);
        let spec = enclosure.hold(spec);
        let record = self.run_heard(attempt, &spec, line, finished)?;
        finished.notes.extend(enclosure.put_back());
        let refused = enclosure.refusals(&spec.log, worktree.path());
        finished.notes.extend_from_slice(&refused);
        Ok((record, refused))
    }

    fn said(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        ports: &PortLease,
    ) -> Vec<(&'static str, OsString)> {
        let mut said = vec![
            ("PLEACH_TASK", attempt.task.as_str().into()),
            ("PLEACH_BATCH", self.number.to_string().into()),
            ("PLEACH_ATTEMPT", attempt.number.to_string().into()),
        ];
        if matches!(attempt.from, From::Limited | From::AskedAgain) {
            said.push(("PLEACH_CONTINUES", "1".into()));
        }
        said.extend(said_in(worktree, ports));
        said
    }

    fn spec(
        &self,
        argv: Vec<OsString>,
        worktree: &Worktree,
        env: Vec<(OsString, OsString)>,
        folder: &Path,
        role: &str,
    ) -> ProcessSpec {
        ProcessSpec {
            argv,
            cwd: worktree.path().to_owned(),
            env,
            stdin_file: None,
            log: folder.join(format!("{role}.log")),
            record: folder.join(format!("{role}.exit.json")),
            timeout: self.record.timeout,
            stall: Some(self.record.stall),
            grace: self.record.grace,
            log_cap: LOG_CAP,
            hide: self.secrets.clone(),
            sandbox: None,
            isolation: Isolation::default(),
            polite: None,
        }
    }

    /// The wrapper counts only once it is noted: whoever comes after us must be able to end it.
    pub(in crate::run) fn run_wrapped(
        &self,
        whose: &Whose,
        spec: &ProcessSpec,
        line: &Line,
    ) -> Result<Record, NotRun> {
        let broke = NotRun::broke("it could not be run");
        let shim = match Shim::launch(&self.wrapper) {
            Ok(shim) => shim.sweeping(self.sweeps()),
            Err(error) => return Err(broke(error)),
        };
        reached(Step::WrapperLaunched);
        let (go, gone_ahead) = channel();
        let launched = Launched {
            whose: whose.clone(),
            process: shim.identity().clone(),
            go,
        };
        let _ = line.loop_.send(Heard::Launched(Box::new(launched)));
        if gone_ahead.recv().is_err() {
            return Err(NotRun::Ended(AttemptEnding::Interrupted));
        }
        reached(Step::ProcessNoted);
        shim.run(spec, &line.cancel).map_err(broke)
    }
}

/// The file that the agent reads as its standard input.
fn input_file(input: &Input, folder: &Path, prompt_file: &Path) -> Result<PathBuf, NotRun> {
    match input {
        Input::Prompt => Ok(prompt_file.to_owned()),
        Input::Text(text) => {
            let path = folder.join("agent.order.json");
            write_private(&path, text)
                .map_err(NotRun::broke("what it is told could not be written"))?;
            Ok(path)
        }
    }
}
