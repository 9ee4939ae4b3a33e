//! Plain models of the published policies. In each list, the newest entry is last.

mod queues;
mod recency;
mod tiny_lfu;

/// A model of a cache. All entries have the same size, and a number identifies each entry.
pub(crate) trait Model {
    /// Requests an entry, and inserts the entry if it is not cached. Returns whether the entry was already cached.
    fn request(&mut self, name: u64) -> bool;
}

/// Function that creates a model from the cache capacity in entries.
type Make = fn(usize) -> Box<dyn Model>;

/// Every policy, with its parameters if it has any, and its model.
pub(crate) const MODELS: [(&str, Make); 16] = [
    ("fifo", |capacity| Box::new(queues::Fifo { entries: Vec::new(), capacity })),
    ("lru", |capacity| Box::new(recency::Lru::new(capacity, u64::MAX))),
    ("library", |capacity| Box::new(recency::Lru::new(capacity, u64::MAX))),
    ("lru(ttl=300)", |capacity| Box::new(recency::Lru::new(capacity, 300))),
    ("clock", |capacity| Box::new(queues::Clock::new(capacity, 1))),
    ("clock(uses=3)", |capacity| Box::new(queues::Clock::new(capacity, 3))),
    ("sieve", |capacity| Box::new(queues::Sieve::new(capacity))),
    ("s3-fifo", |capacity| Box::new(queues::S3Fifo::new(capacity, 10))),
    ("s3-fifo(small=25)", |capacity| Box::new(queues::S3Fifo::new(capacity, 25))),
    ("lockfree-clock", |capacity| Box::new(queues::S3Fifo::new(capacity, 5))),
    ("2q", |capacity| Box::new(recency::TwoQ::new(capacity))),
    ("arc", |capacity| Box::new(recency::Arc::new(capacity))),
    ("lfu", |capacity| Box::new(recency::Lfu::new(capacity))),
    ("lirs", |capacity| Box::new(recency::Lirs::new(capacity, 1))),
    ("lirs(visitors=20)", |capacity| Box::new(recency::Lirs::new(capacity, 20))),
    ("w-tinylfu", |capacity| Box::new(tiny_lfu::WTinyLfu::new(capacity))),
];

/// Removes an entry from a list. Returns whether the entry was in the list.
fn take(list: &mut Vec<u64>, name: u64) -> bool {
    let place = list.iter().position(|held| *held == name);
    place.map(|at| list.remove(at)).is_some()
}

/// Drops the oldest entries of a list until at most `length` entries remain.
fn shorten(list: &mut Vec<u64>, length: usize) {
    let surplus = list.len().saturating_sub(length);
    list.drain(..surplus);
}
