//! The rules for a design without a manifest (`table.manifest = "none"`). The module `scanned` explains the reasons.

use super::assembly::Design;
use super::axes;
use super::error::DesignError;
use super::options::{FilterPlace, MAX_TABLE_BYTES, ManifestPlace, TableNames};

/// The reason why a store with families needs a manifest.
const FAMILIES_NEED_MANIFEST: &str = "a store needs a manifest to list its column families";

impl Design {
    /// Returns an error if the design has no manifest, but has a property that needs a manifest.
    pub(super) fn check_manifest(&self) -> Result<(), DesignError> {
        let has_none = self.options.table.manifest == ManifestPlace::None;
        match has_none.then(|| self.need_of_manifest()).flatten() {
            Some((need, remedy)) => Err(no_manifest(&need, &format!("{remedy}, or "))),
            None => Ok(()),
        }
    }

    /// Returns an error if this design, which is the design of a column family, has no manifest.
    pub(super) fn check_family_manifest(&self) -> Result<(), DesignError> {
        match self.options.table.manifest {
            ManifestPlace::File => Ok(()),
            ManifestPlace::None => Err(no_manifest(FAMILIES_NEED_MANIFEST, "")),
        }
    }

    /// Returns two descriptions: the first property of the design that needs a manifest, and the change that removes
    /// this property. Returns `None` if no property needs a manifest.
    fn need_of_manifest(&self) -> Option<(String, String)> {
        let table = &self.options.table;
        let others = [
            (
                !self.keeps_values_inline(),
                "a store needs a manifest to list its blob files",
                "set values = \"inline\"",
            ),
            (!self.families.is_empty(), FAMILIES_NEED_MANIFEST, "remove families"),
            (
                self.options.merge_operator.is_some(),
                "a store needs a manifest to record its merge operator",
                "remove merge_operator",
            ),
            (
                table.names != TableNames::Number,
                "without a manifest, the names of SSTables must contain sequence numbers",
                "set table.names = \"number\"",
            ),
            (
                table.filter != FilterPlace::Inside,
                "without a manifest, an SSTable must be one file",
                "set table.filter = \"inside\"",
            ),
            (
                self.memtable_capacity.0 >= MAX_TABLE_BYTES,
                "without a manifest, each flush writes one SSTable, which must have less than 2 GiB",
                "set a smaller memtable.capacity",
            ),
        ];
        let other = || others.into_iter().find(|(is_present, ..)| *is_present);
        self.need_of_policy()
            .or_else(|| other().map(|(_, need, remedy)| (need.to_owned(), remedy.to_owned())))
    }

    /// Returns why the compaction policy needs a manifest, and how to change the design. A policy needs a manifest if
    /// its compactions do not always merge all sorted runs. Returns `None` for other policies.
    fn need_of_policy(&self) -> Option<(String, String)> {
        let choice = self.choice(axes::COMPACTION);
        if compaction::CATALOG.build(choice).is_ok_and(|policy| policy.merges_all_runs()) {
            return None;
        }
        let merges_all = |kind: &&str| {
            let choice = compaction::CATALOG.choose(&toml::Value::String((*kind).to_owned()));
            choice
                .and_then(|choice| compaction::CATALOG.build(&choice))
                .is_ok_and(|policy| policy.merges_all_runs())
        };
        let kinds = compaction::CATALOG.variants().iter().map(|variant| variant.kind).filter(merges_all);
        let kinds: Vec<String> = kinds.map(|kind| format!("\"{kind}\"")).collect();
        let need = format!("without a manifest, each compaction must merge all runs, unlike \"{choice}\"");
        Some((need, format!("set compaction = {}", kinds.join(" or "))))
    }
}

fn no_manifest(need: &str, remedy: &str) -> DesignError {
    let message = format!("table.manifest: {need}; {remedy}set table.manifest = \"file\"");
    DesignError::at("table", Some("manifest".to_owned()), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_manifest_is_an_error_that_says_what_to_set() {
        let base = "table = { manifest = \"none\" }\ncompaction = \"merge-all\"\n";
        let base = Design::default().with(&base.parse().unwrap()).unwrap();
        assert_eq!(Design::default().with(&base.to_toml()).unwrap(), base);
        for fits in ["compaction = \"none\"", "values = \"inline\"", "compaction = \"merge-all(runs=9)\""] {
            base.with(&fits.parse().unwrap()).unwrap();
        }
        for (change, remedy) in [
            ("compaction = \"leveled\"", "set compaction = \"none\" or \"merge-all\""),
            ("values = \"blob-files\"", "set values = \"inline\""),
            ("merge_operator = \"add\"", "remove merge_operator"),
            ("table = { names = \"level-run\" }", "set table.names = \"number\""),
            ("table = { filter = \"apart\" }", "set table.filter = \"inside\""),
            ("memtable = { capacity = \"2GiB\" }", "set a smaller memtable.capacity"),
        ] {
            let error = base.with(&change.parse().unwrap()).unwrap_err();
            assert_eq!(error.path, ["table", "manifest"], "{error}");
            let expected = format!("; {remedy}, or set table.manifest = \"file\"");
            assert!(error.message.ends_with(&expected), "{error}");
        }
        let families = "families = { a = {}, layout = \"prefixed\" }".parse().unwrap();
        let error = Design::default().with(&families).unwrap().with(&base.to_toml()).unwrap_err();
        assert!(error.message.contains("; remove families, or set"), "{error}");
        let own = "[families.a]\ntable = { manifest = \"none\" }\ncompaction = \"none\"".parse().unwrap();
        for error in [base.with(&families).unwrap_err(), Design::default().with(&own).unwrap_err()] {
            assert_eq!(error.path, ["families", "a", "table", "manifest"], "{error}");
            assert!(error.message.ends_with("; set table.manifest = \"file\""), "{error}");
        }
    }
}
