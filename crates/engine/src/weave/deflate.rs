//! Packs objects as git does: one by one in files, or all in one stream.
//!
//! Knows bytes and nothing of what they mean.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_odb::pack::data::{Version, entry, header};
use gix_zlib::stream::deflate::{Compress, FlushCompress};
use gix_zlib::{Compression, Status};

/// A compressor that is used again and again, because making one costs more than most objects.
pub(super) struct Deflater {
    small: Compress,
    /// For files that git reads a moment later and nobody keeps.
    quick: Compress,
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self {
            small: Compress::new(Compression::BEST_SPEED),
            quick: Compress::new(Compression::NONE),
        }
    }
    /// Writes an object into a folder of objects that nobody else writes to.
    pub(super) fn write_file(
        &mut self,
        objects: &Path,
        id: ObjectId,
        kind: Kind,
        data: &[u8],
    ) -> io::Result<()> {
        let name = id.to_string();
        let folder = objects.join(&name[..2]);
        let mut bytes = Vec::with_capacity(data.len() + 64);
        let header = gix_object::encode::loose_header(kind, data.len() as u64);
        append(&mut self.quick, &[&header, data], &mut bytes)?;
        let file = folder.join(&name[2..]);
        let made = match File::create_new(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&folder)?;
                File::create_new(&file)
            }
            other => other,
        };
        match made {
            Ok(mut file) => file.write_all(&bytes),
            // Git has written it, and the same name means the same content.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Objects as git sends them to another repository.
    pub(super) fn pack<'d>(
        &mut self,
        hash: gix_hash::Kind,
        objects: impl ExactSizeIterator<Item = (Kind, &'d [u8])>,
    ) -> io::Result<Vec<u8>> {
        let count = u32::try_from(objects.len()).map_err(io::Error::other)?;
        let mut pack = header::encode(Version::V2, count).to_vec();
        for (kind, data) in objects {
            let kind = match kind {
                Kind::Tree => entry::Header::Tree,
                Kind::Blob => entry::Header::Blob,
                Kind::Commit => entry::Header::Commit,
                Kind::Tag => entry::Header::Tag,
            };
            kind.write_to(data.len() as u64, &mut pack)?;
            append(&mut self.small, &[data], &mut pack)?;
        }
        let mut hasher = gix_hash::hasher(hash);
        hasher.update(&pack);
        let sum = hasher.try_finalize().map_err(io::Error::other)?;
        pack.extend_from_slice(sum.as_slice());
        Ok(pack)
    }
}

/// Appends what some bytes are when compressed.
fn append(compress: &mut Compress, parts: &[&[u8]], out: &mut Vec<u8>) -> io::Result<()> {
    compress.reset();
    let mut buffer = [0; 8192];
    let (last, first) = parts.split_last().expect("there is something to compress");
    for (part, flush) in first
        .iter()
        .map(|part| (*part, FlushCompress::None))
        .chain([(*last, FlushCompress::Finish)])
    {
        let mut rest = part;
        loop {
            let (read, written) = (compress.total_in(), compress.total_out());
            let status = compress.compress(rest, &mut buffer, flush);
            let status = status.map_err(io::Error::other)?;
            rest = &rest[length(compress.total_in() - read)..];
            let fresh = length(compress.total_out() - written);
            out.extend_from_slice(&buffer[..fresh]);
            let is_drained = rest.is_empty() && fresh < buffer.len();
            if status == Status::StreamEnd || (flush == FlushCompress::None && is_drained) {
                break;
            }
        }
    }
    Ok(())
}

fn length(count: u64) -> usize {
    usize::try_from(count).expect("a part of a slice is no longer than it")
}
