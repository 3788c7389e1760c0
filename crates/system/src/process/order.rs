//! What the engine tells a wrapper, as bytes on their socket: one order, then single signs.
//!
//! Nothing of it touches a disk, for an environment may hold secrets. Knows nothing of what is done with it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use super::{Confinement, HiddenFiles, Isolation, Network, ProcessSpec, SystemCalls};
use crate::secrets::Secrets;

/// The sign that asks the wrapper to stop the program.
pub(super) const STOP: u8 = b's';

/// The sign that asks it not to wait for anybody.
pub(super) const STOP_AT_ONCE: u8 = b'k';

/// Far beyond what the system takes as words and environment of a program.
const LONGEST: u64 = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrapperOrder {
    pub(super) nonce: String,
    pub(super) spec: ProcessSpec,
}

pub(super) fn send(socket: &mut impl Write, nonce: &str, spec: &ProcessSpec) -> io::Result<()> {
    // The first number is the length of what follows it.
    let mut bytes = vec![0; size_of::<u64>()];
    put(&mut bytes, nonce.as_bytes());
    put_count(&mut bytes, spec.argv.len());
    for word in &spec.argv {
        put(&mut bytes, word.as_bytes());
    }
    put_count(&mut bytes, spec.env.len());
    for (name, value) in &spec.env {
        put(&mut bytes, name.as_bytes());
        put(&mut bytes, value.as_bytes());
    }
    for path in [&spec.cwd, &spec.log, &spec.record] {
        put(&mut bytes, path.as_os_str().as_bytes());
    }
    put_count(&mut bytes, usize::from(spec.stdin_file.is_some()));
    if let Some(path) = &spec.stdin_file {
        put(&mut bytes, path.as_os_str().as_bytes());
    }
    put_count(&mut bytes, usize::from(spec.stall.is_some()));
    if let Some(stall) = spec.stall {
        put_number(&mut bytes, millis(stall));
    }
    for number in [millis(spec.timeout), millis(spec.grace), spec.log_cap] {
        put_number(&mut bytes, number);
    }
    put_count(&mut bytes, spec.hide.values().count());
    for (name, value) in spec.hide.values() {
        put(&mut bytes, name.as_bytes());
        put(&mut bytes, value);
    }
    put_count(&mut bytes, usize::from(spec.sandbox.is_some()));
    if let Some(Confinement { write, read }) = &spec.sandbox {
        put_paths(&mut bytes, write);
        put_paths(&mut bytes, read);
    }
    // Last: a wrapper of another version, whose program was replaced meanwhile, does without.
    put_count(&mut bytes, usize::from(spec.polite.is_some()));
    if let Some(polite) = spec.polite {
        put_number(&mut bytes, millis(polite));
    }
    put_number(&mut bytes, spec.isolation.network as u64);
    put_count(&mut bytes, usize::from(spec.isolation.hidden.is_some()));
    if let Some(hidden) = &spec.isolation.hidden {
        for paths in [
            &hidden.folders,
            &hidden.sockets,
            &hidden.files,
            &hidden.kept,
        ] {
            put_paths(&mut bytes, paths);
        }
    }
    put_number(&mut bytes, spec.isolation.calls as u64);
    let length = (bytes.len() - size_of::<u64>()) as u64;
    bytes[..size_of::<u64>()].copy_from_slice(&length.to_le_bytes());
    socket.write_all(&bytes)
}

/// Waits for an order; nothing if the engine went away before it had told the whole of it.
pub(super) fn receive(socket: &mut impl Read) -> io::Result<Option<WrapperOrder>> {
    let mut length = [0; size_of::<u64>()];
    if let Err(error) = socket.read_exact(&mut length) {
        return none_at_the_end(error);
    }
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    if socket.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Ok(None);
    }
    let order = decode(&mut OrderReader { rest: &bytes });
    order.map(Some).ok_or(io::ErrorKind::InvalidData.into())
}

fn none_at_the_end(error: io::Error) -> io::Result<Option<WrapperOrder>> {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Ok(None),
        _ => Err(error),
    }
}

fn decode(bytes: &mut OrderReader<'_>) -> Option<WrapperOrder> {
    let nonce = String::from_utf8(bytes.bytes()?.to_vec()).ok()?;
    let words = bytes.number()?;
    let argv = (0..words).map(|_| bytes.text()).collect::<Option<_>>()?;
    let variables = bytes.number()?;
    let env = (0..variables).map(|_| Some((bytes.text()?, bytes.text()?)));
    let env = env.collect::<Option<_>>()?;
    let (cwd, log, record) = (bytes.path()?, bytes.path()?, bytes.path()?);
    let stdin_file = match bytes.number()? {
        0 => None,
        _ => Some(bytes.path()?),
    };
    let stall = match bytes.number()? {
        0 => None,
        _ => Some(bytes.duration()?),
    };
    let spec = ProcessSpec {
        argv,
        cwd,
        env,
        stdin_file,
        log,
        record,
        timeout: bytes.duration()?,
        stall,
        grace: bytes.duration()?,
        log_cap: bytes.number()?,
        hide: bytes.secrets()?,
        sandbox: match bytes.number()? {
            0 => None,
            _ => Some(Confinement {
                write: bytes.paths()?,
                read: bytes.paths()?,
            }),
        },
        polite: match bytes.number() {
            None | Some(0) => None,
            Some(_) => Some(bytes.duration()?),
        },
        isolation: bytes.isolation()?,
    };
    Some(WrapperOrder { nonce, spec })
}

struct OrderReader<'b> {
    rest: &'b [u8],
}

impl<'b> OrderReader<'b> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<OsString> {
        Some(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(OsStr::from_bytes(self.bytes()?).into())
    }

    fn secrets(&mut self) -> Option<Secrets> {
        let values = (0..self.number()?).map(|_| {
            let name = String::from_utf8(self.bytes()?.to_vec()).ok()?;
            Some((name, self.bytes()?.to_vec()))
        });
        values.collect::<Option<_>>().map(Secrets::from_values)
    }

    fn paths(&mut self) -> Option<Vec<PathBuf>> {
        let count = self.number()?;
        (0..count).map(|_| self.path()).collect()
    }

    fn isolation(&mut self) -> Option<Isolation> {
        let network = match self.number() {
            None | Some(0) => Network::Open,
            Some(1) => Network::Own,
            Some(_) => Network::WithoutTcp,
        };
        let hidden = match self.number() {
            None | Some(0) => None,
            Some(_) => Some(HiddenFiles {
                folders: self.paths()?,
                sockets: self.paths()?,
                files: self.paths()?,
                kept: self.paths()?,
            }),
        };
        let calls = match self.number() {
            None | Some(0) => SystemCalls::Filtered,
            Some(_) => SystemCalls::All,
        };
        Some(Isolation {
            network,
            hidden,
            calls,
        })
    }

    fn duration(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(self.number()?))
    }
}

fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    put_count(bytes, text.len());
    bytes.extend_from_slice(text);
}

fn put_paths(bytes: &mut Vec<u8>, paths: &[PathBuf]) {
    put_count(bytes, paths.len());
    for path in paths {
        put(bytes, path.as_os_str().as_bytes());
    }
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    put_number(bytes, count as u64);
}

fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> WrapperOrder {
        let odd = OsString::from_vec(b"not \xff text\n".to_vec());
        WrapperOrder {
            nonce: "abc".to_owned(),
            spec: ProcessSpec {
                argv: vec!["sh".into(), OsString::new(), odd.clone()],
                cwd: "/somewhere".into(),
                env: vec![("NAME".into(), odd.clone())],
                stdin_file: Some(odd.clone().into()),
                log: "/log".into(),
                record: "/exit.json".into(),
                timeout: Duration::from_millis(1500),
                stall: Some(Duration::from_secs(7)),
                grace: Duration::ZERO,
                polite: Some(Duration::from_secs(4)),
                log_cap: u64::MAX,
                hide: Secrets::from_values(vec![("NAME".to_owned(), b"not \xff text".to_vec())]),
                sandbox: Some(Confinement {
                    write: vec!["/tree".into(), odd.into()],
                    read: vec![PathBuf::new()],
                }),
                isolation: Isolation {
                    network: Network::WithoutTcp,
                    hidden: Some(HiddenFiles {
                        folders: vec!["/run/user/1".into()],
                        sockets: vec!["/run/socket".into(), "/tmp/socket".into()],
                        files: vec!["/home/ada/.cache/token".into()],
                        kept: vec!["/run/user/1/bin".into()],
                    }),
                    calls: SystemCalls::All,
                },
            },
        }
    }

    #[test]
    fn an_order_arrives_as_it_was_sent_and_half_of_one_never_does() {
        let mut order = order();
        for _ in 0..2 {
            let mut bytes = Vec::new();
            send(&mut bytes, &order.nonce, &order.spec).unwrap();
            let arrived = receive(&mut bytes.as_slice()).unwrap();
            assert_eq!(arrived.as_ref(), Some(&order));
            for length in 0..bytes.len() {
                assert_eq!(receive(&mut &bytes[..length]).unwrap(), None);
            }
            (order.spec.stdin_file, order.spec.stall) = (None, None);
            order.spec.polite = None;
            order.spec.sandbox = None;
            order.spec.isolation = Isolation::default();
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let mut bytes = 8_u64.to_le_bytes().to_vec();
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        assert!(receive(&mut bytes.as_slice()).is_err());
        assert!(receive(&mut [0xff; 64].as_slice()).is_err());
    }
}
