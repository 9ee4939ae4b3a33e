//! The table `[verdict]` of the experiment in a manifest.

use measure::Criteria;
use results::Manifest;
use serde::Deserialize;

/// The part of a resolved experiment that contains the settings of its verdicts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResolvedExperiment {
    verdict: VerdictSettings,
}

/// The settings of the table `[verdict]`, which are defaults for an analysis of existing results. A setting is `None`
/// or empty if the experiment does not set it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct VerdictSettings {
    /// The column that decides the verdict.
    pub metric: Option<String>,
    /// Further columns with verdicts.
    pub also: Vec<String>,
    /// The phase that the verdict is about.
    pub phase: Option<String>,
    /// The kind of operation that the verdict is about.
    pub operation: Option<String>,
    threshold: Option<f64>,
}

impl VerdictSettings {
    /// Reads the settings from the resolved experiment in a manifest. Returns no settings if the manifest contains no
    /// readable experiment, as manifests of golden files do.
    pub fn of(manifest: &Manifest) -> Self {
        toml::from_str::<ResolvedExperiment>(&manifest.resolved).unwrap_or_default().verdict
    }

    /// Returns the smallest relative difference that counts as a change: 0.02 means 2 %.
    pub fn threshold(&self) -> f64 {
        self.threshold.unwrap_or(Criteria::default().delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_experiment_or_the_defaults() {
        let of = |resolved: &str| {
            VerdictSettings::of(&Manifest { resolved: resolved.to_owned(), ..Manifest::default() })
        };
        let all = of(
            "question = \"?\"\n[trials]\ncount = 6\n[verdict]\nmetric = \"p99_ns\"\nalso = [\"ops_per_second\"]\n\
             phase = \"mixed\"\noperation = \"get\"\nbaseline = \"x\"\nthreshold = 0.05\n",
        );
        assert_eq!((all.metric.as_deref(), &*all.also), (Some("p99_ns"), &["ops_per_second".to_owned()][..]));
        assert_eq!((all.phase.as_deref(), all.operation.as_deref()), (Some("mixed"), Some("get")));
        assert!((all.threshold() - 0.05).abs() < 1e-12);
        for resolved in ["", "[trials]\ncount = 6\n", "no TOML"] {
            let none = of(resolved);
            assert!(none.metric.is_none() && none.phase.is_none() && none.also.is_empty(), "{resolved}");
            assert!((none.threshold() - 0.02).abs() < 1e-12, "{resolved}");
        }
    }
}
