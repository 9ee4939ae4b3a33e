//! Why a trial of a component fails.

/// Why a trial cannot be done.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
