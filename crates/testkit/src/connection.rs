//! One connection of HTTP/1.1 over loopback: a request as it is told, and the answer as it comes.
//!
//! Knows nothing of what is asked.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};

use crate::transport::{PATIENCE, PendingResponse, Transport};

/// A server on this machine; each request has a connection of its own.
pub(crate) struct Loopback {
    pub(crate) address: SocketAddr,
}

impl Loopback {
    pub(crate) fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

impl Transport for Loopback {
    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<PendingResponse> {
        let mut stream = self.connect()?;
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let length = body.len();
        let _ = write!(
            head,
            "Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        read_reply(BufReader::new(stream))
    }
}

/// Reads the head of an answer; the body follows it.
pub(crate) fn read_reply(mut reader: BufReader<TcpStream>) -> io::Result<PendingResponse> {
    let (status, headers) = read_head(&mut reader)?;
    let stream = reader.get_ref().try_clone()?;
    let header = |name: &str| headers.iter().find(|(known, _)| known == name);
    let body: Box<dyn BufRead + Send> = if header("transfer-encoding").is_some() {
        Box::new(Chunked {
            reader,
            left: 0,
            is_first: true,
        })
    } else {
        let length = header("content-length").and_then(|(_, value)| value.parse().ok());
        Box::new(reader.take(length.unwrap_or(0)))
    };
    Ok(PendingResponse {
        status,
        headers,
        body,
        stream: Some(stream),
    })
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn read_head(reader: &mut impl BufRead) -> io::Result<(u16, Vec<(String, String)>)> {
    let first = line(reader)?;
    let status = first
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no answer: {first}")))?;
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            return Ok((status, headers));
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
    }
}

/// A body that says piece by piece how long it is.
struct Chunked {
    reader: BufReader<TcpStream>,
    /// What is left of the piece that is being read.
    left: usize,
    /// Whether no piece came yet; the others have a line break before them.
    is_first: bool,
}

impl BufRead for Chunked {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            if !std::mem::take(&mut self.is_first) {
                line(&mut self.reader)?;
            }
            let size = line(&mut self.reader)?;
            self.left = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
            if self.left == 0 {
                // The end comes again for whoever reads on.
                self.is_first = true;
                return Ok(&[]);
            }
        }
        let buffer = self.reader.fill_buf()?;
        if buffer.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(&buffer[..buffer.len().min(self.left)])
    }

    fn consume(&mut self, amount: usize) {
        self.reader.consume(amount);
        self.left -= amount;
    }
}

impl Read for Chunked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}
