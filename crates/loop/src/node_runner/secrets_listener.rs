//! How a node hears what is written nowhere: its owner has our program called on this very machine, with the secrets as
//! its input, and that one passes them on through a socket without a file.
//!
//! Both ends look who the other is: only the same user speaks and hears.

use std::io::{self, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::process::getuid;

use crate::unit_secrets::UnitSecrets;

/// More bytes than all secrets have together.
const MOST_BYTES: u64 = 16 << 20;

/// How often somebody is looked for who speaks.
const LOOK: Duration = Duration::from_millis(50);

/// How long somebody may take who has begun to speak.
const SPEECH: Duration = Duration::from_secs(10);

/// Listens for the secrets of a unit, for as long as it waits for secrets.
pub(super) struct SecretsListener(UnixListener);

impl SecretsListener {
    pub(super) fn open(fence: &str) -> io::Result<Self> {
        let listener = UnixListener::bind_addr(&address(fence)?)?;
        listener.set_nonblocking(true)?;
        Ok(Self(listener))
    }

    /// What the owner says; an error if it says nothing for so long.
    pub(super) fn hear(&self, patience: Duration) -> io::Result<UnitSecrets> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            match self.0.accept() {
                // Whoever says nothing that makes sense is not the owner.
                Ok((stream, _)) => {
                    if let Ok(secrets) = read(stream) {
                        return Ok(secrets);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK),
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// Passes what comes from the standard input to the unit on this machine that waits for it.
pub(super) fn speak(fence: &str) -> io::Result<()> {
    let mut stream = UnixStream::connect_addr(&address(fence)?)?;
    check_peer(&stream)?;
    let mut bytes = Vec::new();
    io::stdin().take(MOST_BYTES).read_to_end(&mut bytes)?;
    stream.set_write_timeout(Some(SPEECH))?;
    stream.write_all(&bytes)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    // It says so when it has all of it.
    stream.set_read_timeout(Some(SPEECH))?;
    stream.read_exact(&mut [0])
}

/// A name in the memory of this machine alone.
fn address(fence: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("pleach-unit-{fence}"))
}

fn read(mut stream: UnixStream) -> io::Result<UnitSecrets> {
    stream.set_nonblocking(false)?;
    check_peer(&stream)?;
    stream.set_read_timeout(Some(SPEECH))?;
    let mut bytes = Vec::new();
    let mut limited = (&mut stream).take(MOST_BYTES);
    limited.read_to_end(&mut bytes)?;
    let secrets = UnitSecrets::parse(&bytes)?;
    stream.write_all(b"k")?;
    Ok(secrets)
}

fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = socket_peercred(stream)?;
    if peer.uid == getuid() {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}
