//! The parameter type of variants without parameters.

use serde::{Deserialize, Serialize};

/// The parameters of a variant that has none. An unknown key is an error, as it is for every parameter table.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NoParams {}
