//! The error type of component trials.

/// The reason why a trial of a component fails.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
