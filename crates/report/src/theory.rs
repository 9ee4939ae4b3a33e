//! The theoretical value that the report shows next to the measurement of a claim. The value does not affect the
//! finding about the claim.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Argument;
use crate::bound::{Bound, bounding};
use crate::compute::{About, known, run};

/// The theoretical value that belongs to the claims of a `[[claim]]` table, or the reason why theory makes no
/// prediction.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Theory {
    /// Name of the computation of the theoretical value. Not set if theory makes no prediction.
    pub computed: Option<String>,
    /// Arguments of the computation of the theoretical value.
    pub with: BTreeMap<String, Argument>,
    /// Whether the theoretical value is a lower or an upper bound for the claimed number.
    pub bound: Option<Bound>,
    /// Unit of the theoretical value, if it differs from the unit of the claim.
    pub unit: Option<String>,
    /// Short derivation of the theoretical value, or the reason why theory makes no prediction.
    pub says: String,
}

/// The theoretical value that belongs to one claim, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The computed number. `None` if theory makes no prediction.
    pub value: Option<f64>,
    /// Whether the computed number is a lower or an upper bound for the claimed number. `None` if it is not a bound.
    pub bound: Option<Bound>,
    /// The unit of the computed number, if it differs from the unit of the claim.
    pub unit: Option<String>,
    /// A short derivation of the computed number, or the reason why theory makes no prediction.
    pub says: String,
}

impl Theory {
    /// Checks that the keys of a `theory` table in an experiment file fit together.
    ///
    /// # Errors
    /// Returns a message if `says` is empty, if the computation is invalid, or if a key has no effect without a
    /// computation.
    pub fn check(&self) -> Result<(), String> {
        if self.says.trim().is_empty() {
            return Err(
                "\"says\" is missing; write the derivation of the theoretical value, or the reason why there is \
                 none"
                    .to_owned(),
            );
        }
        match &self.computed {
            Some(name) => known(name, &self.with).map(drop).map_err(|(_, message)| message),
            None if self.with.is_empty() && self.bound.is_none() && self.unit.is_none() => Ok(()),
            None => {
                Err("the keys \"with\", \"bound\" and \"unit\" have no effect without \"computed\""
                    .to_owned())
            }
        }
    }

    /// Computes the theoretical value that belongs to a claim.
    ///
    /// # Errors
    /// Returns a message if an argument is missing for this claim, or if the computation rejects an argument.
    pub(crate) fn expected(&self, about: About<'_>) -> Result<Expected, String> {
        let value = self.computed.as_ref().map(|name| run(name, &self.with, about)).transpose()?;
        Ok(Expected {
            value: value.map(|(_, value)| value),
            bound: self.bound,
            unit: self.unit.clone(),
            says: self.says.clone(),
        })
    }
}

impl Expected {
    /// Formats the theoretical value for report pages, such as `at most 2 ×: a derivation`. `formed` formats a number
    /// with its unit.
    pub(crate) fn said(&self, formed: impl Fn(f64, Option<&str>) -> String) -> String {
        let number = match self.value {
            None => "none".to_owned(),
            Some(value) => format!("{}{}", bounding(self.bound), formed(value, self.unit.as_deref())),
        };
        match self.says.as_str() {
            "" => number,
            says => format!("{number}: {says}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        toml::from_str::<Theory>(text).unwrap().check()
    }

    #[test]
    fn theory_says_how_it_is_derived_or_why_there_is_none() {
        assert_eq!(checked("says = \"a matter of the machine\""), Ok(()));
        assert_eq!(checked("computed = \"bloom_bits\"\nwith = { fpr = 0.01 }\nsays = \"log2(1/p)\""), Ok(()));
        for (text, said) in [
            ("computed = \"bloom_bits\"\nwith = { fpr = 0.01 }", "\"says\" is missing"),
            ("says = \" \"", "\"says\" is missing"),
            ("computed = \"best\"\nsays = \"x\"", "unknown computation \"best\""),
            ("computed = \"bloom_bits\"\nwith = { x = 1 }\nsays = \"x\"", "no argument \"x\""),
            ("with = { fpr = 0.01 }\nsays = \"x\"", "have no effect without"),
            ("bound = \"at most\"\nsays = \"x\"", "have no effect without"),
        ] {
            let error = checked(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_bound_says_which_it_is() {
        let two = Expected {
            value: Some(2.0),
            bound: Some(Bound::AtMost),
            unit: None,
            says: "as many as there are".to_owned(),
        };
        let formed = |value: f64, unit: Option<&str>| format!("{value} {}", unit.unwrap_or("×"));
        assert_eq!(two.said(formed), "at most 2 ×: as many as there are");
        let own = Expected { unit: Some("runs".to_owned()), bound: None, says: String::new(), ..two.clone() };
        assert_eq!(own.said(formed), "2 runs");
        assert_eq!(Expected { value: None, ..two }.said(formed), "none: as many as there are");
    }
}
