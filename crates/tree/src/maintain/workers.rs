//! The background threads of a tree in `timed` mode.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::design::BackgroundThreads;
use crate::error::{Error, Result};
use crate::inner::{Inner, Mode};

/// The time between two checks whether obsolete SSTables are still in use. SSTables that are not in use are removed.
const OBSOLETE_PERIOD: Duration = Duration::from_millis(20);

/// The background threads of one tree. Dropping this value ends and joins the threads.
pub(crate) struct Workers {
    inner: Arc<Inner>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts the background threads that the design needs: for flushes, for compactions, for the removal of obsolete
    /// files, and for syncs of the WAL at a fixed interval. In `counted` mode, the tree has no background threads.
    pub(crate) fn start(inner: &Arc<Inner>) -> Result<Self> {
        let mut workers = Self { inner: Arc::clone(inner), threads: Vec::new() };
        let is_shared = inner.design.options.threads.background == BackgroundThreads::Shared;
        match (inner.flushes_inline(), inner.compacts_inline()) {
            (true, true) => {}
            (true, false) => workers.spawn("lsm-compact", Inner::compact_until_stopped)?,
            (false, _) if is_shared => workers.spawn("lsm-background", Inner::work_until_stopped)?,
            (false, _) => {
                workers.spawn("lsm-flush", Inner::flush_until_stopped)?;
                workers.spawn("lsm-compact", Inner::compact_until_stopped)?;
            }
        }
        if inner.has_remover() {
            workers.spawn("lsm-remove", |inner| {
                inner.remove_until_stopped();
                Ok(())
            })?;
        }
        if inner.mode == Mode::Timed
            && let Some(period) = inner.wal_mode.period
        {
            workers.spawn("lsm-sync", move |inner| inner.sync_until_stopped(period))?;
        }
        Ok(workers)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce(&Inner) -> Result<()> + Send + 'static) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        let body = move || {
            let _watch = PanicWatch(&inner);
            if let Err(error) = work(&inner) {
                inner.fail(error);
            }
        };
        let thread = Builder::new().name(name.to_owned()).spawn(body);
        let thread = thread.map_err(|error| {
            Error::Failed(format!("cannot start the background thread \"{name}\": {error}"))
        })?;
        self.threads.push(thread);
        Ok(())
    }
}

/// Raises the nice value of the calling thread by `nice`, so that other threads get a CPU first. If the system rejects
/// the change, the priority of the thread stays unchanged.
#[cfg(target_os = "linux")]
fn lower_priority(nice: u32) {
    if nice > 0 {
        // On Linux, a priority belongs to a thread, and the number of the thread selects it.
        let thread = Some(rustix::thread::gettid());
        let own = rustix::process::getpriority_process(thread).unwrap_or(0);
        let _ = rustix::process::setpriority_process(thread, own + nice.cast_signed());
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority(_: u32) {}

/// A guard that marks the tree as failed if the thread panics during background work. Without the guard, threads that
/// wait for this work would wait forever.
pub(super) struct PanicWatch<'a>(pub(super) &'a Inner);

impl Drop for PanicWatch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            self.0.fail(Error::Failed(format!("the thread {name} panicked during background work")));
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.inner.signals.stop.store(true, Ordering::Release);
        self.inner.signals.notify();
        for thread in self.threads.drain(..) {
            // The thread has already printed its panic message.
            let _ = thread.join();
        }
        // The flush thread may have flushed a memtable after the thread that removes obsolete files had ended.
        self.inner.remove_obsolete();
    }
}

impl Inner {
    fn flush_until_stopped(&self) -> Result<()> {
        while !self.signals.is_stopping() {
            if !self.flush_next()? {
                let mut state = self.signals.state.lock();
                if self.view.load().frozen.is_empty() && !self.signals.is_stopping() {
                    self.signals.changed.wait(&mut state);
                }
            }
        }
        Ok(())
    }

    /// Flushes the oldest immutable memtable, after creating the next WAL. Returns `false` if there is no immutable
    /// memtable.
    fn flush_next(&self) -> Result<bool> {
        if !self.view.load().frozen.is_empty() {
            self.create_next_logs()?;
        }
        self.flush_oldest()
    }

    /// Runs flushes and compactions on one thread until the tree is closed. A compaction begins only if no flush is
    /// due.
    fn work_until_stopped(&self) -> Result<()> {
        while !self.signals.is_stopping() {
            {
                let mut state = self.signals.state.lock();
                while self.view.load().frozen.is_empty()
                    && !state.shape_changed
                    && !self.signals.is_stopping()
                {
                    self.signals.changed.wait(&mut state);
                }
                state.shape_changed = false;
                state.compacting = true;
            }
            while !self.signals.is_stopping() && (self.flush_next()? || self.compact_next()?) {}
            self.signals.state.lock().compacting = false;
            self.signals.notify();
        }
        Ok(())
    }

    fn compact_until_stopped(&self) -> Result<()> {
        lower_priority(self.design.options.threads.compaction_nice);
        loop {
            {
                let mut state = self.signals.state.lock();
                while !state.shape_changed && !self.signals.is_stopping() {
                    self.signals.changed.wait(&mut state);
                }
                state.shape_changed = false;
                state.compacting = true;
            }
            while !self.signals.is_stopping() && self.compact_next()? {}
            self.signals.state.lock().compacting = false;
            self.signals.notify();
            if self.signals.is_stopping() {
                return Ok(());
            }
        }
    }

    fn remove_until_stopped(&self) {
        while !self.signals.is_stopping() {
            self.remove_obsolete();
            let mut state = self.signals.state.lock();
            let (has_unused, has_tables) = {
                let obsolete = self.obsolete.lock();
                (obsolete.has_unused(), !obsolete.tables.is_empty())
            };
            if has_unused || self.signals.is_stopping() {
                continue;
            }
            if has_tables {
                self.signals.changed.wait_for(&mut state, OBSOLETE_PERIOD);
            } else {
                self.signals.changed.wait(&mut state);
            }
        }
        self.remove_obsolete();
    }

    fn sync_until_stopped(&self, period: Duration) -> Result<()> {
        while !self.signals.is_stopping() {
            self.write_log(&mut self.log.lock(), true)?;
            let mut state = self.signals.state.lock();
            let deadline = std::time::Instant::now() + period;
            while !self.signals.is_stopping()
                && !self.signals.changed.wait_until(&mut state, deadline).timed_out()
            {}
        }
        // The thread ends after this last sync, which makes the writes since the previous sync durable.
        self.failure.check()?;
        self.write_log(&mut self.log.lock(), true)
    }
}
