//! Fuzz target for the requests of Redis clients.

use server::resp::{Pipeline, ProtocolError, RequestLimits};

use super::input::{SPARE_BYTES, choose};
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for requests in the Redis protocol. The first byte of an input, plus 1, is the size of the pieces in
/// which the other bytes arrive.
///
/// The requests that the parser returns must not depend on the size of the pieces, and must be within the limits. For a
/// request that announces a length, the parser must not allocate memory for bytes that have not arrived.
pub(super) const RESP: FuzzTarget =
    FuzzTarget { name: "resp", about: "requests of the Redis protocol", form: InputForm::Text, seeds, run };

/// Request limits that are so low that a short input can exceed them.
const LIMITS: RequestLimits =
    RequestLimits { requests: 5, arguments: 6, argument_bytes: 1000, request_bytes: 2000 };

fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "\x07*2\r\n$3\r\nGET\r\n$1\r\na\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$0\r\n\r\n",
        "\x01PING\r\nSET k \"a b\\n\\x00\\\"\" 'c d'\r\n\r\n*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n",
        "\x00*6\r\n$4\r\nMSET\r\n$1\r\na\r\n$10\r\n0123456789\r\n$1\r\nb\r\n$2\r\n\r\n\r\n$1\r\nc\r\n",
        "\x40GET a\nGET b\nGET c\nGET d\nGET e\nGET f\nGET g\n*2\r\n$4\r\nECHO\r\n$1\r\n*\r\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

fn run(input: &[u8]) -> bool {
    let Some((piece_bytes, bytes)) = choose(input) else { return false };
    bounded(input.len(), SPARE_BYTES, || {
        let (at_once, error) = read(bytes, bytes.len().max(1));
        let in_pieces = read(bytes, piece_bytes + 1);
        assert!(
            (&at_once, &error) == (&in_pieces.0, &in_pieces.1),
            "the parsed requests or the error depend on the pieces in which the input arrives"
        );
        error.is_none() && !at_once.is_empty()
    })
}

/// Parses requests from bytes that arrive in pieces of `piece_bytes` bytes. Returns all requests, and the error after
/// the last request, if any.
fn read(bytes: &[u8], piece_bytes: usize) -> (Vec<Vec<Vec<u8>>>, Option<ProtocolError>) {
    let (mut pipeline, mut input, mut requests) = (Pipeline::default(), Vec::new(), Vec::new());
    for piece in bytes.chunks(piece_bytes) {
        input.extend_from_slice(piece);
        loop {
            if let Err(error) = pipeline.read(&input, &LIMITS) {
                return (requests, Some(error));
            }
            if pipeline.is_empty() {
                break;
            }
            assert!(
                pipeline.len() <= LIMITS.requests,
                "the parser returned too many requests at once: {}",
                pipeline.len()
            );
            for number in 0..pipeline.len() {
                let request = pipeline.request(&input, number);
                let arguments: Vec<Vec<u8>> = request.arguments(0).map(<[u8]>::to_vec).collect();
                assert!(!arguments.is_empty(), "a request without a command");
                requests.push(arguments);
            }
            // Removes only half of the requests, because the server also removes only a part of them if replies must be
            // sent first.
            let removed = pipeline.len().div_ceil(2);
            let consumed = pipeline.remove(removed);
            let kept = requests.len() - pipeline.len();
            requests.truncate(kept);
            assert!(consumed <= input.len(), "the parser consumed {consumed} of {} bytes", input.len());
            input.drain(..consumed);
        }
    }
    (requests, None)
}
