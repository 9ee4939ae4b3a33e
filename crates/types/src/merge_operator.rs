//! Merge operators, which combine a value with later operands.

use crate::MAX_VALUE_BYTES;

/// An associative merge operator, which combines a value with an operand. If a key has no value, the operator combines
/// the operand with an empty value.
///
/// Source: the operators `uint64add`, `stringappend` and `max` of `RocksDB`. In lsmbench, appended parts have no
/// delimiter between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOperator {
    /// Adds 64-bit little-endian numbers, modulo 2^64. The number is in the first eight bytes of a value or operand.
    /// Missing bytes count as 0.
    Add,
    /// Appends the operand to the value. Bytes after the first [`MAX_VALUE_BYTES`] are dropped.
    Append,
    /// Keeps the larger of the value and the operand. Both are compared as byte strings.
    Max,
}

impl MergeOperator {
    /// All merge operators.
    pub const ALL: [Self; 3] = [Self::Add, Self::Append, Self::Max];

    /// Returns the name of the operator in TOML.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Append => "append",
            Self::Max => "max",
        }
    }

    /// Returns the operator with this name in TOML. Returns `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.name() == name)
    }

    /// Combines an older value or operand with the next operand, and writes the result to `older`.
    pub fn combine(self, older: &mut Vec<u8>, operand: &[u8]) {
        match self {
            Self::Add => {
                let sum = number(older).wrapping_add(number(operand));
                older.clear();
                older.extend_from_slice(&sum.to_le_bytes());
            }
            Self::Append => {
                let room = MAX_VALUE_BYTES.saturating_sub(older.len());
                older.extend_from_slice(&operand[..operand.len().min(room)]);
            }
            Self::Max => {
                if operand > older.as_slice() {
                    older.clear();
                    older.extend_from_slice(operand);
                }
            }
        }
    }
}

/// Returns the 64-bit little-endian number in the first eight bytes of a value. Missing bytes count as 0.
fn number(bytes: &[u8]) -> u64 {
    let mut padded = [0; 8];
    let len = bytes.len().min(8);
    padded[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(padded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    #[test]
    fn operands_combine_in_any_grouping() {
        let mut random = SplitMix64::new(3);
        for operator in MergeOperator::ALL {
            for _ in 0..200 {
                let parts: Vec<Vec<u8>> = (0..3)
                    .map(|_| {
                        let bytes = random.below(12);
                        (0..bytes).map(|_| random.next_u64() as u8).collect()
                    })
                    .collect();
                let mut left = Vec::new();
                parts.iter().for_each(|part| operator.combine(&mut left, part));
                let mut right = parts[1].clone();
                operator.combine(&mut right, &parts[2]);
                let mut first = Vec::new();
                operator.combine(&mut first, &parts[0]);
                operator.combine(&mut first, &right);
                assert_eq!(left, first, "{operator:?} of {parts:?}");
            }
        }
    }

    #[test]
    fn operators_give_known_results() {
        let merged = |operator: MergeOperator, older: &[u8], operand: &[u8]| {
            let mut older = older.to_vec();
            operator.combine(&mut older, operand);
            older
        };
        assert_eq!(merged(MergeOperator::Add, &[255], &[1, 1]), 512_u64.to_le_bytes());
        assert_eq!(merged(MergeOperator::Max, b"ab", b"b"), b"b");
        assert_eq!(merged(MergeOperator::Append, b"ab", b"c"), b"abc");
        let long = merged(MergeOperator::Append, &vec![1; MAX_VALUE_BYTES - 1], b"23");
        assert_eq!((long.len(), long.last()), (MAX_VALUE_BYTES, Some(&b'2')));
    }
}
