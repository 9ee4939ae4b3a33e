//! The numbers of kernel events of this process so far, such as page faults and context switches.

use nix::sys::resource::{UsageWho, getrusage};

use crate::probe;

/// The numbers of kernel events of this process up to a point in time, such as page faults. `None` means that the
/// operating system does not report the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelUse {
    /// Voluntary context switches: a thread had to wait, for example for a lock or for a device.
    pub context_switches: Option<u64>,
    /// Involuntary context switches: the kernel gave the CPU to another thread, although the thread could have
    /// continued.
    pub preemptions: Option<u64>,
    /// Page faults without I/O.
    pub page_faults: Option<u64>,
    /// Page faults that read from storage.
    pub major_page_faults: Option<u64>,
    /// Total time in nanoseconds during which threads that still exist were ready to run but had no CPU.
    pub run_queue_ns: Option<u64>,
    /// Time that the hypervisor took from all CPUs of the machine, in nanoseconds.
    pub stolen_ns: Option<u64>,
}

impl KernelUse {
    /// Reads the current numbers of events.
    pub fn read() -> Self {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
        let count = |of: fn(&nix::sys::resource::Usage) -> i64| {
            usage.as_ref().and_then(|usage| u64::try_from(of(usage)).ok())
        };
        Self {
            context_switches: count(nix::sys::resource::Usage::voluntary_context_switches),
            preemptions: count(nix::sys::resource::Usage::involuntary_context_switches),
            page_faults: count(nix::sys::resource::Usage::minor_page_faults),
            major_page_faults: count(nix::sys::resource::Usage::major_page_faults),
            run_queue_ns: probe::run_queue_wait_ns(),
            stolen_ns: probe::stolen_ns(),
        }
    }

    /// Returns the numbers of events since the earlier reading `before`. A number is `None` if a reading lacks it, or
    /// if it has become smaller, for example because threads have ended.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        // The waits of threads that have ended are missing now, so a difference may be negative.
        let since =
            |now: Option<u64>, before: Option<u64>| now.zip(before).and_then(|(n, b)| n.checked_sub(b));
        Self {
            context_switches: since(self.context_switches, before.context_switches),
            preemptions: since(self.preemptions, before.preemptions),
            page_faults: since(self.page_faults, before.page_faults),
            major_page_faults: since(self.major_page_faults, before.major_page_faults),
            run_queue_ns: since(self.run_queue_ns, before.run_queue_ns),
            stolen_ns: since(self.stolen_ns, before.stolen_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn touched_pages_and_sleeps_are_counted() {
        let before = KernelUse::read();
        // Pages of fresh memory fault at their first write.
        let memory = vec![1_u8; 64 << 20];
        (0..20).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
        let events = KernelUse::read().since(&before);
        assert!(std::hint::black_box(&memory)[1 << 20] == 1);
        // Huge pages of 2 MiB need fewest.
        assert!(events.page_faults.is_some_and(|faults| faults >= 32), "{events:?}");
        assert!(events.context_switches.is_some_and(|switches| switches >= 20), "{events:?}");
        assert_eq!(before.since(&KernelUse::read()).page_faults, None, "time does not run backwards");
    }
}
