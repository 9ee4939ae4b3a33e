//! Tests of sweeps, and of overrides of sweeps on the command line.

use results::{Folder, Row, columns as c};

use crate::bench::{Bench, SMALL, text, unwrapped};

/// Returns the experiment with another `[sweep]`. The charts of the original sweep are removed.
fn swept(sweep: &str) -> String {
    let (experiment, _) = SMALL.split_once("[[chart]]").unwrap();
    experiment.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep)
}

/// Returns the labels of the configurations that would run, and the omitted combinations, as `describe` prints them.
fn described(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let text = bench.ok(&[&["describe"], arguments].concat());
    let cells = text.lines().skip_while(|line| *line != "# configurations").skip(1);
    cells.take_while(|line| *line != "#").map(|line| line.trim_start_matches("#   ").to_owned()).collect()
}

/// Returns the distinct values of a column, in the order of the configurations.
fn values(rows: &[Row], column: &str) -> Vec<String> {
    let at = rows[0].schema().find(column).unwrap_or_else(|error| panic!("{error}"));
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by_key(|row| row.get(&c::CELL).integer());
    let mut values: Vec<(String, String)> =
        rows.iter().map(|row| (text(row, &c::CELL), row.cells()[at].to_string())).collect();
    values.dedup();
    values.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn factors_combine_as_they_are_told_to() {
    let factors =
        "\"design.bloom\" = [\"none\", \"standard\"]\n\"design.block.size\" = [\"1KiB\", \"8KiB\"]\n";
    let bench = Bench::new();
    for (combine, cells) in [
        (
            "cartesian",
            &[
                "0 none + block.size=1KiB",
                "1 none + block.size=8KiB",
                "2 standard + block.size=1KiB",
                "3 standard + block.size=8KiB",
            ][..],
        ),
        ("zip", &["0 none + block.size=1KiB", "1 standard + block.size=8KiB"]),
        (
            "ablate",
            &[
                "0 blocked + block.size=4KiB",
                "1 none + block.size=4KiB",
                "2 standard + block.size=4KiB",
                "3 blocked + block.size=1KiB",
                "4 blocked + block.size=8KiB",
            ],
        ),
    ] {
        bench.write("x.toml", swept(&format!("combine = \"{combine}\"\n{factors}")));
        assert_eq!(described(&bench, &["x.toml"]), cells, "{combine}");
    }
}

#[test]
fn all_takes_a_whole_catalog_and_says_what_it_leaves_out() {
    let bench = Bench::new();
    let listed = bench.ok(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    for axis in listed.as_array().unwrap() {
        let (name, variants) = (axis["axis"].as_str().unwrap(), axis["variants"].as_array().unwrap());
        // The others are no part of a design: distributions, trace readers, subjects, kinds of chart.
        if name != "engine" && !tree::AXES.iter().any(|axis| axis.name() == name) {
            continue;
        }
        let path = if name == "engine" { name.to_owned() } else { format!("design.{name}") };
        bench.write("x.toml", swept(&format!("\"{path}\" = \"all\"")));
        let described = described(&bench, &["x.toml"]).join("\n");
        for variant in variants {
            let kind = variant["kind"].as_str().unwrap();
            // A kind keeps the parameters that the base design sets.
            let is_it = |label: &str| label.split('(').next() == Some(kind);
            let runs =
                described.lines().any(|line| line.split_once(' ').is_some_and(|(_, label)| is_it(label)));
            let reasons =
                ["counted mode: ".to_owned(), format!("engine \"{kind}\" cannot run in counted mode")];
            let left_out =
                reasons.iter().any(|reason| described.contains(&format!("skipped: {path}={kind}: {reason}")));
            assert!(runs != left_out, "{name} {kind} should run or be left out:\n{described}");
        }
    }
    // A list in [design] is a sweep as well.
    bench.write("x.toml", SMALL.replace("[design]", "[design]\ncompression = [\"none\", \"lz4\"]"));
    assert_eq!(described(&bench, &["x.toml"]).len(), 2 * 3);
}

#[test]
fn rows_carry_the_swept_values_and_labels() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"none\", \"standard\"]\n\"design.bloom.bits_per_key\" = [4, 10]\n\
                 \"phase.look.absent\" = [0.0, 1.0]";
    bench.write("x.toml", swept(sweep));
    let answer = bench.run(&["run", "x.toml"]).expect(0);
    let rows = bench.rows("x");
    assert_eq!(
        values(&rows, "design.bloom"),
        ["none", "none", "standard", "standard", "standard", "standard"]
    );
    assert_eq!(values(&rows, "design.bloom.bits_per_key"), ["", "", "4", "4", "10", "10"]);
    assert_eq!(values(&rows, "phase.look.absent"), ["0.0", "1.0", "0.0", "1.0", "0.0", "1.0"]);
    assert_eq!(values(&rows, "label")[2], "standard(bits_per_key=4) + absent=0.0");
    assert!(
        unwrapped(&answer.err).contains("skipped: design.bloom=none, design.bloom.bits_per_key=10"),
        "{}",
        answer.err
    );
    assert_eq!(bench.manifest("x").left_out.len(), 2);
}

/// Tests that the labels of a sweep contain a default value, that a baseline may lack this value, and that a chart
/// shows the value.
#[test]
fn a_default_value_is_in_labels_and_charts() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"standard\", \"standard(bits_per_key=4)\"]\n\
                 \"design.compaction\" = [\"leveled\"]\n\"design.compaction.size_ratio\" = [4, 10]";
    let filter = "[verdict]\nbaseline = \"standard + leveled\"\n\n[[chart]]\nname = \"bits\"\n\
                  filter = { \"design.compaction.size_ratio\" = 4, \"design.bloom\" = [\"standard\", \
                  \"standard(bits_per_key=4)\"] }";
    let experiment = SMALL.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep);
    bench.write("x.toml", experiment.replace("[[chart]]", filter));
    let answer = bench.ok(&["run", "x.toml"]);
    let expected = [
        "standard(bits_per_key=10) + leveled(size_ratio=4)",
        "standard(bits_per_key=10) + leveled(size_ratio=10)",
        "standard(bits_per_key=4) + leveled(size_ratio=4)",
        "standard(bits_per_key=4) + leveled(size_ratio=10)",
    ];
    let rows = bench.rows("x");
    assert_eq!(values(&rows, "label"), expected);
    assert_eq!(
        values(&rows, "design.bloom"),
        ["standard", "standard", "standard(bits_per_key=4)", "standard(bits_per_key=4)"]
    );
    let baselines: Vec<&str> = answer.lines().filter(|line| line.contains("(baseline)")).collect();
    assert!(matches!(baselines[..], [line] if line.contains(expected[1])), "{answer}");
    let names = bench.read("plots/x/bits.csv");
    assert!(
        names.contains(",standard(bits_per_key=10),") && names.contains(",standard(bits_per_key=4),"),
        "{names}"
    );
    let error = bench.run(&["run", "x.toml", "--set", "verdict.baseline=standard"]).refusal();
    assert!(error.contains(expected[1]) && !error.contains("\"standard + leveled\""), "{error}");

    // Another version of lsmbench gave the same configurations other labels.
    let old_label = |text: &str| {
        let text = text.replace("standard(bits_per_key=10) + ", "standard + ");
        text.replace("leveled(size_ratio=10)", "leveled")
    };
    let mut manifest = bench.manifest("x");
    for cell in &mut manifest.cells {
        cell.label = old_label(&cell.label);
    }
    manifest.write(&Folder::new(bench.path("results/x")).manifest()).unwrap();
    bench.write("results/x/runs.csv", old_label(&bench.read("results/x/runs.csv")));
    bench.forget_seals("x");
    let old = bench.path("old");
    std::fs::rename(bench.path("results"), &old).unwrap();
    bench.ok(&["run", "x.toml"]);
    let compared = bench.ok(&["compare", "old", "results"]);
    assert!(!compared.contains("only the base results"), "{compared}");
    std::fs::remove_dir_all(bench.path("results")).unwrap();
    std::fs::rename(old, bench.path("results")).unwrap();
    let error = bench.run(&["run", "x.toml", "--resume"]).refusal();
    assert!(error.contains("gave the configurations other labels"), "{error}");
}

/// Tests that rows contain a size as a number of bytes, that labels and charts contain the size with its unit, and that
/// filters accept both.
#[test]
fn a_size_in_rows_is_a_number_of_bytes() {
    let bench = Bench::new();
    let sweep =
        "\"design.memory\" = [\"400KiB\", \"1MiB\"]\n\"design.memtable.capacity\" = [\"16KiB\", \"32768\"]";
    let (experiment, _) = SMALL.split_once("[[chart]]").unwrap();
    let experiment = experiment.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep);
    let chart = |name: &str, kind: &str, filter: &str| {
        format!(
            "[[chart]]\nname = \"{name}\"\nkind = \"{kind}\"\nx = \"design.memory\"\ny = \"write_amp\"\n\
             series = \"design.memtable.capacity\"\nfilter = {{ phase = \"load\"{filter} }}\n"
        )
    };
    let charts = [
        chart("line", "line", ""),
        chart("text", "bar", ", \"design.memory\" = [\"400KiB\", \"1MiB\"]"),
        chart("number", "bar", ", \"design.memory\" = [409600, 1048576]"),
    ];
    bench.write("x.toml", experiment + &charts.concat());
    let answer = bench.run(&["run", "x.toml"]).expect(0);
    assert!(!answer.err.contains("no chart"), "{}", answer.err);
    let rows = bench.rows("x");
    assert_eq!(values(&rows, "design.memory"), ["409600", "409600", "1048576", "1048576"]);
    assert_eq!(values(&rows, "design.memtable.capacity"), ["16384", "32768", "16384", "32768"]);
    assert_eq!(values(&rows, "label")[1], "design.memory=400KiB + memtable.capacity=32768");
    let charts = || {
        let text = |name: &str| bench.read(&format!("plots/x/{name}.svg"));
        let [line, bars, numbers] = ["line", "text", "number"].map(text);
        for chart in [&line, &bars, &numbers] {
            let chart = chart.replace('\u{a0}', " ");
            for size in ["400 KiB", "1 MiB", "16 KiB", "32 KiB"] {
                assert!(chart.contains(size), "{size}: {chart}");
            }
        }
        (line, bars)
    };
    let drawn = charts();

    // The rows of earlier versions contain the text of the experiment file.
    let rows = bench.read("results/x/runs.csv");
    bench.write("results/x/runs.csv", rows.replace(",409600,", ",400KiB,").replace(",1048576,", ",1MiB,"));
    assert_ne!(bench.read("results/x/runs.csv"), rows);
    bench.forget_seals("x");
    bench.ok(&["plot", "results/x"]);
    assert_eq!(charts(), drawn);
}

#[test]
fn the_command_line_changes_what_it_names() {
    let bench = Bench::small();
    bench.write("bare.toml", "about = \"bare\"\n[design]\nwal = \"none\"\nblock = { size = \"8KiB\" }\n");
    let resolved = |arguments: &[&str]| -> toml::Table {
        bench.ok(&[&["describe", "small.toml"], arguments].concat()).parse().unwrap()
    };
    let plain = resolved(&[]);
    assert_eq!(plain["trials"]["seed"].as_integer(), Some(42));
    assert_eq!(plain["design"]["wal"]["kind"].as_str(), Some("buffered"));

    let set =
        resolved(&["--set", "design.wal=sync", "--set", "phase.load.insert=5k", "--set", "trials.check=7"]);
    assert_eq!(set["design"]["wal"]["kind"].as_str(), Some("sync"));
    assert_eq!(set["phase"][0]["insert"].as_integer(), Some(5000));
    assert_eq!(set["trials"]["check"].as_integer(), Some(7));

    let counts = resolved(&["--trials", "9", "--seed", "77"]);
    assert_eq!(counts["trials"]["count"].as_integer(), Some(9));
    assert_eq!(counts["trials"]["seed"].as_integer(), Some(77));

    let quick = resolved(&["--quick", "--trials", "3"]);
    assert_eq!(quick["phase"][0]["insert"].as_integer(), Some(300));
    assert_eq!(quick["phase"][1]["operations"].as_integer(), Some(300));
    assert_eq!(quick["trials"]["count"].as_integer(), Some(3));

    let design = resolved(&["--design", "bare.toml"]);
    assert_eq!(design["design"]["wal"]["kind"].as_str(), Some("none"));
    assert_eq!(design["design"]["block"]["size"].as_str(), Some("8KiB"));
    assert_eq!(
        design["design"]["memtable"]["capacity"].as_str(),
        Some("32KiB"),
        "the experiment's own stays"
    );

    bench.write(
        "small.toml",
        format!("{SMALL}\n[quick]\n\"phase.load.insert\" = 123\n\"trials.count\" = 4\n"),
    );
    let quick = resolved(&["--quick"]);
    assert_eq!(quick["phase"][0]["insert"].as_integer(), Some(123));
    assert_eq!(
        quick["phase"][1]["operations"].as_integer(),
        Some(3000),
        "what [quick] says is all that it does"
    );
    assert_eq!(quick["trials"]["count"].as_integer(), Some(4));
}

#[test]
fn every_cell_and_trial_does_the_operations_of_the_seed() {
    let bench = Bench::small();
    let hashes = |arguments: &[&str]| -> Vec<Option<String>> {
        bench.ok(&[&["run", "small.toml"], arguments].concat());
        let streams = bench.manifest("small").cells.into_iter().flat_map(|cell| cell.streams);
        streams.filter(|stream| stream.phase == "look").map(|stream| stream.hash).collect()
    };
    let (first, again) = (hashes(&[]), hashes(&["--trials", "2", "--set", "sweep.design.bloom=[\"none\"]"]));
    assert!(
        first.len() == 3 && first[0].is_some() && first.iter().all(|hash| *hash == first[0]),
        "{first:?}"
    );
    assert_eq!(again, [first[0].clone()]);
    assert_ne!(hashes(&["--seed", "43"])[0], first[0]);
    let warnings = |arguments: &[&str]| {
        bench.ok(&[&["run", "small.toml"], arguments].concat());
        bench.manifest("small").warnings
    };
    assert!(warnings(&["--quick"])[0].contains("quick run (reduced size); rerun without --quick"));
    assert_eq!(bench.rows("small").iter().filter(|row| text(row, &c::OPERATION) == "all").count(), 2 * 3);
}

#[test]
fn a_resolved_experiment_runs_as_the_one_it_came_from() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let hash = bench.manifest("small").config_hash;
    bench.write("again/small.toml", bench.ok(&["describe", "small.toml"]));
    bench.ok(&["run", "again/small.toml", "--resume"]);
    assert_eq!(bench.manifest("small").config_hash, hash);
}

#[test]
fn earlier_results_are_moved_aside() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let first = bench.read("results/small/runs.csv");
    let output = bench.run(&["run", "small.toml", "--seed", "7"]).expect(0).err;
    let folder =
        output.lines().find_map(|line| line.strip_prefix("small: earlier results are now in ")).unwrap();
    assert_eq!(bench.read(&format!("{folder}/runs.csv")), first);
    assert_ne!(bench.read("results/small/runs.csv"), first);
}

/// Tests that a key that contains dots can have quotes in a path on the command line, as in TOML.
#[test]
fn paths_may_be_quoted_on_the_command_line() {
    let bench = Bench::small();
    for set in [
        "sweep.\"design.bloom\"=[\"none\"]",
        "\"sweep.design.bloom\"=[\"none\"]",
        "'sweep'.design.bloom=[\"none\"]",
    ] {
        assert_eq!(described(&bench, &["small.toml", "--set", set]), ["0 none"], "{set}");
    }
    let several = described(&bench, &["small.toml", "--set", "sweep.\"design.bloom.bits_per_key\"=[4,8]"]);
    assert_eq!(several.len(), 6, "none has no such parameter, and is left out once: {several:?}");
}

/// Tests a swept variant without parameters. The variant has its default parameters, except for parameters that the
/// base design changes. The output reports these parameters.
#[test]
fn what_swept_kinds_take_over_from_the_base_is_told() {
    let bench = Bench::new();
    let note = "bloom: the base design sets bits_per_key = 12.0; swept variants with a parameter of this \
                name use this value instead of their own default";
    let bits = "[design]\nbloom = { kind = \"blocked\", bits_per_key = 12 }";
    bench.write("x.toml", SMALL.replace("[design]", bits));
    let cells = described(&bench, &["x.toml"]);
    assert_eq!(cells, ["0 none", "1 standard(bits_per_key=12)", "2 blocked(bits_per_key=12)", note]);
    assert!(unwrapped(&bench.run(&["run", "x.toml"]).expect(0).err).contains(note));
    // If every kind has its own parameters, or none is changed, nothing is reported.
    for bits_per_key in [8, 10] {
        let standard = format!("standard(bits_per_key={bits_per_key})");
        let own = format!("[\"none\", \"{standard}\", \"blocked\"]");
        let experiment = SMALL.replace("[design]", bits);
        bench.write("x.toml", experiment.replace("[\"none\", \"standard\", \"blocked\"]", &own));
        let cells = described(&bench, &["x.toml"]);
        assert_eq!(cells, ["0 none", &format!("1 {standard}"), "2 blocked(bits_per_key=12)"]);
    }
    bench.write("x.toml", SMALL);
    assert!(!bench.ok(&["describe", "x.toml"]).contains("the base design sets"));
}

#[test]
fn deprecated_names_are_read_and_warned_of() {
    let bench = Bench::new();
    bench.write("x.toml", format!("{SMALL}\n[design.block]\nsignposts = false\n"));
    let seek_price = "design.compaction=l0-tiered(seek_price=4KiB)";
    let warnings = ["block.signposts", "compaction.seek_price"]
        .map(|name| format!("design.{name} is deprecated, and the next version will reject it; use design."));
    let described = bench.ok(&["describe", "x.toml", "--set", seek_price]);
    bench.ok(&["run", "x.toml", "--set", seek_price]);
    let manifest = bench.manifest("x");
    for warning in warnings {
        assert!(described.contains(&warning), "{described}");
        assert_eq!(manifest.warnings.iter().filter(|found| found.starts_with(&warning)).count(), 1);
    }
    assert!(described.contains("restart_hints = false"), "{described}");
    // A list of the design, a swept path with its chart, and a design file.
    let listed = "[design]\ncompaction = [\"leveled\", \"l0-tiered(seek_price=4KiB)\"]";
    bench.write("list.toml", SMALL.replace("[design]", listed));
    let chart = "[[chart]]\nkind = \"bar\"\nx = \"design.block.signposts\"\ny = \"fpr\"\n";
    bench.write("sweep.toml", swept("\"design.block.signposts\" = [true, false]") + chart);
    bench.write("base.toml", "[design]\nblock = { signposts = false }\n");
    bench.write("plain.toml", SMALL);
    for (arguments, name) in [
        (&["list.toml"][..], "compaction.seek_price"),
        (&["sweep.toml"], "block.signposts"),
        (&["plain.toml", "--design", "base.toml"], "block.signposts"),
    ] {
        let described = bench.ok(&[&["describe"], arguments].concat());
        let warning = format!("#   warning: design.{name} is deprecated");
        assert_eq!(described.matches(&warning).count(), 1, "{arguments:?}: {described}");
    }
}

#[test]
fn a_zip_of_which_one_list_is_shortened_names_the_options_that_select_its_configurations() {
    let bench = Bench::new();
    let zip = "combine = \"zip\"\n\"design.bloom\" = [\"none\", \"standard\", \"standard\"]\n\
               \"design.block.size\" = [\"1KiB\", \"2KiB\", \"8KiB\"]\n";
    bench.write("x.toml", swept(zip));
    let error = bench.run(&["describe", "x.toml", "--set", "sweep.design.bloom=[\"standard\"]"]).refusal();
    let (problem, options) =
        error.split_once("with the values of this option, use: ").unwrap_or_else(|| panic!("{error}"));
    let expected = "--set sweep.design.bloom: combine = \"zip\" needs lists of equal length, but \"design.block.size\" \
                    has 3 values; to run only the configurations ";
    assert_eq!(problem.trim_start_matches("error: "), expected);
    // The options work as they are printed.
    let options: Vec<&str> = options.trim().split('\'').filter(|part| part.contains('=')).collect();
    let options: Vec<&str> = options.into_iter().flat_map(|option| ["--set", option]).collect();
    let cells = described(&bench, &[&["x.toml"], &options[..]].concat());
    assert_eq!(cells, ["0 standard + block.size=2KiB", "1 standard + block.size=8KiB"]);
    // Other lists of another length have the plain error.
    let error = bench.run(&["describe", "x.toml", "--set", "sweep.design.bloom=[\"blocked\"]"]).refusal();
    assert!(error.contains("has 1 values and") && !error.contains("use: "), "{error}");
}
