//! `pleach serve`: the API and the board on this machine.

mod logging;
mod running_server;

use std::net::IpAddr;
use std::path::PathBuf;

use pleach_engine::plan_in_use::project_folder;
use pleach_engine::run::RunBatch;
use pleach_server::{Consent, Options, ServeError, Server, write_opener};
use pleach_system::state_folder::StateFolder;
use serde_json::json;

use super::run::own_program;
use super::watch::{OnHangup, on_signals};
use crate::args::ServeArgs;
use crate::browser;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, tell, tell_error};
use crate::plan_source::current_folder;

pub(crate) fn run(arguments: &ServeArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    serve(arguments, run_batch)
        .map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn serve(arguments: &ServeArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    check_reach(arguments)?;
    let state = StateFolder::of_user()?;
    let options = Options {
        state: state.clone(),
        program: own_program()?,
        run_batch,
        repository: repository_around()?,
        host: arguments.host,
        port: arguments.port,
        allow_hosts: arguments.allow_host.clone(),
        consent: if arguments.yes {
            Consent::Given
        } else {
            Consent::Asked
        },
    };
    let server = match Server::bind(options) {
        Ok(server) => server,
        Err(ServeError::PortTaken { port }) => {
            return running_server::visit(&state, port, arguments);
        }
        Err(error) => return Err(error.into()),
    };
    logging::begin(arguments.log);
    let stopper = server.stopper();
    let drains = arguments.drain;
    on_signals(OnHangup::Stop, move |before| match before {
        0 if drains => stopper.drain(),
        0 => stopper.leave(),
        _ => stopper.end(),
    })?;
    announce(&server, &state, arguments);
    server.run()?;
    Ok(Exit::Success)
}

fn repository_around() -> Result<Option<PathBuf>, Failures> {
    let top = project_folder(&current_folder()?);
    Ok(top.join(".git").exists().then_some(top))
}

/// Beyond this machine only for who says so twice.
fn check_reach(arguments: &ServeArgs) -> Result<(), Failures> {
    let Some(host) = arguments.host.filter(|host| !host.is_loopback()) else {
        return Ok(());
    };
    let refuse = |message: String, hint: &str| {
        Err(Failure::new(Exit::Usage, "not_loopback", message)
            .hint(hint)
            .into())
    };
    if !arguments.insecure {
        let message =
            format!("listening on {host} exposes the token and your data: Pleach has no TLS");
        return refuse(
            message,
            "put a TLS proxy in front, and pass --insecure and --allow-host NAME",
        );
    }
    if arguments.allow_host.is_empty() {
        let message = format!(
            "a server on {host} would refuse every request: only loopback host names are allowed"
        );
        return refuse(message, "pass --allow-host with the proxy's host name");
    }
    Ok(())
}

fn announce(server: &Server, state: &StateFolder, arguments: &ServeArgs) {
    let address = format!("http://{}", server.address());
    let (link, token) = (server.link(), state.path().join("token"));
    if arguments.json {
        tell(format_args!(
            "{}\n",
            json!({"address": address, "link": link, "tokenFile": token})
        ));
    } else {
        tell(format_args!(
            "Pleach is serving {address}\n  board     {link}\n            (the link works once, for 15 minutes)\n  \
             programs  Authorization: Bearer, with the content of {}\n            {address}/api/docs describes the API\n  \
             stop      Ctrl-C\n",
            token.display()
        ));
    }
    if arguments
        .host
        .is_some_and(|host: IpAddr| !host.is_loopback())
    {
        tell_error(format_args!(
            "warning: anyone who can reach {address} and has the token can run agents as you\n"
        ));
    }
    if arguments.open {
        open(state, &link);
    }
}

/// Opens a link through a file that only the user can read, or says that it could not.
fn open(state: &StateFolder, link: &str) {
    let opened = write_opener(state.path(), link).and_then(|file| browser::open(&file));
    if let Err(error) = opened {
        tell_error(format_args!(
            "note: no browser was opened: {error}; open the link yourself\n"
        ));
    }
}
