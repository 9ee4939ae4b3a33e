//! One recorded operation, in a form that all trace readers share.

/// Kind of a recorded operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceOperation {
    /// Reads the value of one key.
    #[default]
    Get,
    /// Sets the value of one key.
    Put,
    /// Deletes one key.
    Delete,
    /// Deletes all keys from a key up to an exclusive end key.
    DeleteRange,
    /// Reads entries in key order, from a start key on.
    Scan,
    /// Reads the value of one key, and then sets the value. Examples are an increment and an append.
    ReadModifyWrite,
    /// Merges an operand into the value of one key.
    Merge,
    /// Deletes one key that was written once since its previous single delete.
    SingleDelete,
}

impl TraceOperation {
    /// All kinds of operations, in the order of printed tables.
    pub const ALL: [Self; 8] = [
        Self::Get,
        Self::Put,
        Self::Delete,
        Self::DeleteRange,
        Self::Scan,
        Self::ReadModifyWrite,
        Self::Merge,
        Self::SingleDelete,
    ];

    /// Returns the name of the operation in printed tables and in CSV traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Delete => "delete",
            Self::DeleteRange => "delete_range",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "rmw",
            Self::Merge => "merge",
            Self::SingleDelete => "single_delete",
        }
    }

    /// Returns whether the operation writes a value or a merge operand.
    pub fn sets(self) -> bool {
        matches!(self, Self::Put | Self::ReadModifyWrite | Self::Merge)
    }
}

/// One recorded operation of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRecord {
    /// The kind of the operation.
    pub operation: TraceOperation,
    /// The time of the operation in nanoseconds since a fixed point, if the trace recorded times.
    pub time_ns: Option<u64>,
    /// The number of the column family or database. 0 if the format has no families.
    pub family: u32,
    /// The key, or the first key of a scan or a range delete.
    pub key: Vec<u8>,
    /// The exclusive end key of a scan or a range delete, if the trace recorded an end key. For a backward scan, this
    /// field contains the smallest key.
    pub end: Option<Vec<u8>>,
    /// The maximum number of entries of a scan, if the trace recorded it.
    pub count: Option<u32>,
    /// Whether a scan is backward. A backward scan starts at its key and reads from larger keys to smaller keys.
    pub backward: bool,
    /// The size of the value in bytes, if it was recorded.
    pub value_bytes: Option<u32>,
    /// The value itself, if it was recorded.
    pub value: Option<Vec<u8>>,
}

impl TraceRecord {
    /// Creates an operation on one key. All other fields are empty.
    pub fn new(operation: TraceOperation, key: impl Into<Vec<u8>>) -> Self {
        Self { operation, key: key.into(), ..Self::default() }
    }

    /// Sets the time of the record, in nanoseconds since a fixed point.
    #[must_use]
    pub fn at(self, time_ns: u64) -> Self {
        Self { time_ns: Some(time_ns), ..self }
    }

    /// Sets the size of the value in bytes.
    #[must_use]
    pub fn sized(self, bytes: u32) -> Self {
        Self { value_bytes: Some(bytes), ..self }
    }

    /// Sets the value and its size.
    #[must_use]
    pub fn with_value(self, value: Vec<u8>) -> Self {
        Self { value_bytes: u32::try_from(value.len()).ok(), value: Some(value), ..self }
    }

    /// Sets the number of the column family.
    #[must_use]
    pub fn in_family(self, family: u32) -> Self {
        Self { family, ..self }
    }

    /// Sets the exclusive end key.
    #[must_use]
    pub fn until(self, end: impl Into<Vec<u8>>) -> Self {
        Self { end: Some(end.into()), ..self }
    }

    /// Sets the number of entries of a scan.
    #[must_use]
    pub fn entries(self, count: u32) -> Self {
        Self { count: Some(count), ..self }
    }
}
