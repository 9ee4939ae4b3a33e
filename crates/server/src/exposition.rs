//! Serves metrics as Prometheus text over HTTP.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::connection::until_end;
use crate::shared::Shared;

/// The maximum size of the head of an HTTP request, which is its request line and its headers, in bytes.
const MAX_HEAD_BYTES: u64 = 8 << 10;

/// The time limit for reading an HTTP request and sending its response.
const PATIENCE: Duration = Duration::from_secs(5);

/// The maximum number of HTTP requests that are answered at the same time. Further requests wait.
const MAX_SCRAPERS: usize = 16;

/// Answers HTTP requests for metrics until the server ends.
pub(crate) async fn expose(listener: TcpListener, shared: Arc<Shared>) {
    let mut ending = shared.watch_end();
    let places = Arc::new(Semaphore::new(MAX_SCRAPERS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Some(accepted) = until_end(&mut ending, listener.accept()).await else { break };
        if let Ok((stream, _)) = accepted {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let _ = timeout(PATIENCE, answer(stream, &shared)).await;
                drop(shared);
                drop(place);
            });
        }
    }
    drop(shared);
    let _ = places.acquire_many(MAX_SCRAPERS as u32).await;
}

/// Reads the head of an HTTP request, and sends the response.
async fn answer(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && (head.len() as u64) < MAX_HEAD_BYTES {
        match stream.read(&mut chunk).await? {
            0 => break,
            bytes => head.extend_from_slice(&chunk[..bytes]),
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let (status, body) = match line.split(|byte| *byte == b' ').collect::<Vec<_>>()[..] {
        [b"GET", path, _] if path == b"/metrics" || path.starts_with(b"/metrics?") => {
            ("200 OK", text(shared))
        }
        [b"GET", ..] => ("404 Not Found", "the metrics are at the path /metrics\n".to_owned()),
        _ => ("400 Bad Request", "send GET /metrics\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// Returns all metrics of the server and its tree as Prometheus text.
fn text(shared: &Shared) -> String {
    let mut text = String::new();
    let mut add = |kind: &str, name: &str, help: &str, value: u64| {
        let _ = write!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}\n{name} {value}\n");
    };
    for (name, help, value) in shared.gauges() {
        add("gauge", &format!("lsmbench_server_{name}"), help, value);
    }
    for (name, help, value) in shared.counters.all() {
        let name = name.strip_prefix("total_").unwrap_or(name);
        add("counter", &format!("lsmbench_server_{name}_total"), help, value);
    }
    let stats = shared.databases.stats();
    for (name, help, value) in [
        ("memtable_bytes", "Memory of the memtables in bytes", stats.memtable_bytes),
        ("filter_bytes", "Memory of the filters in bytes", stats.filter_bytes),
        ("fence_bytes", "Memory of the fence pointers in bytes", stats.fence_bytes),
        ("cache_bytes", "Memory of the block cache in bytes", stats.cache_bytes),
        ("levels", "Levels with SSTables", stats.levels.len() as u64),
        ("runs", "Number of sorted runs in all levels", stats.levels.iter().map(|level| level.runs).sum()),
        (
            "table_bytes",
            "Size of all SSTables in bytes",
            stats.levels.iter().map(|level| level.file_bytes).sum(),
        ),
        ("blob_bytes", "Size of the values in blob files in bytes", stats.blobs.bytes),
    ] {
        add("gauge", &format!("lsmbench_tree_{name}"), help, value);
    }
    for (name, value) in stats.counts.iter() {
        add(
            "counter",
            &format!("lsmbench_tree_{name}_total"),
            &format!("Value of the counter {name} of the tree"),
            value,
        );
    }
    text
}
