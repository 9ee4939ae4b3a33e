//! The reasons why a trial of a component fails.

/// The reason why a trial cannot run.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
