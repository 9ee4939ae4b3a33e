//! Parses the pipeline of one client: the complete requests that it has sent, which are not answered yet.

use std::ops::Range;

use thiserror::Error;

use super::inline;
use crate::limits::{
    MAX_ARGUMENT_BYTES, MAX_ARGUMENTS, MAX_INLINE_BYTES, MAX_STRANGER_ARGUMENT_BYTES, MAX_STRANGER_ARGUMENTS,
};

/// The maximum size of a line that states a length, in bytes: a sign, and more digits than any valid length has.
const MAX_LENGTH_LINE_BYTES: usize = 32;

/// The maximum number of complete requests of a client that are parsed before they are executed.
const MAX_REQUESTS: usize = 1024;

/// The limits for the requests of a client: for each request, and for their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// The maximum number of complete requests that are parsed before they are executed.
    pub requests: usize,
    /// The maximum number of arguments of one request, including the command.
    pub arguments: usize,
    /// The maximum size of one argument, in bytes.
    pub argument_bytes: usize,
    /// The maximum size of one request, in bytes.
    pub request_bytes: usize,
}

impl RequestLimits {
    /// Returns the limits for a client that may execute all commands. A request may have up to `request_bytes` bytes.
    pub fn of_client(request_bytes: usize) -> Self {
        Self {
            requests: MAX_REQUESTS,
            arguments: MAX_ARGUMENTS,
            argument_bytes: MAX_ARGUMENT_BYTES.min(request_bytes),
            request_bytes,
        }
    }

    /// Returns the limits for a client that has not sent the password yet.
    pub fn of_stranger() -> Self {
        Self {
            requests: 1,
            arguments: MAX_STRANGER_ARGUMENTS,
            argument_bytes: MAX_STRANGER_ARGUMENT_BYTES,
            request_bytes: MAX_STRANGER_ARGUMENTS * (MAX_STRANGER_ARGUMENT_BYTES + 2 * MAX_LENGTH_LINE_BYTES),
        }
    }
}

/// The reason why received bytes are not a valid request. The parser cannot parse any later bytes of this client
/// either.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProtocolError {
    /// The number of arguments of a request is invalid or exceeds the limit.
    #[error("invalid multibulk length: {0}")]
    Arguments(String),
    /// The length of an argument is invalid or exceeds the limit.
    #[error("invalid bulk length: {0}")]
    Length(String),
    /// The line with the length of an argument is missing. The text is the byte at which the line should start.
    #[error("expected '$', got '{0}'")]
    NoLength(String),
    /// An argument of a request is longer than its length prefix states.
    #[error("no line end after an argument of {0} bytes")]
    NoEnd(usize),
    /// The line with the length of an argument is longer than any valid length.
    #[error("too big count string")]
    LongLength,
    /// A whole request is longer than the limit.
    #[error("the request has more than {0} bytes; split it")]
    RequestTooLong(usize),
    /// A request in the inline form, which is one line of words, exceeds the limit.
    #[error("too big inline request: more than {MAX_INLINE_BYTES} bytes without a line end")]
    InlineTooLong,
    /// A request in the inline form, which is one line of words, has a quote that is not closed.
    #[error("unbalanced quotes in request")]
    Quotes,
}

/// The position of one argument of a request: a byte range in the received bytes, or in the buffer `inline`.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    is_inline: bool,
}

/// The complete requests at the start of a client's input, and the parsing state of the incomplete request after them.
#[derive(Debug, Default)]
pub struct Pipeline {
    spans: Vec<Span>,
    /// For each complete request: the end of its arguments in `spans`, and the end of its bytes in the input (both
    /// exclusive).
    requests: Vec<(usize, usize)>,
    /// The text of the arguments of all requests in the inline form (one line of words).
    inline: Vec<u8>,
    /// The number of bytes of the client's input that the parser has consumed.
    at: usize,
    /// The number of arguments that are still missing in the incomplete request. 0 between two requests.
    lacking: usize,
    /// The length of the next argument. `None` if the line with this length is not parsed yet.
    length: Option<usize>,
    error: Option<ProtocolError>,
}

impl Pipeline {
    /// Parses the complete requests of `input`. At each call, `input` contains the bytes of the previous call without
    /// the requests that [`remove`](Self::remove) removed, followed by newly received bytes.
    ///
    /// If the input contains an error, the requests before the error remain available. The error is returned only after
    /// the caller has removed all these requests.
    ///
    /// # Errors
    /// The input violates the protocol.
    pub fn read(&mut self, input: &[u8], limits: &RequestLimits) -> Result<(), ProtocolError> {
        if self.error.is_none() {
            self.error = self.read_all(input, limits).err();
        }
        match &self.error {
            Some(error) if self.requests.is_empty() => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// Returns the number of complete requests that were not removed yet.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether the pipeline contains no complete request.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Returns the arguments of a request, as views of the input.
    pub fn request<'a>(&'a self, input: &'a [u8], request: usize) -> Request<'a> {
        let spans = &self.spans[self.spans_of(request)];
        Request { input, inline: &self.inline, spans }
    }

    /// Removes the first `requests` requests. Returns the number of their bytes, which the caller must remove from the
    /// start of the input.
    pub fn remove(&mut self, requests: usize) -> usize {
        let Some(last) = requests.checked_sub(1) else { return 0 };
        let (spans, bytes) = self.requests[last];
        self.requests.drain(..requests);
        self.spans.drain(..spans);
        self.requests.iter_mut().for_each(|(end, at)| {
            *end -= spans;
            *at -= bytes;
        });
        self.spans.iter_mut().filter(|span| !span.is_inline).for_each(|span| {
            span.start -= bytes;
            span.end -= bytes;
        });
        self.at -= bytes;
        if !self.spans.iter().any(|span| span.is_inline) {
            self.inline.clear();
        }
        bytes
    }

    /// Frees the memory of the parsed requests if the pipeline contains no request.
    pub(crate) fn shrink(&mut self) {
        if self.spans.is_empty() {
            self.spans = Vec::new();
            self.requests = Vec::new();
            self.inline = Vec::new();
        }
    }

    /// Returns the memory that the parsed requests use, in bytes, without the received bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>()
            + self.requests.capacity() * size_of::<(usize, usize)>()
            + self.inline.capacity()
    }

    fn spans_of(&self, request: usize) -> Range<usize> {
        let start = request.checked_sub(1).map_or(0, |before| self.requests[before].0);
        start..self.requests[request].0
    }

    fn read_all(&mut self, input: &[u8], limits: &RequestLimits) -> Result<(), ProtocolError> {
        while self.requests.len() < limits.requests {
            let is_complete = match (self.lacking, input.get(self.at)) {
                (0, None) => break,
                (0, Some(b'*')) => self.read_head(input, limits)?,
                (0, Some(_)) => self.read_inline(input)?,
                _ => true,
            };
            if !is_complete || !self.read_arguments(input, limits)? {
                break;
            }
        }
        Ok(())
    }

    /// Parses the line `*COUNT`, with which a request begins and states the number of its arguments. Returns whether
    /// the line is complete.
    fn read_head(&mut self, input: &[u8], limits: &RequestLimits) -> Result<bool, ProtocolError> {
        let Some(line) = self.length_line(input)? else { return Ok(false) };
        let shown = || line.escape_ascii().to_string();
        let count: i64 = parse(line).ok_or_else(|| ProtocolError::Arguments(shown()))?;
        // An empty request has no reply.
        self.lacking = usize::try_from(count).unwrap_or(0);
        if self.lacking > limits.arguments {
            let limit = limits.arguments;
            return Err(ProtocolError::Arguments(format!("{count}; the limit is {limit} arguments")));
        }
        Ok(true)
    }

    /// Parses a request in the inline form, which is one line of words. Returns whether the request is complete.
    fn read_inline(&mut self, input: &[u8]) -> Result<bool, ProtocolError> {
        let rest = &input[self.at..];
        let Some(end) = rest.iter().take(MAX_INLINE_BYTES).position(|byte| *byte == b'\n') else {
            return if rest.len() < MAX_INLINE_BYTES { Ok(false) } else { Err(ProtocolError::InlineTooLong) };
        };
        let words = inline::split(&rest[..end]).ok_or(ProtocolError::Quotes)?;
        self.at += end + 1;
        for word in &words {
            let start = self.inline.len();
            self.inline.extend_from_slice(word);
            self.spans.push(Span { start, end: self.inline.len(), is_inline: true });
        }
        if !words.is_empty() {
            self.requests.push((self.spans.len(), self.at));
        }
        Ok(true)
    }

    /// Parses the missing arguments of the incomplete request. Returns whether all arguments are complete.
    fn read_arguments(&mut self, input: &[u8], limits: &RequestLimits) -> Result<bool, ProtocolError> {
        if self.lacking == 0 {
            return Ok(true);
        }
        let start = self.requests.last().map_or(0, |(_, end)| *end);
        while self.lacking > 0 {
            let length = match self.length {
                Some(length) => length,
                None => match self.read_length(input, limits)? {
                    Some(length) => length,
                    None => return Ok(false),
                },
            };
            self.length = Some(length);
            if self.at - start + length > limits.request_bytes {
                return Err(ProtocolError::RequestTooLong(limits.request_bytes));
            }
            let end = self.at + length;
            match input.get(end..end + 2) {
                None => return Ok(false),
                Some(b"\r\n") => {}
                Some(_) => return Err(ProtocolError::NoEnd(length)),
            }
            self.spans.push(Span { start: self.at, end, is_inline: false });
            self.at = end + 2;
            (self.length, self.lacking) = (None, self.lacking - 1);
        }
        self.requests.push((self.spans.len(), self.at));
        Ok(true)
    }

    /// Parses the line `$LENGTH`, which precedes an argument and states its length. Returns `None` if the line is not
    /// complete.
    fn read_length(&mut self, input: &[u8], limits: &RequestLimits) -> Result<Option<usize>, ProtocolError> {
        match input.get(self.at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(other) => return Err(ProtocolError::NoLength(other.escape_ascii().to_string())),
        }
        let Some(line) = self.length_line(input)? else { return Ok(None) };
        let length: Option<i64> = parse(line);
        let length = length.and_then(|length| usize::try_from(length).ok());
        match length {
            Some(length) if length <= limits.argument_bytes => Ok(Some(length)),
            Some(length) => {
                let limit = limits.argument_bytes;
                Err(ProtocolError::Length(format!("{length}; the limit is {limit} bytes")))
            }
            None => Err(ProtocolError::Length(line.escape_ascii().to_string())),
        }
    }

    /// Reads a line that consists of one byte and a number. Returns the number as text, or `None` if the line is
    /// incomplete.
    fn length_line<'a>(&mut self, input: &'a [u8]) -> Result<Option<&'a [u8]>, ProtocolError> {
        let rest = &input[self.at + 1..];
        match rest.iter().take(MAX_LENGTH_LINE_BYTES).position(|byte| *byte == b'\n') {
            Some(end) => {
                self.at += end + 2;
                let line = &rest[..end];
                Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
            }
            None if rest.len() < MAX_LENGTH_LINE_BYTES => Ok(None),
            None => Err(ProtocolError::LongLength),
        }
    }
}

/// Parses a whole number without blanks and without a plus sign. Returns `None` for any other text.
fn parse<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.starts_with('+'))?;
    text.parse().ok()
}

/// The arguments of one request of a client. A request has at least one argument, which is the command.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    input: &'a [u8],
    inline: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Request<'a> {
    /// Returns the number of arguments of the request, including the command.
    #[allow(clippy::len_without_is_empty)] // there is no empty request
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns an argument. Argument 0 is the command.
    ///
    /// # Panics
    /// `index` is not below [`len`](Self::len).
    pub fn argument(&self, index: usize) -> &'a [u8] {
        let span = self.spans[index];
        let bytes = if span.is_inline { self.inline } else { self.input };
        &bytes[span.start..span.end]
    }

    /// Returns the arguments of the request from the number `first` on. Argument 0 is the command.
    pub fn arguments(self, first: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        (first.min(self.len())..self.len()).map(move |index| self.argument(index))
    }
}

/// The complete requests of a pipeline, with the input that contains their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requests<'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) input: &'a [u8],
}

impl<'a> Requests<'a> {
    pub(crate) fn len(self) -> usize {
        self.pipeline.len()
    }

    pub(crate) fn at(self, request: usize) -> Request<'a> {
        self.pipeline.request(self.input, request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses chunks of input, and returns each request as one line. If an error occurs, the error is the last line.
    fn read(chunks: &[&[u8]]) -> Vec<String> {
        let limits = RequestLimits { requests: 3, arguments: 4, argument_bytes: 10, request_bytes: 64 };
        let (mut pipeline, mut input, mut found) = (Pipeline::default(), Vec::new(), Vec::new());
        for chunk in chunks {
            input.extend_from_slice(chunk);
            loop {
                if let Err(error) = pipeline.read(&input, &limits) {
                    found.push(error.to_string());
                    return found;
                }
                if pipeline.is_empty() {
                    break;
                }
                for index in 0..pipeline.len() {
                    let request = pipeline.request(&input, index);
                    let words = request.arguments(0).map(|word| word.escape_ascii().to_string());
                    found.push(words.collect::<Vec<_>>().join(" "));
                }
                let bytes = pipeline.remove(pipeline.len());
                input.drain(..bytes);
            }
        }
        found
    }

    #[test]
    fn requests_are_the_same_however_they_arrive() {
        let text = b"*2\r\n$3\r\nGET\r\n$1\r\n\r\r\nPING\r\n*0\r\n\r\n*-1\r\nSET k 'a b'\n*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n";
        let expected = ["GET \\r", "PING", "SET k a b", "PING", "SET k "];
        assert_eq!(read(&[text]), expected);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(read(&bytes), expected);
        for at in 0..text.len() {
            let (first, second) = text.split_at(at);
            assert_eq!(read(&[first, second]), expected, "cut at {at}");
        }
    }

    #[test]
    fn what_is_no_request_is_an_error_behind_the_requests_before_it() {
        let long = "x".repeat(MAX_INLINE_BYTES);
        for (text, error) in [
            ("*x\r\n", "invalid multibulk length: x"),
            ("*5\r\n", "invalid multibulk length: 5; the limit is 4 arguments"),
            ("*99999999999999999999\r\n", "invalid multibulk length: 99999999999999999999"),
            ("*1\r\n$11\r\n", "invalid bulk length: 11; the limit is 10 bytes"),
            ("*1\r\n$2147483648\r\n", "invalid bulk length: 2147483648; the limit is 10 bytes"),
            ("*1\r\n$-1\r\n", "invalid bulk length: -1"),
            ("*1\r\n+PING\r\n", "expected '$', got '+'"),
            ("*1\r\n*1\r\n", "expected '$', got '*'"),
            ("*1\r\n$2\r\nabcd\r\n", "no line end after an argument of 2 bytes"),
            ("*00000000000000000000000000000000000000000001\r\n", "too big count string"),
            ("\"a\r\n", "unbalanced quotes in request"),
            (&long, "too big inline request: more than 65536 bytes without a line end"),
            (
                "*4\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n$10\r\n",
                "the request has more than 64 bytes; split it",
            ),
        ] {
            let text = format!("PING\r\n{text}");
            assert_eq!(read(&[text.as_bytes()]), ["PING", error], "{text:.80}");
        }
    }

    #[test]
    fn memory_of_inline_requests_is_given_back_between_incomplete_ones() {
        let limits = RequestLimits::of_client(1 << 20);
        let (mut pipeline, mut input) = (Pipeline::default(), Vec::new());
        for _ in 0..1000 {
            input.extend_from_slice(b"ECHO 0123456789\r\n*2\r\n$4\r\nECHO\r\n");
            pipeline.read(&input, &limits).unwrap();
            let bytes = pipeline.remove(pipeline.len());
            input.drain(..bytes);
            input.extend_from_slice(b"$1\r\na\r\n");
        }
        assert!(pipeline.memory_bytes() < 10_000, "{}", pipeline.memory_bytes());
    }
}
