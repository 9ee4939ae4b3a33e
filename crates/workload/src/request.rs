//! One operation of a replay, together with the bytes of its keys and values.

use crate::dsl::Command;
use crate::operation::Kind;

/// One operation of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reads the value of a key.
    Get {
        /// The key of the operation.
        key: Vec<u8>,
    },
    /// Sets the value of a key.
    Put {
        /// The key of the operation.
        key: Vec<u8>,
        /// The new value of the key.
        value: Vec<u8>,
    },
    /// Deletes a key.
    Delete {
        /// The key of the operation.
        key: Vec<u8>,
    },
    /// Deletes a key that has at most one put since its previous single delete.
    SingleDelete {
        /// The key of the operation.
        key: Vec<u8>,
    },
    /// Merges an operand into the value of a key.
    Merge {
        /// The key of the operation.
        key: Vec<u8>,
        /// The operand that is merged into the value.
        operand: Vec<u8>,
    },
    /// Deletes all keys of a range.
    DeleteRange {
        /// The first key of the range.
        low: Vec<u8>,
        /// The exclusive end key of the range.
        high: Vec<u8>,
    },
    /// Reads entries in key order.
    Scan {
        /// The smallest key of the scan.
        low: Vec<u8>,
        /// The exclusive end key; `None` if the scan reads up to the last key.
        high: Option<Vec<u8>>,
        /// Whether the scan returns the largest keys first.
        backward: bool,
        /// The maximum number of entries that the scan reads.
        limit: usize,
    },
    /// Reads the value of a key, and then sets the value of the key.
    ReadModifyWrite {
        /// The key of the operation.
        key: Vec<u8>,
        /// The new value of the key.
        value: Vec<u8>,
    },
}

impl Request {
    /// Returns the kind of operation of the request. Results count the request under this kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Get { .. } => Kind::Get,
            Self::Put { .. } => Kind::Put,
            Self::Delete { .. } => Kind::Delete,
            Self::SingleDelete { .. } => Kind::SingleDelete,
            Self::Merge { .. } => Kind::Merge,
            Self::DeleteRange { .. } => Kind::DeleteRange,
            Self::Scan { .. } => Kind::Range,
            Self::ReadModifyWrite { .. } => Kind::ReadModifyWrite,
        }
    }

    /// Returns the request that a text command stands for. Returns `None` if the command is not an operation on keys,
    /// such as the command that prints statistics.
    pub fn of_command(command: Command) -> Option<Self> {
        Some(match command {
            Command::Get { key } => Self::Get { key },
            Command::Put { key, value } => Self::Put { key, value },
            Command::Delete { key } => Self::Delete { key },
            Command::SingleDelete { key } => Self::SingleDelete { key },
            Command::Merge { key, operand } => Self::Merge { key, operand },
            Command::DeleteRange { low, high } => Self::DeleteRange { low, high },
            Command::Range { low, high } => {
                Self::Scan { low, high: Some(high), backward: false, limit: usize::MAX }
            }
            Command::Load { .. } | Command::Statistics => return None,
        })
    }

    /// Returns text commands with the same effect as the request. Returns `None` if the text form cannot express the
    /// request, such as a scan with a limit or without an end key.
    pub fn commands(&self) -> Option<Vec<Command>> {
        let (key, get) = match self {
            Self::Get { key } => return Some(vec![Command::Get { key: key.clone() }]),
            Self::Delete { key } => return Some(vec![Command::Delete { key: key.clone() }]),
            Self::SingleDelete { key } => return Some(vec![Command::SingleDelete { key: key.clone() }]),
            Self::Merge { key, operand } => {
                return Some(vec![Command::Merge { key: key.clone(), operand: operand.clone() }]);
            }
            Self::Put { key, .. } => (key, None),
            Self::ReadModifyWrite { key, .. } => (key, Some(Command::Get { key: key.clone() })),
            Self::Scan { low, high: Some(high), backward: false, limit: usize::MAX } => {
                return Some(vec![Command::Range { low: low.clone(), high: high.clone() }]);
            }
            Self::DeleteRange { low, high } => {
                return Some(vec![Command::DeleteRange { low: low.clone(), high: high.clone() }]);
            }
            Self::Scan { .. } => return None,
        };
        let (Self::Put { value, .. } | Self::ReadModifyWrite { value, .. }) = self else { return None };
        let put = Command::Put { key: key.clone(), value: value.clone() };
        Some(get.into_iter().chain([put]).collect())
    }
}
