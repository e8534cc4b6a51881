//! Where the bytes of a stream file go, and how its header is replaced (stream.md §7).

use super::header::{HEADER_LEN, Header, MAGIC};
use super::writer::Compression;
use crate::whole_file::{WholeFile, overwrite, sync_dir};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// Where a stream file's bytes go.
pub struct FileSink(Sink);

enum Sink {
    Raw(BufWriter<WholeFile>),
    Zstd(ZstdEncoder, i32),
    Append(BufWriter<File>),
    /// A failure came while the part was written anew; its writer is poisoned.
    Lost,
}

type ZstdEncoder = zstd::stream::write::Encoder<'static, BufWriter<WholeFile>>;

/// The window of level 1, 128 KB. Its tables forget what lies further back, so that a larger one saves nothing (on real
/// streams a little less than nothing) and only moves more memory.
const FAST_WINDOW_LOG: u32 = 17;

/// One frame with a content checksum.
fn zstd_encoder(file: WholeFile, level: i32) -> io::Result<ZstdEncoder> {
    let mut encoder = zstd::stream::write::Encoder::new(BufWriter::with_capacity(BUFFER, file), level)?;
    encoder.include_checksum(true)?;
    if level == 1 {
        encoder.window_log(FAST_WINDOW_LOG)?;
    }
    Ok(encoder)
}

fn lost() -> io::Error {
    io::Error::other("the part was lost while it was written anew")
}

fn commit(out: BufWriter<WholeFile>) -> io::Result<u64> {
    out.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
}

impl FileSink {
    /// A part that gets its name when it is finished.
    pub(super) fn create(file: WholeFile, compression: Compression) -> io::Result<Self> {
        Ok(Self(match compression {
            Compression::None => Sink::Raw(BufWriter::with_capacity(BUFFER, file)),
            Compression::Zstd { level } => Sink::Zstd(zstd_encoder(file, level)?, level),
        }))
    }

    /// A file that is appended to, from where it stands.
    pub(super) fn append(file: File) -> Self {
        Self(Sink::Append(BufWriter::with_capacity(BUFFER, file)))
    }

    /// Brings what was appended to disk; `None` for a file that is not appended to.
    pub(super) fn sync(&mut self) -> Option<io::Result<()>> {
        match &mut self.0 {
            Sink::Append(out) => Some(out.flush().and_then(|()| out.get_ref().sync_data())),
            Sink::Raw(_) | Sink::Zstd(..) | Sink::Lost => None,
        }
    }

    /// Brings the file to disk and, where it was created, gives it its name. Returns the bytes on disk.
    pub(super) fn finish(self, path: Option<&Path>) -> io::Result<u64> {
        match self.0 {
            Sink::Raw(out) => commit(out),
            Sink::Zstd(out, _) => out.finish().and_then(commit),
            Sink::Append(out) => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.sync_all()?;
                if let Some(path) = path {
                    sync_dir(path)?;
                }
                Ok(file.metadata()?.len())
            }
            Sink::Lost => Err(lost()),
        }
    }

    /// Replaces the header. Whatever moment a crash comes at, the header on disk allows what stands behind it.
    pub(super) fn replace_header(&mut self, header: &Header) -> io::Result<()> {
        let version = &header.encode()[VERSION_AT..][..2];
        match &mut self.0 {
            Sink::Raw(out) => {
                out.flush()?;
                out.get_mut().overwrite(VERSION_AT as u64, version)
            }
            Sink::Append(out) => {
                out.flush()?;
                overwrite(out.get_mut(), VERSION_AT as u64, version)?;
                // On disk before the record that needs it.
                out.get_ref().sync_data()
            }
            Sink::Zstd(..) => self.compress_anew(header),
            Sink::Lost => Err(lost()),
        }
    }

    /// Compressed bytes cannot be written over: the part is begun anew with another header.
    fn compress_anew(&mut self, header: &Header) -> io::Result<()> {
        let Sink::Zstd(encoder, level) = std::mem::replace(&mut self.0, Sink::Lost) else {
            return Err(lost());
        };
        let mut file = encoder.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut old = zstd::stream::read::Decoder::new(file.begin_anew()?)?;
        old.read_exact(&mut [0; HEADER_LEN])?;
        let mut encoder = zstd_encoder(file, level)?;
        encoder.write_all(&header.encode())?;
        io::copy(&mut old, &mut encoder)?;
        self.0 = Sink::Zstd(encoder, level);
        Ok(())
    }
}

/// Where the version stands in a header.
const VERSION_AT: usize = MAGIC.len();

const BUFFER: usize = 256 << 10;

impl Write for FileSink {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Sink::Raw(out) => out.write(buf),
            Sink::Zstd(out, _) => out.write(buf),
            Sink::Append(out) => out.write(buf),
            Sink::Lost => Err(lost()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Sink::Raw(out) => out.flush(),
            Sink::Zstd(out, _) => out.flush(),
            Sink::Append(out) => out.flush(),
            Sink::Lost => Err(lost()),
        }
    }
}
