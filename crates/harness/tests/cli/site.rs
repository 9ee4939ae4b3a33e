//! Tests of `lsmbench site`: the site of this repository, and the check of contributed machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use results::{ComponentInfo, Folder, Manifest, Seal, history as h, verdicts as v};
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::Bench;

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Collects all files in a folder and its subfolders, by their paths relative to the folder.
fn files(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder.join(below)).unwrap().flatten() {
        let path = below.join(entry.file_name());
        if entry.path().is_dir() {
            files(folder, &path, found);
        } else {
            found.insert(path, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// Returns all values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns the links of a page whose target does not exist in the site.
fn broken(
    site: &BTreeMap<PathBuf, String>,
    page: &Path,
    ids: &BTreeMap<&PathBuf, BTreeSet<&str>>,
) -> Vec<String> {
    let html = site[page].split("<script type=").next().unwrap();
    let mut wrong = Vec::new();
    for link in values(html, "href").into_iter().chain(values(html, "src")) {
        if ["https://", "http://", "data:", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
            continue;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let mut path = page.parent().unwrap().to_owned();
        for part in Path::new(file).components() {
            match part {
                Component::ParentDir => _ = path.pop(),
                part => path.push(part),
            }
        }
        let target = if file.is_empty() { page.to_owned() } else { path };
        // The anchors of interactive pages are selections.
        let is_selection = anchor.contains('=');
        let has_anchor = || ids.get(&target).is_some_and(|ids| ids.contains(anchor));
        if !site.contains_key(&target) || !(anchor.is_empty() || is_selection || has_anchor()) {
            wrong.push(format!("{}: {link}", page.display()));
        }
    }
    wrong
}

/// Writes a small repository with the documents of this repository and with a part of its results. The script
/// `.ci/pages` builds the complete site.
fn small_repository(bench: &Bench) {
    let root = repository();
    let link = |path: &str| {
        fs::create_dir_all(bench.path(path).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(root.join(path), bench.path(path)).unwrap();
    };
    ["docs", "configs", "plots", "experiments/csc443", "results/gallery", "results/history.csv"]
        .into_iter()
        .for_each(link);
    ["sync", "overwrite"].iter().for_each(|name| link(&format!("results/peers/{name}")));
    let published = ["experiments.csv", "e40-btree-or-binary-search", "e41-put-get-scan", "report/index.md"];
    published.iter().for_each(|name| link(&format!("results/published/{name}")));
}

#[test]
fn the_site_has_the_kept_results_and_no_dead_link() {
    let bench = Bench::new();
    small_repository(&bench);
    assert_eq!(bench.run(&["site"]).expect(0).out, "target/site/index.html\n");
    let folder = bench.path("target/site");
    let mut site = BTreeMap::new();
    files(&folder, Path::new(""), &mut site);
    let pages = || site.keys().filter(|path| path.extension().is_some_and(|ending| ending == "html"));
    let ids = site.iter().map(|(path, text)| (path, values(text, "id").into_iter().collect())).collect();
    let wrong: Vec<String> = pages().flat_map(|page| broken(&site, page, &ids)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // No page loads a file of another site.
    for page in pages() {
        let html = &site[page];
        assert!(
            !html.contains("src=\"http") && !html.contains("<link rel=\"stylesheet\" href=\"http"),
            "{page:?}"
        );
    }
    let page = |name: &str| site.get(Path::new(name)).unwrap_or_else(|| panic!("no {name}"));
    // Every judged comparison of a kept experiment is a row, with its ratio and interval.
    let evidence = page("verdicts.html");
    let verdicts =
        v::read(&repository().join("results/published/e40-btree-or-binary-search/verdicts.csv")).unwrap();
    let rows =
        evidence.split("<tr ").filter(|row| row.contains("data-experiment=\"e40-btree-or-binary-search\""));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), verdicts.len());
    for (row, verdict) in rows.iter().zip(&verdicts) {
        assert!(row.starts_with(&format!("class=\"{}\"", verdict.get(&v::VERDICT))), "{row}");
        assert!(row.contains("<td class=\"number change\">") && row.contains("reduced size"), "{row}");
    }
    // Engines without verdicts are compared in each phase, with a reason in counters.
    let sync = evidence.split("<tr ").filter(|row| row.contains("data-experiment=\"sync\""));
    let sync: Vec<&str> = sync.filter(|row| row.contains(">rocksdb<")).collect();
    let manifest = Manifest::read(&repository().join("results/peers/sync/manifest.json")).unwrap();
    assert_eq!(sync.len(), manifest.phases.len(), "one row per phase");
    assert!(sync.iter().any(|row| row.contains("CPU time")), "{sync:?}");
    let front = page("index.html");
    for part in
        ["Does Eytzinger order help?", "<svg", "rocksdb</a></th>", "docs/results/experiments.html#quickstart"]
    {
        assert!(front.contains(part), "{part}");
    }
    assert!(page("components.html").contains("<section id=\"bloom\">"));
    assert!(page("systems/index.html").contains("<a href=\"../index.html\">lsmbench</a>"));
    assert!(page("machines/peers.html").contains("<table>"));
    assert!(page("machines/peers-explore.html").contains("<script src=\"../page.js\">"));
    // The history has the commit of each run. No series has enough runs for a change point.
    let history = page("history.html");
    let kept = results::history::read(&repository().join("results/history.csv")).unwrap();
    for row in &kept {
        let commit = row.get(&h::GIT_COMMIT).to_string();
        let started = row.get(&h::STARTED).to_string().replace('T', " ").replace('Z', "");
        let expected =
            format!("<td>{started}</td><td><code>{}</code></td>", commit.get(..10).unwrap_or_default());
        assert!(history.contains(&expected), "{expected}");
    }
    assert!(kept.len() > 1000 && history.contains("<script src=\"history.js\">"));
    assert!(page("docs/glossary.html").contains("<a aria-current=\"page\""));
    // The front page asks each question once, for any number of machines.
    assert_eq!(front.matches("<h2 id=\"engines\">").count(), 1);
    assert_eq!(front.matches("Is lsmbench faster than RocksDB?").count(), 1);
    // Every page is in the list of the search, and every section of the index exists.
    let index = page("search-index.js").lines().filter_map(|line| line.strip_suffix(','));
    let sections: Vec<[String; 4]> = index.map(|line| serde_json::from_str(line).unwrap()).collect();
    for path in pages().filter(|path| *path != Path::new("search.html")) {
        let path = path.to_str().unwrap();
        assert!(page("search.html").contains(&format!("<li><a href=\"{path}\">")), "{path}");
        let is_of_page = |address: &String| address.split('#').next() == Some(path);
        assert!(sections.iter().any(|[address, ..]| is_of_page(address)), "{path} is not in the index");
        assert!(
            site[Path::new(path)].contains("name=\"q\"") || site[Path::new(path)].contains("/search.html\""),
            "{path}"
        );
    }
    for [address, title, of, _] in &sections {
        let (path, anchor) = address.split_once('#').unwrap_or((address, ""));
        assert!(anchor.is_empty() || values(page(path), "id").contains(&anchor), "{address}");
        assert!(!title.is_empty() && !of.is_empty(), "{address}");
    }
    let text = |address: &str| sections.iter().find(|section| section[0] == address).map(|of| &of[3]);
    assert!(text("docs/tutorial.html#1-build").unwrap().contains("The build creates the program"));
    assert!(text("components.html#bloom").unwrap().contains("split-block"), "a table contributes its words");
}

#[test]
fn a_site_replaces_an_earlier_site_and_nothing_else() {
    let bench = Bench::new();
    bench.write("docs/README.md", "# Documents\n");
    let error = bench.run(&["site"]).refusal();
    assert!(
        error.contains("because it has no folder experiments; name the root with --repository"),
        "{error}"
    );
    bench.write("mine/notes.txt", "mine");
    let error = bench.run(&["site", "--out", "mine"]).refusal();
    assert!(error.contains("which is not a part of a site"), "{error}");
    assert_eq!(bench.read("mine/notes.txt"), "mine");
    fs::remove_dir_all(bench.path("docs")).unwrap();
    let error = bench.run(&["site"]).refusal();
    assert!(error.contains("name the root with --repository"), "{error}");
}

/// The name of the folder with the results of a machine.
const MACHINE: &str = "machine-1";

/// Creates a folder with the results of two experiments on one machine, measured by this version of the program.
fn contribution() -> Bench {
    let bench = Bench::new();
    for experiment in ["sync", "overwrite"] {
        let from = Folder::new(repository().join("results/peers").join(experiment));
        bench.write(&format!("{MACHINE}/{experiment}/runs.csv"), fs::read(from.runs()).unwrap());
        let mut manifest = Manifest::read(&from.manifest()).unwrap();
        env!("CARGO_PKG_VERSION").clone_into(&mut manifest.build.version);
        manifest.write(&bench.path(MACHINE).join(experiment).join("manifest.json")).unwrap();
    }
    bench
}

/// Changes the manifest of the experiment `sync`.
fn change(bench: &Bench, change: impl FnOnce(&mut Manifest)) {
    let path = bench.path(MACHINE).join("sync/manifest.json");
    let mut manifest = Manifest::read(&path).unwrap();
    change(&mut manifest);
    manifest.write(&path).unwrap();
}

/// Changes a column in the first row of the operation `all` of the experiment `sync`, and updates the seal of the rows.
fn change_row(bench: &Bench, column: &str, value: &str) {
    let path = bench.path(MACHINE).join("sync/runs.csv");
    let text = fs::read_to_string(&path).unwrap();
    let place = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
    let mut changed = String::new();
    let mut is_done = false;
    for line in text.lines() {
        let mut cells: Vec<&str> = line.split(',').collect();
        if !is_done && cells.contains(&"all") && !cells[place].is_empty() {
            (cells[place], is_done) = (value, true);
        }
        writeln!(changed, "{}", cells.join(",")).unwrap();
    }
    assert!(is_done, "{column}");
    seal(bench, &changed);
}

/// Writes the rows of the experiment `sync`, and updates their seal.
fn seal(bench: &Bench, rows: &str) {
    fs::write(bench.path(MACHINE).join("sync/runs.csv"), rows).unwrap();
    let (lines, bytes) = (rows.lines().count() as u64, rows.len() as u64);
    let xxh3 = format!("{:016x}", xxh3_64(rows.as_bytes()));
    change(bench, |manifest| manifest.runs = Some(Seal { lines, bytes, xxh3 }));
}

fn check(bench: &Bench) -> crate::bench::Answer {
    let root = repository();
    bench.run(&["site", "--repository", root.to_str().unwrap(), "--check", MACHINE])
}

#[test]
fn a_contribution_without_faults_is_accepted() {
    let bench = contribution();
    let answer = check(&bench).expect(0);
    assert_eq!(answer.out, format!("{MACHINE}: 2 experiments, no faults\n"));
    assert!(
        answer.err.contains("note: machine-1/sync: components: the manifest lists no components"),
        "{}",
        answer.err
    );
    // The folder that the repository keeps is accepted, too.
    let root = repository();
    let peers = root.join("results/peers");
    bench.ok(&["site", "--repository", root.to_str().unwrap(), "--check", peers.to_str().unwrap()]);
    // `lsmbench engines --keep` copies the components, and the check knows them.
    change(&bench, |manifest| {
        manifest.components = vec![ComponentInfo {
            axis: "bloom".to_owned(),
            kind: "blocked".to_owned(),
            package: "lsmbench-bloom".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }];
    });
    let told = check(&bench).expect(0).err;
    assert!(!told.contains("sync"), "{told}");
}

#[test]
fn each_fault_of_a_contribution_has_one_error() {
    type Fault = fn(&Bench);
    let faults: [(&str, Fault); 23] = [
        ("the manifest contains the name \"asynch\"", |bench| {
            change(bench, |of| "asynch".clone_into(&mut of.experiment));
        }),
        ("phases: the phases of the experiment differ from the phases", |bench| {
            change(bench, |of| drop(of.phases.pop()));
        }),
        ("seed: the seed is 7; run the experiment with the seed 42", |bench| change(bench, |of| of.seed = 7)),
        ("mode: the mode is \"counted\"", |bench| change(bench, |of| "counted".clone_into(&mut of.mode))),
        ("quick: the run has reduced sizes", |bench| change(bench, |of| of.quick = true)),
        ("trials: 3 trials are too few", |bench| change(bench, |of| of.trials = 3)),
        ("ended: the run did not end", |bench| change(bench, |of| of.ended = None)),
        ("build.version: lsmbench 0.0.9 measured", |bench| {
            change(bench, |of| "0.0.9".clone_into(&mut of.build.version));
        }),
        ("build.git_commit: the program has uncommitted changes", |bench| {
            change(bench, |of| of.build.git_dirty = Some(true));
        }),
        ("build.profile: a debug build measured", |bench| {
            change(bench, |of| of.build.debug_assertions = true);
        }),
        ("components: this version of lsmbench has no bloom \"magic\" of magic-filter 9.9.9", |bench| {
            change(bench, |of| {
                let [axis, kind, package, version] =
                    ["bloom", "magic", "magic-filter", "9.9.9"].map(str::to_owned);
                of.components = vec![ComponentInfo { axis, kind, package, version }];
            });
        }),
        ("cells: the version of the engine rocksdb is unknown", |bench| {
            change(bench, |of| of.cells[1].engine.as_mut().unwrap().version = None);
        }),
        ("contains a path of the machine; copy the results with", |bench| {
            change(bench, |of| of.warnings.push("no /opt/private/librocksdb.so".to_owned()));
        }),
        ("machine: the CPU model or the number of cores differs", |bench| {
            change(bench, |of| of.machine.cores = Some(64));
        }),
        ("manifest.json: the checksum of the manifest does not match", |bench| {
            let path = bench.path(MACHINE).join("sync/manifest.json");
            fs::write(&path, fs::read_to_string(&path).unwrap().replacen("timed", "timid", 1)).unwrap();
        }),
        ("lines of the file differ from the lines that the run wrote", |bench| {
            let path = bench.path(MACHINE).join("sync/runs.csv");
            fs::write(&path, fs::read_to_string(&path).unwrap().replacen(",42,", ",43,", 1)).unwrap();
        }),
        ("notes.txt: unexpected file; remove the file", |bench| {
            bench.write(&format!("{MACHINE}/sync/notes.txt"), "");
        }),
        ("runs.csv has bytes after the rows that its checksum covers", |bench| {
            let text = bench.read(&format!("{MACHINE}/sync/runs.csv"));
            bench.write(&format!("{MACHINE}/sync/runs.csv"), text + "sync,a line without an end");
        }),
        ("has no row of trial", |bench| {
            let text = bench.read(&format!("{MACHINE}/sync/runs.csv"));
            let all = text.lines().position(|line| line.contains(",all,")).unwrap();
            let kept = text.lines().enumerate().filter(|(at, _)| *at != all);
            seal(bench, &kept.fold(String::new(), |text, (_, line)| text + line + "\n"));
        }),
        ("returned wrong answers; remove the engine", |bench| change_row(bench, "wrong_answers", "3")),
        ("but ops / seconds is", |bench| change_row(bench, "ops_per_second", "1e7")),
        ("p50_ns is", |bench| change_row(bench, "p50_ns", "1000000000000")),
        ("but 2 cores can use at most", |bench| change_row(bench, "cpu_seconds", "99999")),
    ];
    for (saying, fault) in faults {
        let bench = contribution();
        fault(&bench);
        let answer = check(&bench);
        assert_eq!((answer.code, answer.out.as_str()), (Some(2), ""), "{saying}: {}", answer.err);
        let errors = answer.err.lines().filter(|line| line.starts_with("error: ")).count();
        assert!(answer.err.contains(saying) && errors == 1, "{saying}: {}", answer.err);
    }
    let bench = contribution();
    fs::rename(bench.path(MACHINE), bench.path("My Machine")).unwrap();
    let root = repository();
    let root = root.to_str().unwrap();
    let error = bench.run(&["site", "--repository", root, "--check", "My Machine"]).expect(2).err;
    assert!(error.contains("use lower-case letters, digits and hyphens"), "{error}");
    let error = bench.run(&["site", "--repository", root, "--check", "nowhere"]).refusal();
    assert!(error.contains("this folder does not exist"), "{error}");
    let error = bench.run(&["site", "--check", "My Machine"]).refusal();
    let remedy = "because it has no folder configs/peers; name the root with --repository";
    assert!(error.contains(remedy), "{error}");
    let error = bench.run(&["site", "--repository", root, "--check", "My Machine/sync"]).refusal();
    assert!(error.contains("results of one experiment; name the folder of the machine above it"), "{error}");
}
