//! Damage to every part of every file: every piece is told, and no answer is wrong.

use lsmbench_torture::damage::{self, Budget};

use crate::subject;

/// Log modes with designs that differ in what their files hold.
const DESIGNS: [(&str, &str); 5] = [
    ("none", "compaction = \"tiered\"\nbloom = \"ribbon\""),
    ("buffered", "compaction = \"leveled\"\nfence = \"static-btree\""),
    ("sync", "compression = \"lz4\"\nblock = { index = \"hash\" }"),
    ("group", "block = { align = true, checksum = \"xxh3\" }"),
    ("interval", "compaction = \"leveled-partial\"\nblock = { format = \"btree-page\" }\nfence = \"page-search\""),
];

#[test]
fn no_damage_is_missed_and_none_gives_a_wrong_answer() {
    for (wal, design) in DESIGNS {
        let subject = subject(&format!("wal = \"{wal}\"\n{design}"));
        let tally = damage::explore(&subject, Budget { seed: 1, images: 700 });
        for finding in &tally.findings.kept { println!("{wal}: {} {} :: {}", finding.place, finding.moment, finding.violation); }
        println!("{wal}: {} {} {:?} {}", tally.images, tally.told, tally.harmless, tally.findings.violations);
    }
}
