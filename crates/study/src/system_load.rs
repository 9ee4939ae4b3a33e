//! Measures the load of the machine: its CPUs, its disks and its memory.

/// The load of the machine, as shares from 0 (idle) to 1 (fully used).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SystemLoad {
    /// The share of the time of all CPUs that was not idle.
    pub(crate) cpu: f64,
    /// The share of the time in which the busiest disk had pending requests.
    pub(crate) io: f64,
    /// The share of the memory that is not available to programs.
    pub(crate) memory: f64,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Snapshot;

#[cfg(not(target_os = "linux"))]
pub(crate) use other::Snapshot;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;

    use procfs::{Current, CurrentSI, DiskStats, KernelStats, Meminfo};

    use super::SystemLoad;

    /// The load counters of the kernel at one point in time.
    #[derive(Clone, Debug)]
    pub(crate) struct Snapshot {
        /// The number of clock ticks in which CPUs were not idle, summed over all CPUs.
        busy_ticks: u64,
        /// The number of all clock ticks, summed over all CPUs.
        ticks: u64,
        cpus: u64,
        /// For each disk, by its device numbers, the milliseconds in which it had requests.
        disks: HashMap<(i32, i32), u64>,
        /// The share of the memory that is not available to programs.
        memory: f64,
    }

    impl Snapshot {
        /// Reads the load counters of the kernel. Returns `None` if the kernel does not report them.
        pub(crate) fn now() -> Option<Self> {
            let stats = KernelStats::current().ok()?;
            let time = &stats.total;
            let others = [time.irq, time.softirq, time.steal].into_iter().flatten().sum::<u64>();
            let busy_ticks = time.user + time.nice + time.system + others;
            let memory = Meminfo::current().ok()?;
            let disks = DiskStats::current().map(|disks| disks.0).unwrap_or_default();
            Some(Self {
                busy_ticks,
                ticks: busy_ticks + time.idle + time.iowait.unwrap_or(0),
                cpus: stats.cpu_time.len().max(1) as u64,
                disks: disks.iter().map(|disk| ((disk.major, disk.minor), disk.time_in_progress)).collect(),
                memory: 1.0 - memory.mem_available? as f64 / memory.mem_total.max(1) as f64,
            })
        }

        /// Returns the load between an earlier snapshot and this snapshot. Returns `None` if the CPU-time counters did
        /// not change between the snapshots.
        pub(crate) fn since(&self, before: &Self) -> Option<SystemLoad> {
            let ticks = self.ticks.checked_sub(before.ticks).filter(|ticks| *ticks > 0)? as f64;
            let busy = self.busy_ticks.saturating_sub(before.busy_ticks) as f64;
            let elapsed_ms = ticks / self.cpus as f64 * 1000.0 / procfs::ticks_per_second() as f64;
            let busy_ms = self.disks.iter().map(|(disk, now)| {
                before.disks.get(disk).map_or(0, |before| now.saturating_sub(*before)) as f64
            });
            Some(SystemLoad {
                cpu: (busy / ticks).min(1.0),
                io: (busy_ms.fold(0.0, f64::max) / elapsed_ms).min(1.0),
                memory: self.memory,
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn loads_are_shares_of_the_time_between_two_snapshots() {
            let ticks_per_second = procfs::ticks_per_second();
            let before = Snapshot {
                busy_ticks: 100,
                ticks: 1000,
                cpus: 2,
                disks: HashMap::from([((8, 0), 500), ((8, 1), 0)]),
                memory: 0.1,
            };
            // One second passes: two seconds of two CPUs.
            let after = Snapshot {
                busy_ticks: 100 + ticks_per_second,
                ticks: 1000 + 2 * ticks_per_second,
                cpus: 2,
                disks: HashMap::from([((8, 0), 750), ((8, 1), 900), ((8, 2), 5000)]),
                memory: 0.25,
            };
            let load = after.since(&before).unwrap();
            assert_eq!(
                load,
                SystemLoad { cpu: 0.5, io: 0.9, memory: 0.25 },
                "a disk without an earlier measurement must not count"
            );
            assert_eq!(before.since(&before), None);
            assert_eq!(before.since(&after), None, "counters that decrease must give no load");
        }

        #[test]
        fn the_kernel_reports_its_counters() {
            let snapshot = Snapshot::now().unwrap();
            assert!(snapshot.ticks >= snapshot.busy_ticks && snapshot.busy_ticks > 0);
            assert!((0.0..1.0).contains(&snapshot.memory));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::SystemLoad;

    /// The load counters on an operating system that does not report them.
    #[derive(Clone, Debug)]
    pub(crate) struct Snapshot;

    impl Snapshot {
        /// Returns `None`, because this operating system does not report load counters.
        pub(crate) fn now() -> Option<Self> {
            None
        }

        /// Returns `None`, because this operating system does not report load counters.
        pub(crate) fn since(&self, _: &Self) -> Option<SystemLoad> {
            None
        }
    }
}
