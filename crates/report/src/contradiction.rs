//! The statements of a document that contradict arithmetic, theory or each other, from the file `contradictions.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::compute::{Nothing, known};
use crate::judge::compute;
use crate::{Argument, Bound, Claim, Claims, Evidence, Finding, Ids, Rule};

/// A statement of a document that contradicts arithmetic, theory, or another part of the document.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contradiction {
    /// Name of the contradiction, such as `S1`.
    pub id: String,
    /// Kind of the error, such as a statement that is impossible.
    pub kind: ContradictionKind,
    /// The wrong statement of the published document, paraphrased.
    pub says: String,
    /// Derivation that shows the error in the published document.
    #[serde(default)]
    pub why: String,
    /// Numbers that the published document states, each with the computation that checks it. Empty if `open` is set.
    #[serde(default, rename = "check")]
    pub checks: Vec<ContradictionSide>,
    /// Reason why no computation can check the stated numbers. Set only if there is no `[[check]]`.
    #[serde(default)]
    pub open: Option<String>,
}

/// Kind of an error in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContradictionKind {
    /// The statement is impossible by arithmetic or theory.
    Impossible,
    /// The statement contradicts another statement of the document.
    Contradiction,
    /// A term has different meanings in the document.
    Definition,
    /// The printed code differs from the text.
    Program,
    /// An omission makes the statement misleading.
    Unclear,
}

impl ContradictionKind {
    /// Returns the name of this kind of error on report pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impossible => "impossible",
            Self::Contradiction => "contradiction",
            Self::Definition => "definition",
            Self::Program => "program",
            Self::Unclear => "unclear",
        }
    }
}

/// One side of a contradiction: a number that a published document states, with the computation that checks the number.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContradictionSide {
    /// The quantity that this side of the contradiction is about, such as the size of a filter.
    pub side: String,
    /// The number that this side of the contradiction states, or the name of the claim that states it.
    pub claimed: Claimed,
    /// Unit of the stated number, if the number is not a claim.
    #[serde(default)]
    pub unit: String,
    /// Name of the computation that checks the stated number.
    pub computed: String,
    /// Arguments of the computation that checks the stated number.
    #[serde(default)]
    pub with: BTreeMap<String, Argument>,
    /// Whether the computed number is a lower or an upper bound for the stated number.
    #[serde(default)]
    pub bound: Option<Bound>,
    /// Allowed deviation of the computed number, as a fraction of the stated number.
    #[serde(default)]
    pub tolerance: f64,
}

/// A number that a document states, or the name of the claim that states it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected the stated number, or the name of the claim that states it")]
pub enum Claimed {
    /// A number in the file `contradictions.toml`.
    Number(f64),
    /// The name of the claim that states the number.
    Claim(String),
}

/// A checked side of a contradiction: the number that the document states, and the computed number.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The quantity that this side of the contradiction is about, such as the size of a filter.
    pub side: String,
    /// The claim with the number that this side of the contradiction states.
    pub claim: Claim,
    /// The computed number, with which the stated number is compared.
    pub computed: f64,
    /// Whether the computed number is a lower or an upper bound for the stated number. `None` if it is an exact value.
    pub bound: Option<Bound>,
    /// Whether the stated number agrees with the computed number, within the tolerance.
    pub holds: bool,
}

/// The ruling on a contradiction: how many of the stated numbers agree with the computed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ruling {
    /// No stated number agrees with its computed number.
    Refuted,
    /// Some stated numbers agree with their computed numbers, and the others do not.
    Decided,
    /// Every stated number agrees with its computed number.
    Stands,
    /// No computation checks the stated numbers.
    Open,
}

impl Ruling {
    /// All rulings on contradictions.
    pub const ALL: [Self; 4] = [Self::Refuted, Self::Decided, Self::Stands, Self::Open];

    /// Returns the name of the ruling on report pages and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuted => "refuted",
            Self::Decided => "one side holds",
            Self::Stands => "holds",
            Self::Open => "open",
        }
    }
}

/// A checked contradiction, with its computed numbers and the ruling.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The folder name of the document that contains the contradiction.
    pub document: String,
    /// The contradiction, as `contradictions.toml` states it.
    pub contradiction: Contradiction,
    /// The sides of the contradiction, each with its stated and its computed number.
    pub checked: Vec<Checked>,
    /// The ruling: how many stated numbers agree with their computed numbers.
    pub ruling: Ruling,
}

impl Contradiction {
    /// Computes the number of each side of the contradiction, and derives the ruling.
    ///
    /// # Errors
    /// Returns a message in these cases:
    ///
    /// * The contradiction has neither sides nor a reason in `open`, or both.
    /// * A side names a claim or a computation that does not exist.
    /// * A computation rejects its arguments.
    pub fn settle(self, document: &str, claims: &Claims) -> Result<Settled, String> {
        if self.checks.is_empty() != self.open.is_some() {
            return Err(format!(
                "{}: set exactly one of the keys \"check\" and \"open\"; \"open\" is the reason why no computation \
                 can check the contradiction",
                self.id
            ));
        }
        let checked = self.checks.iter().map(|check| check.run(claims));
        let checked: Vec<Checked> =
            checked.collect::<Result<_, _>>().map_err(|message| format!("{}: {message}", self.id))?;
        let holding = checked.iter().filter(|side| side.holds).count();
        let ruling = match holding {
            _ if checked.is_empty() => Ruling::Open,
            0 => Ruling::Refuted,
            all if all == checked.len() => Ruling::Stands,
            _ => Ruling::Decided,
        };
        Ok(Settled { document: document.to_owned(), contradiction: self, checked, ruling })
    }
}

impl ContradictionSide {
    fn run(&self, claims: &Claims) -> Result<Checked, String> {
        let claim = self.claim(claims)?;
        let rule = Rule {
            ids: Ids::default(),
            computed: Some(self.computed.clone()),
            with: self.with.clone(),
            bound: self.bound,
            tolerance: self.tolerance,
            ..Rule::default()
        };
        known(&self.computed, &self.with).map_err(|(_, message)| message)?;
        let evidence = Evidence {
            runs: Err("contradictions are checked by computations, not by an experiment"),
            cores: None,
            facts: &Nothing,
        };
        let judged = compute(&rule, &claim, claims, &evidence);
        let computed = judged.theory.and_then(|theory| theory.value);
        let computed = computed.ok_or_else(|| format!("{}: {}", self.side, judged.reason))?;
        // If the computation is a bound, every claim that the bound allows agrees, even if the claim is far from the
        // bound.
        let is_kept = self.bound.is_some() && judged.finding == Finding::DirectionOnly;
        let holds = judged.finding == Finding::Reproduced || is_kept;
        Ok(Checked { side: self.side.clone(), claim, computed, bound: self.bound, holds })
    }

    /// Returns the claim that this side of a contradiction names. If the side states a number instead, returns a claim
    /// without a name.
    fn claim(&self, claims: &Claims) -> Result<Claim, String> {
        match &self.claimed {
            Claimed::Claim(id) => {
                claims.get(id).cloned().ok_or_else(|| format!("claims.csv has no claim {id}"))
            }
            Claimed::Number(value) => Ok(Claim::unnamed(*value, &self.unit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> Result<Settled, String> {
        let read: Contradiction = toml::from_str(text).map_err(|error| error.to_string())?;
        read.settle("x", &Claims::default())
    }

    const HEAD: &str = "id = \"S1\"\nkind = \"impossible\"\nsays = \"7.8 bits are enough\"\n";

    #[test]
    fn a_ruling_follows_from_its_sides() {
        let side = |claimed: f64| {
            format!(
                "[[check]]\nside = \"a\"\nclaimed = {claimed:?}\ncomputed = \"bloom_bits\"\nwith = {{ fpr = 0.01 }}\nbound = \"at least\"\n"
            )
        };
        let ruling = |sides: &[f64]| {
            let sides: String = sides.iter().map(|claimed| side(*claimed)).collect();
            settled(&format!("{HEAD}{sides}")).unwrap().ruling
        };
        assert_eq!(ruling(&[7.8]), Ruling::Refuted);
        assert_eq!(ruling(&[7.8, 9.6]), Ruling::Decided);
        assert_eq!(ruling(&[9.6]), Ruling::Stands);
        assert_eq!(ruling(&[7.8, 20.0]), Ruling::Decided, "more than must be is possible");
        assert_eq!(settled(&format!("{HEAD}open = \"why\"")).unwrap().ruling, Ruling::Open);
        let found = settled(&format!("{HEAD}{}", side(7.8))).unwrap();
        assert!((found.checked[0].computed - 9.585).abs() < 1e-3);
    }

    #[test]
    fn what_cannot_be_settled_says_why() {
        for (tail, said) in [
            ("", "set exactly one of the keys"),
            ("kinds = 1", "unknown field `kinds`"),
            ("[[check]]\nside = \"a\"\nclaimed = 1.0\ncomputed = \"best\"", "unknown computation \"best\""),
            (
                "[[check]]\nside = \"a\"\nclaimed = 1.0\ncomputed = \"bloom_bits\"\nwith = { x = 1 }",
                "bloom_bits has no argument \"x\"",
            ),
            (
                "[[check]]\nside = \"a\"\nclaimed = 1.0\ncomputed = \"bloom_bits\"",
                "with: the argument fpr is missing",
            ),
            (
                "[[check]]\nside = \"a\"\nclaimed = \"x-1\"\ncomputed = \"bloom_bits\"",
                "claims.csv has no claim x-1",
            ),
            (
                "open = \"why\"\n[[check]]\nside = \"a\"\nclaimed = 1.0\ncomputed = \"bloom_bits\"",
                "set exactly one of the keys",
            ),
        ] {
            let error = settled(&format!("{HEAD}{tail}")).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
