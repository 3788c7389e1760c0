//! The process between a wrapper and a real agent: starts the agent, speaks its protocol, and prints what it does in
//! words that are the same for all agents.
//!
//! Runs under the wrapper like any agent, and so in the same sandbox; knows nothing of tasks, batches, git or the engine.

mod acp;
mod claude;
mod codex;
mod conversation;
mod entry;
mod exit;
mod known;
mod one_line;
mod order;
mod protocol;
mod retry_budget;
mod trouble;

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use conversation::{DriverInput, RunOutcome, converse};
pub use entry::{
    Conclusion, Entry, FileChange, Outcome, PlanStep, RAW, ToolKind, ToolStatus, Trouble, Usage,
    shortened,
};
pub use exit::Exit;
pub use known::{
    HomePlaces, KNOWN_AGENTS, KnownAgent, Login, LoginFile, ModelBy, RepositoryFiles,
    SteeringFolder, known_agent,
};
pub use order::{DriverOrder, ProtocolKind};
pub(crate) use protocol::{NextStep, Protocol, ProtocolOutput};

/// So much of what an agent said last is part of its result.
const LONGEST_MESSAGE: usize = 4 << 10;

/// So much is heard before it is taken in. An agent that says more has to wait, for a line may be long.
const HEARD_AHEAD: usize = 4;

/// Reads an order from standard input, has the agent carry it out, and prints what that does.
pub fn drive() -> ExitCode {
    let conclusion = match prepare() {
        Ok((order, inbox, sender)) => carry_out(order, &inbox, &sender),
        Err(why) => Conclusion::failed(Trouble::Configuration, why),
    };
    let code = exit_code(&conclusion);
    // Whoever does not listen any more has ended us, or will.
    let _ = print(&Entry::Result(Conclusion {
        message: shortened(&conclusion.message, LONGEST_MESSAGE),
        ..conclusion
    }));
    ExitCode::from(code)
}

fn prepare() -> Result<(DriverOrder, Receiver<DriverInput>, SyncSender<DriverInput>), String> {
    let (sender, inbox) = sync_channel(HEARD_AHEAD);
    // Before anything is started. What is caught here has its usual meaning again in what is started.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| format!("could not watch for signals: {error}"))?;
    let stop = sender.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            // Nobody listens when everything is over.
            let _ = stop.send(DriverInput::Stop);
        }
    });
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("could not read the order: {error}"))?;
    let mut order: DriverOrder =
        serde_json::from_str(&text).map_err(|error| format!("malformed order: {error}"))?;
    order.folder =
        std::env::current_dir().map_err(|error| format!("could not find the worktree: {error}"))?;
    Ok((order, inbox, sender))
}

fn carry_out(
    mut order: DriverOrder,
    inbox: &Receiver<DriverInput>,
    sender: &SyncSender<DriverInput>,
) -> Conclusion {
    loop {
        let (mut protocol, words) = protocol_of(&order);
        match converse(&mut *protocol, &words, inbox, sender) {
            RunOutcome::Finished(conclusion) => return conclusion,
            RunOutcome::SessionLost => {
                let session = order.session.take().unwrap_or_default();
                order.tokens_before = 0;
                order.prompt = order.told_anew();
                let text = format!("session {session} no longer exists; starting a new one");
                let _ = print(&Entry::Raw { text });
            }
        }
    }
}

fn protocol_of(order: &DriverOrder) -> (Box<dyn Protocol>, Vec<String>) {
    match order.speaks {
        ProtocolKind::Claude => (Box::new(claude::Claude::new(order)), claude::words(order)),
        ProtocolKind::Codex => (Box::new(codex::Codex::new(order)), codex::words(order)),
        ProtocolKind::Acp { .. } => (Box::new(acp::Acp::new(order)), order.words.clone()),
    }
}

/// Prints an entry; fails when nobody listens any more.
fn print(entry: &Entry) -> std::io::Result<()> {
    let mut line = entry.to_line();
    line.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// What any command would exit with in such a case.
fn exit_code(conclusion: &Conclusion) -> u8 {
    match conclusion.outcome {
        Outcome::Completed => 0,
        Outcome::Interrupted => 130,
        Outcome::Failed(trouble) => match trouble {
            Trouble::Limit => 75,
            Trouble::Overload => 69,
            Trouble::Login | Trouble::Refused | Trouble::Budget => 77,
            Trouble::Context | Trouble::Configuration => 78,
            Trouble::Network | Trouble::Crash | Trouble::Other => 1,
        },
    }
}

#[cfg(test)]
mod tests;
