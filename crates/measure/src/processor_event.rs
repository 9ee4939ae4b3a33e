//! The CPU events that lsmbench counts, and the count of one event.

/// An event that a hardware counter of the CPU can count, such as cache misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessorEvent {
    Cycles,
    Instructions,
    CacheReferences,
    CacheMisses,
    BranchMisses,
}

/// The number of CPU events that lsmbench counts.
pub const PROCESSOR_EVENTS: usize = 5;

impl ProcessorEvent {
    /// All events that lsmbench counts, in the order of the columns in results.
    pub(crate) const ALL: [Self; PROCESSOR_EVENTS] =
        [Self::Cycles, Self::Instructions, Self::CacheReferences, Self::CacheMisses, Self::BranchMisses];

    /// Returns the name of the event in messages, such as `cache misses`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::CacheReferences => "cache references",
            Self::CacheMisses => "cache misses",
            Self::BranchMisses => "branch misses",
        }
    }
}

/// Whether a counter counts events everywhere, or only in user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterScope {
    /// Events are counted in user space and in the kernel.
    Everywhere,
    /// Events are counted only in user space, because the kernel does not permit this process to count events in the
    /// kernel.
    UserSpace,
}

/// A reading of an event counter, with the times that show for how long the kernel counted the event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) events: u64,
    /// The total time for which the counter was enabled in all threads, in nanoseconds.
    pub(crate) enabled_ns: u64,
    /// The time during which the kernel counted the event, in nanoseconds. The CPU may have fewer counters than events,
    /// so this time can be shorter than `enabled_ns`.
    pub(crate) running_ns: u64,
}

impl Count {
    /// Returns the number of events since the reading `before`. If the kernel counted the event only part of this time,
    /// the number is scaled up to the full time. Returns `None` if the kernel did not count the event during this time.
    pub(crate) fn since(self, before: Self) -> Option<u64> {
        let events = self.events.saturating_sub(before.events);
        let enabled_ns = self.enabled_ns.saturating_sub(before.enabled_ns);
        match self.running_ns.saturating_sub(before.running_ns) {
            0 => None,
            running_ns if running_ns >= enabled_ns => Some(events),
            running_ns => Some((u128::from(events) * u128::from(enabled_ns) / u128::from(running_ns)) as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_by_turns_stands_for_all_the_time() {
        let count = |events, enabled_ns, running_ns| Count { events, enabled_ns, running_ns };
        let before = count(1_000, 500, 100);
        assert_eq!(count(1_300, 900, 500).since(before), Some(300), "it counted all the time");
        assert_eq!(count(1_300, 900, 200).since(before), Some(1_200), "it counted a quarter of it");
        assert_eq!(count(1_000, 900, 100).since(before), None, "it had no turn");
        let (hour_ns, half_ns) = (3_600_000_000_000, 1_800_000_000_000);
        assert_eq!(
            count(1 << 44, hour_ns, half_ns).since(count(0, 0, 0)),
            Some(1 << 45),
            "at 5 GHz for an hour"
        );
    }
}
