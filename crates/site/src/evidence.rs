//! A comparison of two configurations, with its experiment and its machine, and its row in tables.

use page::{ComparedConfiguration, bytes_text, escape};
use results::Manifest;

/// A comparison of two configurations, with the experiment and the machine that measured them.
pub(crate) struct Evidence {
    pub(crate) compared: ComparedConfiguration,
    pub(crate) experiment: String,
    /// The CPU and the number of cores of the machine, such as `AMD EPYC, 2 cores`.
    pub(crate) machine: String,
    /// The path of the page with the comparison, relative to the root of the site.
    pub(crate) page: String,
    /// Whether the run used reduced sizes (`--quick`).
    pub(crate) is_quick: bool,
}

impl Evidence {
    pub(crate) fn new(
        compared: ComparedConfiguration,
        manifest: &Manifest,
        machine: String,
        page: &str,
    ) -> Self {
        Self {
            compared,
            experiment: manifest.experiment.clone(),
            machine,
            page: page.to_owned(),
            is_quick: manifest.quick,
        }
    }

    /// Formats the ratio of the candidate to the baseline with its interval, such as `2.28x (2.18 .. 2.65)`.
    pub(crate) fn change(&self) -> String {
        match self.compared.interval.as_str() {
            "" => self.compared.change.clone(),
            interval => format!("{} ({interval})", self.compared.change),
        }
    }

    /// Formats the memory of the candidate, such as `1.5 MiB`. Empty if the memory is unknown.
    pub(crate) fn memory(&self) -> String {
        self.compared.memory_bytes.map_or_else(String::new, bytes_text)
    }

    /// Returns the reason for the verdict. For a run with reduced sizes, the text ends with `reduced size`.
    pub(crate) fn reason(&self) -> String {
        let note = if self.is_quick { "reduced size" } else { "" };
        [self.compared.reason.as_str(), note]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join("; ")
    }

    /// Returns the name of the candidate for a sentence. The name `none` is quoted.
    pub(crate) fn candidate(&self) -> String {
        quoted(&self.compared.candidate)
    }

    /// Returns the name of the baseline for a sentence. The name `none` is quoted.
    pub(crate) fn baseline(&self) -> String {
        quoted(&self.compared.baseline)
    }

    /// Returns the symbol and the word for the verdict of the comparison, such as `▲ better`.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.compared.verdict.as_str() {
            "improved" => "▲ better",
            "regressed" => "▼ worse",
            "equivalent" => "= no difference",
            _ => "? inconclusive",
        }
    }

    /// Returns an HTML link to the page with the comparison. `root` is the path to the root of the site.
    pub(crate) fn link(&self, root: &str) -> String {
        format!("<a href=\"{root}{}\">{}</a>", escape(&self.page), escape(&self.experiment))
    }
}

/// Returns the CPU and the number of cores of the machine in a manifest, such as `AMD EPYC, 2 cores`.
pub(crate) fn machine_of(manifest: &Manifest) -> String {
    let cores = manifest.machine.cores.map_or_else(String::new, |cores| format!(", {cores} cores"));
    format!("{}{cores}", manifest.machine.cpu.as_deref().unwrap_or("unknown CPU"))
}

/// Returns a name for use in a sentence. The name `none` is quoted.
pub(crate) fn quoted(name: &str) -> String {
    if name == "none" { "\"none\"".to_owned() } else { name.to_owned() }
}
