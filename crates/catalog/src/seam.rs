//! What a call through a seam to another language or process costs: the work that is timed for it.

/// A component behind the seam of a variant, and the same component without it. Whoever has a clock times both; the
/// difference is the cost of the seam.
pub struct Seam {
    /// The axis.
    pub axis: &'static str,
    /// The variant.
    pub kind: &'static str,
    /// What one call does.
    pub call: &'static str,
    /// The calls that [`through`](Self::through) and [`direct`](Self::direct) make.
    pub calls: u32,
    /// Makes the calls through the seam.
    pub through: Box<dyn FnMut()>,
    /// Makes the calls without it.
    pub direct: Box<dyn FnMut()>,
}
