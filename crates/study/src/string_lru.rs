//! The buffer pool of the published system csc443 (section 4.2 of its document): one lock, and an LRU list whose keys
//! are strings. A key is the name of the file followed by the number of the page.
//!
//! Every request builds such a string, hashes the string, and frees the string. The variant measures the cost of string
//! keys. In lsmbench, the byte offset identifies the page. Evictions are equal to those of `lru(shards=1)`. In addition
//! to its bytes, a block costs about 200 bytes: a node with two links, 40 bytes of handle, 24 bytes of string, at least
//! 32 bytes for the characters of the string, and 10 to 20 bytes of hash table. A hit allocates memory, writes four
//! nodes of the list, and compares strings.

use std::hash::BuildHasher;

use ::lru::LruCache;
use cache::sized::{self, SizedCache};
use cache::{BlockId, Cache};
use catalog::{Variant, origin};
use parking_lot::Mutex;
use types::Bytes;

/// The cache `string-lru`, which works like the buffer pool of the published system csc443.
pub static VARIANT: Variant<dyn Cache> = sized::variant::<BufferPools>(
    "string-lru",
    "LRU with one lock and string keys of file name and page number, as in csc443's buffer pool",
)
.from(origin!());

/// Builds caches that work like the buffer pool of the published system csc443.
struct BufferPools;

impl SizedCache for BufferPools {
    fn build<S: BuildHasher + Clone + Send + Sync + 'static>(capacity: u64, hasher: S) -> Box<dyn Cache> {
        let pages = LruCache::unbounded_with_hasher(hasher);
        Box::new(StringLru(Mutex::new(Pool { pages, weight_bytes: 0, capacity })))
    }
}

/// A cache that works like the buffer pool of the published system csc443: an LRU list of blocks with one lock.
struct StringLru<S>(Mutex<Pool<S>>);

/// The pages of the buffer pool, in the order of their last use.
struct Pool<S> {
    pages: LruCache<String, Bytes, S>,
    weight_bytes: u64,
    capacity: u64,
}

/// Returns the prefix of the cache keys of all blocks in one SSTable file. No key of another file begins with this
/// prefix.
fn file_name(tree: u64, table: u64) -> String {
    format!("{tree}/{table}.sst")
}

fn key(id: &BlockId) -> String {
    format!("{}/{}.sst{}", id.tree, id.table, id.offset)
}

impl<S: BuildHasher> Pool<S> {
    fn evict(&mut self) {
        while self.weight_bytes > self.capacity
            && let Some((_, oldest)) = self.pages.pop_lru()
        {
            self.weight_bytes -= oldest.len() as u64;
        }
    }
}

impl<S: BuildHasher + Send> Cache for StringLru<S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        let key = key(id);
        self.0.lock().pages.get(&key).cloned()
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        let (key, weight) = (key(&id), block.len() as u64);
        let pool = &mut *self.0.lock();
        // An empty block has a weight of 0, so the number of cached empty blocks would be unbounded.
        let replaced = if weight == 0 || weight > pool.capacity {
            pool.pages.pop(&key)
        } else {
            pool.weight_bytes += weight;
            pool.pages.put(key, block)
        };
        pool.weight_bytes -= replaced.map_or(0, |block| block.len() as u64);
        pool.evict();
    }

    fn remove_table(&self, tree: u64, table: u64) {
        let file = file_name(tree, table);
        let Pool { pages, weight_bytes, .. } = &mut *self.0.lock();
        pages.retain(|key, page| {
            let is_kept = !key.starts_with(&file);
            *weight_bytes -= if is_kept { 0 } else { page.len() as u64 };
            is_kept
        });
    }

    fn set_capacity(&self, bytes: u64) {
        let mut pool = self.0.lock();
        pool.capacity = bytes;
        pool.evict();
    }

    fn capacity(&self) -> u64 {
        self.0.lock().capacity
    }

    fn weight_bytes(&self) -> u64 {
        self.0.lock().weight_bytes
    }
}
