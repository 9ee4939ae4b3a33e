//! Checks this machine for known sources of timing noise. If a check finds a problem, its finding contains advice about
//! the next step.
//!
//! Sources: Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!" (ASPLOS 2009); Didona et
//! al., "Toward a Better Understanding and Evaluation of Tree Structures on Flash SSDs" (VLDB 2021); the tuning notes
//! of LLVM's and Rust's benchmark machines.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use measure::{Clock, CounterScope, Counters, probe};
use results::{MachineFinding, MachineInfo};
use trial::{Limits, free_memory as memory};
use types::{NotOnPlatform, Platform};

/// The largest load average per core that the check accepts. A higher load means that other programs use the CPUs.
const MOST_LOAD: f64 = 0.25;

/// The smallest fraction of free space on the disk that the check accepts. A nearly full flash device writes more
/// slowly.
const LEAST_FREE: f64 = 0.2;

/// The largest accepted speedup of writes to free memory if the same amount of memory is written a second time. A
/// larger speedup means that the hypervisor takes free memory back. CPU caches explain smaller speedups.
const MOST_GAIN: f64 = 3.0;

/// The longest accepted time of a clock reading, in nanoseconds. A slower clock disturbs the measured operations.
const MOST_CLOCK_NS: f64 = 60.0;

/// The functions that check the machine, in the order of the report.
const CHECKS: [fn(&Subject) -> MachineFinding; 19] = [
    build,
    system,
    load,
    virtual_machine,
    cores,
    quota,
    siblings,
    governor,
    turbo,
    huge_pages,
    swap,
    free_memory,
    clock,
    limits,
    hardware_counters,
    file_system,
    device,
    scheduler,
    free_space,
];

/// The subject of all checks: the machine, and the folder for the data of runs.
struct Subject {
    machine: MachineInfo,
    folder: PathBuf,
}

/// Checks this machine for sources of timing noise. `folder` is the folder for the data of runs.
pub fn examine(machine: &MachineInfo, folder: &Path) -> Vec<MachineFinding> {
    let subject = Subject { machine: machine.clone(), folder: folder.to_owned() };
    CHECKS.iter().map(|check| check(&subject)).collect()
}

/// Creates the finding of one check of the machine. `advice` explains how to fix the problem, and is `None` if the
/// check found no problem.
fn finding(check: &str, value: impl Into<Option<String>>, advice: Option<&str>) -> MachineFinding {
    MachineFinding { check: check.to_owned(), value: value.into(), advice: advice.map(str::to_owned) }
}

fn build(_: &Subject) -> MachineFinding {
    let debug = cfg!(debug_assertions);
    let advice = "a debug build of lsmbench gives no valid times; build lsmbench with --release";
    let value = if debug { "debug" } else { "release" };
    finding("build", value.to_owned(), debug.then_some(advice))
}

/// Returns a finding about the operating system, the CPU architecture, and the features of lsmbench that do not work on
/// this system. This finding never has advice.
fn system(_: &Subject) -> MachineFinding {
    let missing: Vec<&str> = Platform::HERE.missing_parts().map(|missing| missing.part().name()).collect();
    let value = match missing[..] {
        [] => Platform::HERE.to_string(),
        _ => format!("{}; not on this system: {}", Platform::HERE, missing.join(", ")),
    };
    finding("system", value, None)
}

fn load(subject: &Subject) -> MachineFinding {
    let Some([load, ..]) = subject.machine.load_average else { return finding("load", None, None) };
    let cores = subject.machine.cores.unwrap_or(1) as f64;
    let advice = "other programs use the CPUs, so measured times vary; end these programs, or wait";
    let busy = load > cores * MOST_LOAD;
    finding("load", format!("load average {load:.1} on {cores} cores"), busy.then_some(advice))
}

fn virtual_machine(_: &Subject) -> MachineFinding {
    let is_virtual = probe::is_virtual();
    let advice =
        "other virtual machines may share caches and memory with this machine; compare only times of one run";
    let value = is_virtual
        .map(|yes| if yes { "virtual" } else { "no virtual machine, according to the CPU" }.to_owned());
    finding("machine", value, (is_virtual == Some(true)).then_some(advice))
}

fn cores(subject: &Subject) -> MachineFinding {
    let Some(cores) = subject.machine.cores else { return finding("cores", None, None) };
    let advice = "flushes and compactions share the CPUs with the measured threads; use a machine with four or more CPUs";
    finding("cores", cores.to_string(), (cores < 4).then_some(advice))
}

fn quota(_: &Subject) -> MachineFinding {
    let limit = read("/sys/fs/cgroup/cpu.max").filter(|limit| !limit.starts_with("max"));
    let advice = "the cgroup stops all threads when its CPU quota is used up; remove the quota";
    let is_limited = limit.is_some();
    let value = limit.or_else(|| cfg!(target_os = "linux").then(|| "none".to_owned()));
    finding("CPU quota", value, is_limited.then_some(advice))
}

fn siblings(_: &Subject) -> MachineFinding {
    let active = read("/sys/devices/system/cpu/smt/active");
    let shared = active.as_deref() == Some("1");
    let advice = "two hardware threads share the caches and execution units of a core, so they slow each \
                  other down; disable SMT, or leave every second CPU idle";
    let value =
        active.map(|_| if shared { "two threads per core" } else { "one thread per core" }.to_owned());
    finding("hyper-threading", value, shared.then_some(advice))
}

fn governor(_: &Subject) -> MachineFinding {
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let slow = governor.as_deref().is_some_and(|governor| governor != "performance");
    let advice = "the CPU frequency follows the load; run cpupower frequency-set --governor performance";
    finding("frequency governor", governor, slow.then_some(advice))
}

fn turbo(_: &Subject) -> MachineFinding {
    let intel = read("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    let on = intel.or_else(|| read("/sys/devices/system/cpu/cpufreq/boost").map(|on| on == "1"));
    let advice = "with turbo, the CPU frequency falls as the CPU warms up; disable turbo in the firmware or \
                  in /sys/devices/system/cpu";
    finding(
        "turbo",
        on.map(|on| if on { "on" } else { "off" }.to_owned()),
        (on == Some(true)).then_some(advice),
    )
}

fn huge_pages(_: &Subject) -> MachineFinding {
    let modes = read("/sys/kernel/mm/transparent_hugepage/enabled");
    let mode =
        modes.as_deref().and_then(|modes| Some(modes.split_once('[')?.1.split_once(']')?.0.to_owned()));
    let never = mode.as_deref() == Some("never");
    let advice = "large filters and fence pointers get no huge pages, so more of their accesses miss the \
                  TLB; set /sys/kernel/mm/transparent_hugepage/enabled to madvise";
    finding("transparent huge pages", mode, never.then_some(advice))
}

fn swap(_: &Subject) -> MachineFinding {
    let used = probe::used_swap_bytes();
    let advice =
        "the kernel may read swapped memory back during a measurement; free memory, or run swapoff -a";
    let value = used.map(|used| plot::format_value(used as f64, results::Unit::Bytes) + " used");
    finding("swap", value, used.is_some_and(|used| used > 0).then_some(advice))
}

fn free_memory(_: &Subject) -> MachineFinding {
    let advice = "the hypervisor takes free memory back, so the first write to a page is slow; set trials.warm_memory = \"512MiB\"";
    let cost = memory::cost();
    let taken = cost.as_ref().is_some_and(|cost| cost.again > cost.first * MOST_GAIN);
    let value = cost.map(|memory::Cost { first, again }| {
        format!("first write to memory: {:.1} GB/s, second write: {:.1} GB/s", first / 1e9, again / 1e9)
    });
    finding("free memory", value, taken.then_some(advice))
}

fn clock(_: &Subject) -> MachineFinding {
    let clock = Clock::new();
    let cost = clock.cost_ns();
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let source = source.map_or_else(String::new, |source| format!(", kernel clock source {source}"));
    let advice = "reading the clock is slow; time one operation in a hundred (trials.sampling = 100)";
    let value = format!("{}, {cost:.0} ns per reading{source}", clock.source());
    finding("clock", value, (cost > MOST_CLOCK_NS).then_some(advice))
}

/// Returns a finding about the largest plausible results on this machine: the speed of the CPU, of copies, and of the
/// clock. This finding never has advice.
fn limits(_: &Subject) -> MachineFinding {
    let Limits { bytes_per_second, cycles_per_second, clock_ns, .. } = Limits::of_this_machine();
    let value = format!(
        "CPU {:.1} GHz, copies {:.0} GB/s, clock readings {clock_ns:.0} ns; lsmbench marks results beyond these limits \
         as implausible",
        cycles_per_second / 1e9,
        bytes_per_second / 1e9
    );
    finding("limits", value, None)
}

/// Returns a finding about the available hardware counters. This finding never has advice, because missing counters do
/// not affect times.
fn hardware_counters(_: &Subject) -> MachineFinding {
    finding("hardware counters", counted(Counters::of_processor().opened()), None)
}

/// Describes which hardware counters this machine has, and why the others are missing.
fn counted<'a>(
    events: impl Iterator<Item = (&'static str, Result<CounterScope, &'a std::io::Error>)>,
) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, opened) in events {
        let how = match opened {
            Ok(CounterScope::Everywhere) => "counted".to_owned(),
            Ok(CounterScope::UserSpace) => {
                "counted only in user space, because kernel.perf_event_paranoid forbids counting in the \
                 kernel"
                    .to_owned()
            }
            Err(error) if is_missing(error) => format!("not counted: {error}"),
            Err(error) => match error.kind() {
                ErrorKind::PermissionDenied => {
                    format!(
                        "not counted, because kernel.perf_event_paranoid or the container forbids it ({error})"
                    )
                }
                ErrorKind::NotFound | ErrorKind::Unsupported => {
                    format!(
                        "not counted, because the CPU does not offer this counter to this machine ({error})"
                    )
                }
                _ => format!("not counted: {error}"),
            },
        };
        match reasons.iter_mut().find(|(known, _)| *known == how) {
            Some((_, names)) => names.push(name),
            None => reasons.push((how, vec![name])),
        }
    }
    reasons.iter().map(|(how, names)| format!("{}: {how}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

/// Returns whether an error means that lsmbench does not support a feature on this operating system or CPU.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.get_ref(), Some(inner) if inner.is::<NotOnPlatform>())
}

fn file_system(subject: &Subject) -> MachineFinding {
    let kind = subject.machine.file_system.clone();
    let advice = match kind.as_deref() {
        Some("tmpfs" | "ramfs") => {
            Some("this file system is in memory, so a sync costs nothing; give --out a folder on a disk")
        }
        Some("overlay" | "nfs" | "nfs4" | "9p" | "fuse" | "fuseblk" | "virtiofs") => Some(
            "reads and writes pass through a software layer above the disk; give --out a folder on a local disk",
        ),
        _ => None,
    };
    finding("file system", kind, advice)
}

fn device(subject: &Subject) -> MachineFinding {
    let rotational = subject.queue("rotational").map(|rotational| rotational == "1");
    let name = subject.machine.device.clone().unwrap_or_default();
    let advice = "the disk rotates, so times depend on the position of files; give --out a folder on an SSD";
    let value = rotational.map(|yes| format!("{name}, {}", if yes { "rotates" } else { "does not rotate" }));
    finding("device", value, (rotational == Some(true)).then_some(advice))
}

fn scheduler(subject: &Subject) -> MachineFinding {
    let all = subject.queue("scheduler");
    let chosen = all.as_deref().and_then(|all| Some(all.split_once('[')?.1.split_once(']')?.0.to_owned()));
    let slow = matches!(chosen.as_deref(), Some("bfq" | "cfq"));
    let advice = "the I/O scheduler delays requests for fairness; write \"none\" or \"mq-deadline\" to \
                  /sys/block/DISK/queue/scheduler";
    finding("I/O scheduler", chosen, slow.then_some(advice))
}

fn free_space(subject: &Subject) -> MachineFinding {
    let share = probe::free_share(&subject.folder);
    let advice = "the disk is nearly full, and a full SSD writes slowly; free at least 20 % of the disk";
    let value = share.map(|share| format!("{:.0} %", share * 100.0));
    finding("free space", value, share.is_some_and(|share| share < LEAST_FREE).then_some(advice))
}

impl Subject {
    /// Reads a property of the I/O queue of the disk from the kernel, such as `scheduler`. For a partition, reads the
    /// property of the whole disk.
    fn queue(&self, property: &str) -> Option<String> {
        let name = Path::new(self.machine.device.as_ref()?).file_name()?.to_str()?.to_owned();
        let block = |name: &str| read(&format!("/sys/class/block/{name}/queue/{property}"));
        block(&name).or_else(|| {
            let partition = std::fs::canonicalize(format!("/sys/class/block/{name}")).ok()?;
            block(partition.parent()?.file_name()?.to_str()?)
        })
    }
}

/// Returns the content of a kernel file without white space at its start and end. Returns `None` if the file cannot be
/// read.
fn read(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use types::PlatformPart;

    use super::*;

    #[test]
    fn what_is_a_concern_comes_with_advice() {
        let machine = MachineInfo {
            load_average: Some([7.5, 1.0, 1.0]),
            cores: Some(2),
            file_system: Some("tmpfs".to_owned()),
            ..MachineInfo::default()
        };
        let findings = examine(&machine, Path::new("."));
        let of = |check: &str| findings.iter().find(|finding| finding.check == check).unwrap();
        assert_eq!(of("load").value.as_deref(), Some("load average 7.5 on 2 cores"));
        assert!(of("system").value.as_ref().unwrap().starts_with(&Platform::HERE.to_string()));
        assert!(of("load").advice.as_ref().unwrap().contains("other programs use the CPUs"));
        assert!(of("file system").advice.as_ref().unwrap().contains("memory"));
        assert!(of("cores").advice.is_some());
        // A device without a name has no finding.
        assert_eq!(of("device"), &finding("device", None, None));
        assert!(of("clock").value.as_ref().unwrap().contains("ns per reading"));
        let quiet = MachineInfo { load_average: Some([0.1; 3]), cores: Some(16), ..MachineInfo::default() };
        let findings = examine(&quiet, Path::new("."));
        let concerned: Vec<&str> =
            findings.iter().filter(|finding| finding.advice.is_some()).map(|f| f.check.as_str()).collect();
        assert!(!concerned.contains(&"load") && !concerned.contains(&"cores"), "{concerned:?}");
    }

    #[test]
    fn hardware_counters_say_where_they_count_and_why_they_do_not() {
        let [no_counter, forbidden] = [ErrorKind::NotFound, ErrorKind::PermissionDenied].map(Error::from);
        let (everywhere, user) = (Ok(CounterScope::Everywhere), Ok(CounterScope::UserSpace));
        for (events, told) in [
            ([("a", everywhere), ("b", everywhere)], "a, b: counted"),
            (
                [("a", user), ("b", Err(&no_counter))],
                "a: counted only in user space, because kernel.perf_event_paranoid forbids counting in the kernel; \
                 b: not counted, because the CPU does not offer this counter to this machine (entity not found)",
            ),
            (
                [("a", Err(&forbidden)), ("b", Err(&forbidden))],
                "a, b: not counted, because kernel.perf_event_paranoid or the container forbids it (permission denied)",
            ),
        ] {
            assert_eq!(counted(events.into_iter()), told);
        }
        let missing = Error::from(PlatformPart::HardwareCounters.missing());
        assert_eq!(counted([("a", Err(&missing))].into_iter()), format!("a: not counted: {missing}"));
        let here = examine(&MachineInfo::default(), Path::new("."));
        let here = here.iter().find(|finding| finding.check == "hardware counters").unwrap();
        assert!(here.value.as_ref().unwrap().starts_with("cycles"), "{here:?}");
        assert_eq!(here.advice, None, "times are right without them");
    }
}
