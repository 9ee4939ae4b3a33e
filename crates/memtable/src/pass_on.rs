//! A macro for memtables that wrap another memtable.

/// Implements the methods of [`Memtable`](crate::Memtable) that a wrapper only forwards. Each generated method calls
/// the method of the same name on the field `memtable`.
macro_rules! pass_on {
    () => {
        fn freeze(&self) {
            self.memtable.freeze();
        }

        fn drain(&self, sink: &mut dyn FnMut(types::Entry<'_>)) {
            self.memtable.drain(sink);
        }

        fn len(&self) -> usize {
            self.memtable.len()
        }

        fn shard_lens(&self) -> Vec<usize> {
            self.memtable.shard_lens()
        }

        fn moved_keys(&self) -> Option<usize> {
            self.memtable.moved_keys()
        }
    };
}

pub(crate) use pass_on;
