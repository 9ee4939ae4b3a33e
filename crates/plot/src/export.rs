//! Exports the drawn values of a chart as CSV, as a `pgfplots` picture for LaTeX, and as a gnuplot script.

use std::fmt::Write as _;

use crate::figure::{Drawing, Figure, Spot, Track, number};
use crate::palette::Color;
use crate::style::Length;

/// Returns the drawn values of a chart as CSV, with one row per point. Each row contains the series, the coordinates,
/// the ends of the whiskers and the number of trials. A field is empty if the chart does not draw its value.
pub(crate) fn csv(figure: &Figure) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let (x, y) = (&*figure.x.column, &*figure.y.column);
    let (x_low, x_high) = (format!("{x}_low"), format!("{x}_high"));
    writer.write_record([
        "series", x, y, "low", "high", "interval", "trials", &x_low, &x_high, "theory", "bound",
    ])?;
    let cell = |value: Option<f64>| value.map_or_else(String::new, number);
    for track in &figure.tracks {
        for spot in &track.spots {
            let interval = spot.interval.map_or("", |_| &*figure.interval);
            writer.write_record([
                &track.label.replace(crate::format::SPACE, " "),
                &figure.across(spot),
                &number(spot.y),
                &cell(spot.interval.map(|ends| ends.0)),
                &cell(spot.interval.map(|ends| ends.1)),
                interval,
                &cell(spot.trials.map(|trials| trials as f64)),
                &cell(spot.across.map(|ends| ends.0)),
                &cell(spot.across.map(|ends| ends.1)),
                &cell(spot.theory),
                &cell(spot.bound),
            ])?;
        }
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// Returns how far the whiskers of a point extend below and above the point.
fn errors(spot: &Spot) -> (f64, f64) {
    spot.interval.map_or((0.0, 0.0), |(low, high)| ((spot.y - low).max(0.0), (high - spot.y).max(0.0)))
}

fn hexadecimal(color: Color) -> String {
    format!("{:02X}{:02X}{:02X}", color.0, color.1, color.2)
}

/// Escapes the special characters of LaTeX in a text.
fn tex(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '_' | '%' | '&' | '#' | '$' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\u{a0}' | '\u{202f}' => escaped.push('~'),
            'µ' => escaped.push_str("$\\mu$"),
            '×' => escaped.push_str("$\\times$"),
            '−' => escaped.push_str("$-$"),
            '–' => escaped.push_str("--"),
            '·' => escaped.push_str("$\\cdot$"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns LaTeX code that draws the chart with `pgfplots`.
pub(crate) fn pgf(figure: &Figure, width: Option<Length>) -> String {
    let mut text = String::from(
        "% Needs in the preamble: \\usepackage{pgfplots} \\pgfplotsset{compat=1.16}\n\\begin{tikzpicture}\n",
    );
    for (at, track) in figure.tracks.iter().enumerate() {
        let _ = writeln!(text, "\\definecolor{{series{at}}}{{HTML}}{{{}}}", hexadecimal(track.color));
    }
    text.push_str("\\begin{axis}[\n");
    let width = width.map_or_else(|| "\\linewidth".to_owned(), |width| width.to_string());
    let mut option = |line: String| {
        let _ = writeln!(text, "  {line},");
    };
    option(format!("width={width}"));
    if !figure.title.is_empty() {
        option(format!("title={{{}}}", tex(&figure.title)));
    }
    option(format!("xlabel={{{}}}", tex(&figure.x.title)));
    option(format!("ylabel={{{}}}", tex(&figure.y.title)));
    for (axis, dimension) in [("x", &figure.x), ("y", &figure.y)] {
        if dimension.is_log {
            option(format!("{axis}mode=log"));
        }
    }
    if !figure.names.is_empty() {
        let names: Vec<String> = figure.names.iter().map(|name| format!("{{{}}}", tex(name))).collect();
        let places: Vec<String> = (0..names.len()).map(|at| at.to_string()).collect();
        option(format!("xtick={{{}}}", places.join(",")));
        option(format!("xticklabels={{{}}}", names.join(",")));
        option("x tick label style={rotate=30,anchor=east}".to_owned());
        option("enlarge x limits={abs=0.6}".to_owned());
    }
    match figure.drawing {
        Drawing::Bars => option("ybar,ymin=0".to_owned()),
        Drawing::Fields => {
            let rows: Vec<String> =
                figure.tracks.iter().map(|track| format!("{{{}}}", tex(&track.label))).collect();
            let places: Vec<String> = (0..rows.len()).map(|at| at.to_string()).collect();
            option(format!("ytick={{{}}}", places.join(",")));
            option(format!("yticklabels={{{}}}", rows.join(",")));
            option("ymode=linear,colorbar,scatter,only marks,mark=square*,mark size=8pt".to_owned());
        }
        _ => {}
    }
    option("legend style={at={(0.5,-0.35)},anchor=north,draw=none,legend columns=2}".to_owned());
    text.push_str("]\n");
    for (at, track) in figure.tracks.iter().enumerate() {
        pgf_track(&mut text, figure, track, at);
    }
    text.push_str("\\end{axis}\n\\end{tikzpicture}\n");
    text
}

fn pgf_track(text: &mut String, figure: &Figure, track: &Track, at: usize) {
    const MARKS: [&str; 16] = [
        "*",
        "square*",
        "triangle*",
        "diamond*",
        "x",
        "pentagon*",
        "+",
        "star",
        "o",
        "square",
        "triangle",
        "diamond",
        "pentagon",
        "asterisk",
        "otimes",
        "|",
    ];
    const PATTERNS: [&str; 4] = ["fill=series", "fill=series!55", "fill=series!30", "fill=series!75"];
    if figure.drawing == Drawing::Fields {
        text.push_str("\\addplot[point meta=explicit] table[x=x,y=row,meta=y] {\nx row y\n");
        for spot in &track.spots {
            let _ = writeln!(text, "{} {at} {}", number(spot.x), number(spot.y));
        }
        text.push_str("};\n");
        return;
    }
    let look = match figure.drawing {
        Drawing::Bars => {
            // Inserts the index of the series into the color, so that `series!55` becomes `series2!55`.
            let fill = PATTERNS[at % PATTERNS.len()].replace("series", &format!("series{at}"));
            format!("draw=series{at},{fill}")
        }
        Drawing::Points => format!("only marks,color=series{at},mark={}", MARKS[at % MARKS.len()]),
        Drawing::Steps => format!("const plot,no marks,color=series{at}"),
        _ => format!("color=series{at},mark={}", MARKS[at % MARKS.len()]),
    };
    let has_interval = track.spots.iter().any(|spot| spot.interval.is_some());
    let bars = if has_interval { ",error bars/.cd,y dir=both,y explicit" } else { "" };
    let _ = writeln!(
        text,
        "\\addplot+[{look}{bars}] table[x=x,y=y,y error plus=up,y error minus=down] {{\nx y down up"
    );
    for spot in &track.spots {
        let (down, up) = errors(spot);
        let _ = writeln!(text, "{} {} {} {}", number(spot.x), number(spot.y), number(down), number(up));
    }
    text.push_str("};\n");
    if figure.tracks.len() > 1 {
        let _ = writeln!(text, "\\addlegendentry{{{}}}", tex(&track.label));
    }
    for name in ["theory", "bound"] {
        let value = |spot: &Spot| if name == "theory" { spot.theory } else { spot.bound };
        let spots: Vec<(f64, f64)> =
            track.spots.iter().filter_map(|spot| Some((spot.x, value(spot)?))).collect();
        if !spots.is_empty() {
            let _ = writeln!(
                text,
                "\\addplot+[sharp plot,no marks,dashed,color=series{at},forget plot] table {{ % {name}"
            );
            for (x, y) in spots {
                let _ = writeln!(text, "{} {}", number(x), number(y));
            }
            text.push_str("};\n");
        }
    }
}

/// Puts a text in double quotes for gnuplot.
fn quoted(text: &str) -> String {
    let plain = text.replace(['\u{a0}', '\u{202f}'], " ").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", plain.replace('_', "\\\\_"))
}

/// Returns a gnuplot script that draws the chart. The script contains the data. Users of the script set the terminal
/// and the output file.
pub(crate) fn gnuplot(figure: &Figure) -> String {
    let mut text =
        String::from("# gnuplot -e 'set terminal pdfcairo; set output \"figure.pdf\"' THIS-FILE\n");
    for (at, track) in figure.tracks.iter().enumerate() {
        let _ = writeln!(text, "$series{at} << END\n# x y low high");
        for spot in &track.spots {
            let (low, high) = spot.interval.unwrap_or((spot.y, spot.y));
            let _ = writeln!(text, "{} {} {} {}", number(spot.x), number(spot.y), number(low), number(high));
        }
        text.push_str("END\n");
    }
    let title = if figure.title.is_empty() {
        "unset title".to_owned()
    } else {
        format!("set title {}", quoted(&figure.title))
    };
    let _ = writeln!(
        text,
        "{title}\nset xlabel {}\nset ylabel {}",
        quoted(&figure.x.title),
        quoted(&figure.y.title)
    );
    for (axis, dimension) in [("x", &figure.x), ("y", &figure.y)] {
        if dimension.is_log && figure.drawing != Drawing::Fields {
            let _ = writeln!(text, "set logscale {axis}");
        }
    }
    if !figure.names.is_empty() {
        let names: Vec<String> =
            figure.names.iter().enumerate().map(|(at, name)| format!("{} {at}", quoted(name))).collect();
        let _ = writeln!(
            text,
            "set xtics ({}) rotate by -30\nset xrange [-0.6:{}]",
            names.join(", "),
            figure.names.len() as f64 - 0.4
        );
    }
    if figure.drawing == Drawing::Fields {
        let rows: Vec<String> = figure
            .tracks
            .iter()
            .enumerate()
            .map(|(at, track)| format!("{} {at}", quoted(&track.label)))
            .collect();
        let _ =
            writeln!(text, "set ytics ({})\nset yrange [-0.6:{}]", rows.join(", "), rows.len() as f64 - 0.4);
    }
    text.push_str("set key outside below\n");
    let several = figure.tracks.len() > 1;
    let wide = 0.8 / figure.tracks.len().max(1) as f64;
    if figure.drawing == Drawing::Bars {
        let _ = writeln!(text, "set style fill pattern 1 border\nset boxwidth {wide}\nset yrange [0:]");
    }
    let plots = figure.tracks.iter().enumerate().flat_map(|(at, track)| {
        let title = if several { format!("title {}", quoted(&track.label)) } else { "notitle".to_owned() };
        let color = format!("lc rgb \"#{}\"", hexadecimal(track.color));
        let shift = (at as f64 + 0.5 - figure.tracks.len() as f64 / 2.0) * wide;
        match figure.drawing {
            Drawing::Lines => vec![format!("$series{at} using 1:2:3:4 with yerrorlines {color} {title}")],
            Drawing::Steps => vec![format!("$series{at} using 1:2 with steps {color} {title}")],
            Drawing::Points => {
                vec![format!("$series{at} using 1:2:3:4 with yerrorbars pt {} {color} {title}", at + 4)]
            }
            Drawing::Bars => vec![
                format!("$series{at} using ($1+{shift}):2 with boxes {color} {title}"),
                format!("$series{at} using ($1+{shift}):2:3:4 with yerrorbars pt 0 lc black notitle"),
            ],
            Drawing::Fields => {
                vec![format!("$series{at} using 1:({at}):2 with points pt 5 ps 3 palette notitle")]
            }
        }
    });
    let _ = writeln!(text, "plot {}", plots.collect::<Vec<_>>().join(", \\\n     "));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Dimension;
    use results::Unit;

    fn figure() -> Figure {
        let spot = |x: f64, y: f64| Spot {
            interval: Some((y * 0.5, y * 2.0)),
            trials: Some(6),
            theory: Some(y),
            ..Spot::at(x, y)
        };
        Figure {
            title: "100 % of a_b & \"c\"".to_owned(),
            x: Dimension::new("design.bloom", "bloom", Unit::Plain, false),
            y: Dimension::new("p99_ns", "p99 service time", Unit::Nanoseconds, true),
            names: vec!["none".to_owned(), "blocked(bits_per_key=4)".to_owned()],
            drawing: Drawing::Points,
            interval: "95 % CI of the median".to_owned(),
            tracks: vec![Track {
                label: "a, b".to_owned(),
                color: Color(0, 114, 178),
                spots: vec![spot(0.0, 10.0), spot(1.0, 0.25)],
            }],
        }
    }

    #[test]
    fn numbers_are_written_as_they_are_drawn() {
        let text = String::from_utf8(csv(&figure()).unwrap()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "series,design.bloom,p99_ns,low,high,interval,trials,design.bloom_low,design.bloom_high,theory,bound",
                "\"a, b\",none,10,5,20,95 % CI of the median,6,,,10,",
                "\"a, b\",blocked(bits_per_key=4),0.25,0.125,0.5,95 % CI of the median,6,,,0.25,",
            ]
        );
    }

    #[test]
    fn latex_is_escaped_and_closed() {
        let text = pgf(&figure(), Some("84mm".parse().unwrap()));
        for part in [
            "title={100 \\% of a\\_b \\& \"c\"}",
            "xticklabels={{none},{blocked(bits\\_per\\_key=4)}}",
            "ymode=log",
            "width=3.3071in",
            "\\definecolor{series0}{HTML}{0072B2}",
            "1 0.25 0.125 0.25",
            "only marks,color=series0,mark=*,error bars/.cd,y dir=both,y explicit",
            "\\end{axis}\n\\end{tikzpicture}\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let count = |c: char| text.chars().filter(|found| *found == c).count();
        assert_eq!(count('{'), count('}'));
    }

    #[test]
    fn gnuplot_has_the_data_and_the_axes() {
        let text = gnuplot(&figure());
        for part in [
            "$series0 << END\n# x y low high\n0 10 5 20\n1 0.25 0.125 0.5\nEND\n",
            "set logscale y\n",
            "\"blocked(bits\\\\_per\\\\_key=4)\" 1",
            "plot $series0 using 1:2:3:4 with yerrorbars pt 4 lc rgb \"#0072B2\" notitle\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
