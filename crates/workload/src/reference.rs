//! Reference entries for the TOML keys of a workload. The entries are written by hand, because the types of these
//! keys parse their TOML without serde.

use catalog::{KeyEntry, KeyTable};

use crate::operation::Kind;

/// The TOML keys of a workload outside of its phases.
const WORKLOAD: &[KeyEntry] = &[
    KeyEntry::new(
        "key",
        "name of a key format, or a table with `format` and its parameters",
        "Format of the keys.",
    )
    .or("\"u64\""),
    KeyEntry::new(
        "phase",
        "list of tables `[[phase]]`, at least 1",
        "Phases, in the order in which they run.",
    ),
];

/// The TOML keys of the table `key`.
const KEY: &[KeyEntry] = &[KeyEntry::new(
    "format",
    "name of a key format",
    "Key format. The parameters of the format are in the same table.",
)
.or("\"u64\"")];

/// The TOML keys of the table `phase`.
const PHASE: &[KeyEntry] = &[
    KeyEntry::new(
        "name",
        "text of letters, digits, `-` and `_`",
        "Name of the phase, unique in the workload. Results, charts and paths such as `phase.load.threads` \
         contain this name.",
    ),
    KeyEntry::new(
        "family",
        "name of a family in `design.families`",
        "Column family of the keys. Each family has its own keys, so a phase reads only keys that phases or roles of \
         its family inserted. Steps such as `\"flush\"` apply to all families.",
    ),
    KeyEntry::new(
        "insert",
        "whole number, at least 1, or `\"all\"`",
        "Number of new keys that the phase inserts, each once. A phase with `insert` is a load. `\"all\"` \
         inserts every key of the replayed trace.",
    ),
    KeyEntry::new(
        "order",
        "`\"random\"`, `\"sequential\"`, `\"reverse\"`",
        "Order in which a load inserts keys. `\"random\"` is a permutation that the seed determines. \
         `\"sequential\"` goes from the first key to the last, and `\"reverse\"` from the last key to the \
         first.",
    )
    .or("\"random\""),
    KeyEntry::new(
        "operations",
        "whole number, at least 1",
        "Number of operations of the phase, over all threads together. Without `operations` and `seconds`, \
         a replayed trace runs to its end.",
    ),
    KeyEntry::new(
        "seconds",
        "time such as `\"30s\"`, or a number of seconds",
        "Time after which the phase ends. If the phase also has `operations`, the phase ends at the first \
         of the two limits. For `step = \"sleep\"`, `seconds` is the length of the sleep.",
    ),
    KeyEntry::new(
        "mix",
        "name of an operation kind, or a table of weights by kind",
        "Share of each kind of operation in the phase. Weights such as 3 and 1 can have any sum. Shares \
         between 0 and 1 must sum to 1.",
    ),
    KeyEntry::new(
        "keys",
        "name of a key distribution, or a table with `kind` and its parameters",
        "Distribution of the keys that operations access.",
    )
    .or("\"uniform\""),
    KeyEntry::new(
        "absent",
        "share from 0 to 1",
        "Share of the gets that request a key that was never in the store. The share also applies to \
         multi-gets, and to the start keys of scans with a `range.span` above 0.",
    )
    .or("0.0"),
    KeyEntry::new(
        "value",
        "name of a value distribution, or a table with `kind` and its parameters",
        "Size and compressibility of the written values.",
    )
    .or("{ kind = \"fixed\", bytes = 100 }"),
    KeyEntry::new(
        "range",
        "name of a scan-length distribution, or a table with `kind` and its parameters",
        "Length and direction of scans.",
    )
    .or("{ kind = \"fixed\", entries = 100 }"),
    KeyEntry::new(
        "batch",
        "whole number from 1 to 65536",
        "Number of operations in one write batch or multi-get. A load inserts its keys in write batches of \
         this size. Without `batch`, a load inserts each key by a put.",
    )
    .or("100"),
    BATCH_MIX,
    KeyEntry::new("threads", "whole number from 1 to 1024", "Number of client threads.").or("1"),
    KeyEntry::new(
        "rate",
        "`\"closed\"`, operations per second, or a table",
        "Arrival of operations. With `\"closed\"`, each thread issues its next operation after the \
         previous operation has ended (closed loop). With a number from 0.0001 to 1e9, operations arrive \
         at this rate over all threads (open loop). With a table, the phase searches for the highest sustained rate.",
    )
    .or("\"closed\""),
    KeyEntry::new(
        "role",
        "list of tables `[[phase.role]]`",
        "Roles of the phase, which run at the same time. Each role has its own threads. A phase with roles has no \
         other operations.",
    ),
    KeyEntry::new(
        "replay",
        "table with `kind` and `file`",
        "Recorded trace or file of commands that the phase replays. A replay has no key distribution.",
    ),
    KeyEntry::new(
        "step",
        "`\"flush\"`, `\"compact\"`, `\"settle\"`, `\"reopen\"`, `\"checkpoint\"`, `\"drop_caches\"`, `\"sleep\"`",
        "Step that the phase executes on the store instead of operations. `\"flush\"` writes the memtables to \
         SSTables, `\"compact\"` compacts the whole store, and `\"settle\"` waits for background work. \
         `\"reopen\"` closes and opens the store, and `\"checkpoint\"` copies the store. `\"drop_caches\"` \
         evicts the files of the store from the page cache, and `\"sleep\"` waits. A phase with a step may \
         have only the TOML keys `name`, `step`, `settle` and, for a sleep, `seconds`.",
    ),
    KeyEntry::new(
        "settle",
        "`true`, `false`",
        "Whether the phase waits at its end until no flush and no compaction is running or due. With `false`, \
         flushes and compactions of this phase may run during the next phase.",
    )
    .or("true"),
    KeyEntry::new(
        "cache",
        "`\"as-is\"`, `\"warm\"`, `\"cold\"`",
        "State of the caches at the start of the measurement. `\"as-is\"` changes nothing. `\"warm\"` \
         fills the caches by one scan over all entries. `\"cold\"` reopens the store and evicts its files \
         from the page cache.",
    )
    .or("\"as-is\""),
    KeyEntry::new(
        "warm_up",
        "time such as `\"10s\"`, a number of operations, or a table",
        "Length of the warm-up, whose operations are not measured. With a table, the warm-up lasts until \
         the store is steady.",
    ),
];

/// The keys of the table `phase.role`, in addition to the keys of a phase's mix.
const ROLE: &[KeyEntry] = &[
    KeyEntry::new(
        "name",
        "text of letters, digits, `-` and `_`",
        "Name of the role, unique in the phase. Result rows of the role have operations such as `readers/get`. \
         Paths such as `phase.mixed.role.readers.threads` contain this name.",
    ),
    KeyEntry::new(
        "family",
        "name of a family in `design.families`",
        "Column family of the keys of the role. Roles of one phase may use different families.",
    ),
    KeyEntry::new("threads", "whole number from 1 to 1024", "Number of threads of the role.").or("1"),
    KeyEntry::new(
        "operations",
        "whole number, at least 1",
        "Number of operations of the role, over its threads. A role without `operations` and `seconds` runs in \
         the background, and ends when all other roles have ended.",
    ),
    KeyEntry::new("seconds", "time such as `\"30s\"`, or a number of seconds", "Time after which the role ends."),
    KeyEntry::new(
        "rate",
        "`\"closed\"`, or operations per second",
        "Arrival of operations, summed over the threads of the role. The values are those of `phase.rate`, \
         without a search.",
    )
    .or("\"closed\""),
    KeyEntry::new(
        "mix",
        "name of an operation kind, or a table of weights by kind",
        "Share of each kind of operation. A role may both insert new keys and overwrite or delete keys only \
         if every other writing role of its column family does both, too.",
    ),
    KeyEntry::new(
        "keys",
        "name of a key distribution, or a table with `kind` and its parameters",
        "Distribution from which the keys are drawn. A thread that does not insert draws from the keys that exist at the \
         start of the phase.",
    )
    .or("\"uniform\""),
    KeyEntry::new(
        "absent",
        "share from 0 to 1",
        "Share of the gets that request a key that was never in the store, as in `phase.absent`.",
    )
    .or("0.0"),
    KeyEntry::new("range", "name of a scan-length distribution, or a table", "Length and direction of scans.")
        .or("{ kind = \"fixed\", entries = 100 }"),
    KeyEntry::new("batch", "whole number from 1 to 65536", "Operations in one write batch or multi-get.")
        .or("100"),
    BATCH_MIX,
];

/// The reference entry of the key `batch_mix`, which phases and roles share.
const BATCH_MIX: KeyEntry = KeyEntry::new(
    "batch_mix",
    "table of weights",
    "Relative frequencies of the operations in write batches: `put`, `insert`, `delete`, `delete_range`, \
     `merge` and `single_delete`. Each batch is atomic. The engine must support these operations in write \
     batches.",
)
.or("{ put = 1 }");

/// Keys of the table `phase.value`, in addition to the parameters of the value-size distribution.
const VALUE: &[KeyEntry] = &[
    KeyEntry::new("kind", "name of a value distribution", "Distribution of value sizes.").or("\"fixed\""),
    KeyEntry::new(
        "compressible",
        "share from 0 to below 1",
        "Share of the bytes of a value that a fast compressor saves. Values below 100 bytes compress less, \
         because each value begins with 8 random bytes.",
    )
    .or("0.5"),
];

/// Keys of the table `phase.range`, in addition to the parameters of the length distribution.
const RANGE: &[KeyEntry] = &[
    KeyEntry::new(
        "kind",
        "name of a scan-length distribution",
        "Distribution of the number of entries per scan.",
    )
    .or("\"fixed\""),
    KeyEntry::new(
        "backward",
        "share from 0 to 1",
        "Share of the scans that read from larger keys to smaller keys.",
    )
    .or("0.0"),
    KeyEntry::new(
        "span",
        "whole number from 0 to 4294967295",
        "Number of successive key numbers that a scan covers. The scan ends before the first key outside this \
         range, and may return no entry. With 0, only the number of entries ends a scan. Key formats that \
         sort keys by number write key i as the number 2i, so a span of 64 covers up to 32 keys.",
    )
    .or("0"),
    KeyEntry::new(
        "prefix",
        "whole number from 1 to 4294967295",
        "Number of bytes of the prefixes of prefix scans. A prefix scan reads all entries whose keys have the \
         prefix of a key, so `entries` does not apply. A phase with prefix scans needs `prefix`.",
    ),
];

/// Keys of the table `phase.keys`, in addition to the parameters of the key distribution.
const KEYS: &[KeyEntry] = &[KeyEntry::new(
    "kind",
    "name of a key distribution",
    "Distribution of keys. The parameters of the distribution are in the same table.",
)
.or("\"uniform\"")];

/// The keys of the table `phase.rate`, which describes the search for the highest sustained rate.
const RATE: &[KeyEntry] = &[
    KeyEntry::new(
        "p99",
        "time above 0, such as `\"1ms\"`",
        "Maximum 99th percentile of the response time. A rate counts as sustained only if the percentile is at \
         most this maximum.",
    ),
    KeyEntry::new("from", "operations per second from 1", "Lowest rate that the search tries.").or("1000"),
    KeyEntry::new("to", "operations per second up to 1e9", "Highest rate that the search tries.")
        .or("10000000"),
    KeyEntry::new(
        "within",
        "share from 0.001 to below 1",
        "Precision of the search. The search ends when the relative difference between the highest sustained \
         rate and the lowest failing rate is at most this share.",
    )
    .or("0.05"),
    KeyEntry::new(
        "stalls",
        "time such as `\"0s\"`",
        "Maximum time that writers may stall while one rate is tried. Without `stalls`, the search ignores \
         write stalls.",
    ),
    KeyEntry::new(
        "level0_runs",
        "count",
        "Maximum number of sorted runs in level 0 at any time. Without `level0_runs`, the search ignores \
         level 0.",
    ),
];

/// Keys of the table `phase.replay`, in addition to the parameters of the trace reader.
const REPLAY: &[KeyEntry] = &[
    KeyEntry::new(
        "kind",
        "name of a trace format",
        "Format of the file. Without `kind`, lsmbench recognizes the format by the content of the file.",
    ),
    KeyEntry::new(
        "file",
        "path, relative to the folder of the file that contains this key",
        "File to replay. lsmbench recognizes compression by gzip, xz or zstd.",
    ),
    KeyEntry::new(
        "miss",
        "`\"absent\"`, `\"fill\"`",
        "Action after a get that finds no value. `\"absent\"` does nothing. `\"fill\"` puts the key with its \
         recorded size, like a cache that loads a missing object. With `miss` or `speed`, a trace that has \
         only keys is replayed as gets of its keys. Otherwise, such a trace only supplies the keys of `mix`.",
    )
    .or("\"absent\""),
    KeyEntry::new(
        "speed",
        "number above 0",
        "Speed of the replay relative to the recorded times; 10 is ten times as fast. An operation starts \
         at its recorded time, but not before the previous operation has ended. Without `speed`, the loop \
         is closed and ignores the recorded times.",
    ),
];

/// The TOML keys of the table `phase.warm_up`.
const WARM_UP: &[KeyEntry] = &[
    KeyEntry::new(
        "until",
        "`\"steady\"`",
        "End of the warm-up. `\"steady\"` ends the warm-up when throughput, write amplification and the \
         number of sorted runs per level are similar in the last `rounds` rounds.",
    ),
    KeyEntry::new(
        "rounds",
        "whole number from 2 to 100",
        "Number of successive rounds that must have similar measurements.",
    )
    .or("5"),
    KeyEntry::new("round", "time such as `\"1s\"`", "Length of each round of the warm-up.").or("\"1s\""),
    KeyEntry::new(
        "at_most",
        "time such as `\"60s\"`",
        "Maximum length of the warm-up, whether the store is steady or not.",
    )
    .or("\"60s\""),
];

/// The kinds of operations, which are the keys of the table `phase.mix`.
pub const MIX: [KeyEntry; Kind::ALL.len()] = {
    const WEIGHT: &str = "weight from 0";
    [
        KeyEntry::new("get", WEIGHT, "Reads the value of one key.").or("0.0"),
        KeyEntry::new(
            "put",
            WEIGHT,
            "Overwrites the value of an existing key, or writes a key again after a delete.",
        )
        .or("0.0"),
        KeyEntry::new("insert", WEIGHT, "Inserts a key that was never in the store.").or("0.0"),
        KeyEntry::new("delete", WEIGHT, "Deletes a key.").or("0.0"),
        KeyEntry::new("range", WEIGHT, "Reads entries in key order, starting at a key.").or("0.0"),
        KeyEntry::new(
            "rmw",
            WEIGHT,
            "Reads the value of one key and then overwrites it (read-modify-write).",
        )
        .or("0.0"),
        KeyEntry::new(
            "batch",
            WEIGHT,
            "Writes many keys in one atomic write batch. `batch_mix` determines the operations in the batch.",
        )
        .or("0.0"),
        KeyEntry::new("multi_get", WEIGHT, "Reads the values of many keys in one call.").or("0.0"),
        KeyEntry::new(
            "delete_range",
            WEIGHT,
            "Deletes neighboring keys with one range tombstone. `range` determines the number of keys. This \
             kind needs an engine with range deletes, a key format that sorts keys by number, and `threads = \
             1`.",
        )
        .or("0.0"),
        KeyEntry::new("first", WEIGHT, "Reads the entry with the smallest key of the store.").or("0.0"),
        KeyEntry::new("last", WEIGHT, "Reads the entry with the largest key of the store.").or("0.0"),
        KeyEntry::new(
            "merge",
            WEIGHT,
            "Merges an operand into the value of a key. `value` describes the operands. A merge needs \
             `design.merge_operator` and an engine with merges.",
        )
        .or("0.0"),
        KeyEntry::new(
            "put_if_absent",
            WEIGHT,
            "Writes the value of a key if the key is absent, in one atomic step. Column `found` counts keys that \
             existed, and `missing` counts keys that were written. This kind needs an engine with conditional puts.",
        )
        .or("0.0"),
        KeyEntry::new(
            "prefix",
            WEIGHT,
            "Scans all entries whose keys have the prefix of a key. `range.prefix` is the length of the prefix. Every engine \
             scans from the prefix to the smallest key above all keys with the prefix.",
        )
        .or("0.0"),
        KeyEntry::new(
            "single_delete",
            WEIGHT,
            "Deletes a key by a single delete. The single deletes of a thread take the keys of this thread in \
             the order of their indexes, each key once. Each key must be written once, so this phase and \
             earlier phases have no other writes than inserts. If no key is left, the phase ends. This kind \
             needs an engine with single deletes.",
        )
        .or("0.0"),
    ]
};

/// The tables of a workload, with a reference entry for each valid key. The parameters of distributions and formats are
/// documented by their catalogs.
pub static TABLES: &[KeyTable] = &[
    KeyTable {
        name: "",
        about: "The keys of the workload, in an experiment file or in a workload file.",
        keys: WORKLOAD,
    },
    KeyTable { name: "key", about: "The format of keys.", keys: KEY },
    KeyTable {
        name: "phase",
        about: "A phase, which is a load, a mix of operations, a replay or a step.",
        keys: PHASE,
    },
    KeyTable {
        name: "phase.mix",
        about: "The kinds of operation of a phase, with their weights.",
        keys: &MIX,
    },
    KeyTable {
        name: "phase.role",
        about: "Threads of a phase that execute their own mix, while the threads of other roles execute other mixes.",
        keys: ROLE,
    },
    KeyTable { name: "phase.keys", about: "The keys that operations access.", keys: KEYS },
    KeyTable { name: "phase.value", about: "The values that are written.", keys: VALUE },
    KeyTable { name: "phase.range", about: "The scans of a phase.", keys: RANGE },
    KeyTable { name: "phase.rate", about: "A search for the highest sustained rate.", keys: RATE },
    KeyTable { name: "phase.replay", about: "A recorded trace, or a file of commands.", keys: REPLAY },
    KeyTable {
        name: "phase.warm_up",
        about: "A warm-up that lasts until the store is steady.",
        keys: WARM_UP,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use toml::Table;

    use super::*;
    use crate::Workload;

    /// Returns the valid keys of the table at `path`. The parser lists these keys in the error about an unknown key.
    /// The result contains the keys of all phases that begin with one of the texts in `phases`.
    fn accepted(path: &str, phases: &[&str]) -> BTreeSet<String> {
        let listed = |phase: &&str| {
            let text = format!("[[phase]]\nname = \"x\"\n{phase}");
            let error = Workload::from_toml(&text.parse::<Table>().unwrap()).unwrap_err();
            let (_, list) = error.message.split_once("Valid: ").unwrap_or_else(|| panic!("{path}: {error}"));
            list.split(", ").map(|key| key.trim_matches('"').to_owned()).collect::<Vec<_>>()
        };
        phases.iter().flat_map(listed).collect()
    }

    #[test]
    fn every_key_that_a_reader_takes_has_an_entry_and_no_other() {
        let mixed = "operations = 1\nmix = \"get\"\n";
        let phases = |rest: &str| format!("{mixed}{rest}");
        for (path, texts) in [
            (
                "phase",
                vec![
                    "insert = 1\nunknown_key = 1".to_owned(),
                    phases("unknown_key = 1"),
                    "replay = { kind = \"raw\", file = \"x\" }\nunknown_key = 1".to_owned(),
                ],
            ),
            ("phase.role", vec!["[[phase.role]]\nname = \"r\"\nmix = \"get\"\nunknown_key = 1".to_owned()]),
            ("phase.mix", vec!["operations = 1\nmix = { unknown_key = 1 }".to_owned()]),
            ("phase.rate", vec![phases("rate = { p99 = \"1ms\", unknown_key = 1 }")]),
            ("phase.warm_up", vec![phases("warm_up = { until = \"steady\", unknown_key = 1 }")]),
            ("phase.replay", vec!["replay = { file = \"x\", unknown_key = 1 }".to_owned()]),
        ] {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let table = TABLES.iter().find(|table| table.name == path).unwrap();
            let entries: BTreeSet<String> = table.keys.iter().map(|entry| entry.key.to_owned()).collect();
            assert_eq!(accepted(path, &texts), entries, "{path}");
        }
        let workload = Workload::from_toml(
            &"unknown_key = 1\n[[phase]]\nname = \"x\"\ninsert = 1".parse::<Table>().unwrap(),
        );
        assert!(workload.unwrap_err().message.ends_with("Valid: \"key\", \"phase\""));
    }

    #[test]
    fn kinds_of_operation_have_their_names_in_order() {
        assert_eq!(MIX.map(|entry| entry.key), Kind::ALL.map(Kind::name));
    }

    #[test]
    fn defaults_are_those_of_the_readers() {
        let read = |text: &str| Workload::from_toml(&text.parse::<Table>().unwrap()).unwrap();
        for (table, text) in [
            ("phase", "insert = 1"),
            ("phase", "operations = 1\nmix = { get = 1, range = 1, multi_get = 1 }"),
            ("phase.value", "insert = 1\nvalue = {}"),
            ("phase.range", "operations = 1\nmix = \"range\"\nrange = {}"),
            ("phase.rate", "operations = 1\nmix = \"get\"\nrate = { p99 = \"1ms\" }"),
            ("phase.warm_up", "operations = 1\nmix = \"get\"\nwarm_up = { until = \"steady\" }"),
        ] {
            let short = read(&format!("[[phase]]\nname = \"x\"\n{text}"));
            let mut spelt: Table = format!("[[phase]]\nname = \"x\"\n{text}").parse().unwrap();
            let phase = spelt["phase"][0].as_table_mut().unwrap();
            let inner = table.strip_prefix("phase.");
            let place = match inner {
                Some(inner) => phase[inner].as_table_mut().unwrap(),
                None => phase,
            };
            let is_load = place.contains_key("insert");
            let table = TABLES.iter().find(|found| found.name == table).unwrap();
            for entry in table.keys.iter().filter(|entry| !entry.default.is_empty()) {
                let of_load = matches!(entry.key, "order" | "value" | "threads" | "rate" | "cache");
                let of_mix = !matches!(entry.key, "order");
                if inner.is_some() || (if is_load { of_load } else { of_mix }) {
                    let value = format!("x = {}", entry.default).parse::<Table>().unwrap()["x"].clone();
                    place.entry(entry.key).or_insert(value);
                }
            }
            assert_eq!(Workload::from_toml(&spelt), Ok(short), "{spelt}");
        }
    }
}
