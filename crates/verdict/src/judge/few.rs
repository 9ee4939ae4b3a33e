//! Numbers that are counts, or shares of counts, so small that a percentage of them says little: of three one more is a
//! third. Verdicts on them say the counts.

use results::Unit;

use super::counter::counter;
use super::judged::Judged;
use super::text::quoted;

/// From here on one more or less is no percent.
const MANY: f64 = 100.0;

impl Judged<'_> {
    /// `: 4 against 3 blocks read`: what stands behind the change of a cell where both counts are small.
    pub(super) fn few(&self, name: &str) -> String {
        let Some((baseline, entry)) = self.both(name) else { return String::new() };
        let counts = entry.count.zip(baseline.count);
        let Some((own, base)) = counts.filter(|(own, base)| own.max(*base) < MANY) else {
            return String::new();
        };
        let title = counter(&self.column).map_or(self.column.title(), |counter| counter.title);
        let [own, base] = [own, base].map(|count| plot::format_value(count, Unit::Count));
        format!(", {own} against {base} {title}")
    }

    /// What a reader should know of the counts of all cells.
    pub(super) fn few_note(&self) -> Option<String> {
        let few = self.ranked.iter().filter(|ranked| !self.few(&ranked.name).is_empty());
        let named: Vec<String> =
            few.map(|ranked| format!("{}{}", quoted(&ranked.name), self.few(&ranked.name))).collect();
        (!named.is_empty()).then(|| {
            format!("few: below {MANY} one more or less is a percent and more: {}", named.join("; "))
        })
    }
}
