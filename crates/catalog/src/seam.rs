//! Pairs of calls with which a run measures the interface cost of a component in another language or process.

/// The calls that measure the cost of the interface between a component and another language or process: calls through
/// the interface, and the same calls without it. The difference between the two times is the cost.
pub struct Seam {
    /// The axis of the component.
    pub axis: &'static str,
    /// The name of the component's variant.
    pub kind: &'static str,
    /// A description of one call of the component.
    pub call: &'static str,
    /// The number of component calls in one call of [`through`](Self::through) or of [`direct`](Self::direct).
    pub calls: u32,
    /// Executes the calls of the component through the interface to another language or process.
    pub through: Box<dyn FnMut()>,
    /// Executes the same calls of the component without the interface.
    pub direct: Box<dyn FnMut()>,
}
