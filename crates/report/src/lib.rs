//! Judges the claims of published systems by comparing the claims with measurements and computations.
//!
//! A document states numbers about its key-value store, such as its speed. The file `claims.csv` lists these numbers as
//! claims, each with a name ([`Claims`]). An experiment file names the figure that it reproduces ([`FigureSource`]).
//! The experiment file also defines how each claim is looked up, compared or computed ([`Rule`]). [`judge`] makes a
//! [`Judgement`] of each claim, and [`pages`] writes all judgements of a [`Report`]. The report also lists the places
//! where a document contradicts itself ([`Contradiction`]) and the features of the documented systems ([`Feature`]).
//! `experiments/README.md` describes the file formats.

mod argument;
mod bound;
mod claim;
mod compute;
mod contradiction;
mod error;
mod feature;
mod figure;
mod form;
mod highlight;
mod ids;
mod judge;
mod judgement;
mod lookup;
mod outcome;
mod page;
mod reading;
mod report;
mod rule;
mod select;
mod sentence;
mod sheet;
mod source;
mod text;
mod texts;
mod theory;
mod weigh;

pub use argument::Argument;
pub use bound::Bound;
pub use claim::{Claim, Claims, Statement};
pub use compute::{COMPUTATIONS, Computation, Facts, Force};
pub use contradiction::{
    Checked, Claimed, Contradiction, ContradictionKind, ContradictionSide, Ruling, Settled,
};
pub use error::ClaimsError;
pub use feature::{Feature, Reach};
pub use figure::{Answer, EngineNote, Figure, FindingCounts, Judged, RunNote, SvgChart, System, assemble};
pub use highlight::{Highlight, Highlighted};
pub use ids::Ids;
pub use judge::{Evidence, judge};
pub use judgement::{Finding, Judgement};
pub use outcome::outcome;
pub use page::{ReportPage, pages};
pub use report::Report;
pub use rule::{At, Compare, Rule, Way};
pub use select::{Cores, ENGINE, Other, ParamColumn, Quantity, Scale};
pub use sheet::{Sheet, SheetFault};
pub use source::FigureSource;
pub use texts::Texts;
pub use theory::{Expected, Theory};
