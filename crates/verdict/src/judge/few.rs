//! Small counts, and fractions of small counts. A percentage of a small count is misleading, because a difference of
//! one event is already many percent. Verdicts therefore print the counts themselves.

use results::Unit;

use super::counter::counter;
use super::judged::Judged;
use crate::words::{quoted, shown};

/// The smallest count for which a difference of one event is at most 1 %.
const MANY: f64 = 100.0;

impl Judged<'_> {
    /// Returns both counts of a comparison if the counts are small, such as `4 vs 3 blocks read`. If the counts are
    /// not small, the text is empty.
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

    /// Returns a note with the counts of all configurations, if some counts are small.
    pub(super) fn few_note(&self) -> Option<String> {
        let few = self.ranked.iter().filter(|ranked| !self.few(&ranked.name).is_empty());
        let named: Vec<String> =
            few.map(|ranked| format!("{} {}", quoted(&ranked.name), self.few(&ranked.name))).collect();
        (!named.is_empty()).then(|| {
            format!("Counts below {MANY}, in which a difference of 1 is 1% or more: {}.", named.join("; "))
        })
    }
}
