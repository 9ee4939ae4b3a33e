//! The direction in which a scan reads keys.

/// The direction of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From smaller keys to larger keys.
    Forward,
    /// From larger keys to smaller keys.
    Backward,
}
