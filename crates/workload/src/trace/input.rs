//! The bytes of a trace. The input decompresses the bytes while they are read, and keeps the current position in the
//! file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use thiserror::Error;
use types::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

use super::head::HEAD_BYTES;

/// Memory limit of `.xz` decompression, in KiB. The limit is enough for every preset of `xz`.
const XZ_MEMORY_KIB: u32 = 128 << 10;

/// Binary logarithm of the maximum `.zst` window in bytes. The window is 128 MiB, as in files of `zstd --long`.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Trace size up to which lsmbench accepts any compression ratio, in bytes after decompression.
const SPARE_BYTES: u64 = 16 << 20;

/// Maximum compression ratio of a trace that decompresses to more than `SPARE_BYTES` bytes. Real traces compress at
/// best to a few percent of their size. The limit rejects a small file that would decompress to more bytes than fit
/// in memory.
const MOST_RATIO: u64 = 256;

/// Maximum length of a line of a trace in bytes. The maximum is enough for a key and a value in which every byte is
/// escaped, and for some other fields.
const LONGEST_LINE: u64 = 4 * (MAX_KEY_BYTES + MAX_VALUE_BYTES) as u64 + 4096;

/// Size of the read buffers in bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// An error in a record of a trace, with the position of the record in the decompressed file.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file cannot be read or decompressed.
    #[error(transparent)]
    Input(#[from] io::Error),
    /// A record of a binary trace is wrong.
    #[error("byte {offset}: {message}")]
    Byte {
        /// The byte offset of the wrong record.
        offset: u64,
        /// Description of the error.
        message: String,
    },
    /// A line of a text trace is wrong.
    #[error("line {line}: {message}")]
    Line {
        /// The number of the wrong line, from 1.
        line: u64,
        /// Description of the error.
        message: String,
    },
}

/// The decompressed bytes of a trace.
pub struct TraceInput {
    reader: Box<dyn BufRead + Send>,
    folder: PathBuf,
    offset: u64,
    line: u64,
}

/// A reader that returns an error if the input has more bytes than a maximum.
struct Limited<R> {
    reader: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let most = self.most;
            io::Error::other(format!(
                "the file decompresses to more than {most} bytes, which is too much for a compressed trace \
                 of this size; decompress the file first"
            ))
        })?;
        Ok(read)
    }
}

impl TraceInput {
    /// Opens a trace file, and decompresses it while it is read. The first bytes of the file show whether the file is
    /// compressed with gzip, xz or zstd.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut packed = BufReader::with_capacity(BUFFER_BYTES, file);
        let most = length.saturating_mul(MOST_RATIO).saturating_add(SPARE_BYTES);
        let magic = packed.fill_buf()?;
        let reader: Box<dyn BufRead + Send> = if magic.starts_with(&[0x1f, 0x8b, 8]) {
            buffered(MultiGzDecoder::new(packed), most)
        } else if magic.starts_with(b"\xfd7zXZ\0") {
            buffered(XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB), most)
        } else if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            buffered(decoder, most)
        } else {
            Box::new(packed)
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { reader, folder, offset: 0, line: 0 })
    }

    /// Returns the first bytes of the trace, and whether the file has no further bytes. The next read returns the
    /// same bytes again.
    pub(super) fn peek(&mut self) -> io::Result<(Vec<u8>, bool)> {
        let mut head = Vec::new();
        self.reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let is_whole = head.len() < HEAD_BYTES;
        self.reader = Box::new(Cursor::new(head.clone()).chain(rest));
        Ok((head, is_whole))
    }

    /// Returns the folder of the trace file. Relative paths in the trace start from this folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of decompressed bytes read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of lines of the trace read so far.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Fills `out` with the next bytes. Returns false if the file has no further bytes.
    ///
    /// # Errors
    /// Returns an error if the file ends before `out` is full.
    pub fn fill(&mut self, out: &mut [u8]) -> Result<bool, RecordError> {
        let mut filled = 0;
        while filled < out.len() {
            match self.reader.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if filled != out.len() && filled > 0 {
            return Err(self.truncated(filled as u64, out.len() as u64));
        }
        self.offset += filled as u64;
        Ok(filled > 0)
    }

    /// Replaces the content of `out` with the next `bytes` bytes.
    ///
    /// # Errors
    /// Returns an error if the file has fewer bytes.
    pub fn take(&mut self, bytes: u64, out: &mut Vec<u8>) -> Result<(), RecordError> {
        out.clear();
        // Memory grows with the bytes that the file has, not with the number that the caller requests.
        let read = self.reader.by_ref().take(bytes).read_to_end(out)? as u64;
        if read < bytes {
            return Err(self.truncated(read, bytes));
        }
        self.offset += bytes;
        Ok(())
    }

    /// Replaces the content of `out` with the next line, without the line end. Returns false if the file has no
    /// further lines.
    ///
    /// # Errors
    /// Returns an error if the line is longer than any record.
    pub fn read_line(&mut self, out: &mut Vec<u8>) -> Result<bool, RecordError> {
        out.clear();
        let read = self.reader.by_ref().take(LONGEST_LINE).read_until(b'\n', out)? as u64;
        self.line += 1;
        if read == LONGEST_LINE {
            return Err(self.wrong_line(format!(
                "the line is longer than {LONGEST_LINE} bytes, the maximum of a record"
            )));
        }
        self.offset += read;
        if out.last() == Some(&b'\n') {
            out.pop();
        }
        if out.last() == Some(&b'\r') {
            out.pop();
        }
        Ok(read > 0)
    }

    /// Returns the reader of the bytes of the trace that were not read yet.
    pub(super) fn into_reader(self) -> Box<dyn BufRead + Send> {
        self.reader
    }

    /// Creates an error about the line of the trace that was read last.
    pub fn wrong_line(&self, message: impl Into<String>) -> RecordError {
        RecordError::Line { line: self.line, message: message.into() }
    }

    fn truncated(&self, read: u64, wanted: u64) -> RecordError {
        let message = format!(
            "the file ends after {read} of {wanted} bytes; the file is truncated or has another format"
        );
        RecordError::Byte { offset: self.offset, message }
    }
}

fn buffered(reader: impl Read + Send + 'static, most: u64) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, Limited { reader, left: most, most }))
}
