//! The work to time for the call cost of a component in another language or process.

/// Calls of a component through a foreign interface, and equal calls without the interface. The difference of their
/// times is the cost of the interface.
pub struct Seam {
    /// The axis of the variant.
    pub axis: &'static str,
    /// The name of the variant.
    pub kind: &'static str,
    /// A description of one call.
    pub call: &'static str,
    /// The calls that [`through`](Self::through) and [`direct`](Self::direct) make.
    pub calls: u32,
    /// Makes the calls through the interface.
    pub through: Box<dyn FnMut()>,
    /// Makes the same calls directly.
    pub direct: Box<dyn FnMut()>,
}
