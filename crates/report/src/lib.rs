//! Judges the claims of published systems by comparing the claims with measurements and computations.
//!
//! A document states numbers about its key-value store, such as its speed. The file `claims.csv` lists these numbers as
//! claims, each with a name ([`Claims`]). An experiment file names the figure that it reproduces ([`FigureSource`]).
//! The experiment file also defines how each claim is looked up, compared or computed ([`Rule`]). [`judge`] makes a
//! [`Judgement`] of each claim, and [`pages`] writes all judgements of a [`Report`]. The report also lists the places
//! where a document contradicts itself ([`Contradiction`]) and the features of the documented systems ([`Feature`]).
//! `experiments/README.md` describes the file formats.
//!
//! ```
//! # use lsmbench_report::Facts;
//! # /// Facts about no experiment.
//! # struct NoFacts;
//! # impl Facts for NoFacts {
//! #     fn setting(&self, _: &str) -> Option<f64> { None }
//! #     fn lost_writes(&self, _: &str, _: &str) -> Option<f64> { None }
//! # }
//! use lsmbench_report::{Claims, Evidence, Finding, Rule, judge};
//!
//! // A paper states that a Bloom filter needs about 9.6 bits per key for a false-positive rate of 1 %.
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("claims.csv");
//! let header = "id,section,figure,subject,metric,params,value,unit,bound";
//! std::fs::write(&file, format!("{header}\np-001,2.1,,Bloom filter,memory,fpr=0.01,9.6,bits/key,about\n"))?;
//! let claims = Claims::read(&file)?;
//!
//! let rule: Rule = toml::from_str(
//!     r#"ids = "p-001"
//!        computed = "bloom_bits"
//!        with = { fpr = 0.01 }
//!        tolerance = 0.01"#,
//! )?;
//! let judgement = judge(&rule, 0, &claims, &Evidence { runs: Err("not run"), cores: None, facts: &NoFacts });
//! assert_eq!(judgement.finding, Finding::Reproduced);
//! assert!((judgement.theory.and_then(|theory| theory.value).unwrap() - 9.585).abs() < 0.001);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
