//! The rule that computes the delays of writes. The rule works only on numbers, such as times and free bytes.
//!
//! Two queues limit the writers of a tree. The first queue contains the immutable memtables that wait for their flush.
//! The second queue contains the runs of level 0 that wait for a compaction. Background work releases the room of a
//! queue in steps. The end of a flush releases one memtable, and the end of a compaction releases some runs. A writer
//! that meets a full queue stops until the next release.
//!
//! # The rule
//! Let R be the number of bytes that still fit into a queue, and let W be the expected time until the next release of
//! the queue. A write of b bytes takes at least the time
//!
//! > b · W / R,  W = max(T − t, t),
//!
//! where T is the smoothed time between releases and t is the time since the last release. If each byte takes this
//! time, the room lasts until the expected release, so no writer stops. If both queues contain work, the longer of the
//! two times applies. The rule does not depend on the compaction policy or on the size of the tree.
//!
//! The second term of W is Lindy's rule: the expected remaining time of an overdue release equals the time since the
//! last release. From the time s = T / 2 on, the second term is the larger one. After the time s, writers at the
//! allowed rate leave the room R(t) = R(s) · s / t. If a release takes ten times as long as expected, writers still
//! have a tenth of the room that they had at the expected time. With room for 16 MiB and flushes of 100 ms, a put of
//! 150 bytes waits 0.8 ms when a flush has taken 1.5 s.
//!
//! The rule does not lower the sustained rate of a queue with two or more steps. If writers are faster than the
//! releases, the room after a release converges to 4/3 of a step. If the release comes on time, one third of a step is
//! left, and the release adds one step. A further step is then already in the queue, so the background work is never
//! idle. A queue with only one step (`frozen_memtables = 1`) is empty after a release. It stays empty until writers
//! have written the last third of the next step, so the background work is idle for this time. In this case, the delays
//! reduce the sustained rate by an eighth.
//!
//! # Sources
//! - `RocksDB`, `WriteController` and `ColumnFamilyData::RecalculateWriteStallConditions`: `RocksDB` delays writes
//!   between a soft and a hard limit of immutable memtables, level-0 files and pending bytes. Each change multiplies
//!   the rate by 0.8 or 1.25, from a configured first rate. Writers get credits per millisecond.
//! - Pebble and `CockroachDB`, `io_load_listener.go`: tokens limit the written bytes of the next 15 seconds. Their
//!   number is the smoothed number of bytes that compactions removed from level 0, multiplied by a factor from 2 to
//!   0.5. The factor depends on the fill of level 0.
//! - Sears, Ramakrishnan, "bLSM: a general purpose log structured merge tree" (SIGMOD 2012), section 4: the fill of the
//!   first component links the progress of writers to the progress of merges ("spring and gear").
//!
//! The methods of these sources need a rate or a gain that a user must choose. The rule of this module needs no such
//! parameter.

/// The weight of the newest interval in the smoothed time between two flushes or between two compactions is 1 /
/// `SMOOTHING`.
const SMOOTHING: u64 = 4;

/// The waiting time after which the delay of writes is computed again, in nanoseconds. A shorter time would cause more
/// sleeps, and the kernel extends each sleep by up to 50 µs.
const QUANTUM_NS: f64 = 500_000.0;

/// The longest wait of one write, in nanoseconds. This limit also applies if a queue is almost full.
const MOST_WAIT_NS: u64 = 4_000_000;

/// The shortest wait of one write, in nanoseconds. A shorter wait is postponed and added to the next wait.
const LEAST_WAIT_NS: u64 = 60_000;

/// The divisor of the free space in the queue that delays writers. After writers have used 1 / `ROOM_SHARE` of this
/// space, the delay is computed again.
const ROOM_SHARE: u64 = 8;

/// A queue of work that limits writers, such as the immutable memtables that wait for their flush. Writers fill the
/// queue, and each flush or compaction makes room in it.
#[derive(Debug, Default)]
pub(crate) struct StepQueue {
    /// The smoothed time between two flushes or compactions that make room in the queue, in nanoseconds. `None` before
    /// the first of them.
    interval_ns: Option<u64>,
    /// The time in nanoseconds when the tree began to wait for room in the queue. This is the end of the last flush or
    /// compaction that made room, or the later time when work arrived in an empty queue. `None` while the queue is
    /// empty.
    since_ns: Option<u64>,
}

impl StepQueue {
    /// Records that work waits in the queue since the time `now_ns`. Has no effect if the queue already contains work.
    pub(crate) fn arrive(&mut self, now_ns: u64) {
        self.since_ns.get_or_insert(now_ns);
    }

    /// Records that a flush or a compaction has made room in the queue at the time `now_ns`. `is_empty` is set if the
    /// queue is now empty.
    pub(crate) fn release(&mut self, now_ns: u64, is_empty: bool) {
        if let Some(since) = self.since_ns {
            let interval = now_ns.saturating_sub(since);
            self.interval_ns = Some(match self.interval_ns {
                None => interval,
                Some(smoothed) => (smoothed * (SMOOTHING - 1) + interval) / SMOOTHING,
            });
        }
        self.since_ns = (!is_empty).then_some(now_ns);
    }

    /// Returns the expected time until the next flush or compaction makes room in the queue, in nanoseconds. Returns
    /// `None` if the queue is empty.
    fn until_release(&self, now_ns: u64) -> Option<u64> {
        let age = now_ns.saturating_sub(self.since_ns?);
        Some(self.interval_ns.unwrap_or(0).saturating_sub(age).max(age))
    }
}

/// The number of bytes that writers may write before the memtables are full, and before level 0 is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The number of bytes that writers may write before the memtables are full.
    pub(crate) memory: u64,
    /// The number of bytes that writers may write before level 0 is full.
    pub(crate) level0: u64,
}

/// The computed delay: how long the writer waits, and after how many bytes the delay is computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charge {
    /// The time that the writer waits, in nanoseconds.
    pub(crate) wait_ns: u64,
    /// The number of bytes that writers may write before the next computation of the delay.
    pub(crate) next_bytes: u64,
}

/// Computes how long a writer waits, so that writers slow down before the memtables or level 0 are full.
#[derive(Debug, Default)]
pub(crate) struct DelayRule {
    /// The queue of memtables that wait for their flush.
    pub(crate) memory: StepQueue,
    /// The queue of level-0 runs that wait for a compaction.
    pub(crate) level0: StepQueue,
    /// The time, in nanoseconds, at which writers would have written all bytes so far if they wrote exactly at the
    /// allowed rate. A writer that arrives earlier waits until this time.
    paid_until_ns: u64,
    /// The time of the last computation of a delay, in nanoseconds.
    charged_at_ns: u64,
}

impl DelayRule {
    /// Computes how long a writer must wait for the `bytes` bytes that were written since the last call. `now_ns` is
    /// the current time in nanoseconds. Returns `None` if both queues are empty, because writers then do not wait.
    pub(crate) fn charge(&mut self, now_ns: u64, bytes: u64, room: Room) -> Option<Charge> {
        let queues = [(&self.memory, room.memory), (&self.level0, room.level0)];
        let prices = queues.into_iter().filter_map(|(queue, room)| {
            let room = room.max(1);
            Some((queue.until_release(now_ns)? as f64 / room as f64, room))
        });
        let charged = prices.max_by(|(one, _), (other, _)| one.total_cmp(other));
        let begun_ns = std::mem::replace(&mut self.charged_at_ns, now_ns);
        let (ns_per_byte, room) = charged?;
        self.paid_until_ns = self.paid_until_ns.max(begun_ns) + (bytes as f64 * ns_per_byte) as u64;
        let due = self.paid_until_ns.saturating_sub(now_ns);
        if due > MOST_WAIT_NS {
            self.paid_until_ns = now_ns + MOST_WAIT_NS;
        }
        let wait_ns = if due < LEAST_WAIT_NS { 0 } else { due.min(MOST_WAIT_NS) };
        let next_bytes = ((QUANTUM_NS / ns_per_byte) as u64).min(room / ROOM_SHARE).max(1);
        Some(Charge { wait_ns, next_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const MILLISECOND: u64 = 1_000_000;

    /// A simulated tree in virtual time, with one writer, memtables of 16 MiB, and flushes of given durations.
    struct Tree {
        now_ns: u64,
        charged: u64,
        frozen: u64,
        most_frozen: u64,
        flush_ends_ns: Option<u64>,
        flushes: u64,
    }

    /// The longest wait and the number of stops during a load.
    #[derive(Debug, Default)]
    struct Met {
        longest_ns: u64,
        stops: u64,
        seconds: f64,
        bytes: u64,
    }

    const MEMTABLE: u64 = 16 * MIB;
    /// The size of a put in bytes, and its duration in nanoseconds without a wait. The rate is 300 MB/s.
    const PUT: (u64, u64) = (150, 500);

    impl Tree {
        fn new(most_frozen: u64) -> Self {
            Self { now_ns: 0, charged: 0, frozen: 0, most_frozen, flush_ends_ns: None, flushes: 0 }
        }

        /// Ends the flushes that are due, and begins the next flush.
        fn flush(&mut self, rule: &mut DelayRule, duration: impl Fn(u64) -> u64) {
            while let Some(end) = self.flush_ends_ns.filter(|end| *end <= self.now_ns) {
                self.frozen -= 1;
                self.flushes += 1;
                rule.memory.release(end, self.frozen == 0);
                self.flush_ends_ns = (self.frozen > 0).then(|| end + duration(self.flushes));
            }
            if self.flush_ends_ns.is_none() && self.frozen > 0 {
                self.flush_ends_ns = Some(self.now_ns + duration(self.flushes));
            }
        }

        /// Writes `memtables` full memtables, with delays if `delays` is set.
        fn load(&mut self, memtables: u64, delays: bool, duration: impl Fn(u64) -> u64) -> Met {
            let (mut rule, mut met) = (DelayRule::default(), Met::default());
            let (mut paid, mut pays_at) = (0, u64::MAX);
            while self.flushes < memtables {
                let start = self.now_ns;
                self.now_ns += PUT.1;
                self.charged += PUT.0;
                met.bytes += PUT.0;
                if delays && self.charged >= pays_at {
                    let room = Room {
                        memory: (self.most_frozen - self.frozen + 1) * MEMTABLE - self.charged.min(MEMTABLE),
                        level0: u64::MAX,
                    };
                    let charge = rule.charge(self.now_ns, self.charged - paid, room);
                    paid = self.charged;
                    pays_at = charge.map_or(u64::MAX, |charge| self.charged + charge.next_bytes);
                    self.now_ns += charge.map_or(0, |charge| charge.wait_ns);
                }
                self.flush(&mut rule, &duration);
                if self.charged >= MEMTABLE {
                    if self.frozen == self.most_frozen {
                        met.stops += 1;
                        self.now_ns = self.flush_ends_ns.unwrap();
                        self.flush(&mut rule, &duration);
                    }
                    self.frozen += 1;
                    rule.memory.arrive(self.now_ns);
                    (self.charged, paid, pays_at) = (0, 0, 0);
                    self.flush(&mut rule, &duration);
                }
                met.longest_ns = met.longest_ns.max(self.now_ns - start);
            }
            met.seconds = self.now_ns as f64 / 1e9;
            met
        }
    }

    #[test]
    fn no_writer_stops_and_the_rate_stays() {
        // Writers fill a memtable in 56 ms. A flush takes 100 ms.
        let duration = |_| 100 * MILLISECOND;
        for (most_frozen, most_cost) in [(1, 1.15), (2, 1.01), (4, 1.01)] {
            let stopped = Tree::new(most_frozen).load(50, false, duration);
            let delayed = Tree::new(most_frozen).load(50, true, duration);
            assert!(stopped.stops > 40 && stopped.longest_ns > 40 * MILLISECOND, "{stopped:?}");
            assert_eq!(delayed.stops, 0, "{delayed:?}");
            assert!(delayed.longest_ns < 2 * MILLISECOND, "{delayed:?}");
            assert!(delayed.seconds < stopped.seconds * most_cost, "{delayed:?} {stopped:?}");
        }
    }

    #[test]
    fn a_flush_that_hangs_delays_writes_and_stops_none() {
        let duration = |flush: u64| if flush % 10 == 9 { 1500 * MILLISECOND } else { 100 * MILLISECOND };
        let stopped = Tree::new(2).load(40, false, duration);
        let delayed = Tree::new(2).load(40, true, duration);
        assert!(stopped.longest_ns > 1000 * MILLISECOND, "{stopped:?}");
        assert_eq!(delayed.stops, 0, "{delayed:?}");
        assert!(delayed.longest_ns < 2 * MILLISECOND, "{delayed:?}");
        assert!(delayed.seconds < stopped.seconds * 1.03, "{delayed:?} {stopped:?}");
    }

    #[test]
    fn writers_slower_than_flushes_are_not_delayed() {
        let met = Tree::new(2).load(50, true, |_| 20 * MILLISECOND);
        assert!(met.seconds < 50.5 * MEMTABLE as f64 / PUT.0 as f64 * PUT.1 as f64 / 1e9, "{met:?}");
    }

    #[test]
    fn the_price_is_the_expected_time_by_the_room() {
        let mut rule = DelayRule::default();
        let room = Room { memory: 1000, level0: 500 };
        assert_eq!(rule.charge(40_000_000, 100, room), None);
        rule.memory.arrive(0);
        rule.memory.release(40_000_000, false);
        // The next release is expected in 40 ms, and the room is 1000 bytes, so the delay is 40 µs per byte.
        let charge = rule.charge(40_000_000, 100, room).unwrap();
        assert_eq!((charge.wait_ns, charge.next_bytes), (4_000_000, 12));
        // An overdue release is expected to take as long again, in this case 80 ms.
        let charge = rule.charge(120_000_000, 100, room).unwrap();
        assert_eq!((charge.wait_ns, charge.next_bytes), (0, 6));
        // The delay for level 0 is longer: 80 ms for 500 bytes are 160 µs per byte. No write waits longer than 4 ms.
        rule.level0.arrive(40_000_000);
        let charge = rule.charge(120_000_000, 100, room).unwrap();
        assert_eq!(charge, Charge { wait_ns: MOST_WAIT_NS, next_bytes: 3 });
        rule.memory.release(130_000_000, true);
        rule.level0.release(130_000_000, true);
        assert_eq!(rule.charge(130_000_000, 100, room), None);
    }
}
