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

/// Up to this size nothing is gained by compressing: most of a tree is ids.
const LONGEST_STORED: usize = 4096;

/// A compressor that is used again and again, because making one costs more than most objects.
pub(super) struct Deflater(Compress);

impl Deflater {
    pub(super) fn new() -> Self {
        Self(Compress::new(Compression::BEST_SPEED))
    }

    /// Appends what some bytes are in zlib's format.
    fn append(&mut self, parts: &[&[u8]], out: &mut Vec<u8>) -> io::Result<()> {
        if parts.iter().map(|part| part.len()).sum::<usize>() <= LONGEST_STORED {
            store(parts, out);
            return Ok(());
        }
        compress(&mut self.0, parts, out)
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
        self.append(&[&header, data], &mut bytes)?;
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
    ) -> io::Result<Pack> {
        let count = u32::try_from(objects.len()).map_err(io::Error::other)?;
        let mut pack = header::encode(Version::V2, count).to_vec();
        let mut starts = Vec::with_capacity(objects.len());
        for (kind, data) in objects {
            starts.push(u32::try_from(pack.len()).map_err(io::Error::other)?);
            let kind = match kind {
                Kind::Tree => entry::Header::Tree,
                Kind::Blob => entry::Header::Blob,
                Kind::Commit => entry::Header::Commit,
                Kind::Tag => entry::Header::Tag,
            };
            kind.write_to(data.len() as u64, &mut pack)?;
            self.append(&[data], &mut pack)?;
        }
        let sum = sum_of(hash, &pack)?;
        pack.extend_from_slice(sum.as_slice());
        Ok(Pack {
            bytes: pack,
            starts,
            sum,
        })
    }
}

pub(super) struct Pack {
    pub(super) bytes: Vec<u8>,
    starts: Vec<u32>,
    sum: ObjectId,
}

impl Pack {
    /// Writes the pack and its index into a folder of objects that nobody else writes to.
    ///
    /// The sums of single objects are left out: git looks at them when it copies from a pack, and
    /// nobody copies from this one.
    pub(super) fn write(&self, objects: &Path, ids: &[ObjectId]) -> io::Result<()> {
        let mut entries: Vec<_> = ids.iter().zip(&self.starts).collect();
        entries.sort();
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        let mut count = 0_u32;
        let mut rest = entries.iter().peekable();
        for first in 0..=u8::MAX {
            while rest.next_if(|(id, _)| id.first_byte() == first).is_some() {
                count += 1;
            }
            index.extend(count.to_be_bytes());
        }
        for (id, _) in &entries {
            index.extend_from_slice(id.as_slice());
        }
        index.resize(index.len() + 4 * entries.len(), 0);
        for (_, start) in &entries {
            index.extend(start.to_be_bytes());
        }
        index.extend_from_slice(self.sum.as_slice());
        let sum = sum_of(self.sum.kind(), &index)?;
        index.extend_from_slice(sum.as_slice());
        let name = objects.join(format!("pack/pack-{}", self.sum));
        fs::write(name.with_extension("pack"), &self.bytes)?;
        fs::write(name.with_extension("idx"), index)
    }
}

fn sum_of(hash: gix_hash::Kind, bytes: &[u8]) -> io::Result<ObjectId> {
    let mut hasher = gix_hash::hasher(hash);
    hasher.update(bytes);
    hasher.try_finalize().map_err(io::Error::other)
}

/// One block that is not compressed, between zlib's header and its sum.
fn store(parts: &[&[u8]], out: &mut Vec<u8>) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = u16::try_from(length).expect("only short ones are stored");
    out.extend([0x78, 0x01, 0x01]);
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in parts.iter().copied().flatten() {
        // Far below what would overflow for so few bytes.
        low += u32::from(*byte);
        high += low;
        out.push(*byte);
    }
    let sum = ((high % ADLER) << 16) | (low % ADLER);
    out.extend(sum.to_be_bytes());
}

/// The prime of zlib's sum.
const ADLER: u32 = 65_521;

fn compress(compress: &mut Compress, parts: &[&[u8]], out: &mut Vec<u8>) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use gix_zlib::Decompress;
    use gix_zlib::FlushDecompress;

    use super::*;

    #[test]
    fn short_and_long_bytes_come_back_as_they_were() {
        for length in [0, 1, 300, LONGEST_STORED, LONGEST_STORED + 1, 300_000] {
            let bytes: Vec<u8> = (128..=255).cycle().take(length).collect();
            let (first, second) = bytes.split_at(length / 3);
            let mut packed = Vec::new();
            Deflater::new()
                .append(&[first, second], &mut packed)
                .unwrap();
            let mut back = vec![0; length + 1];
            let mut inflate = Decompress::new();
            let flush = FlushDecompress::Finish;
            inflate.decompress(&packed, &mut back, flush).unwrap();
            assert_eq!(inflate.total_out(), length as u64);
            assert_eq!(back[..length], bytes);
        }
    }
}
