//! Models of LRU, LFU, 2Q, ARC and LIRS, which reorder entries on a hit.

use super::{Model, shorten, take};

/// LRU with entries that expire after a number of requests.
pub(crate) struct Lru {
    entries: Vec<(u64, u64)>,
    capacity: usize,
    life: u64,
    requests: u64,
}

impl Lru {
    pub(crate) fn new(capacity: usize, life: u64) -> Self {
        Self { entries: Vec::new(), capacity, life, requests: 0 }
    }
}

impl Model for Lru {
    fn request(&mut self, name: u64) -> bool {
        self.requests += 1;
        let place = self.entries.iter().position(|(held, _)| *held == name);
        let entry = place.map(|at| self.entries.remove(at));
        let is_held = entry.is_some_and(|(_, birth)| self.requests - birth <= self.life);
        if !is_held && self.entries.len() == self.capacity {
            self.entries.remove(0);
        }
        let birth = if is_held { entry.unwrap().1 } else { self.requests };
        self.entries.push((name, birth));
        is_held
    }
}

/// LFU: entries with their numbers of uses. The entry with the oldest last use is first.
pub(crate) struct Lfu {
    entries: Vec<(u64, u64)>,
    capacity: usize,
}

impl Lfu {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { entries: Vec::new(), capacity }
    }
}

impl Model for Lfu {
    fn request(&mut self, name: u64) -> bool {
        if let Some(at) = self.entries.iter().position(|(held, _)| *held == name) {
            let (_, uses) = self.entries.remove(at);
            self.entries.push((name, uses + 1));
            return true;
        }
        if self.entries.len() == self.capacity {
            // If several entries have the fewest uses, the first of them has the oldest last use.
            let least = self.entries.iter().enumerate().min_by_key(|(_, (_, uses))| *uses).unwrap().0;
            self.entries.remove(least);
        }
        self.entries.push((name, 1));
        false
    }
}

/// 2Q in the full version of the paper. `Kin` is a quarter of the entries, and `Kout` is half of the entries.
pub(crate) struct TwoQ {
    a1in: Vec<u64>,
    a1out: Vec<u64>,
    am: Vec<u64>,
    capacity: usize,
}

impl TwoQ {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { a1in: Vec::new(), a1out: Vec::new(), am: Vec::new(), capacity }
    }

    fn reclaim(&mut self) {
        if self.a1in.len() + self.am.len() < self.capacity {
            return;
        }
        if self.a1in.len() * 4 > self.capacity || self.am.is_empty() {
            self.a1out.push(self.a1in.remove(0));
            shorten(&mut self.a1out, self.capacity / 2);
        } else {
            self.am.remove(0);
        }
    }
}

impl Model for TwoQ {
    fn request(&mut self, name: u64) -> bool {
        if take(&mut self.am, name) {
            self.am.push(name);
            return true;
        }
        if self.a1in.contains(&name) {
            return true;
        }
        let was_out = take(&mut self.a1out, name);
        self.reclaim();
        if was_out {
            self.am.push(name);
        } else {
            self.a1in.push(name);
        }
        false
    }
}

/// ARC by figure 4 of the paper, with the paper's names.
pub(crate) struct Arc {
    t1: Vec<u64>,
    t2: Vec<u64>,
    b1: Vec<u64>,
    b2: Vec<u64>,
    p: f64,
    c: usize,
}

impl Arc {
    pub(crate) fn new(c: usize) -> Self {
        Self { t1: Vec::new(), t2: Vec::new(), b1: Vec::new(), b2: Vec::new(), p: 0.0, c }
    }

    fn replace(&mut self, is_in_b2: bool) {
        let t1 = self.t1.len() as f64;
        if !self.t1.is_empty() && (t1 > self.p || (is_in_b2 && t1 >= self.p)) {
            self.b1.push(self.t1.remove(0));
        } else {
            self.b2.push(self.t2.remove(0));
        }
    }

    fn miss(&mut self) {
        let (l1, l2) = (self.t1.len() + self.b1.len(), self.t2.len() + self.b2.len());
        if l1 == self.c {
            if self.t1.len() < self.c {
                self.b1.remove(0);
                self.replace(false);
            } else {
                self.t1.remove(0);
            }
        } else if l1 + l2 >= self.c {
            if l1 + l2 == 2 * self.c {
                self.b2.remove(0);
            }
            self.replace(false);
        }
    }
}

impl Model for Arc {
    fn request(&mut self, name: u64) -> bool {
        let (b1, b2) = (self.b1.len() as f64, self.b2.len() as f64);
        if take(&mut self.t1, name) || take(&mut self.t2, name) {
            self.t2.push(name);
            return true;
        }
        if self.b1.contains(&name) {
            let delta = if b1 >= b2 { 1.0 } else { b2 / b1 };
            self.p = (self.p + delta).min(self.c as f64);
            self.replace(false);
            take(&mut self.b1, name);
            self.t2.push(name);
        } else if self.b2.contains(&name) {
            let delta = if b2 >= b1 { 1.0 } else { b1 / b2 };
            self.p = (self.p - delta).max(0.0);
            self.replace(true);
            take(&mut self.b2, name);
            self.t2.push(name);
        } else {
            self.miss();
            self.t1.push(name);
        }
        false
    }
}

/// LIRS by section 3 of the paper. The stack S has its bottom first, and the queue Q has its front first.
pub(crate) struct Lirs {
    s: Vec<u64>,
    q: Vec<u64>,
    lir: Vec<u64>,
    /// Non-resident HIR entries in the order of eviction. The number of these entries is at most twice the capacity.
    gone: Vec<u64>,
    capacity: usize,
    max_lir: usize,
}

impl Lirs {
    pub(crate) fn new(capacity: usize, hir_percent: usize) -> Self {
        let max_lir = capacity * (100 - hir_percent) / 100;
        Self { s: Vec::new(), q: Vec::new(), lir: Vec::new(), gone: Vec::new(), capacity, max_lir }
    }

    fn prune(&mut self) {
        while let Some(&bottom) = self.s.first()
            && !self.lir.contains(&bottom)
        {
            self.s.remove(0);
            take(&mut self.gone, bottom);
        }
    }

    fn demote_bottom(&mut self) {
        let bottom = self.s.remove(0);
        take(&mut self.lir, bottom);
        self.q.push(bottom);
        self.prune();
    }

    /// Makes the entry LIR, and moves it to the top of the stack.
    fn promote(&mut self, name: u64) {
        self.lir.push(name);
        self.s.push(name);
        self.prune();
        while self.lir.len() > self.max_lir {
            self.demote_bottom();
        }
    }

    fn evict(&mut self) {
        if self.q.is_empty() {
            self.demote_bottom();
        }
        let victim = self.q.remove(0);
        if self.s.contains(&victim) {
            self.gone.push(victim);
            if self.gone.len() > 2 * self.capacity {
                let forgotten = self.gone.remove(0);
                take(&mut self.s, forgotten);
            }
        }
    }
}

impl Model for Lirs {
    fn request(&mut self, name: u64) -> bool {
        if self.lir.contains(&name) {
            take(&mut self.s, name);
            self.s.push(name);
            self.prune();
            return true;
        }
        if take(&mut self.q, name) {
            if take(&mut self.s, name) {
                self.promote(name);
            } else {
                self.s.push(name);
                self.q.push(name);
                self.prune();
            }
            return true;
        }
        let is_in_s = take(&mut self.gone, name) && take(&mut self.s, name);
        if self.lir.len() + self.q.len() == self.capacity {
            self.evict();
        }
        if is_in_s || self.lir.len() < self.max_lir {
            self.promote(name);
        } else {
            self.s.push(name);
            self.q.push(name);
            self.prune();
        }
        false
    }
}
