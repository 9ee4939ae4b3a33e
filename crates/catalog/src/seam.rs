//! Pairs of calls with which a run measures the interface cost of a component in another language or process.

/// Calls of a component through an interface to another language or process, and the same calls without the interface.
/// The difference between the two times is the interface cost.
pub struct Seam {
    /// The axis of the variant.
    pub axis: &'static str,
    /// The name of the variant.
    pub kind: &'static str,
    /// A description of one call.
    pub call: &'static str,
    /// The number of component calls in one execution of [`through`](Self::through) or [`direct`](Self::direct).
    pub calls: u32,
    /// Executes the calls through the interface.
    pub through: Box<dyn FnMut()>,
    /// Executes the same calls without the interface.
    pub direct: Box<dyn FnMut()>,
}
