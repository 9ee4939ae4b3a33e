//! What theory expects of a tree, in closed form: small pure functions, each with its source and derivation.
//!
//! * [`Growth`]: what a compaction policy writes, and which levels and runs it leaves, after so many flushes.
//!   Exact where a form is known, else as the compaction simulator counts it.
//! * [`Fluid`]: the textbook's cost model of a tree with T, K and Z: levels, writes, lookups, space.
//! * [`RunView`]: the data blocks that a lookup looks into, from the runs that there are and their filters.
//! * [`Popularity`]: how often each key or block is asked for; [`Eviction`] and
//!   [`best_static_share`](Popularity::best_static_share) what a cache makes of it.
//!
//! What a filter expects of itself is asked of the filter, and the best that was possible on a recorded trace of
//! the cache's simulator (Belady).

mod fluid;
mod forms;
mod growth;
mod hit_rate;
mod lookup;
mod popularity;

pub use fluid::Fluid;
pub use forms::{levels_and_runs, most_space_amp, textbook_write_amp, write_amp};
pub use growth::{Growth, GrowthError, growth, has_form};
pub use hit_rate::Eviction;
pub use lookup::{RunView, blocks_per_absent_get, blocks_per_present_get};
pub use popularity::{Popularity, Standing};
