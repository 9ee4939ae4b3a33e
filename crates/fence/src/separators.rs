//! The separators of one table, in one arena.

/// Strictly increasing byte strings, one per block, in one arena that is padded for wide loads.
#[derive(Clone, Debug)]
pub struct Separators {
    arena: Vec<u8>,
    /// Where each separator ends; it starts where the one before ends.
    ends: Vec<u32>,
}

impl Default for Separators {
    fn default() -> Self {
        Self { arena: vec![0; types::PADDING], ends: Vec::new() }
    }
}

impl Separators {
    /// Appends a separator; it must be above the last one.
    pub fn push(&mut self, separator: &[u8]) {
        debug_assert!(self.is_empty() || self.get(self.len() - 1) < separator, "separators must increase");
        self.arena.truncate(self.arena.len() - types::PADDING);
        self.arena.extend_from_slice(separator);
        self.ends.push(self.arena.len() as u32);
        self.arena.resize(self.arena.len() + types::PADDING, 0);
    }

    /// The number of separators.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Separator number `index`.
    ///
    /// # Panics
    /// If there is no such separator.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.arena[start..self.ends[index] as usize]
    }

    /// All separators, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The bytes of memory they take.
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
