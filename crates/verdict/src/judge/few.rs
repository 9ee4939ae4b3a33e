//! Formats small counts, and fractions that are computed from small counts. A percentage of a small count is
//! misleading, because a difference of one event is already 1 % or more. Verdicts therefore print the counts
//! themselves.

use results::Unit;

use super::counter::counter;
use super::judged::Judged;
use crate::words::{quoted, shown};

/// The smallest count that verdicts print only as a percentage. From this count on, a difference of one event is at
/// most 1 %.
const MANY: f64 = 100.0;

impl Judged<'_> {
    /// Formats the counts of the candidate `name` and the baseline if both are below [`MANY`], such as
    /// `4 vs 3 blocks read`. Returns an empty text for larger counts, and for metrics without a count.
    pub(super) fn few(&self, name: &str) -> String {
        let Some((baseline, entry)) = self.both(name) else { return String::new() };
        let counts = entry.count.zip(baseline.count);
        let Some((own, base)) = counts.filter(|(own, base)| own.max(*base) < MANY) else {
            return String::new();
        };
        let title = counter(&self.column).map_or(self.column.title(), |counter| counter.title);
        let [own, base] = [own, base].map(|count| shown(count, Unit::Count));
        format!("{own} vs {base} {title}")
    }

    /// Returns a note with the counts of the candidates whose counts are below [`MANY`], and of the baseline. Returns
    /// `None` if no candidate has such counts.
    pub(super) fn few_note(&self) -> Option<String> {
        let few = self.ranked.iter().filter(|ranked| !self.few(&ranked.name).is_empty());
        let named: Vec<String> =
            few.map(|ranked| format!("{} {}", quoted(&ranked.name), self.few(&ranked.name))).collect();
        (!named.is_empty()).then(|| {
            format!(
                "These counts are below {MANY}, so a difference of 1 changes them by 1% or more: {counts}.",
                counts = named.join("; ")
            )
        })
    }
}
