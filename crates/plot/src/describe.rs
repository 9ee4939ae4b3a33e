//! The titles and the descriptions of the axes of a chart.

use results::{Better, Column, ConfigPath};

/// The axis that a description belongs to: horizontal or vertical.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Upwards,
    Across,
}

/// Returns the title of an axis that shows this column. The path of a setting becomes words: `bloom bits per key` for
/// `design.bloom.bits_per_key`, and `threads in phase load` for `phase.load.threads`.
pub(crate) fn axis_title(column: &Column) -> String {
    let Column::Swept(path) = column else { return column.title().to_owned() };
    let path = ConfigPath::new(path);
    match (path.phase(), path.below()) {
        (Some(phase), [_, setting @ ..]) if !setting.is_empty() => {
            format!("{} in phase {phase}", setting.join(" ").replace('_', " "))
        }
        _ => path.short().replace(['.', '_'], " "),
    }
}

/// Returns the description of an axis, such as `p99 service time (µs), lower is better ↓`.
pub(crate) fn describe(title: &str, unit: &str, better: Better, side: Side) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let arrow = match (side, better) {
        (Side::Upwards, Better::Higher) => "↑",
        (Side::Upwards, _) => "↓",
        (Side::Across, Better::Higher) => "→",
        (Side::Across, _) => "←",
    };
    let better = better.phrase().map_or(String::new(), |phrase| format!(", {phrase} {arrow}"));
    format!("{title}{unit}{better}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_setting_becomes_words() {
        for (path, expected) in [
            ("design.bloom", "bloom"),
            ("design.bloom.bits_per_key", "bloom bits per key"),
            ("component.entries", "entries"),
            ("engine.options.block_size", "engine options block size"),
            ("phase.load.threads", "threads in phase load"),
            ("phase.load.value.bytes", "value bytes in phase load"),
            ("phase.load", "phase load"),
        ] {
            assert_eq!(axis_title(&Column::Swept(path.to_owned())), expected);
        }
    }
}
