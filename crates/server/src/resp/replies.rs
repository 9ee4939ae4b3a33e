//! Encodes the replies to a client as bytes of RESP2 or RESP3.

use std::io::Write as _;

use super::failure::Failure;

/// The version of the protocol that a client has chosen with `HELLO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    /// RESP2, which a new connection uses.
    #[default]
    Resp2,
    /// RESP3, which a client selects with `HELLO 3`.
    Resp3,
}

/// The replies to a client, which are appended to the output buffer of the client.
pub(crate) struct Replies<'a> {
    output: &'a mut Vec<u8>,
    pub(crate) version: Version,
    errors: u64,
    /// The maximum size of one reply in bytes. An error replaces a longer reply.
    limit_bytes: usize,
    /// The position in the output buffer at which the current reply starts.
    start: usize,
}

impl<'a> Replies<'a> {
    pub(crate) fn new(output: &'a mut Vec<u8>, version: Version, limit_bytes: usize) -> Self {
        let start = output.len();
        Self { output, version, errors: 0, limit_bytes, start }
    }

    /// Returns the number of bytes of all replies that the server has not sent yet.
    pub(crate) fn bytes(&self) -> usize {
        self.output.len()
    }

    /// Returns the number of error replies so far.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Appends the reply to one request, which `write` writes. An error replaces the reply if `write` fails or the
    /// reply is too long.
    pub(crate) fn reply<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.start = self.output.len();
        let written = match write(self) {
            Ok(_) if !self.has_room() => Err(self.too_long()),
            written => written,
        };
        if let Err(failure) = &written {
            self.output.truncate(self.start);
            self.error(failure);
        }
        written
    }

    /// Appends one element of a reply, which `write` writes. An error replaces the element if `write` fails.
    pub(crate) fn nested<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let start = self.output.len();
        let written = write(self);
        if let Err(failure) = &written {
            self.output.truncate(start);
            self.error(failure);
        }
        written
    }

    /// Returns whether the current reply is still within the size limit.
    pub(crate) fn has_room(&self) -> bool {
        self.output.len() - self.start <= self.limit_bytes
    }

    /// Returns the error for a reply that exceeds the size limit.
    pub(crate) fn too_long(&self) -> Failure {
        Failure::error(format!(
            "the reply has more than {} bytes; request less data at a time, with a limit or SCAN",
            self.limit_bytes
        ))
    }

    /// Replaces all replies after the first `bytes` bytes of the output with `requests` copies of an error.
    pub(crate) fn replace(&mut self, bytes: usize, requests: usize, failure: &Failure) {
        self.output.truncate(bytes);
        (0..requests).for_each(|_| self.error(failure));
    }

    /// Writes the reply `+OK`.
    pub(crate) fn ok(&mut self) {
        self.simple("OK");
    }

    /// Writes a short text without line ends as a simple string of the protocol.
    pub(crate) fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    pub(crate) fn error(&mut self, failure: &Failure) {
        self.errors += 1;
        // An error is one line.
        let text = failure.text().replace(['\r', '\n'], " ");
        self.line(b'-', text.as_bytes());
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.number(b':', number);
    }

    /// Writes a number of keys, names or fields as an integer reply.
    pub(crate) fn count(&mut self, count: u64) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.head(b'$', bytes.len());
        self.output.extend_from_slice(bytes);
        self.output.extend_from_slice(b"\r\n");
    }

    /// Writes the first line of a reply: the byte `kind`, and a length.
    fn head(&mut self, kind: u8, length: usize) {
        self.number(kind, i64::try_from(length).unwrap_or(i64::MAX));
    }

    /// Writes a value as a bulk string, or null for `None`.
    pub(crate) fn value(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) => self.bulk(value),
            None => self.null(),
        }
    }

    pub(crate) fn null(&mut self) {
        self.output.extend_from_slice(match self.version {
            Version::Resp2 => b"$-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// Writes the first line of an array. The caller then writes its `elements` elements.
    pub(crate) fn array(&mut self, elements: usize) {
        self.head(b'*', elements);
    }

    /// Writes the first line of a map. The caller then writes a key and a value for each pair. In RESP2, the map is an
    /// array of alternating keys and values.
    pub(crate) fn map(&mut self, pairs: usize) {
        match self.version {
            Version::Resp2 => self.array(2 * pairs),
            Version::Resp3 => self.head(b'%', pairs),
        }
    }

    /// Starts an array or a map whose length is not known yet. Returns the position at which its first line must be
    /// inserted later.
    pub(crate) fn open(&mut self) -> usize {
        self.output.len()
    }

    /// Inserts the first line of an array at position `place`, which [`open`](Self::open) returned.
    pub(crate) fn close_array(&mut self, place: usize, elements: usize) {
        self.insert_head(place, |replies| replies.array(elements));
    }

    /// Inserts the first line of a map at position `place`, which [`open`](Self::open) returned.
    pub(crate) fn close_map(&mut self, place: usize, pairs: usize) {
        self.insert_head(place, |replies| replies.map(pairs));
    }

    fn insert_head(&mut self, place: usize, write: impl FnOnce(&mut Self)) {
        let end = self.output.len();
        write(self);
        let head = self.output.len() - end;
        self.output[place..].rotate_right(head);
    }

    fn number(&mut self, kind: u8, number: i64) {
        // Writing into a vector cannot fail.
        let _ = write!(self.output, "{}{number}\r\n", char::from(kind));
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.output.push(kind);
        self.output.extend_from_slice(text);
        self.output.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(version: Version, write: impl FnOnce(&mut Replies<'_>)) -> String {
        let mut output = Vec::new();
        write(&mut Replies::new(&mut output, version, 100));
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn the_versions_differ_in_null_and_maps() {
        let write = |replies: &mut Replies<'_>| {
            let place = replies.open();
            replies.bulk(b"a");
            replies.null();
            replies.close_map(place, 1);
            replies.integer(-7);
        };
        assert_eq!(written(Version::Resp2, write), "*2\r\n$1\r\na\r\n$-1\r\n:-7\r\n");
        assert_eq!(written(Version::Resp3, write), "%1\r\n$1\r\na\r\n_\r\n:-7\r\n");
    }

    #[test]
    fn a_reply_above_the_limit_becomes_an_error() {
        let text = written(Version::Resp2, |replies| {
            let short = replies.reply(|replies| {
                replies.bulk(&[b'x'; 10]);
                Ok(())
            });
            let long = replies.reply(|replies| {
                replies.bulk(&[b'x'; 100]);
                Ok(())
            });
            assert!(short.is_ok() && long.is_err());
            assert_eq!(replies.errors(), 1);
        });
        assert!(text.starts_with("$10\r\nxxxxxxxxxx\r\n-ERR the reply has more than 100 bytes; "), "{text}");
    }

    #[test]
    fn an_error_is_one_line() {
        let failure = Failure::error("first\r\n+OK".to_owned());
        assert_eq!(written(Version::Resp2, |replies| replies.error(&failure)), "-ERR first  +OK\r\n");
    }
}
