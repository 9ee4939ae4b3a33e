//! A pool of objects that are expensive to create. Only one thread uses an object at a time.

use parking_lot::Mutex;

/// The unused objects of a pool. A pool creates an object only if all its objects are in use, so it has at most one
/// object per concurrent thread.
#[derive(Debug)]
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    /// Creates an empty pool.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Calls `work` with an unused object of the pool. If all objects are in use, `make` creates a new object.
    pub(crate) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.0.lock().pop();
        let mut lent = idle.unwrap_or_else(make);
        let result = work(&mut lent);
        self.0.lock().push(lent);
        result
    }

    /// Returns the sum of `bytes` over the unused objects of the pool.
    pub(crate) fn sum(&self, bytes: impl Fn(&mut T) -> usize) -> usize {
        self.0.lock().iter_mut().map(bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_made_per_user_at_a_time() {
        let pool = Pool::new();
        pool.with(
            || 1,
            |first| {
                pool.with(|| 2, |second| assert_eq!((*first, *second), (1, 2)));
                *first = 3;
            },
        );
        assert_eq!(pool.sum(|idle| *idle), 5);
        let make = || panic!("two are idle");
        pool.with(make, |last_used| assert_eq!(*last_used, 3));
    }
}
