//! The columns of all result files: look-up by name, and the reference as Markdown.

use std::fmt::Write as _;

use crate::columns::{IDENTITY, METRICS, SECOND, TIMELINE_METRICS};
use crate::effects::{EFFECTS, RANKING};
use crate::levels::{LEVEL_METRICS, LEVEL_OWN};
use crate::metric::{Better, Metric, Repeats};
use crate::slices::SLICE_METRICS;
use crate::verdicts::VERDICTS;

/// The measured column with this name, in `runs.csv`, `timeline.csv` or `levels.csv`.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().chain(TIMELINE_METRICS).chain(LEVEL_METRICS).find(|metric| metric.name == name)
}

/// The column with this name in any result file, identifying or measured.
pub(crate) fn known(name: &str) -> Option<&'static Metric> {
    IDENTITY.iter().find(|metric| metric.name == name).or_else(|| metric(name))
}

/// The reference of all columns as Markdown: `docs/reference/columns.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# The columns of results\n\n\
         `lsmbench list --columns` prints this page, and `just docs` writes it. One row of `runs.csv` is one cell × trial × phase × operation, and operation `all`. \
         Counters cover the phase of their row. Counters of the whole store are only in the rows of operation `all`. \
         **An empty cell was not measured; it is never 0.** \
         *Exact* columns are equal to the last digit in every run of `counted` mode, on every machine. Those that are exact \
         *for a seed* depend on random draws: another seed gives other values (`trials.seeds`).\n\n\
         ## Identity of a row\n\n",
    );
    section(&mut page, IDENTITY);
    page.push_str(
        "\nOne column per swept path follows, by the path's name: `design.bloom.bits_per_key`.\n\n\
         ## Measurements: `runs.csv`\n\n",
    );
    section(&mut page, METRICS);
    page.push_str(
        "\n## Measurements: `timeline.csv`\n\n\
         One row is one interval of a phase: a second, or `trials.timeline`. The columns have the definitions above, \
         for that interval. `seconds` is its length, and columns of a state are sampled at its end. An operation that is \
         not timed (`trials.sampling`) belongs to the interval of the last timed operation before it.\n\n",
    );
    section(&mut page, &[SECOND]);
    let others: Vec<String> = TIMELINE_METRICS[1..].iter().map(|m| format!("`{}`", m.name)).collect();
    let _ = writeln!(page, "\nThen {}.", others.join(", "));
    page.push_str(
        "\n## Measurements: `levels.csv`\n\n\
         One row is one level of the tree in one phase. Columns of `runs.csv` have the same definition for only that \
         level, and their sum over the levels is the value in `runs.csv`.\n\n",
    );
    section(&mut page, LEVEL_OWN);
    let own = |metric: &&Metric| !LEVEL_OWN.iter().any(|own| own.name == metric.name);
    let others: Vec<String> =
        LEVEL_METRICS.iter().filter(own).map(|metric| format!("`{}`", metric.name)).collect();
    let _ = writeln!(page, "\nThen {}.", others.join(", "));
    page.push_str(
        "\n## Slices: `slices.csv`\n\n\
         One row is one slice of a phase. The file exists only for `trials.plan = \"slices\"` and `\"duet\"`.\n\n",
    );
    section(&mut page, SLICE_METRICS);
    page.push_str(
        "\n## Conclusions: `verdicts.csv`\n\n\
         One row is one candidate against the baseline on one metric. The file is rewritten when a run ends.\n\n",
    );
    section(&mut page, VERDICTS);
    page.push_str(
        "\n## Effects of factors: `effects.csv`\n\n\
         `lsmbench effects --csv DIR` writes this file and the next one. One row is one level of a factor, or one pair of levels.\n\n",
    );
    section(&mut page, EFFECTS);
    page.push_str(
        "\n## Ranking of configurations: `ranking.csv`\n\nOne row is one configuration by one metric.\n\n",
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
