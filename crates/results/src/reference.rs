//! Finds columns of all result files by name, and renders the reference page of the columns.

use std::fmt::Write as _;

use crate::columns::{IDENTITY, METRICS, SECOND, TIMELINE_METRICS};
use crate::effects::{EFFECTS, RANKING};
use crate::levels::{LEVEL_METRICS, LEVEL_OWN};
use crate::metric::{Better, Metric, Repeats};
use crate::slices::SLICE_METRICS;
use crate::verdicts::VERDICTS;

/// Returns the measured column with this name, in `runs.csv`, `timeline.csv` or `levels.csv`.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().chain(TIMELINE_METRICS).chain(LEVEL_METRICS).find(|metric| metric.name == name)
}

/// Returns the column with this name in any result file, such as a metric or a column that identifies a row.
pub(crate) fn known(name: &str) -> Option<&'static Metric> {
    IDENTITY.iter().find(|metric| metric.name == name).or_else(|| metric(name))
}

/// Returns the reference of all columns as Markdown: the content of `docs/reference/columns.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# The columns of results\n\n\
         This page lists the columns of the result files. `just docs` generates this page, and the following \
         command prints it:\n\n\
         ```sh\nlsmbench list --columns\n```\n\n\
         One row of `runs.csv` is one combination of configuration (cell), trial, phase and kind of operation. \
         The operation `all` covers all kinds together. Counters cover the phase of their row. Counters of the whole store are only in the rows of operation `all`. \
         **An empty cell was not measured; it is never 0.** \
         *Exact* columns are equal to the last digit in every run of `counted` mode, on every machine. \
         Columns that are exact *for a seed* depend on random draws, so another seed gives other values \
         (`trials.seeds`).\n\n\
         ## Identity of a row\n\n",
    );
    section(&mut page, IDENTITY);
    page.push_str(
        "\nNext, each swept path has a column with the name of the path, such as `design.bloom.bits_per_key`. \
         A size is a number of bytes: the value `2MiB` of `design.memory` is `2097152`. Labels contain the \
         text of the experiment file, `2MiB`.\n\n\
         ## Measurements: `runs.csv`\n\n",
    );
    section(&mut page, METRICS);
    page.push_str(
        "\n## Measurements: `timeline.csv`\n\n\
         One row is one interval of a phase. An interval has the length `trials.timeline`, by default a \
         second. The columns have the definitions above, applied to the interval instead of the phase. \
         `seconds` is the length of the interval. Columns of a state, such as `runs`, are sampled at the \
         end of the interval. An operation that is not timed (`trials.sampling`) belongs to the interval of the last timed \
         operation before it.\n\n",
    );
    section(&mut page, &[SECOND]);
    let others: Vec<String> = TIMELINE_METRICS[1..].iter().map(|m| format!("`{}`", m.name)).collect();
    let _ = writeln!(page, "\nThe file also has these columns of `runs.csv`: {}.", others.join(", "));
    page.push_str(
        "\n## Measurements: `levels.csv`\n\n\
         One row is one level of the tree in one phase. Columns of `runs.csv` have the definition above, \
         applied to one level instead of the tree. Their sum over all levels is the value in `runs.csv`.\n\n",
    );
    section(&mut page, LEVEL_OWN);
    let own = |metric: &&Metric| !LEVEL_OWN.iter().any(|own| own.name == metric.name);
    let others: Vec<String> =
        LEVEL_METRICS.iter().filter(own).map(|metric| format!("`{}`", metric.name)).collect();
    let _ = writeln!(page, "\nThe file also has these columns of `runs.csv`: {}.", others.join(", "));
    page.push_str(
        "\n## Slices: `slices.csv`\n\n\
         One row is one slice of a phase. The file exists only for `trials.plan = \"slices\"` and `\"duet\"`.\n\n",
    );
    section(&mut page, SLICE_METRICS);
    page.push_str(
        "\n## Conclusions: `verdicts.csv`\n\n\
         One row is the comparison of one candidate with the baseline by one metric. Each run rewrites the file at its end.\n\n",
    );
    section(&mut page, VERDICTS);
    page.push_str(
        "\n## Effects of factors: `effects.csv`\n\n\
         `lsmbench effects --csv DIR` writes this file and `ranking.csv`. One row is one value of a factor, or one pair of values of two factors.\n\n",
    );
    section(&mut page, EFFECTS);
    page.push_str(
        "\n## Ranking of configurations: `ranking.csv`\n\nOne row is the rank of one configuration by one metric.\n\n",
    );
    section(&mut page, RANKING);
    page
}

fn section(page: &mut String, metrics: &[Metric]) {
    page.push_str("| column | unit | better | exact | definition |\n|---|---|---|---|---|\n");
    for metric in metrics {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            metric.name,
            metric.unit.symbol(),
            if metric.better == Better::Neither { String::new() } else { metric.better.to_string() },
            match metric.repeats {
                Repeats::Exact => "yes",
                Repeats::ForSeed => "for a seed",
                Repeats::Varies => "",
            },
            metric.definition().replace('|', "\\|"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn times_are_exact_only_where_a_model_gives_them_and_the_page_names_every_column() {
        let page = markdown();
        for metric in IDENTITY.iter().chain(METRICS) {
            assert!(page.contains(&format!("| `{}` |", metric.name)));
            if matches!(metric.unit, Unit::Nanoseconds | Unit::Seconds) {
                assert_eq!(metric.is_exact(), metric.name.starts_with("device_"), "{}", metric.name);
            }
        }
    }
}
