//! Tests of live pages, which show results on a loopback address while a run adds results.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::bench::Bench;

/// Sends a request for a path to the server at `address`, with `host` as the name of the host. Returns the answer, or
/// an empty text without an answer.
fn get(address: &str, path: &str, host: &str) -> String {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().unwrap_or_default()
}

/// Starts the program, and waits until it prints the address of the page. Returns the process and the address.
fn start(bench: &Bench, arguments: &[&str]) -> (Child, String) {
    let mut child = bench.command(arguments).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = loop {
        let line = lines.next().expect("the program prints the address").unwrap();
        if let Some(address) = line.strip_prefix("live page: http://") {
            break address.trim_end_matches('/').to_owned();
        }
    };
    std::thread::spawn(move || lines.for_each(drop));
    (child, address)
}

#[test]
fn a_page_fills_while_its_run_writes_results() {
    let bench = Bench::small();
    let (mut child, address) = start(&bench, &["run", "small.toml", "--trials", "12", "--live"]);
    let (mut first, begin) = (None, Instant::now());
    while child.try_wait().unwrap().is_none() {
        let page = get(&address, "/", &address);
        if page.is_empty() {
            // The program ended in the meantime.
            break;
        }
        assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("location.reload"), "{page}");
        let is_filled = page.contains("<h1>small</h1>");
        first = first.or(is_filled.then(|| bench.path("results/small/verdicts.csv").exists()));
        assert!(begin.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(first, Some(false), "the page has rows before the run has verdicts");
}

#[test]
fn a_page_of_results_answers_this_machine_only() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml", "--no-page"]);
    let (mut child, address) = start(&bench, &["page", "results", "--live"]);
    let page = get(&address, "/", &address);
    assert!(page.contains("<h1>small</h1>") && page.contains("Verdicts"), "{page}");
    let state = get(&address, "/state", &address);
    assert_eq!(get(&address, "/state", &address), state);
    assert!(get(&address, "/", "example.org").starts_with("HTTP/1.1 403"));
    assert!(get(&address, "/manifest.json", &address).starts_with("HTTP/1.1 404"));
    let port = address.rsplit_once(':').unwrap().1;
    let answer = bench.run(&["page", "results", &format!("--live={port}")]);
    assert_eq!(answer.code, Some(2), "{}", answer.err);
    assert!(answer.err.contains("choose another port"), "{}", answer.err);
    child.kill().unwrap();
    child.wait().unwrap();
}
