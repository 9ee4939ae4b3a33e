//! The claims of a published document: the numbers that it states. Each row of the file `claims.csv` contains one
//! claim.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;

use crate::ClaimsError;
use crate::texts::same;

/// A claim: a number that a published document states, such as a speed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Identifier of the claim in `claims.csv`, such as `cs265-001`.
    pub id: String,
    /// The section of the published document that states the claimed number.
    pub section: String,
    /// The figure or table of the published document that contains the claimed number. Empty for a number in prose, and
    /// `table` for an unnumbered table.
    pub figure: String,
    /// The subject of the claim: the thing that the published document measured, such as a cache policy or a row of a
    /// table.
    pub subject: String,
    /// The quantity that the published document measured, such as the write throughput.
    pub metric: String,
    /// The parameters of the measurement that the published document states, such as `threads = 8`.
    #[serde(deserialize_with = "params")]
    pub params: BTreeMap<String, String>,
    /// The claimed number, in the unit `unit`.
    pub value: f64,
    /// The unit of the claimed number. All claims about the same metric must have the same unit.
    pub unit: String,
    /// How the published document states the number: exact, approximate, as a limit, or as one end of a range.
    #[serde(rename = "bound")]
    pub standing: Statement,
}

/// The way in which a published document states a number, such as an exact value or an upper limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Statement {
    /// An exact number, as in a table.
    #[serde(rename = "exact")]
    Exact,
    /// An approximate number, as in prose.
    #[serde(rename = "about")]
    About,
    /// A lower limit, such as "more than 5".
    #[serde(rename = "at least")]
    AtLeast,
    /// An upper limit, such as "no more than 5".
    #[serde(rename = "at most")]
    AtMost,
    /// The largest of several measured numbers, such as "up to 5".
    #[serde(rename = "up to")]
    UpTo,
    /// The lower end of a range of numbers. Another claim states the upper end.
    #[serde(rename = "from")]
    From,
    /// The upper end of a range of numbers. Another claim states the lower end.
    #[serde(rename = "to")]
    To,
}

impl Statement {
    /// Returns the opposite end of a range: `To` for `From`, and `From` for `To`. Returns `None` for a statement that
    /// is not an end of a range.
    fn other_end(self) -> Option<Self> {
        match self {
            Self::From => Some(Self::To),
            Self::To => Some(Self::From),
            Self::Exact | Self::About | Self::AtLeast | Self::AtMost | Self::UpTo => None,
        }
    }
}

impl Claim {
    /// Creates a claim without an identifier, for a number that is not in `claims.csv`.
    pub(crate) fn unnamed(value: f64, unit: &str) -> Self {
        Self {
            id: String::new(),
            section: String::new(),
            figure: String::new(),
            subject: String::new(),
            metric: String::new(),
            params: BTreeMap::new(),
            value,
            unit: unit.to_owned(),
            standing: Statement::Exact,
        }
    }

    /// Returns whether the claim has the parameter `param` with the value `value`. Numbers are equal even if they are
    /// written differently.
    pub fn has(&self, param: &str, value: &str) -> bool {
        self.params.get(param).is_some_and(|own| same(own, value))
    }
}

/// All claims of a published document, in the order of the document.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    claims: Vec<Claim>,
    places: HashMap<String, usize>,
}

impl Claims {
    /// Reads the file `claims.csv`, which lists the claims of one document.
    ///
    /// # Errors
    /// Returns an error in these cases: the file cannot be read; a row is not a valid claim; two claims have the same
    /// name; a metric has two units; the other end of a range is missing.
    pub fn read(path: &Path) -> Result<Self, ClaimsError> {
        let whole = |message: String| ClaimsError::File { path: path.to_owned(), message };
        let mut reader = csv::Reader::from_path(path).map_err(|error| whole(error.to_string()))?;
        let header = reader.headers().map_err(|error| whole(error.to_string()))?.clone();
        let mut claims = Self::default();
        for record in reader.records() {
            let record = record.map_err(|error| whole(error.to_string()))?;
            let line = record.position().map_or(0, csv::Position::line);
            let row = |message: String| ClaimsError::Row { path: path.to_owned(), line, message };
            let claim: Claim =
                record.deserialize(Some(&header)).map_err(|error| row(said(&error, &header)))?;
            claims.add(claim).map_err(row)?;
        }
        let is_alone =
            |claim: &&Claim| claim.standing.other_end().is_some() && claims.other_end(claim).is_none();
        match claims.claims.iter().find(is_alone) {
            Some(claim) => Err(whole(format!(
                "claim {} states one end of a range, but no claim states the other end",
                claim.id
            ))),
            None => Ok(claims),
        }
    }

    fn add(&mut self, claim: Claim) -> Result<(), String> {
        if !claim.value.is_finite() {
            return Err(format!("the claimed value is {}; it must be a finite number", claim.value));
        }
        if let Some(other) =
            self.claims.iter().find(|other| other.metric == claim.metric && other.unit != claim.unit)
        {
            let (metric, unit, theirs) = (&claim.metric, &claim.unit, &other.unit);
            return Err(format!(
                "the metric {metric} has the unit {unit} here, but the unit {theirs} in claim {}; use one \
                 unit per metric",
                other.id
            ));
        }
        if self.places.insert(claim.id.clone(), self.claims.len()).is_some() {
            return Err(format!("the file contains the claim {} twice", claim.id));
        }
        self.claims.push(claim);
        Ok(())
    }

    /// Returns the claim with the name `id`, if it exists.
    pub fn get(&self, id: &str) -> Option<&Claim> {
        self.places.get(id).map(|at| &self.claims[*at])
    }

    /// Returns the claim that states the other end of the range. Returns `None` if `claim` is not one end of a range.
    pub fn other_end(&self, claim: &Claim) -> Option<&Claim> {
        let standing = claim.standing.other_end()?;
        let said = |claim: &Claim| {
            (claim.section.clone(), claim.subject.clone(), claim.metric.clone(), claim.params.clone())
        };
        let own = said(claim);
        self.claims.iter().find(|other| other.standing == standing && said(other) == own)
    }

    /// Returns all claims of the document.
    pub fn all(&self) -> &[Claim] {
        &self.claims
    }
}

/// Parses the parameters of a claim from a text such as `key=value;key=value`.
fn params<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let mut params = BTreeMap::new();
    for pair in text.split(';').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            serde::de::Error::custom(format!("the parameter \"{pair}\" does not have the form key=value"))
        })?;
        if params.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(serde::de::Error::custom(format!("the parameter {key} occurs twice")));
        }
    }
    Ok(params)
}

/// Formats an error of the CSV reader. If the error is about a column, the name of the column comes first.
fn said(error: &csv::Error, header: &csv::StringRecord) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| header.get(usize::try_from(field).ok()?));
            column.map_or_else(|| err.kind().to_string(), |column| format!("{column}: {}", err.kind()))
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "id,section,figure,subject,metric,params,value,unit,bound\n";

    fn read(rows: &str) -> Result<Claims, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claims.csv");
        std::fs::write(&path, format!("{HEADER}{rows}")).unwrap();
        Claims::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_are_claims() {
        let claims = read("a-1,2.1,,\"x, y\",speed,gets=10;mix=50/50,1.5,x,at least\n").unwrap();
        let claim = claims.get("a-1").unwrap();
        assert_eq!((claim.subject.as_str(), claim.value, claim.standing), ("x, y", 1.5, Statement::AtLeast));
        assert!(claim.has("gets", "1e1") && claim.has("mix", "50/50"));
        assert!(!claim.has("gets", "1") && !claim.has("puts", "10"));
        assert!(claims.get("a-2").is_none());
    }

    #[test]
    fn ends_of_a_range_find_each_other() {
        let claims =
            read("a-1,2,,x,m,k=1,1,x,from\na-2,2,,x,m,k=2,9,x,up to\na-3,2,,x,m,k=1,3,x,to\n").unwrap();
        let other = |id: &str| claims.other_end(claims.get(id).unwrap()).map(|claim| claim.id.as_str());
        assert_eq!([other("a-1"), other("a-2"), other("a-3")], [Some("a-3"), None, Some("a-1")]);
        let error = read("a-1,2,,x,m,k=1,1,x,from\na-2,2,,x,m,k=2,3,x,to\n").unwrap_err();
        assert!(error.contains("a-1 states one end of a range"), "{error}");
    }

    #[test]
    fn what_is_no_claim_is_refused_with_its_line() {
        for (rows, said) in [
            ("a-1,,,,m,,one,x,exact\n", ":2: value: "),
            ("a-1,,,,m,,inf,x,exact\n", ":2: the claimed value is inf"),
            ("a-1,,,,m,,1,x,roughly\n", ":2: unknown variant `roughly`"),
            ("a-1,,,,m,gets,1,x,exact\n", ":2: the parameter \"gets\" does not have the form key=value"),
            ("a-1,,,,m,a=1;a=2,1,x,exact\n", ":2: the parameter a occurs twice"),
            ("a-1,,,,m,,1,x,exact\na-1,,,,m,,1,x,exact\n", ":3: the file contains the claim a-1 twice"),
            (
                "a-1,,,,m,,1,x,exact\na-2,,,,m,,1,%,exact\n",
                ":3: the metric m has the unit % here, but the unit x in claim a-1",
            ),
            ("a-1,,,,m\n", "claims.csv: "),
        ] {
            let error = read(rows).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
