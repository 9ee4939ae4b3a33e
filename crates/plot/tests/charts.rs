//! Tests of every kind of chart with ordinary and hostile results. Each chart must be drawn, readable and
//! deterministic. Empty charts must be rejected with advice.

use std::collections::{BTreeMap, HashSet};

use lsmbench_plot as plot;
use plot::{
    Caption, Chart, ChartSpec, Context, FigureStyle, Form, LabelOrder, Scalar, SelectedValues, Width,
};
use results::{CellInfo, Folder, Group, Manifest, Row, Schema, Table, columns as c};
use tempfile::TempDir;

mod synthetic;

use synthetic::{Sample, gallery};

fn samples() -> (TempDir, Vec<Sample>) {
    let folder = tempfile::tempdir().unwrap();
    let samples = gallery(folder.path());
    (folder, samples)
}

fn sample(name: &str) -> (TempDir, Sample) {
    let (folder, samples) = samples();
    (folder, samples.into_iter().find(|sample| sample.name == name).unwrap())
}

fn draw(sample: &Sample) -> Chart {
    Chart::draw(&sample.folder, &sample.spec, &sample.context)
        .unwrap_or_else(|error| panic!("{}: {error}", sample.name))
}

/// Returns the same chart at the width of a phone.
fn on_phone(sample: Sample) -> Sample {
    Sample { context: Context { width: Width::Phone, ..sample.context }, ..sample }
}

/// Returns the same chart with the keys of a `[style]` table.
fn styled(sample: Sample, style: &str) -> Sample {
    let style = toml::from_str(style).unwrap();
    Sample { context: Context { style, ..sample.context }, ..sample }
}

/// Returns the texts of an SVG, each with the attributes that tests check.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

fn error(sample: &Sample, change: impl FnOnce(&mut ChartSpec)) -> String {
    let mut spec = sample.spec.clone();
    change(&mut spec);
    Chart::draw(&sample.folder, &spec, &sample.context).unwrap_err().to_string()
}

#[test]
fn no_chart_has_text_off_the_page_or_over_other_text() {
    let (_folder, samples) = samples();
    let kinds: HashSet<_> = samples.iter().map(|sample| format!("{:?}", sample.spec.form())).collect();
    assert_eq!(kinds.len(), 8, "a kind of chart is missing: {kinds:?}");
    for sample in samples {
        assert_eq!(draw(&sample).flaws(), Vec::<String>::new(), "{}", sample.name);
        let printed = styled(sample, "width = \"3.3in\"");
        assert_eq!(draw(&printed).flaws(), Vec::<String>::new(), "{} in print", printed.name);
        let phone = on_phone(styled(printed, ""));
        assert_eq!(draw(&phone).flaws(), Vec::<String>::new(), "{} on a phone", phone.name);
    }
}

#[test]
fn a_chart_for_a_phone_is_narrow_and_says_the_same() {
    let (_folder, mut samples) = samples();
    let sample = samples.swap_remove(0);
    let full = draw(&sample).svg();
    let phone = draw(&on_phone(sample)).svg();
    assert!(full.contains("width=\"800\"") && phone.contains("width=\"360\""));
    let said = |svg: &str| texts(svg).concat().split_whitespace().collect::<String>();
    assert!(said(&phone).contains(&texts(&full)[0].split_whitespace().collect::<String>()));
}

#[test]
fn svg_is_xml_with_everything_on_the_page() {
    let (_folder, samples) = samples();
    for sample in samples {
        let svg = draw(&sample).svg();
        let document =
            roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        let root = document.root_element();
        let page: Vec<f64> =
            root.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        let number = |node: roxmltree::Node<'_, '_>, name: &str| -> f64 {
            node.attribute(name).unwrap().parse().unwrap()
        };
        let on_page = |x: f64, y: f64| (0.0..=page[2]).contains(&x) && (0.0..=page[3]).contains(&y);
        for node in root.descendants() {
            match node.tag_name().name() {
                "text" => {
                    let (x, width) = (number(node, "x"), number(node, "textLength"));
                    let left = match node.attribute("text-anchor").unwrap() {
                        "start" => x,
                        "middle" => x - width / 2.0,
                        _ => x - width,
                    };
                    let upright = node.attribute("transform").is_some();
                    assert!(upright || on_page(left, 0.0) && on_page(left + width, 0.0), "{node:?}");
                    assert!(on_page(number(node, "x"), number(node, "y")), "{}: {node:?}", sample.name);
                    // 12 pixels of the page are 48 units.
                    assert!(number(node, "font-size") >= 48.0);
                }
                "circle" => assert!(on_page(number(node, "cx"), number(node, "cy")), "{}", sample.name),
                "polyline" | "polygon" => {
                    for point in node.attribute("points").unwrap().split_whitespace() {
                        let (x, y) = point.split_once(',').unwrap();
                        assert!(on_page(x.parse().unwrap(), y.parse().unwrap()), "{}: {point}", sample.name);
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let (folder, samples) = samples();
    for sample in samples.iter().filter(|sample| ["fpr", "designs", "cdf", "heatmap"].contains(&sample.name))
    {
        let write = |stem: &str| draw(sample).write(&folder.path().join("charts"), stem).unwrap();
        let (one, two) = (write("one"), write("two"));
        for (one, two) in one.iter().zip(&two) {
            assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap(), "{}", sample.name);
        }
        let svg = std::fs::read_to_string(&one[0]).unwrap();
        assert!(svg.contains("width=\"800\"") && !svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn png_is_twice_the_size_of_the_page_and_not_blank() {
    let (folder, sample) = sample("throughput");
    let png = draw(&sample).write(folder.path(), "chart").unwrap().pop().unwrap();
    let bytes = std::fs::read(png).unwrap();
    assert_eq!(&bytes[1..4], b"PNG");
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (1600, 1000));
    assert!(bytes.len() > 40_000, "{} bytes hold no chart", bytes.len());
    let below_a_file = folder.path().join("chart.svg/charts");
    assert!(
        draw(&sample).write(&below_a_file, "x").unwrap_err().to_string().contains("cannot write the chart")
    );
}

#[test]
fn captions_say_the_question_the_facts_the_axes_and_the_run() {
    let (_folder, sample) = sample("fpr");
    let texts = texts(&draw(&sample).svg());
    for expected in [
        "False-positive rate by bloom bits per key and bloom",
        "Which filter lets the fewest absent keys through at equal memory?",
        "lookup phase · bloom and bloom.bits_per_key differ · median of 5 trials · whiskers: range, because a 95 % CI needs 6 trials",
        "false-positive rate, lower is better ↓",
        "bloom bits per key",
        "blocked",
        "theory",
        "0.1\u{a0}%",
        "16",
        "synthetic · run 5f1c0a9be27d",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected:?} is not among {texts:?}");
    }
}

#[test]
fn a_manifest_says_what_charts_are_called_and_how_labels_look() {
    let (_folder, mut sample) = sample("memory");
    let cell = |(number, label): (usize, &str)| CellInfo {
        cell: number as u64,
        label: label.to_owned(),
        swept: vec![label.to_owned(), "4".to_owned()],
        ..CellInfo::default()
    };
    let manifest = Manifest {
        experiment: "bloom".to_owned(),
        question: "What is held?".to_owned(),
        run_id: "0123456789abcdef".to_owned(),
        swept: vec!["design.bloom".to_owned(), "design.bloom.bits_per_key".to_owned()],
        cells: ["ribbon", "standard", "blocked"].into_iter().enumerate().map(cell).collect(),
        ..Manifest::default()
    };
    sample.context = Context::of(&manifest, LabelOrder::default());
    let texts = texts(&draw(&sample).svg());
    let at = |text: &str| texts.iter().position(|other| other == text).unwrap();
    assert!(at("ribbon") < at("standard") && at("standard") < at("blocked"));
    assert!(texts.iter().any(|text| text == "bloom · run 0123456789ab"), "{texts:?}");
    sample.context.is_quick = true;
    assert!(draw(&sample).svg().contains("bloom · quick run 0123456789ab"));
    assert_eq!(at("What is held?"), 1, "the question is below the title");
    at("bloom · run 0123456789ab");
}

#[test]
fn theory_is_explained_even_beside_one_series() {
    let (_folder, mut sample) = sample("fpr");
    let ribbon = SelectedValues::One(Scalar::Text("ribbon".to_owned()));
    sample.spec.filter = BTreeMap::from([("design.bloom".to_owned(), ribbon)]);
    let texts = texts(&draw(&sample).svg());
    assert!(texts.contains(&"measured".to_owned()) && texts.contains(&"theory".to_owned()));
}

#[test]
fn labels_stand_in_catalog_order_and_keep_their_colour() {
    let (_folder, samples) = samples();
    let svg = |name: &str| draw(samples.iter().find(|sample| sample.name == name).unwrap()).svg();
    let (line, bar) = (svg("fpr"), svg("throughput"));
    let at = |svg: &str, label: &str| texts(svg).iter().position(|text| text == label).unwrap();
    // The configurations are in reverse order.
    assert!(at(&line, "standard") < at(&line, "blocked"));
    assert!(at(&bar, "none") < at(&bar, "standard") && at(&bar, "ribbon") < at(&bar, "perfect (bound)"));
    for color in ["#D55E00", "#009E73", "#E69F00"] {
        assert!(line.contains(color) && bar.contains(color), "{color}");
    }
    assert!(!line.contains("#0072B2"), "the colour of \"none\", which is not in this chart");
}

#[test]
fn verdicts_are_in_the_caption_and_at_the_bars() {
    let (_folder, samples) = samples();
    let find = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap();
    let bars = texts(&draw(find("throughput")).svg());
    // Line breaks depend on the width.
    let plain = |text: &str| text.replace(char::is_whitespace, "");
    let all = plain(&bars.concat());
    for part in [
        "Verdict against \"none\": perfect is 6.70x faster (95 % CI 6.50x to 6.90x);",
        "standard is equivalent: no change (95 % CI −1 % to 1 %)",
        "fastbloom is inconclusive: 10 % faster (95 % CI −50 % to 100 %)",
        "ribbon is 15 % slower (95 % CI 10 % to 20 %)",
        "(95 % CI 10 % to 20 %). ▲ improved, ▼ regressed, = equivalent, ? inconclusive.",
    ] {
        assert!(all.contains(&plain(part)), "{part}: {all}");
    }
    let signed = |sign: &str| bars.iter().filter(|text| text.ends_with(sign)).count();
    assert_eq!((signed(" ▲"), signed(" ▼"), signed(" ="), signed(" ?")), (2, 1, 1, 1), "{bars:?}");

    // Too many to report one by one: the first six, and the number of the others.
    let many = texts(&draw(find("write-amplification")).svg()).join(" ");
    assert!(
        many.contains("Verdict against leveled,\u{a0}4: leveled,\u{a0}6")
            && many.contains("8 more in verdicts.csv"),
        "{many}"
    );
    // The bars are too thin for signs, so no key explains the signs.
    assert!(!many.contains('▲'), "{many}");

    // The chart has no verdict of another phase, of another metric, or of hidden rows.
    let mut other = find("throughput").spec.clone();
    other.filter =
        BTreeMap::from([("phase".to_owned(), SelectedValues::One(Scalar::Text("load".to_owned())))]);
    let sample = find("throughput");
    let load = Chart::draw(&sample.folder, &other, &sample.context).unwrap();
    assert!(!texts(&load.svg()).join(" ").contains("Verdict"));
    let damaged = sample.folder.verdicts();
    std::fs::write(&damaged, "verdict\n").unwrap();
    let chart = draw(sample);
    assert!(chart.notes().iter().any(|note| note.starts_with("no verdict: ")), "{:?}", chart.notes());
}

#[test]
fn settings_that_differ_are_a_list_with_single_spaces() {
    let (_folder, sample) = sample("throughput");
    let mut verdicts = results::verdicts::read(&sample.folder.verdicts()).unwrap();
    for verdict in &mut verdicts {
        verdict.set(&results::verdicts::FACTORS, 2_u64);
        verdict.set(&results::verdicts::DIFFERS_IN, "engine, mismatched settings");
    }
    results::verdicts::write(&sample.folder.verdicts(), &verdicts).unwrap();
    let caption = texts(&draw(&sample).svg()).join(" ");
    assert!(caption.contains("up to 2 factors differ (engine, mismatched settings)."), "{caption}");
}

/// Other engines have none of the settings that name the series of lsmbench.
#[test]
fn a_series_without_settings_has_the_name_of_its_engine() {
    let swept = ["engine", "design.stall.pacing", "phase.load.threads"];
    let schema = Schema::runs(&swept).unwrap();
    let mut rows = Vec::new();
    for (cell, (engine, pacing, threads)) in [
        ("rocksdb", "", "1"),
        ("lsmbench", "stop", "1"),
        ("lsmbench", "delay", "1"),
        ("rocksdb", "", "2"),
        ("lsmbench", "stop", "2"),
        ("lsmbench", "delay", "2"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut row = Row::new(&schema);
        row.set(&c::EXPERIMENT, "x")
            .set(&c::CELL, cell)
            .set(&c::LABEL, format!("{engine} {pacing} {threads}"));
        row.set(&c::TRIAL, 0_u64).set(&c::PHASE, "load").set(&c::OPERATION, "all").set(&c::MODE, "timed");
        row.set(&c::OPS_PER_SECOND, 1000.0 + cell as f64);
        for (path, value) in swept.iter().zip([engine, pacing, threads]) {
            row.set_swept(path, value).unwrap();
        }
        rows.push(row);
    }
    let table = Table::new(schema, rows);
    for (form, x) in [(Form::Line, "phase.load.threads"), (Form::GroupedBar, "phase.load.threads")] {
        let spec = ChartSpec {
            x: Some(x.to_owned()),
            y: Some("ops_per_second".to_owned()),
            series: Some("design.stall.pacing".to_owned()),
            ..ChartSpec::new(form)
        };
        let chart = Chart::of_table(&table, &Folder::new(""), &spec, &Context::default()).unwrap();
        let texts = texts(&chart.svg());
        let has = |name: &str| texts.iter().any(|text| text == name);
        assert!(has("rocksdb") && has("stop") && has("delay") && !has("not set"), "{texts:?}");
    }
}

#[test]
fn an_oracle_is_named_and_drawn_as_a_bound() {
    let (_folder, samples) = samples();
    let svg = draw(samples.iter().find(|sample| sample.name == "throughput").unwrap()).svg();
    assert!(texts(&svg).contains(&"perfect (bound)".to_owned()));
    let document = roxmltree::Document::parse(&svg).unwrap();
    let is_bound = |node: &roxmltree::Node<'_, '_>| {
        node.tag_name().name() != "text" && node.attribute("stroke").is_some_and(|stroke| stroke == "#808080")
    };
    assert!(document.descendants().filter(is_bound).count() > 10, "a dashed line in the colour of bounds");
}

#[test]
fn what_is_left_out_is_said() {
    let (_folder, samples) = samples();
    let notes =
        |name: &str| draw(samples.iter().find(|sample| sample.name == name).unwrap()).notes().to_vec();
    assert_eq!(notes("zeros-on-log"), ["1 point at 0 not shown: the axis is logarithmic"]);
    assert_eq!(notes("zeros-on-log-bars"), ["1 bar at 0 not shown: the axis is logarithmic"]);
    assert_eq!(notes("empty-cells"), ["1 cell left out: no fpr measured"]);
    assert_eq!(notes("timeline"), ["last intervals that are shorter than half of an interval left out"]);
    assert_eq!(notes("fpr"), [""; 0]);
}

#[test]
fn cells_that_differ_are_never_pooled() {
    // Bars over bits without a series: the filters are still distinguished.
    let (_folder, mut sample) = sample("memory");
    let before = texts(&draw(&sample).svg());
    assert!(["standard", "blocked", "ribbon"].iter().all(|label| before.contains(&(*label).to_owned())));
    // A series by label contains both values, so no other column has to distinguish rows.
    sample.spec.series = Some("label".to_owned());
    assert!(texts(&draw(&sample).svg()).contains(&"ribbon, 12".to_owned()));
    // With one filter kept there is one series and no legend.
    sample.spec.series = None;
    let ribbon = SelectedValues::One(Scalar::Text("ribbon".to_owned()));
    sample.spec.filter = BTreeMap::from([("design.bloom".to_owned(), ribbon)]);
    let after = texts(&draw(&sample).svg());
    assert!(!after.contains(&"standard".to_owned()));
    assert!(after.iter().any(|text| text.contains("only bloom.bits_per_key differs")), "{after:?}");
}

#[test]
fn the_last_phase_counts_unless_another_is_asked_for() {
    let (_folder, mut sample) = sample("all-equal");
    assert!(texts(&draw(&sample).svg()).iter().any(|text| text.starts_with("lookup phase")));
    let load = SelectedValues::One(Scalar::Text("load".to_owned()));
    sample.spec.filter = BTreeMap::from([("phase".to_owned(), load)]);
    assert!(texts(&draw(&sample).svg()).iter().any(|text| text.starts_with("load phase")));
    // As series, both phases are next to each other.
    sample.spec.filter.clear();
    sample.spec.series = Some("phase".to_owned());
    let both = texts(&draw(&sample).svg());
    assert!(both.contains(&"load".to_owned()) && both.contains(&"lookup".to_owned()));
}

#[test]
fn wrong_answers_have_no_number() {
    let (_folder, sample) = sample("throughput");
    let path = sample.folder.runs();
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.lines().next().unwrap().split(',').position(|name| name == "wrong_answers").unwrap();
    let spoil = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if cells[2] == "ribbon" {
            cells[at] = "3";
        }
        cells.join(",") + "\n"
    };
    let spoilt: String =
        text.lines().enumerate().map(|(i, l)| if i == 0 { format!("{l}\n") } else { spoil(l) }).collect();
    std::fs::write(&path, spoilt).unwrap();
    let chart = draw(&sample);
    assert_eq!(chart.notes(), ["5 measurements left out: wrong answers"]);
    assert!(!texts(&chart.svg()).contains(&"ribbon".to_owned()));
}

#[test]
fn refusals_say_what_to_write_instead() {
    let (_folder, sample) = sample("fpr");
    let some = |text: &str| Some(text.to_owned());
    assert!(error(&sample, |spec| spec.y = some("fprr")).contains("did you mean \"fpr\"?"));
    assert!(
        error(&sample, |spec| spec.x = some("design.bloom.bits_per_kye"))
            .contains("did you mean \"design.bloom.bits_per_key\"?")
    );
    assert!(
        error(&sample, |spec| spec.series = some("desing.bloom")).contains("did you mean \"design.bloom\"?")
    );
    assert!(error(&sample, |spec| spec.y = None).starts_with("y: "));
    assert!(error(&sample, |spec| spec.x = None).starts_with("x: "));
    assert!(error(&sample, |spec| spec.y = some("label")).contains("contains names"));
    assert!(
        error(&sample, |spec| spec.y = some("p99_ns"))
            .contains("theory: no theory exists for y = \"p99_ns\"")
    );
    let filter = |column: &str, value: &str| {
        let choice = SelectedValues::One(Scalar::Text(value.to_owned()));
        BTreeMap::from([(column.to_owned(), choice)])
    };
    let message = error(&sample, |spec| spec.filter = filter("phase", "lokup"));
    assert_eq!(message, "filter: no row has phase = \"lokup\". Valid: \"load\", \"lookup\"");
    assert!(error(&sample, |spec| spec.filter = filter("phse", "x")).contains("did you mean \"phase\"?"));
    assert!(
        error(&sample, |spec| (spec.y, spec.theory) = (some("p99_ns"), false)).contains("nothing to draw")
    );
    let heatmap = error(&sample, |spec| {
        (spec.kind, spec.series, spec.theory) = (Form::Heatmap.choice(), None, false);
    });
    assert!(heatmap.starts_with("series: the column for the rows of the heat map is missing"), "{heatmap}");
    let scatter = |spec: &mut ChartSpec| (spec.kind, spec.x) = (Form::Scatter.choice(), some("label"));
    assert!(error(&sample, scatter).contains("x: column \"label\" contains names"));
}

#[test]
fn too_much_to_tell_apart_is_refused_and_so_is_a_logarithm_of_nothing() {
    let (_folder, samples) = samples();
    let named = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap();
    let message = error(named("forty-names"), |spec| spec.series = Some("label".to_owned()));
    assert!(message.contains("series: a chart cannot distinguish 40 series"), "{message}");
    let message = error(named("all-zero"), |spec| spec.log_y = Some(true));
    assert!(message.contains("\"stall_seconds\" has no value above 0"), "{message}");
}

#[test]
fn latencies_that_are_missing_or_damaged_are_named() {
    let (_folder, sample) = sample("cdf");
    let log = |cell: u64, trial: u64| sample.folder.histogram(Group { cell, trial }, "lookup");
    assert!(error(&sample, |spec| spec.x = Some("response".to_owned())).contains("only an open loop"));
    assert!(
        error(&sample, |spec| spec.x = Some("p99".to_owned()))
            .contains("unknown latency \"p99\". Valid: \"service\", \"response\"")
    );
    assert!(error(&sample, |spec| spec.y = Some("p99_ns".to_owned())).contains("remove y = \"p99_ns\""));
    std::fs::remove_file(log(1, 2)).unwrap();
    assert_eq!(draw(&sample).notes(), ["1 measurement without a histogram"]);
    let mut bytes = std::fs::read(log(0, 0)).unwrap();
    bytes[200] ^= 1;
    std::fs::write(log(0, 0), bytes).unwrap();
    assert!(error(&sample, |_| ()).contains("the checksum of the latency log does not match"));
    std::fs::remove_dir_all(sample.folder.histograms()).unwrap();
    assert!(error(&sample, |_| ()).contains("cannot read"));
}

#[test]
fn results_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let spec = ChartSpec { y: Some("ops".to_owned()), ..ChartSpec::new(Form::Timeline) };
    let missing = Chart::draw(&Folder::new(folder.path()), &spec, &Context::default()).unwrap_err();
    assert!(missing.to_string().contains("timeline.csv: cannot read"), "{missing}");
    let (_folder, sample) = sample("fpr");
    let whole = std::fs::read(sample.folder.runs()).unwrap();
    std::fs::write(sample.folder.runs(), &whole[..whole.len() - 3]).unwrap();
    assert_eq!(draw(&sample).notes(), ["the last line of the CSV file is incomplete, so the chart omits it"]);
}

#[test]
fn whiskers_show_the_interval_that_the_caption_names() {
    let (folder, sample) = sample("ratios");
    let bars = |style: &str| {
        let spec = ChartSpec {
            x: Some("design.compaction".to_owned()),
            y: Some("ops_per_second".to_owned()),
            ..ChartSpec::new(Form::Bar)
        };
        let context = Context { style: toml::from_str(style).unwrap(), ..sample.context.clone() };
        let chart = Chart::draw(&sample.folder, &spec, &context).unwrap();
        chart.write(folder.path(), "bars").unwrap();
        let numbers = std::fs::read_to_string(folder.path().join("bars.csv")).unwrap();
        (texts(&chart.svg()).join(" "), numbers)
    };
    let ends = |numbers: &str| -> (f64, f64) {
        let cells: Vec<&str> = numbers.lines().nth(1).unwrap().split(',').collect();
        (cells[3].parse().unwrap(), cells[4].parse().unwrap())
    };
    let (ci, numbers) = bars("");
    assert!(ci.contains("whiskers: 95 % CI of the median"), "{ci}");
    assert!(
        numbers.starts_with("series,design.compaction,ops_per_second,low,high,interval,trials,"),
        "{numbers}"
    );
    assert!(numbers.lines().nth(1).unwrap().contains(",95 % CI of the median,8,"), "{numbers}");
    let (text, all) = bars("whiskers = \"range\"");
    assert!(text.contains("whiskers: range, least to largest"), "{text}");
    let (text, half) = bars("whiskers = \"iqr\"");
    assert!(text.contains("whiskers: interquartile range"), "{text}");
    // Eight values: the 95 % confidence interval of the median leaves out none of them, the quartiles two on each side.
    let (ci, all, half) = (ends(&numbers), ends(&all), ends(&half));
    assert!(ci == all && half.0 > all.0 && half.1 < all.1, "{ci:?} {all:?} {half:?}");
}

#[test]
fn a_style_chooses_formats_width_title_and_caption() {
    let (folder, mut sample) = sample("throughput");
    sample = styled(
        sample,
        "format = \"svg,pdf,pgf,gnuplot\"\nwidth = \"84mm\"\ntitle = \"Lookups\"\ncaption = \"none\"",
    );
    let chart = draw(&sample);
    let names: Vec<String> = chart
        .write(folder.path(), "figure")
        .unwrap()
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names, ["figure.svg", "figure.pdf", "figure.tex", "figure.gp"]);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let svg = String::from_utf8(read("figure.svg")).unwrap();
    assert!(svg.contains("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"3.3056in\""), "{}", &svg[..200]);
    let texts = texts(&svg);
    assert!(texts.contains(&"Lookups".to_owned()) && texts.contains(&"bloom".to_owned()), "{texts:?}");
    for left_out in ["run 5f1c0a9be27d", "Verdict", "trials", "How many lookups"] {
        assert!(!texts.join(" ").contains(left_out), "{left_out}: {texts:?}");
    }
    let pdf = read("figure.pdf");
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"), "{}", pdf.len());
    let has = |part: &str| pdf.windows(part.len()).any(|bytes| bytes == part.as_bytes());
    assert!(has("/FontFile2") && has("/ToUnicode") && has("/MediaBox [0 0 238"), "fonts are embedded");
    assert_eq!(chart.pdf().unwrap(), pdf, "the same bytes");
    let latex = String::from_utf8(read("figure.tex")).unwrap();
    assert!(latex.contains("title={Lookups}") && latex.contains("y explicit"), "{latex}");
    let gnuplot = String::from_utf8(read("figure.gp")).unwrap();
    assert!(gnuplot.contains("set title \"Lookups\""), "{gnuplot}");

    let verdict = texts_of(sample, Caption::Verdict);
    assert!(verdict.contains("Verdict against") && !verdict.contains("run 5f1c0a9be27d"), "{verdict}");
}

fn texts_of(mut sample: Sample, caption: Caption) -> String {
    sample.context.style.caption = Some(caption);
    texts(&draw(&sample).svg()).join(" ")
}

#[test]
fn a_font_is_an_installed_family_or_a_file() {
    let (folder, sample) = sample("throughput");
    let with = |font: &str| {
        let style = FigureStyle { font: Some(font.to_owned()), ..FigureStyle::default() };
        let context = Context { style, ..sample.context.clone() };
        Chart::draw(&sample.folder, &sample.spec, &context)
    };
    let missing = with("No Such Family").unwrap_err().to_string();
    assert!(missing.contains("style.font: font family \"No Such Family\" is not installed"), "{missing}");
    let file = folder.path().join("face.ttf");
    std::fs::write(&file, dejavu::sans_mono::regular()).unwrap();
    let chart = with(file.to_str().unwrap()).unwrap();
    assert!(chart.svg().contains("font-family=\"DejaVu Sans Mono, DejaVu Sans Condensed"));
    assert_eq!(chart.flaws(), Vec::<String>::new());
    assert!(chart.pdf().unwrap().len() > 8_000);
    std::fs::write(&file, "no font").unwrap();
    let broken = with(file.to_str().unwrap()).unwrap_err().to_string();
    assert!(broken.contains("is not a font file"), "{broken}");
    // The next chart has the embedded face again.
    assert!(draw(&sample).svg().contains("font-family=\"DejaVu Sans Condensed"));
}

#[test]
fn ratios_are_those_of_rounds_with_the_interval_of_the_verdict() {
    let (folder, mut sample) = sample("ratios");
    let chart = draw(&sample);
    let said = texts(&chart.svg());
    let all = said.join(" ").replace('\u{a0}', " ");
    for part in [
        "Throughput relative to leveled",
        "throughput / that of leveled, higher is better →",
        "2.30x faster",
        "points: one round each; diamond: median ratio with its 95 % CI",
        "noise floor ±3.1 %",
        "Verdict against leveled: tiered is 2.30x faster (95 % CI 2.21x to 2.42x)",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    chart.write(folder.path(), "ratio").unwrap();
    let numbers = std::fs::read_to_string(folder.path().join("ratio.csv")).unwrap();
    assert!(
        numbers.contains("median ratio,tiered,2.3,2.21,2.42,95 % CI of the median ratio,8,"),
        "{numbers}"
    );
    assert_eq!(numbers.lines().filter(|line| line.starts_with("rounds,")).count(), 3 * 8);

    // Without verdicts, all configurations are compared with the first, and the chart states it.
    std::fs::remove_file(sample.folder.verdicts()).unwrap();
    let alone = texts(&draw(&sample).svg()).join(" ");
    assert!(alone.contains("no verdict uses these ratios") && !alone.contains("Verdict"), "{alone}");
    sample.spec.y = None;
    let error = Chart::draw(&sample.folder, &sample.spec, &sample.context).unwrap_err().to_string();
    assert!(error.starts_with("y: the column to compare is missing"), "{error}");
}

#[test]
fn a_logarithmic_axis_has_points_and_a_distribution_has_nines() {
    let (_folder, samples) = samples();
    let find = |name: &str| samples.iter().find(|sample| sample.name == name).unwrap();
    let rects = |svg: &str| svg.matches("<rect ").count();
    let (log, linear) = (draw(find("log-bars")).svg(), draw(find("memory")).svg());
    assert!(rects(&linear) > rects(&log), "bars have rectangles, points have none");
    let cdf = find("cdf-tail");
    let nines = |log_y| {
        let spec = ChartSpec { log_y, ..cdf.spec.clone() };
        texts(&Chart::draw(&cdf.folder, &spec, &cdf.context).unwrap().svg())
            .contains(&"99.9\u{a0}%".to_owned())
    };
    assert!(nines(None) && nines(Some(true)) && !nines(Some(false)));
}

#[test]
fn no_two_of_eight_series_share_a_colour() {
    let (_folder, samples) = samples();
    let sample = samples.iter().find(|sample| sample.name == "line-8-series").unwrap();
    let labels: Vec<(String, bool)> = (0..8).map(|at| (format!("variant-{at}"), false)).collect();
    // In a large catalog, places are eight apart.
    let mut known: Vec<(String, bool)> = Vec::new();
    for label in labels {
        known.push(label);
        let before = known.len();
        known.extend((0..7).map(|at| (format!("other-{before}-{at}"), false)));
    }
    let order =
        LabelOrder::default().with("design.fence", known.iter().map(|(label, flag)| (&**label, *flag)));
    let context = Context { order, ..sample.context.clone() };
    let svg = Chart::draw(&sample.folder, &sample.spec, &context).unwrap().svg();
    for color in ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8B7300", "#404040"] {
        assert!(svg.contains(color), "{color}");
    }
}

#[test]
fn every_kind_of_chart_shows_the_given_titles_of_its_axes() {
    let (_folder, samples) = samples();
    for sample in &samples {
        let titles = ["Filter size", "Wasted reads"];
        let [x_title, y_title] = titles.map(|title| Some(title.to_owned()));
        let spec = ChartSpec { x_title, y_title, ..sample.spec.clone() };
        let shown = texts(&Chart::draw(&sample.folder, &spec, &sample.context).unwrap().svg());
        for title in titles {
            assert!(
                shown.iter().any(|text| text.contains(title)),
                "{}: {title} is not among {shown:?}",
                sample.name
            );
        }
    }
}
