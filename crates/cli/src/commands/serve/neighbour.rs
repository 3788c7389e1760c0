//! What to do when the port is taken: a server of the same user gives another link, a stranger is told of.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use pleach_engine::state_folder::StateFolder;
use pleach_server::Token;
use serde_json::{Value, json};

use super::open;
use crate::args::ServeArgs;
use crate::failure::{Exit, Failure, Failures};
use crate::output::tell;

const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_ANSWER: u64 = 64 << 10;
/// The kernel's number for a socket that takes connections.
const LISTENS: &str = "0A";

/// Asks whoever listens there for a link.
pub(super) fn visit(
    state: &StateFolder,
    port: u16,
    arguments: &ServeArgs,
) -> Result<Exit, Failures> {
    let token = Token::of(state.path())?;
    let Some(path) = ask_for_link(port, &token) else {
        let message = format!("port {port} is taken by another program");
        return Err(Failure::new(Exit::Environment, "port_taken", message)
            .hint("--port chooses another one; 0 takes any that is free")
            .into());
    };
    let address = format!("http://127.0.0.1:{port}");
    let link = format!("{address}{path}");
    if arguments.json {
        tell(format_args!(
            "{}\n",
            json!({"address": address, "link": link, "tokenFile": state.path().join("token"), "wasThere": true})
        ));
    } else {
        tell(format_args!(
            "Pleach serves at {address} already\n  open it   {link}\n            (the link works once, for 15 minutes)\n"
        ));
    }
    if arguments.open {
        open(&link);
    }
    Ok(Exit::Success)
}

/// The path of a link, if a Pleach listens there that knows the same token.
fn ask_for_link(port: u16, token: &Token) -> Option<String> {
    // A stranger is not shown the token, and anybody can answer as we would.
    if !is_users_own(port) {
        return None;
    }
    let health = ask(port, "GET /health", "").ok()?;
    if health.get("status")? != "ok" || health.get("version").is_none() {
        return None;
    }
    let shown = format!("Authorization: Bearer {}\r\n", token.as_str());
    let link = ask(port, "POST /api/links", &shown).ok()?;
    Some(link.get("path")?.as_str()?.to_owned())
}

/// Whether only programs of this user listen at a port; they could read the token anyway.
fn is_users_own(port: u16) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).ok());
    let [Some(four), six] = tables else {
        return false;
    };
    let user = rustix::process::geteuid().as_raw();
    let mut owners = owners(&four, port);
    owners.extend(self::owners(&six.unwrap_or_default(), port));
    !owners.is_empty() && owners.iter().all(|owner| *owner == Some(user))
}

/// The users that listen at a port, by the kernel's table of sockets.
fn owners(table: &str, port: u16) -> Vec<Option<u32>> {
    let here = format!(":{port:04X}");
    let rows = table.lines().map(|row| row.split_whitespace());
    let owner = |mut row: std::str::SplitWhitespace<'_>| {
        let (address, state) = (row.nth(1)?, row.nth(1)?);
        let listens = address.ends_with(&here) && state == LISTENS;
        listens.then(|| row.nth(3)?.parse().ok())
    };
    rows.filter_map(owner).collect()
}

fn ask(port: u16, what: &str, headers: &str) -> io::Result<Value> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{what} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.take(LONGEST_ANSWER).read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    Ok(serde_json::from_str(body)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 7 1 0 100 0 0 10 0
   1: 00000000:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 8 1 0 100 0 0 10 0
   2: 0100007F:0BB9 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1002        0 9 1 0 100 0 0 10 0
   3: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1003        0 5 1 0 100 0 0 10 0
";

    #[test]
    fn whoever_listens_at_a_port_is_known_by_the_user() {
        assert_eq!(owners(TABLE, 3001), [Some(1000), Some(1001)]);
        assert_eq!(owners(TABLE, 8080), [Some(1003)]);
        assert_eq!(owners(TABLE, 50000), []);
    }

    #[test]
    fn a_port_where_the_user_listens_is_their_own_and_one_where_nobody_does_is_not() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_users_own(port));
        drop(listener);
        assert!(!is_users_own(port));
    }
}
