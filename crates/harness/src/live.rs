//! Serves a page of results on a loopback address. The page reloads itself when a run adds results.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use page::Page;
use results::Folder;
use types::{Outcome, Problem};

use crate::output::line;

/// The maximum time that the server of the live page waits to receive a request or to send its answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the server of the live page runs after the trials have ended, so that open pages can load the final
/// results.
pub(crate) const LAST_LOOK: Duration = Duration::from_secs(2);

/// The maximum number of bytes that the server of the live page reads from one HTTP request.
const MOST_BYTES: u64 = 16 << 10;

/// A script that reloads the page when the results have changed. The fragment of the URL stores the selections of the
/// user on the page, so a reload keeps them.
const RELOAD: &str = "<script>(() => { let known = null; setInterval(async () => { try { \
    const now = await (await fetch('state')).text(); if (known !== null && now !== known) location.reload(); known = now; \
    } catch {} }, 1000); })();</script>\n</body>";

/// The page that the server of the live page sends while there are no results.
const EMPTY: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <link rel=\"icon\" href=\"data:,\">\n<title>lsmbench</title>\n</head>\n<body>\n<p>No trial has finished yet.</p>\n</body>\n</html>\n";

/// The server of a live page, with its results folders.
pub(crate) struct Live {
    folders: Vec<PathBuf>,
    listener: TcpListener,
}

impl Live {
    /// Listens on a port of the loopback address. With port 0, listens on any free port.
    ///
    /// # Errors
    /// The port is in use.
    pub(crate) fn bind(folders: Vec<PathBuf>, port: u16) -> Outcome<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).map_err(|error| {
            Problem::doing(format!("listen on {address}; choose another port with --live"), error)
        })?;
        let shown = listener.local_addr().map_err(|error| Problem::doing("read the address", error))?;
        line(&format!("live page: http://{shown}/"));
        Ok(Self { folders, listener })
    }

    /// Serves the live page until the program ends.
    pub(crate) fn serve(&self) {
        let mut last = None;
        for stream in self.listener.incoming().flatten() {
            // Ignores the error of a browser that has disconnected.
            let _ = self.answer(&stream, &mut last);
        }
    }

    /// Serves the live page in a new thread until the program ends.
    pub(crate) fn serve_behind(self) {
        thread::spawn(move || self.serve());
    }

    /// Answers one HTTP request for the live page. `last` is the last page that was generated successfully.
    fn answer(&self, mut stream: &TcpStream, last: &mut Option<String>) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut lines = BufReader::new(stream.take(MOST_BYTES)).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let mut host = String::new();
        for header in lines {
            let header = header?;
            if header.is_empty() {
                break;
            }
            if let Some((_, value)) =
                header.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("host"))
            {
                value.trim().clone_into(&mut host);
            }
        }
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        let (status, kind, body) = match (first.split(' ').take(2).collect::<Vec<_>>().as_slice(), name) {
            // Prevents DNS rebinding: a page of another site could read the results if its host name resolves to this
            // address.
            (_, name) if !["127.0.0.1", "localhost"].contains(&name) => {
                ("403 Forbidden", "text/plain", String::new())
            }
            (["GET", "/"], _) => ("200 OK", "text/html", self.page(last)),
            (["GET", "/state"], _) => ("200 OK", "text/plain", state(&self.folders)),
            _ => ("404 Not Found", "text/plain", String::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             Connection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    }

    /// Generates the HTML page of the current results. While a run writes its files, they may be inconsistent, and the
    /// function returns the last page that was generated successfully.
    fn page(&self, last: &mut Option<String>) -> String {
        let begun: Vec<PathBuf> = self.folders.iter().filter(|folder| has_rows(folder)).cloned().collect();
        if !begun.is_empty()
            && let Ok(page) = Page::of(&begun)
        {
            *last = Some(page.html());
        }
        last.as_deref().unwrap_or(EMPTY).replacen("</body>", RELOAD, 1)
    }
}

/// Returns whether `runs.csv` in a results folder has at least one row.
fn has_rows(folder: &Path) -> bool {
    let runs = std::fs::read(Folder::new(folder).runs()).unwrap_or_default();
    runs.iter().filter(|byte| **byte == b'\n').nth(1).is_some()
}

/// Returns a text that changes whenever a results file changes: the sizes and the modification times of the files in
/// `folders`.
fn state(folders: &[PathBuf]) -> String {
    let file = |path: PathBuf| {
        let data = std::fs::metadata(path).ok();
        let age =
            data.as_ref().and_then(|data| data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok());
        format!("{} {}", data.map_or(0, |data| data.len()), age.unwrap_or_default().as_millis())
    };
    let of = |folder: &PathBuf| {
        let folder = Folder::new(folder);
        [folder.runs(), folder.verdicts(), folder.manifest()].map(file).join(" ")
    };
    folders.iter().map(of).collect::<Vec<_>>().join("\n")
}
