//! Our own tree: what an experiment runs where it names no engine.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::peer::Engine;

pub(crate) const VARIANT: Variant<Engine> =
    Variant::new::<Lsmbench>("lsmbench", "our own tree, assembled from the design", "");

struct Lsmbench;

/// It has none: the design says it all.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<Engine> for Lsmbench {
    type Params = Params;

    fn build(_: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Tree))
    }
}
