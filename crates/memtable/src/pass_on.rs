//! What memtables in front of other memtables have in common.

/// The parts of [`Memtable`](crate::Memtable) that one which stands in front of another, its field `memtable`, hands on as they are.
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
    };
}

pub(crate) use pass_on;
