//! Parts of sentences that reports share.

/// What stands behind the first of several: ` and 3 more`; empty where there are no others.
pub fn and_more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" and {others} more") }
}
