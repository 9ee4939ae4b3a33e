//! The `[[claim]]` tables of an experiment file. Each table is a rule that says how to test some claims.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use types::valid_names;

use crate::bound::Bound;
use crate::compute::known;
use crate::{Argument, Cores, Ids, Other, ParamColumn, Quantity, Scale, Texts, Theory};

/// A `[[claim]]` table of an experiment file. It says how its claims are measured, compared or computed, or why they
/// cannot be tested.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// Names of the claims of this table, such as `"cs265-001..cs265-007"`.
    pub ids: Ids,
    /// Metric of the claims of this table, as their document names it.
    pub metric: Texts,
    /// Figure that the claims of this table are about, if the file has several `[[source]]` tables.
    pub figure: Option<String>,
    /// Column of the results with which the claims are compared, or a quotient of two columns such as
    /// `user_bytes_written / seconds`.
    pub column: Option<Quantity>,
    /// Names of the phases that are measured. The values of several phases are summed. Default: any phase.
    pub phase: Texts,
    /// Kind of operation that is measured, such as `get`. Default: `all`.
    pub operation: Option<String>,
    /// Further columns of the results that select rows, each with the selected values.
    #[serde(rename = "where")]
    pub filter: BTreeMap<String, Texts>,
    /// Subjects of the claims, each with the columns and values that select its rows in the results. A subject without
    /// an entry selects nothing.
    pub subjects: BTreeMap<String, BTreeMap<String, Texts>>,
    /// Swept columns. An "up to" claim is compared with the largest value over all combinations of the values in these
    /// columns.
    pub sweep: Texts,
    /// Parameters of the claims, each with the column of the results that contains the parameter.
    pub params: BTreeMap<String, ParamColumn>,
    /// Number of CPU cores that the measurement needs. The claims are not tested on a machine with fewer cores.
    pub cores: Option<Cores>,
    /// How the claimed and the measured number are compared.
    pub compare: Option<Compare>,
    /// Other side of the comparison, with which the claim's subject is compared. The other side is another subject, or
    /// the parameters and columns in which it differs.
    pub to: Option<Other>,
    /// Claim about the other side of the comparison, if it is not one of the claims in `ids`.
    pub against: Option<String>,
    /// Factor by which the measured number is multiplied.
    pub scale: Option<Scale>,
    /// Position of a crossing, for the comparison `crossing`.
    pub at: Option<At>,
    /// Allowed deviation of the measured or computed number, as a fraction of the claimed number. For a claimed 0, the
    /// deviation is absolute.
    pub tolerance: f64,
    /// Name of the computation that decides the claims instead of a measurement.
    pub computed: Option<String>,
    /// Arguments of the computation that decides the claims.
    pub with: BTreeMap<String, Argument>,
    /// Whether the computed number is a lower or an upper bound for the claimed number.
    pub bound: Option<Bound>,
    /// Short derivation of the computed number.
    pub reason: Option<String>,
    /// Theoretical value that the report shows next to the measurement. It does not change the finding about the claim.
    pub theory: Option<Theory>,
    /// Reason why the claims of this table cannot be tested.
    pub untestable: Option<String>,
}

/// How a claim is compared with a measurement. In the formulas, `m` is the measurement of the claim's subject, and `r`
/// is the measurement of the other side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Compares the claimed number with the measured number `m`.
    Value,
    /// Compares the claimed amplification with the measured amplification `m`. The tolerance applies only to the part
    /// above 1, because 1 means no amplification.
    Amplification,
    /// Compares the ratio of two claims with the ratio of two measurements, `m / r`.
    Ratio,
    /// Treats the claim as a factor: how many times better the subject is than the other side of the comparison.
    Factor,
    /// Compares the claim with the percentage by which the measurement `m` is less than `r`, the other side of the
    /// comparison: `100 (1 - m / r)`.
    PercentLess,
    /// Treats the claim as a percentage: by how many percent the subject is better than the other side of the
    /// comparison.
    PercentMore,
    /// Compares the claim with the percentage by which the measurement `m` is more than `r`, the other side of the
    /// comparison: `100 (m / r - 1)`.
    PercentSlower,
    /// Compares the claim with the measurement `m` in percent of `r`, the other side of the comparison: `100 m / r`.
    PercentOf,
    /// Treats the claim as a difference: by how many units the subject is better than the other side of the comparison.
    Difference,
    /// Compares the order of the claimed numbers with the order of the measured numbers.
    Rank,
    /// Compares the claim with the position of a crossing: the value of `column` at which another column reaches a
    /// value, or from which on the subject is better than the other side.
    Crossing,
}

/// Definition of a crossing: the value that a column reaches, or the lead of the claim's subject over the other side of
/// the comparison.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// Column that reaches the value `value`, or in which the claim's subject leads the other side of the comparison.
    pub column: String,
    /// Value that the column `column` reaches at the crossing.
    #[serde(default)]
    pub value: Option<f64>,
    /// Lead of the claim's subject over the other side of the comparison from the crossing on, as a fraction.
    #[serde(default)]
    pub by: Option<f64>,
}

/// How a claim is decided: by a run, by a computation, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A run of the experiment decides the claim.
    Run,
    /// A computation decides the claim, without a run.
    Computed,
    /// The claim cannot be tested.
    Untestable,
}

/// An error in a `[[claim]]` table: the key that causes the error, and the message.
type Fault = (&'static str, String);

impl Rule {
    /// The keys that a `[[claim]]` table may have.
    pub const KEYS: [&str; 23] = [
        "ids",
        "metric",
        "figure",
        "column",
        "phase",
        "operation",
        "where",
        "subjects",
        "sweep",
        "params",
        "cores",
        "compare",
        "to",
        "against",
        "scale",
        "at",
        "tolerance",
        "computed",
        "with",
        "bound",
        "reason",
        "theory",
        "untestable",
    ];

    /// Returns what decides the claims of this `[[claim]]` table: a run, a computation, or nothing.
    pub fn way(&self) -> Way {
        match (&self.untestable, &self.computed) {
            (Some(_), _) => Way::Untestable,
            (None, Some(_)) => Way::Computed,
            (None, None) => Way::Run,
        }
    }

    /// Returns the columns of `runs.csv` that this `[[claim]]` table names. Each element is a key of the table, and a
    /// column that this key names.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let measured = self.column.iter().flat_map(Quantity::columns).map(|name| ("column", name));
        let filter = self.filter.keys().map(|name| ("where", name.as_str()));
        let subjects =
            self.subjects.values().flat_map(BTreeMap::keys).map(|name| ("subjects", name.as_str()));
        let params = self.params.values().map(|column| ("params", column.column()));
        let to = self
            .differing()
            .filter(|(name, _)| !self.params.contains_key(*name))
            .map(|(name, _)| ("to", name));
        let at = self.at.iter().map(|at| ("at", at.column.as_str()));
        let sweep = self.sweep.all().iter().map(|name| ("sweep", name.as_str()));
        measured.chain(sweep).chain(filter).chain(subjects).chain(params).chain(to).chain(at)
    }

    /// Returns the values that this `[[claim]]` table selects in a column. Each element is a key of the table, and a
    /// value that this key names.
    pub fn values<'a>(&'a self, column: &'a str) -> impl Iterator<Item = (&'static str, &'a str)> {
        let own = (column == "phase").then_some(&self.phase).into_iter().map(|texts| ("phase", texts));
        let filter = self.filter.get(column).into_iter().map(|texts| ("where", texts));
        let subjects = self
            .subjects
            .values()
            .filter_map(move |chosen| chosen.get(column))
            .map(|texts| ("subjects", texts));
        let params = self.params.values().filter(move |param| param.column() == column);
        let params = params.flat_map(translations).map(|texts| ("params", texts));
        let to = self.differing().filter(move |(name, _)| *name == column).map(|(_, texts)| ("to", texts));
        let all = own.chain(filter).chain(subjects).chain(params).chain(to);
        let texts = all.flat_map(|(key, texts)| texts.all().iter().map(move |text| (key, text.as_str())));
        texts.chain(
            (column == "operation")
                .then_some(())
                .and(self.operation.as_deref())
                .map(|text| ("operation", text)),
        )
    }

    /// Returns the parameters and columns in which the other side of the comparison differs, with their values. Returns
    /// nothing if `to` is not a table.
    pub fn differing(&self) -> impl Iterator<Item = (&str, &Texts)> {
        let table = match &self.to {
            Some(Other::Differing(table)) => Some(table),
            Some(Other::Subject(_)) | None => None,
        };
        table.into_iter().flatten().map(|(name, texts)| (name.as_str(), texts))
    }

    /// Checks that this `[[claim]]` table has all necessary keys, and no keys without effect.
    ///
    /// # Errors
    /// Returns the key that causes the error and a message, if a necessary key is missing, a key has no effect, or a
    /// value is invalid.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if self.ids.all().is_empty() {
            return Err((
                "ids",
                "\"ids\" is missing; name the claims of the table, such as ids = \"cs265-001..cs265-007\""
                    .to_owned(),
            ));
        }
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return Err(("tolerance", format!("\"tolerance\" is {}; it must be 0 or more", self.tolerance)));
        }
        match self.way() {
            Way::Untestable => self.check_untestable()?,
            Way::Run => self.check_run()?,
            Way::Computed => self.check_computed()?,
        }
        self.theory.as_ref().map_or(Ok(()), Theory::check).map_err(|message| ("theory", message))
    }

    fn check_untestable(&self) -> Result<(), Fault> {
        let others = [
            ("column", self.column.is_some()),
            ("compare", self.compare.is_some()),
            ("to", self.to.is_some()),
            ("sweep", !self.sweep.is_empty()),
            ("computed", self.computed.is_some()),
            ("with", !self.with.is_empty()),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => Err((
                key,
                format!("\"{key}\" has no effect together with \"untestable\"; remove one of the two keys"),
            )),
            None if self.untestable.as_deref().is_some_and(|why| why.trim().is_empty()) => Err((
                "untestable",
                "\"untestable\" is empty; write the reason why the claims cannot be tested".to_owned(),
            )),
            None => Ok(()),
        }
    }

    fn check_computed(&self) -> Result<(), Fault> {
        if self.metric.is_empty() {
            return Err((
                "metric",
                "\"metric\" is missing; name the metric of the claims, such as metric = \"write_throughput_ops\""
                    .to_owned(),
            ));
        }
        if self.theory.is_some() {
            return Err((
                "theory",
                "\"theory\" has no effect together with \"computed\"; remove one of the two keys".to_owned(),
            ));
        }
        known(self.computed.as_deref().unwrap_or_default(), &self.with)?;
        match (&self.column, self.compare) {
            (None, Some(_)) => Err((
                "compare",
                "\"column\" is missing; set it, such as column = \"ops_per_second\"".to_owned(),
            )),
            (Some(_), Some(compare)) => self.check_compared(compare),
            (_, None) => Ok(()),
        }
    }

    fn check_run(&self) -> Result<(), Fault> {
        if self.metric.is_empty() {
            return Err((
                "metric",
                "\"metric\" is missing; name the metric of the claims, such as metric = \"write_throughput_ops\""
                    .to_owned(),
            ));
        }
        let only_computed = [("with", !self.with.is_empty()), ("bound", self.bound.is_some())];
        if let Some((key, _)) = only_computed.into_iter().find(|(_, given)| *given) {
            return Err((key, format!("\"{key}\" has no effect without the key \"computed\"")));
        }
        match (&self.column, self.compare) {
            (None, _) => Err((
                "column",
                "\"column\" is missing; set it, such as column = \"ops_per_second\", or set untestable = \
                 \"REASON\""
                    .to_owned(),
            )),
            (_, None) => Err((
                "compare",
                "\"compare\" is missing; set it, such as compare = \"ratio\" or \"value\"".to_owned(),
            )),
            (Some(_), Some(compare)) => self.check_compared(compare),
        }
    }

    /// Returns an error if a key is missing for the comparison of this `[[claim]]` table, or has no effect in it.
    fn check_compared(&self, compare: Compare) -> Result<(), Fault> {
        let crosses = compare == Compare::Crossing || self.at.is_some();
        let alone =
            matches!(compare, Compare::Value | Compare::Amplification | Compare::Rank | Compare::Crossing);
        match (&self.to, &self.at) {
            (None, _) if !alone => Err((
                "to",
                "\"to\" is missing; name the other side of the comparison, such as to = \"SUBJECT\" or to = \
                 { threads = 1 }"
                    .to_owned(),
            )),
            (Some(_), None) if alone => Err((
                "to",
                "this kind of comparison has no other side, so \"to\" has no effect; remove the key"
                    .to_owned(),
            )),
            (_, None) if crosses => Err((
                "at",
                "\"at\" is missing; define the crossing, such as at = { column = \"fpr\", value = 0.01 }"
                    .to_owned(),
            )),
            (_, Some(at)) if at.value.is_some() == at.by.is_some() => {
                Err(("at", "\"at\" needs exactly one of the keys \"value\" and \"by\"".to_owned()))
            }
            (_, Some(at)) if at.by.is_some() && self.to.is_none() => Err((
                "at",
                "\"at.by\" needs the other side of the comparison; name it with \"to\", such as to = \"SUBJECT\""
                    .to_owned(),
            )),
            _ if !self.sweep.is_empty() && (crosses || compare == Compare::Rank) => {
                Err(("sweep", "this comparison ignores \"sweep\"; remove the key".to_owned()))
            }
            (_, Some(_)) if !matches!(compare, Compare::Crossing | Compare::Factor) => Err((
                "at",
                "\"at\" has no effect with this comparison; use compare = \"crossing\" or \"factor\""
                    .to_owned(),
            )),
            _ if self.against.is_some() && compare != Compare::Ratio => Err((
                "against",
                "\"against\" has an effect only with compare = \"ratio\"; remove the key".to_owned(),
            )),
            _ => self.check_other(),
        }
    }

    /// Returns an error if the key `to` names a subject that the table `subjects` does not contain.
    fn check_other(&self) -> Result<(), Fault> {
        match &self.to {
            Some(Other::Subject(subject)) if !self.subjects.contains_key(subject) => {
                let valid = valid_names(self.subjects.keys());
                Err(("to", format!("unknown subject \"{subject}\". {valid}")))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the column values into which the values of a parameter in the document are translated. Returns nothing if
/// the column and the document use the same values.
fn translations(param: &ParamColumn) -> impl Iterator<Item = &Texts> {
    match param {
        ParamColumn::Same(_) => None,
        ParamColumn::Translated { values, .. } => Some(values.values()),
    }
    .into_iter()
    .flatten()
}
