//! Calls for measuring the interface cost of a component in another language or process.

/// Calls of a component through an interface to another language or process, and the same calls without the
/// interface. The difference of the two times is the cost of the interface.
pub struct Seam {
    /// The axis of the variant.
    pub axis: &'static str,
    /// The name of the variant.
    pub kind: &'static str,
    /// A description of one call.
    pub call: &'static str,
    /// The number of calls that one execution of [`through`](Self::through) or [`direct`](Self::direct) makes.
    pub calls: u32,
    /// Makes the calls through the interface.
    pub through: Box<dyn FnMut()>,
    /// Makes the same calls as `through`, but without the interface.
    pub direct: Box<dyn FnMut()>,
}
