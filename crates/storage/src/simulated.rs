//! Files in memory with a model of a device. The model computes the time that a design needs on a device that the
//! machine does not have.
//!
//! In `timed` mode, callers wait as long as the device would take. If the device is busy, callers also wait for earlier
//! requests. In `counted` mode, callers do not wait. The device only adds up the time of all requests, which is equal
//! on every machine and in every run.
//!
//! **The model.** The device serves at most `queue_depth` requests at a time, one per lane. All lanes share one
//! bandwidth. A request first occupies a lane for the latency of the device. The device then transfers the bytes of the
//! request, one request at a time. After the last byte, the lane is free again. The device serves requests in the order
//! of arrival:
//!
//! > arrived = max(now, lane free) + latency; done = max(arrived, last transfer done) + bytes / bandwidth
//!
//! A single read therefore takes latency + bytes / bandwidth. If the number of concurrent reads is at most the number
//! of lanes, all reads together take the latency once, plus the sum of their bytes / bandwidth. On a hard disk, an
//! access has no latency if it begins where the last access ended, in the same open file. The arm then does not move.
//! Appends to a file are buffered until 1 MiB is reached, the file is synced, or the writer of the file is dropped. All
//! appends in the buffer form one request. A sync then adds its own latency, if bytes were appended since the last
//! sync. A sync of a directory takes the latency of a sync. All other calls, such as open and rename, take no time.
//!
//! The reported device time is the sum of the times of all calls. The time of a call is the time that it would take on
//! an idle device.
//!
//! If `pause` is set, the device serves no request during this time at the end of every period of its clock. A request
//! that arrives or would finish in a pause finishes after the pause. The mode `counted` has no pauses, because pauses
//! depend on the clock.
//!
//! **The presets** are rounded values for classes of devices:
//! * `hdd`: data sheets of 7200 rpm drives (average seek 8 ms, half a turn 4.2 ms, 200 to 270 MB/s). A sync waits for
//!   one rotation of the disk;
//! * `sata-ssd`: data sheets of consumer drives (one random read in 77 µs at depth 1, 98 k/s at depth 32, 560 and 530
//!   MB/s). Without power-loss protection, a sync takes milliseconds;
//! * `nvme`: data sheets of server drives (80 µs and 20 µs, 0.8 to 1 M reads/s, 6 and 3 GB/s). A sync of such drives
//!   takes almost no time, because they have capacitors;
//! * `object-store`: Durner, Leis, Neumann, "Exploiting Cloud Object Storage for High-Performance Analytics" (VLDB
//!   2023). The first byte arrives after about 30 ms, and a bandwidth of 100 Gbit/s needs hundreds of concurrent
//!   requests. A completed put is durable.
//!
//! **Not modeled**: a page cache for reads, caches in the device, zones and seek distances, reordering in the queue,
//! wear and variance. Without a pause, the model gives no meaningful tail latencies.

mod device;
mod setting;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use catalog::{Build, ByteSize, Count, Limit, Time, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

use self::device::{Device, Profile};
use self::setting::Setting;
use crate::memory::Memory;
use crate::storage::{DeviceTime, Purpose, ReadFile, Storage, StorageError, WriteFile};

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<Simulated>(
    "simulated",
    "files in memory with a device model; timed runs wait for the modeled time, and counted runs only sum it",
    "# Class of the modeled device. Valid values: \"hdd\", \"sata-ssd\", \"nvme\", \"object-store\". With\n\
     # \"preset\", another parameter takes the value of this device class.\n\
     device = \"nvme\"\n\
     # Time from a read request to its first byte, such as \"80us\".\n\
     read_latency = \"preset\"\n\
     # Time from a write request to its first byte, such as \"80us\".\n\
     write_latency = \"preset\"\n\
     # Additional time of a sync, such as \"80us\".\n\
     sync_latency = \"preset\"\n\
     # Read bandwidth in bytes per second, such as \"500MB\".\n\
     read_bandwidth = \"preset\"\n\
     # Write bandwidth in bytes per second, such as \"500MB\".\n\
     write_bandwidth = \"preset\"\n\
     # Number of requests that the device serves concurrently.\n\
     queue_depth = \"preset\"\n\
     # Length of a pause in which the device serves no request, like a drive during garbage collection.\n\
     # Counted runs have no pauses.\n\
     pause = \"0s\"\n\
     # Time from the start of one pause to the start of the next pause.\n\
     pause_every = \"1s\"\n",
)
.limited(&[Limit::NotDurable]);

/// The number of appended bytes that are buffered before they are sent to the modeled device as one request.
const WRITE_BYTES: u64 = 1 << 20;

/// The storage back end `simulated`: files in memory, with a model of a device.
struct Simulated {
    memory: Memory,
    device: Arc<Device>,
    next_file: AtomicU64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    device: Class,
    read_latency: Setting<Time>,
    write_latency: Setting<Time>,
    sync_latency: Setting<Time>,
    read_bandwidth: Setting<ByteSize>,
    write_bandwidth: Setting<ByteSize>,
    queue_depth: Setting<Count>,
    pause: Time,
    pause_every: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            device: Class::default(),
            read_latency: Setting::Preset,
            write_latency: Setting::Preset,
            sync_latency: Setting::Preset,
            read_bandwidth: Setting::Preset,
            write_bandwidth: Setting::Preset,
            queue_depth: Setting::Preset,
            pause: Time(0),
            pause_every: Time(1_000_000_000),
        }
    }
}

/// The class of the modeled device. Each class has a preset of parameters.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Class {
    Hdd,
    SataSsd,
    #[default]
    Nvme,
    ObjectStore,
}

impl Class {
    /// Returns the parameters of a device of this class.
    fn profile(self) -> Profile {
        const US: u64 = 1_000;
        const MS: u64 = 1_000_000;
        const MB: u64 = 1_000_000;
        let [read_latency_ns, write_latency_ns, sync_latency_ns] = match self {
            Self::Hdd => [12 * MS, 12 * MS, 8 * MS],
            Self::SataSsd => [80 * US, 30 * US, 2 * MS],
            Self::Nvme => [80 * US, 20 * US, 20 * US],
            Self::ObjectStore => [30 * MS, 50 * MS, 0],
        };
        let (read_bandwidth, write_bandwidth, queue_depth) = match self {
            Self::Hdd => (200 * MB, 200 * MB, 1),
            Self::SataSsd => (560 * MB, 530 * MB, 8),
            Self::Nvme => (6_000 * MB, 3_000 * MB, 64),
            Self::ObjectStore => (10_000 * MB, 10_000 * MB, 256),
        };
        Profile {
            read_latency_ns,
            write_latency_ns,
            sync_latency_ns,
            read_bandwidth,
            write_bandwidth,
            queue_depth,
            has_arm: matches!(self, Self::Hdd),
            pause_ns: 0,
            pause_period_ns: 0,
        }
    }
}

impl Build<dyn Storage> for Simulated {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Storage>, String> {
        let preset = params.device.profile();
        let latency = |own: Setting<Time>, preset| own.value().map_or(preset, |time| time.0);
        let bandwidth = |own: Setting<ByteSize>, preset| own.value().map_or(preset, |bytes| bytes.0);
        let profile = Profile {
            read_latency_ns: latency(params.read_latency, preset.read_latency_ns),
            write_latency_ns: latency(params.write_latency, preset.write_latency_ns),
            sync_latency_ns: latency(params.sync_latency, preset.sync_latency_ns),
            read_bandwidth: bandwidth(params.read_bandwidth, preset.read_bandwidth),
            write_bandwidth: bandwidth(params.write_bandwidth, preset.write_bandwidth),
            queue_depth: params.queue_depth.value().map_or(preset.queue_depth, |depth| depth.0),
            has_arm: preset.has_arm,
            pause_ns: params.pause.0,
            pause_period_ns: params.pause_every.0,
        };
        profile.validate()?;
        Ok(Box::new(Self {
            memory: Memory::default(),
            device: Arc::new(Device::new(profile)),
            next_file: AtomicU64::new(0),
        }))
    }
}

impl Simulated {
    fn new_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }
}

impl Storage for Simulated {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        let (inner, device) = (self.memory.create(path, purpose)?, Arc::clone(&self.device));
        Ok(Box::new(SimulatedWriter { inner, device, file: self.new_file(), written: 0, is_synced: true }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let (inner, device) = (self.memory.open(path, purpose)?, Arc::clone(&self.device));
        Ok(Arc::new(SimulatedFile { inner, device, file: self.new_file() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.memory.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.memory.remove(path)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.memory.hard_link(existing, new)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.memory.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.memory.create_directory(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.memory.sync_directory(directory)?;
        self.device.wait(self.device.sync());
        Ok(())
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.memory.lock(path)
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.device.set_waiting(is_waiting);
    }

    fn device_time(&self) -> Option<DeviceTime> {
        Some(self.device.time())
    }
}

/// A file on the modeled device that is open for appends.
struct SimulatedWriter {
    inner: Box<dyn WriteFile>,
    device: Arc<Device>,
    file: u64,
    /// The number of bytes of the file that were sent to the modeled device. All later bytes are still in the buffer.
    written: u64,
    /// Whether no byte was appended since the last sync.
    is_synced: bool,
}

impl SimulatedWriter {
    /// Sends buffered bytes to the device in requests of at most 1 MiB, while at least `least` bytes are buffered.
    /// Returns the time at which the last request is complete, or `None` if nothing was sent.
    fn write(&mut self, least: u64) -> Option<u64> {
        let mut done = None;
        while self.inner.len() - self.written >= least.max(1) {
            let len = (self.inner.len() - self.written).min(WRITE_BYTES);
            done = Some(self.device.write(self.file, self.written, len));
            self.written += len;
            self.is_synced = false;
        }
        done
    }
}

impl WriteFile for SimulatedWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.inner.append(bytes)?;
        if let Some(done) = self.write(WRITE_BYTES) {
            self.device.wait(done);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.inner.sync()?;
        if let Some(done) = self.write(1) {
            self.device.wait(done);
        }
        if !self.is_synced {
            self.device.wait(self.device.sync());
            self.is_synced = true;
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

impl Drop for SimulatedWriter {
    /// Sends the remaining buffered bytes to the device. The device is busy with this write, but no caller waits for
    /// it.
    fn drop(&mut self) {
        self.write(1);
    }
}

/// A file on the modeled device that is open for reading.
struct SimulatedFile {
    inner: Arc<dyn ReadFile>,
    device: Arc<Device>,
    file: u64,
}

impl ReadFile for SimulatedFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        let bytes = self.inner.read(offset, len)?;
        self.device.wait(self.device.read(self.file, &[(offset, len)]));
        Ok(bytes)
    }

    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        let answers = self.inner.read_many(parts);
        let read = parts.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
        let read: Vec<(u64, usize)> = read.map(|(part, _)| *part).collect();
        self.device.wait(self.device.read(self.file, &read));
        answers
    }

    fn queue_depth(&self) -> usize {
        self.device.queue_depth()
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const PATH: &str = "/file";

    fn simulated(params: Params) -> Box<dyn Storage> {
        <Simulated as Build<_>>::build(params).unwrap()
    }

    fn of(device: Class) -> Box<dyn Storage> {
        simulated(Params { device, ..Params::default() })
    }

    /// Creates a file of `bytes` bytes. Also returns a function that reports the device time since the creation of the
    /// file.
    fn with_file(storage: &dyn Storage, bytes: usize) -> (Arc<dyn ReadFile>, impl Fn() -> DeviceTime) {
        storage.create(Path::new(PATH), Purpose::Table).unwrap().append(&vec![7; bytes]).unwrap();
        let before = storage.device_time().unwrap();
        (storage.open(Path::new(PATH), Purpose::Table).unwrap(), move || {
            storage.device_time().unwrap().since(before)
        })
    }

    #[test]
    fn what_is_charged_is_the_closed_form() {
        let storage = of(Class::SataSsd);
        let (file, charged) = with_file(&*storage, 10 << 20);
        file.read(5, 4096).unwrap();
        // The latency of 80 µs plus the time of 4096 bytes at 560 MB/s, rounded up.
        let block = 7315;
        assert_eq!(charged(), DeviceTime { read_ns: 80_000 + block, write_ns: 0 });
        assert!(file.read(10 << 20, 1).is_err());
        assert_eq!(charged().read_ns, 80_000 + block);
        // Eight reads use eight lanes, and the pipe transfers their blocks one after the other. A ninth read waits
        // for the first.
        file.read_many(&[(0, 4096); 8]);
        assert_eq!(charged().read_ns, 2 * 80_000 + 9 * block);
        file.read_many(&[(0, 4096); 9]);
        let ninth_arrives = 80_000 + block + 80_000;
        assert_eq!(charged().read_ns, 2 * 80_000 + 9 * block + ninth_arrives + block);
    }

    #[test]
    fn appends_gather_and_syncs_cost_where_there_is_something_to_sync() {
        let storage = of(Class::SataSsd);
        let charged = || storage.device_time().unwrap().write_ns;
        let mut writer = storage.create(Path::new(PATH), Purpose::Log).unwrap();
        (0..1000).for_each(|_| writer.append(&[7; 1000]).unwrap());
        writer.sync().unwrap();
        let million = 30_000 + 1_886_793;
        assert_eq!(charged(), million + 2_000_000);
        writer.sync().unwrap();
        assert_eq!(charged(), million + 2_000_000);
        writer.append(&vec![7; 3 << 20]).unwrap();
        let piece = 30_000 + 1_978_446;
        assert_eq!(charged(), million + 2_000_000 + 3 * piece);
        writer.sync().unwrap();
        writer.append(&[7; 53]).unwrap();
        drop(writer);
        assert_eq!(charged(), million + 4_000_000 + 3 * piece + 30_000 + 100);
        storage.sync_directory(Path::new("/")).unwrap();
        assert_eq!(charged(), million + 6_000_000 + 3 * piece + 30_000 + 100);
    }

    #[test]
    fn an_arm_moves_only_where_an_access_goes_elsewhere() {
        let storage = of(Class::Hdd);
        let (file, charged) = with_file(&*storage, 1 << 20);
        let seeks = |ns: u64, bytes: u64| (ns - bytes * 5) / 12_000_000;
        (0..10).for_each(|block| drop(file.read(block * 4000, 4000).unwrap()));
        assert_eq!(seeks(charged().read_ns, 40_000), 1);
        file.read(36_000, 4000).unwrap();
        file.read_many(&[(40_000, 4000), (44_000, 4000), (0, 4000)]);
        assert_eq!(seeks(charged().read_ns, 56_000), 3);
        // An access to another file moves the arm, and so does a write.
        let other = storage.open(Path::new(PATH), Purpose::Table).unwrap();
        other.read(4000, 4000).unwrap();
        file.read(4000, 4000).unwrap();
        assert_eq!(seeks(charged().read_ns, 64_000), 5);
        let mut writer = storage.create(Path::new("/log"), Purpose::Log).unwrap();
        for _ in 0..3 {
            writer.append(&[7; 1000]).unwrap();
            writer.sync().unwrap();
        }
        assert_eq!(charged().write_ns, 12_000_000 + 3 * (5_000 + 8_000_000));
        file.read(8000, 1000).unwrap();
        assert_eq!(seeks(charged().read_ns, 65_000), 6);
    }

    #[test]
    fn own_values_replace_those_of_the_preset() {
        let storage = simulated(Params {
            read_latency: Setting::Own(Time(1000)),
            read_bandwidth: Setting::Own(ByteSize(1_000_000)),
            queue_depth: Setting::Own(Count(2)),
            ..Params::default()
        });
        let (file, charged) = with_file(&*storage, 1000);
        assert_eq!(file.queue_depth(), 2);
        file.read(0, 10).unwrap();
        assert_eq!(charged().read_ns, 1000 + 10_000);
        let refused = |params| <Simulated as Build<_>>::build(params).err().unwrap();
        let zero = Params { write_bandwidth: Setting::Own(ByteSize(0)), ..Params::default() };
        assert!(refused(zero).contains("write_bandwidth"));
        let zero = Params { queue_depth: Setting::Own(Count(0)), ..Params::default() };
        assert!(refused(zero).contains("queue_depth"));
        let long = Params { sync_latency: Setting::Own(Time(61_000_000_000)), ..Params::default() };
        assert!(refused(long).contains("sync_latency"));
    }

    /// Returns the time that `act` takes if callers wait for the device.
    fn waited(storage: &dyn Storage, act: impl FnOnce()) -> Duration {
        storage.set_waiting(true);
        let start = Instant::now();
        act();
        start.elapsed()
    }

    #[test]
    fn callers_wait_at_least_as_long_as_the_device_takes() {
        let storage = of(Class::Nvme);
        let (file, charged) = with_file(&*storage, 1 << 20);
        let took =
            waited(&*storage, || (0..20).for_each(|block| drop(file.read(block * 4096, 4096).unwrap())));
        assert!(took >= Duration::from_nanos(charged().read_ns), "{took:?}");
        assert!(charged().read_ns > 20 * 80_000);
        let took = waited(&*storage, || {
            let mut writer = storage.create(Path::new("/log"), Purpose::Log).unwrap();
            writer.append(&[7; 100]).unwrap();
            writer.sync().unwrap();
        });
        assert!(took >= Duration::from_micros(40), "{took:?}");
    }

    #[test]
    fn a_pause_serves_nobody_and_is_none_where_nobody_waits() {
        let storage = simulated(Params {
            read_latency: Setting::Own(Time(1_000)),
            pause: Time(20_000_000),
            pause_every: Time(50_000_000),
            ..Params::default()
        });
        let (file, charged) = with_file(&*storage, 1000);
        (0..100).for_each(|_| drop(file.read(0, 10).unwrap()));
        assert_eq!(charged().read_ns, 100 * 1_002);
        let mut longest = Duration::ZERO;
        let took = waited(&*storage, || {
            let end = Instant::now() + Duration::from_millis(200);
            while Instant::now() < end {
                let start = Instant::now();
                file.read(0, 10).unwrap();
                longest = longest.max(start.elapsed());
            }
        });
        assert!(took >= Duration::from_millis(200), "{took:?}");
        assert!(longest >= Duration::from_millis(19), "{longest:?}");
        let refused = Params { pause: Time(2_000_000_000), ..Params::default() };
        let refused = <Simulated as Build<_>>::build(refused).err().unwrap();
        assert!(refused.contains("pause_every"), "{refused}");
    }

    /// Tests eight threads, each with one read. With one lane, the device serves one read after the other. With two
    /// lanes, the device serves two reads at a time.
    #[test]
    fn a_busy_device_makes_threads_wait_for_each_other() {
        for (depth, rounds) in [(1, 8), (2, 4), (8, 1)] {
            let storage = simulated(Params {
                read_latency: Setting::Own(Time(5_000_000)),
                queue_depth: Setting::Own(Count(depth)),
                ..Params::default()
            });
            let (file, charged) = with_file(&*storage, 1000);
            let took = waited(&*storage, || {
                std::thread::scope(|scope| {
                    (0..8).for_each(|_| drop(scope.spawn(|| drop(file.read(0, 1000).unwrap()))));
                });
            });
            assert!(took >= Duration::from_millis(5 * rounds), "depth {depth}: {took:?}");
            // The device time of a call does not include the time for which the call waits for other calls.
            assert_eq!(charged().read_ns, 8 * (5_000_000 + 167));
        }
    }
}
