//! The calls with which a run measures the cost of the interface to a component in another language or process.

/// The same calls of a component in two ways: through the interface to another language or process, and without this
/// interface. The difference between the two times is the cost of the interface.
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
