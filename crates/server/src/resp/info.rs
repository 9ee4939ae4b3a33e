//! Creates the reply to the Redis command `INFO`, section by section.

use super::failure::Failure;
use crate::shared::Shared;

/// A section of the reply to `INFO`: its title and its lines. A line is a key and a value.
pub(crate) type Section = (&'static str, Vec<(String, String)>);

/// Returns the sections of the reply to `INFO` whose names are in `wanted`. If `wanted` is empty, returns all sections
/// except the keyspace section, because counting all names is slow.
pub(crate) fn sections(shared: &Shared, wanted: &[String]) -> Result<Vec<Section>, Failure> {
    let has = |names: &[&str]| wanted.iter().any(|section| names.contains(&section.as_str()));
    let is_wanted = |name: &str| wanted.is_empty() || has(&[name, "all", "default", "everything"]);
    let gauges = shared.gauges();
    let gauge =
        |name: &str| gauges.iter().filter(|(gauge, ..)| *gauge == name).map(|(.., value)| *value).sum();
    let mut sections: Vec<Section> = Vec::new();
    if is_wanted("server") {
        let mut lines = vec![
            // The version of Redis whose replies clients may expect.
            line("redis_version", "7.0.0"),
            line("redis_mode", "standalone"),
            line("lsmbench_version", env!("CARGO_PKG_VERSION")),
            line("process_id", std::process::id()),
            line("tcp_port", shared.port),
            line::<u64>("uptime_in_seconds", gauge("uptime_in_seconds")),
            line("store", shared.databases.directory().display()),
        ];
        if !shared.databases.families().is_empty() {
            lines.push(line("families", shared.databases.families().join(",")));
        }
        sections.push(("Server", lines));
    }
    if is_wanted("clients") {
        sections.push((
            "Clients",
            vec![
                line::<u64>("connected_clients", gauge("connected_clients")),
                line("maxclients", shared.options.limits.connections),
            ],
        ));
    }
    if is_wanted("memory") {
        let stats = shared.databases.stats();
        let parts = [
            ("memtable_bytes", stats.memtable_bytes),
            ("filter_bytes", stats.filter_bytes),
            ("fence_bytes", stats.fence_bytes),
            ("cache_bytes", stats.cache_bytes),
            ("client_memory_bytes", gauge("client_memory_bytes")),
        ];
        let mut lines = vec![line("used_memory", parts.iter().map(|(_, bytes)| bytes).sum::<u64>())];
        lines.extend(parts.map(|(name, bytes)| line(name, bytes)));
        sections.push(("Memory", lines));
    }
    if is_wanted("stats") {
        let lines = shared.counters.all().map(|(name, _, count)| line(name, count));
        sections.push(("Stats", lines.into()));
    }
    if is_wanted("tree") {
        let counts = shared.databases.stats().counts;
        sections.push(("Tree", counts.iter().map(|(name, count)| line(name, count)).collect()));
    }
    if has(&["keyspace", "all", "everything"]) {
        let mut lines = Vec::new();
        for (number, keyspace) in shared.databases.keyspaces().iter().enumerate() {
            let names = keyspace.count_names()?;
            if names > 0 {
                let family = shared.databases.families().get(number);
                let family = family.map_or_else(String::new, |family| format!(",family={family}"));
                lines.push(line(&format!("db{number}"), format!("keys={names},expires=0{family}")));
            }
        }
        sections.push(("Keyspace", lines));
    }
    Ok(sections)
}

fn line<T: std::fmt::Display>(name: &str, value: T) -> (String, String) {
    (name.to_owned(), value.to_string())
}
