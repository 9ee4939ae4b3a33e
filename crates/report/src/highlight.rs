//! The disputed questions that the report answers on its first page, from the file `highlights.toml`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::compute::{About, Nothing};
use crate::{Claim, Claims, Expected, Ids, Judged, System, Theory};

/// A disputed question from `highlights.toml`, with the names of the claims that answer it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Highlight {
    /// A question about which published documents disagree. The report answers it on its first page.
    pub question: String,
    /// Names of the claims that answer the question, such as `"cs265-001..cs265-007"`.
    pub ids: Ids,
    /// Theoretical values of other designs with the same name, because documents may use one name for different
    /// designs. The report prints these values next to the claims.
    #[serde(default)]
    pub beside: Vec<Theory>,
}

/// A question on the first page of the report, with the judged claims that answer it.
#[derive(Clone, Debug)]
pub struct Highlighted {
    /// A question about which published documents disagree.
    pub question: String,
    /// The claims that answer the question, each as its document, its figure, and the claim with its judgement.
    pub judged: Vec<(String, String, Judged)>,
    /// Theoretical values of other designs that have the same name as the documented design.
    pub beside: Vec<Expected>,
}

impl Highlight {
    /// Looks up the judgements of the claims that answer the question, and computes the theoretical values.
    ///
    /// # Errors
    /// Returns an error if a claim does not exist, or if a theoretical value cannot be computed or has no unit.
    pub fn look_up(self, systems: &[System]) -> Result<Highlighted, String> {
        let find = |id: &String| {
            systems.iter().find_map(|system| {
                let (figure, judged) =
                    system.judged().into_iter().find(|(_, judged)| judged.claim.id == *id)?;
                Some((system.document.clone(), figure.name.clone(), judged.clone()))
            })
        };
        let look_up = |id: &String| {
            find(id).ok_or_else(|| {
                format!("question \"{}\": no experiment file tests the claim {id}", self.question)
            })
        };
        let judged = self.ids.all().iter().map(look_up).collect::<Result<_, _>>()?;
        let beside = self.beside.iter().map(|theory| {
            beside(theory).map_err(|message| format!("\"{}\": beside: {message}", self.question))
        });
        let beside = beside.collect::<Result<_, _>>()?;
        Ok(Highlighted { question: self.question, judged, beside })
    }
}

/// Computes a theoretical value that the report prints next to a question. Returns an error if the value cannot be
/// computed or has no unit.
fn beside(theory: &Theory) -> Result<Expected, String> {
    theory.check()?;
    let unit = theory.unit.as_deref().filter(|_| theory.computed.is_some());
    let unit = unit
        .ok_or("the theoretical value needs both keys \"computed\" and \"unit\", such as unit = \"bits\"")?;
    let about =
        About { claim: &Claim::unnamed(0.0, unit), place: 0, claims: &Claims::default(), facts: &Nothing };
    theory.expected(about)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_is_computed_and_has_a_unit() {
        let asked = |beside: &str| {
            let text = format!("question = \"?\"\nids = \"x-1\"\n[[beside]]\n{beside}");
            let highlight: Highlight = toml::from_str(&text).unwrap();
            Highlight { ids: Ids::default(), ..highlight }.look_up(&[])
        };
        let one = "computed = \"bloom_bits\"\nwith = { fpr = 0.01 }\nsays = \"log2(1/p)/ln 2\"\n";
        let found = asked(&format!("{one}unit = \"bits\"")).unwrap();
        assert!((found.beside[0].value.unwrap() - 9.585).abs() < 1e-3);
        for (beside, said) in [
            (one, "needs both keys \"computed\" and \"unit\""),
            ("says = \"nothing\"", "needs both keys \"computed\" and \"unit\""),
            ("computed = \"bloom_bits\"\nunit = \"bits\"\nsays = \"x\"", "with: the argument fpr is missing"),
            ("unit = \"bits\"", "\"says\" is missing"),
        ] {
            let error = asked(beside).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
