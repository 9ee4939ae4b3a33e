//! Stores the cursors of `SCAN` commands: the positions from which clients can later continue their scans.

use std::collections::VecDeque;

/// The maximum number of stored positions of scans. A further position replaces the oldest position.
const KEPT_CURSORS: usize = 4096;

/// The positions of scans that clients can continue, by cursor number. Number 0 is not used, because it stands for the
/// start and the end of a scan.
#[derive(Debug)]
pub(crate) struct Cursors {
    /// The cursor number of the oldest stored position of a scan.
    first: u64,
    positions: VecDeque<Vec<u8>>,
}

impl Default for Cursors {
    fn default() -> Self {
        Self { first: 1, positions: VecDeque::new() }
    }
}

impl Cursors {
    /// Stores the position of a scan, and returns its cursor number.
    pub(crate) fn keep(&mut self, position: Vec<u8>) -> u64 {
        if self.positions.len() == KEPT_CURSORS {
            self.positions.pop_front();
            self.first += 1;
        }
        self.positions.push_back(position);
        self.first + self.positions.len() as u64 - 1
    }

    /// Returns the position of the scan with this cursor number. Returns `None` if the number is unknown, or if its
    /// position was replaced.
    pub(crate) fn position(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.positions.get(index).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_position_is_forgotten() {
        let mut cursors = Cursors::default();
        assert_eq!(cursors.keep(vec![1]), 1);
        assert_eq!(cursors.position(1), Some(&[1][..]));
        for _ in 0..KEPT_CURSORS {
            cursors.keep(vec![2]);
        }
        assert_eq!(cursors.position(1), None);
        assert_eq!(cursors.position(2), Some(&[2][..]));
        assert_eq!((cursors.position(0), cursors.position(1 << 40)), (None, None));
    }
}
