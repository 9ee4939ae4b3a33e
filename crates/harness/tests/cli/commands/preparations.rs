//! Files and results that pages expect their readers to have.

use std::collections::BTreeMap;
use std::fs;

use super::reader::{Reader, copy};
use super::steps_of;
use crate::markdown::in_repository;

/// Creates something that a page expects before a command.
pub(super) type Preparation = fn(&Reader<'_>);

/// The preparations, each with the page and the beginning of the command.
pub(super) const PREPARATIONS: [(&str, &str, Preparation); 7] = [
    ("docs/how-to/own-trace.md", "lsmbench ", traces),
    ("docs/how-to/many-machines.md", "lsmbench merge ", other_parts),
    ("docs/how-to/paper-figure.md", "lsmbench run filters.toml", filters),
    ("docs/how-to/serve.md", "lsmbench verify db", store),
    ("docs/explanation/methodology.md", "lsmbench check", golden_file_with_one_block_less),
    ("docs/reference/exit-codes.md", "lsmbench compare ", old_and_new_results),
    ("docs/results/published-systems.md", "lsmbench run experiments/", experiments_of_a_document),
];

/// Prepares a command of a page.
pub(super) fn prepare(reader: &Reader<'_>, command: &str) {
    for (page, beginning, preparation) in PREPARATIONS {
        if page == reader.page && command.starts_with(beginning) {
            preparation(reader);
        }
    }
}

/// Writes traces with the names that the page uses. lsmbench detects compression from the content of a file.
fn traces(reader: &Reader<'_>) {
    let verb = |number: u32| if number.is_multiple_of(5) { "set" } else { "get" };
    let request = |number: u32| format!("{number},k{},3,30,1,{},0\n", number % 7, verb(number));
    let requests = (0..300).map(request).collect::<Vec<_>>().concat();
    fs::write(reader.path("requests.csv"), &requests).unwrap();
    fs::write(reader.path("requests.csv.zst"), &requests).unwrap();
    let accesses: Vec<u8> = (0..1000_u64).flat_map(|number| (number % 100).to_le_bytes()).collect();
    fs::write(reader.path("accesses.bin"), accesses).unwrap();
    fs::write(reader.path("operations.txt"), "p key value\ng key\nr a z\nd key\n").unwrap();
}

/// Runs the parts that the page mentions only in a comment.
fn other_parts(reader: &Reader<'_>) {
    for part in 3..=6 {
        reader.ok(&["run", "configs/quickstart.toml", "--part", &format!("{part}/6"), "--out", "parts"]);
    }
}

/// Saves the experiment of the tutorial.
fn filters(reader: &Reader<'_>) {
    let mut files = BTreeMap::new();
    steps_of("docs/tutorial.md").iter().for_each(|step| step.save("docs/tutorial.md", &mut files));
    reader.save(&files);
}

/// Creates an empty store.
fn store(reader: &Reader<'_>) {
    reader.ok(&["shell", "db"]);
}

/// Keeps one golden file, and reduces one count in it. The experiment has all its operations.
fn golden_file_with_one_block_less(reader: &Reader<'_>) {
    let (config, golden) = ("configs/compression.toml", "results/baseline/compression.csv");
    fs::copy(in_repository(config), reader.path(config)).unwrap();
    fs::remove_dir_all(reader.path("results/baseline")).unwrap();
    fs::create_dir(reader.path("results/baseline")).unwrap();
    let text = fs::read_to_string(in_repository(golden)).unwrap();
    let start = "\nsnappy,get,all,blocks_read,";
    let (before, after) = text.split_once(start).unwrap();
    let (count, after) = after.split_once('\n').unwrap();
    let less = count.parse::<u64>().unwrap() - 1;
    fs::write(reader.path(golden), format!("{before}{start}{less}\n{after}")).unwrap();
}

/// Copies published results to the folders that the page compares.
fn old_and_new_results(reader: &Reader<'_>) {
    for folder in ["results/old", "results/new"] {
        copy(&in_repository("results/peers/sync"), &reader.path(folder));
    }
}

/// Copies the experiments of a published document.
fn experiments_of_a_document(reader: &Reader<'_>) {
    copy(&in_repository("experiments/cs265"), &reader.path("experiments/cs265"));
}
