//! Claims of published systems, judged by rule against what was measured.
//!
//! A document says how fast its tree is. Its numbers stand in `claims.csv`, each with a name ([`Claims`]); an
//! experiment says behind its charts which figure it stands for ([`Source`]) and how each claim is looked up,
//! compared or computed ([`Rule`]). [`judge`] makes a [`Judgement`] of each, and [`pages`] shows them all.
//! `experiments/README.md` has the format.

mod argument;
mod claim;
mod compute;
mod error;
mod figure;
mod form;
mod ids;
mod judge;
mod lookup;
mod page;
mod reading;
mod rule;
mod select;
mod sentence;
mod sheet;
mod source;
mod text;
mod texts;

pub use argument::Argument;
pub use claim::{Claim, Claims, Standing};
pub use compute::{COMPUTATIONS, Computation, Facts};
pub use error::ClaimsError;
pub use figure::{Answer, Figure, Judged, Picture, RunNote, System, Tally, assemble};
pub use ids::Ids;
pub use judge::{Evidence, Finding, Judgement, judge};
pub use page::{Page, pages};
pub use rule::{At, Bound, Compare, Rule, Way};
pub use select::{Cores, ENGINE, Other, ParamColumn, Quantity, Scale};
pub use sheet::{Sheet, SheetFault};
pub use source::Source;
pub use texts::Texts;
