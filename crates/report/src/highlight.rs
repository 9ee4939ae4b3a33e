//! What readers ask first: a few questions, each with the claims that answer it.

use serde::Deserialize;

use crate::{Ids, Judged, System};

/// A question with the claims that answer it, as `highlights.toml` has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Highlight {
    /// What people argue about.
    pub question: String,
    /// The claims.
    pub ids: Ids,
}

/// A question with what its claims came to.
#[derive(Clone, Debug)]
pub struct Highlighted {
    /// What people argue about.
    pub question: String,
    /// The claims: document, figure, and what each came to.
    pub judged: Vec<(String, String, Judged)>,
}

impl Highlight {
    /// Looks the claims up.
    ///
    /// # Errors
    /// Names a claim that there is not.
    pub fn look_up(self, systems: &[System]) -> Result<Highlighted, String> {
        let find = |id: &String| {
            systems.iter().find_map(|system| {
                let (figure, judged) =
                    system.judged().into_iter().find(|(_, judged)| judged.claim.id == *id)?;
                Some((system.document.clone(), figure.name.clone(), judged.clone()))
            })
        };
        let look_up =
            |id: &String| find(id).ok_or_else(|| format!("\"{}\": there is no claim {id}", self.question));
        let judged = self.ids.all().iter().map(look_up).collect::<Result<_, _>>()?;
        Ok(Highlighted { question: self.question, judged })
    }
}
