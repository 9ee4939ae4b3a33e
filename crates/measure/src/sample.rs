//! One metric of one variant over all blocks.

/// What one variant measured, block by block.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The name of the variant, as verdicts say it.
    pub name: String,
    /// The number of each block with the value that was measured in it; blocks without a value are absent.
    pub blocks: Vec<(u64, f64)>,
}

impl Sample {
    /// A sample by the name of its variant.
    pub fn new(name: impl Into<String>, blocks: impl IntoIterator<Item = (u64, f64)>) -> Self {
        Self { name: name.into(), blocks: blocks.into_iter().collect() }
    }

    /// The median over blocks; nothing if there are none.
    pub fn median(&self) -> Option<f64> {
        let mut values: Vec<f64> = self.blocks.iter().map(|(_, value)| *value).collect();
        values.sort_unstable_by(f64::total_cmp);
        (!values.is_empty()).then(|| median_of_sorted(&values))
    }

    /// The values of blocks in which both were measured: this one's and the other's.
    pub(crate) fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.blocks.iter().filter_map(|(block, ours)| {
            other.blocks.iter().find(|(theirs, _)| theirs == block).map(|(_, theirs)| (*ours, *theirs))
        })
    }
}

/// The median of values in ascending order, of which there is at least one.
pub(crate) fn median_of_sorted(values: &[f64]) -> f64 {
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_paired_by_number() {
        let a = Sample::new("a", [(0, 1.0), (1, 2.0), (3, 4.0)]);
        let b = Sample::new("b", [(3, 40.0), (0, 10.0), (2, 30.0)]);
        assert_eq!(a.pairs(&b).collect::<Vec<_>>(), [(1.0, 10.0), (4.0, 40.0)]);
        assert_eq!(a.median(), Some(2.0));
        assert_eq!(b.median(), Some(30.0));
        assert_eq!(Sample::new("c", [(0, 1.0), (1, 2.0)]).median(), Some(1.5));
        assert_eq!(Sample::new("d", []).median(), None);
    }
}
