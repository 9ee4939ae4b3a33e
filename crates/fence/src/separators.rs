//! The separators of one SSTable, in one buffer.

/// The separators of an SSTable: strictly increasing byte strings, one per block. All separators are in one buffer,
/// with padding for wide loads.
#[derive(Clone, Debug)]
pub struct Separators {
    arena: Vec<u8>,
    /// The byte offset at which each separator ends in the buffer. A separator starts where the previous separator
    /// ends.
    ends: Vec<u32>,
}

impl Default for Separators {
    fn default() -> Self {
        Self { arena: vec![0; types::PADDING], ends: Vec::new() }
    }
}

impl Separators {
    /// Appends a separator. The separator must be above the previous separator.
    ///
    /// # Panics
    /// Panics if the total length of an SSTable's separators exceeds 4 GiB.
    pub fn push(&mut self, separator: &[u8]) {
        debug_assert!(self.is_empty() || self.get(self.len() - 1) < separator, "separators must increase");
        self.arena.truncate(self.arena.len() - types::PADDING);
        self.arena.extend_from_slice(separator);
        self.ends.push(
            u32::try_from(self.arena.len())
                .expect("the separators of one SSTable must have less than 4 GiB in total"),
        );
        self.arena.resize(self.arena.len() + types::PADDING, 0);
    }

    /// Returns the number of separators.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no separators.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the separator with the index `index`.
    ///
    /// # Panics
    /// Panics if the separator does not exist.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.arena[start..self.ends[index] as usize]
    }

    /// Returns the byte offset at which each separator ends in the buffer.
    #[inline]
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Iterates over all separators in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns the number of separators at or below `key`. The binary search compares whole separators.
    #[inline]
    pub fn rank(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the memory of the separators in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.arena.len() + self.ends.len() * size_of::<u32>()
    }
}

impl<'a> FromIterator<&'a [u8]> for Separators {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(separators: I) -> Self {
        let mut all = Self::default();
        separators.into_iter().for_each(|separator| all.push(separator));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_what_is_at_or_below() {
        let separators: Separators = [&b""[..], b"b", b"ba", b"c"].into_iter().collect();
        let ranks = [&b""[..], b"a", b"b", b"b\0", b"ba", b"bb", b"c", b"d"].map(|key| separators.rank(key));
        assert_eq!(ranks, [1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(Separators::default().rank(b"a"), 0);
        assert!(separators.iter().is_sorted());
    }
}
