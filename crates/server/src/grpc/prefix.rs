//! Parses the length prefixes of the messages in a gRPC body.

/// The number of bytes before each message in a gRPC body: one byte of flags, and four bytes with the length.
const PREFIX_BYTES: usize = 5;

/// A parser that finds where the messages in a gRPC body start and end.
#[derive(Debug, Default)]
pub(super) struct MessageReader {
    prefix: [u8; PREFIX_BYTES],
    /// The number of bytes of the current length prefix that the parser has read.
    filled: usize,
    /// The number of bytes of the current message that the parser has not seen yet.
    left: usize,
}

impl MessageReader {
    /// Parses the next bytes of a gRPC body. Calls `admit` with the length of each message whose prefix is complete.
    ///
    /// # Errors
    /// The error of `admit`.
    pub(super) fn read<E>(
        &mut self,
        mut bytes: &[u8],
        mut admit: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let skipped = self.left.min(bytes.len());
                self.left -= skipped;
                bytes = &bytes[skipped..];
                continue;
            }
            self.prefix[self.filled] = bytes[0];
            self.filled += 1;
            bytes = &bytes[1..];
            if self.filled == PREFIX_BYTES {
                let [_, length @ ..] = self.prefix;
                self.left = u32::from_be_bytes(length) as usize;
                self.filled = 0;
                admit(self.left)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_the_same_however_the_bytes_arrive() {
        let lengths = [3, 0, 700, 1];
        let body: Vec<u8> = lengths
            .iter()
            .flat_map(|length: &u32| {
                let message = vec![9; *length as usize];
                [&[0][..], &length.to_be_bytes(), &message].concat()
            })
            .collect();
        for chunk in [1, 2, 4, 5, 6, 100, body.len()] {
            let (mut reader, mut found) = (MessageReader::default(), Vec::new());
            for bytes in body.chunks(chunk) {
                let read = reader.read(bytes, |length| {
                    found.push(length as u32);
                    Ok::<_, ()>(())
                });
                assert_eq!(read, Ok(()));
            }
            assert_eq!(found, lengths, "chunks of {chunk}");
        }
    }

    #[test]
    fn a_length_is_rejected_before_its_message_arrives() {
        let mut reader = MessageReader::default();
        assert_eq!(reader.read(&[0, 0x7f, 0xff, 0xff], Err), Ok(()));
        assert_eq!(reader.read(&[0xff], Err), Err(i32::MAX as usize));
    }
}
