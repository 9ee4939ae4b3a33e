//! Tests of the text language over a socket.

use lsmbench_server::Protocol;

use crate::served::{Served, wait_until};

fn served() -> Served {
    Served::with(|options| {
        options.protocol = Protocol::Dsl;
        options.limits.request_bytes = 100_000;
        options.limits.reply_bytes = 10_000;
    })
}

#[test]
fn commands_answer_as_in_the_shell() {
    let served = served();
    let mut socket = served.socket();
    socket.send(
        b"# a comment\n\np b 2\np a 1\np \"c d\" \"two words\"\ng a\ng nothing\nd b\ng b\nr a z\nr z a\n",
    );
    socket.finish();
    assert_eq!(socket.rest(), "1\n\n\na:1 c d:two words\n\n");
    let mut socket = served.socket();
    socket.send(b"s\n");
    assert!(socket.line().starts_with("memory: memtables "));
}

#[test]
fn wrong_lines_are_named_and_the_others_executed() {
    let served = served();
    let mut socket = served.socket();
    let long = "k".repeat(70_000);
    socket.send(format!("p a 1\nput b 2\nl pairs\np {long} 1\nd a\ng a\np a 2\ng a\n").as_bytes());
    let start = "error: line 2: column 1: unknown command \"put\"";
    assert!(socket.line().starts_with(start));
    assert_eq!(socket.line(), "error: line 3: a server reads no files; send the pairs as `p KEY VALUE`");
    assert_eq!(socket.line(), "error: line 4: the key has 70000 bytes; the limit is 65536");
    assert_eq!((socket.line(), socket.line()), (String::new(), "2".to_owned()));
    let mut socket = served.socket();
    let _ = socket.try_send(&vec![b'x'; 200_000]);
    assert_eq!(socket.line(), "error: line 1: the line is longer than 100000 bytes");
}

#[test]
fn answers_above_the_limit_are_errors() {
    let served = served();
    let mut socket = served.socket();
    for number in 0..20 {
        socket.send(format!("p k{number:02} {}\n", "x".repeat(1000)).as_bytes());
    }
    socket.send(b"r k l\nr k00 k01\n");
    assert_eq!(
        socket.line(),
        "error: line 21: the answer has more than 10000 bytes; request a shorter range"
    );
    assert_eq!(socket.line().len(), 1004);
}

#[test]
fn many_clients_share_a_store() {
    let served = served();
    std::thread::scope(|scope| {
        for client in 0..8 {
            let served = &served;
            scope.spawn(move || {
                let mut socket = served.socket();
                for number in 0..200 {
                    socket.send(format!("p {client}-{number:03} {number}\n").as_bytes());
                    if number % 10 == 9 {
                        socket.send(format!("g {client}-{number:03}\n").as_bytes());
                        assert_eq!(socket.line(), number.to_string());
                    }
                }
            });
        }
    });
    let mut socket = served.socket();
    wait_until("all puts", || {
        socket.send(b"r 0 9\n");
        // 1,600 pairs are above the limit, and half of them are not.
        socket.line().starts_with("error: ")
    });
    socket.send(b"r 3-000 3-100\n");
    assert_eq!(socket.line().split(' ').count(), 100);
}
