//! Damage to every part of every file of a store: each image is a store that rotted, and is asked for
//! everything that it holds.
//!
//! A seeded life leaves four stores: one that was closed, one whose process died, one that lives on without a
//! file that was set aside, and a checkpoint. Their files are damaged in every way, one at a time or two at
//! once, and from each image the store is verified, opened, read in every way, written to, closed and opened
//! again, and opened without what is damaged.

mod corruption;
mod inspection;
mod layout;
mod rule;
mod store_image;

use std::fmt;
use std::str::FromStr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64;

use self::corruption::{Corruption, Described, images};
use self::inspection::{Inspection, Outcome};
use self::store_image::{StoreImage, live};
use crate::findings::Findings;
use crate::subject::Subject;
use crate::violation::Violation;

pub use self::rule::Class;
pub use self::store_image::Ending;

/// The images of one store that a life is worth being played for.
const MOST_OF_A_STORE: usize = 400;

/// An image that takes longer than this hangs: the process ends and says which.
const LONGEST_IMAGE: Duration = Duration::from_mins(1);

/// The moment of what is wrong before anything was damaged.
const BEFORE: &str = "before any damage";

/// How much to explore.
#[derive(Clone, Copy, Debug)]
pub struct CorruptionBudget {
    /// The seed of the first life; the next lives have the numbers behind it.
    pub seed: u64,
    /// The images to look at.
    pub images: u64,
}

/// The numbers that lead to one corrupted store image again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptionPoint {
    /// The seed of the life.
    pub seed: u64,
    /// How it ended.
    pub ending: Ending,
    /// The number of the image among all of that store.
    pub image: usize,
}

impl fmt::Display for CorruptionPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.seed, self.ending, self.image)
    }
}

impl FromStr for CorruptionPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let place = |seed: &str, ending: &str, image: &str| {
            Some(Self { seed: seed.parse().ok()?, ending: ending.parse().ok()?, image: image.parse().ok()? })
        };
        let place = if let [seed, ending, image] = parts[..] { place(seed, ending, image) } else { None };
        place.ok_or_else(|| format!("\"{text}\" is no place; one is SEED:STORE:IMAGE, as 7:stopped:12"))
    }
}

/// Counts and findings of one exploration of corruptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorruptionSummary {
    /// Stores whose files were damaged.
    pub stores: u64,
    /// Images that were looked at.
    pub images: u64,
    /// Images whose damage `verify` told.
    pub told: u64,
    /// Images whose damage harms nobody, by [`Class::ALL`].
    pub harmless: [u64; Class::ALL.len()],
    /// What was wrong.
    pub findings: Findings<CorruptionPoint>,
}

/// Explores the damage to a subject.
pub fn explore(subject: &Subject, budget: CorruptionBudget) -> CorruptionSummary {
    let mut tally = CorruptionSummary::default();
    let watch = Watch::default();
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        let watch = &watch;
        scope.spawn(move || watch.until(&is_done));
        for seed in budget.seed.. {
            let least = (budget.images as usize).div_ceil(Ending::ALL.len()).min(MOST_OF_A_STORE);
            life(subject, seed, least, budget.images, watch, &mut tally);
            if tally.images >= budget.images || tally.findings.are_enough() {
                break;
            }
        }
        drop(done);
    });
    tally
}

/// Goes to an image once more.
///
/// # Errors
/// If there is no such image.
pub fn replay(subject: &Subject, place: CorruptionPoint) -> Result<CorruptionSummary, String> {
    let mut tally = CorruptionSummary { stores: 1, ..CorruptionSummary::default() };
    let all = live(subject, place.seed).map_err(|violation| violation.to_string())?;
    let store_image = all.iter().find(|store_image| store_image.ending == place.ending);
    let store_image = store_image.ok_or_else(|| format!("no {} store is left", place.ending))?;
    let images = images_of(subject, place.seed, store_image);
    let Some(corruptions) = images.get(place.image) else {
        let count = images.len();
        return Err(format!("the {} store of seed {} has {count} images", place.ending, place.seed));
    };
    one(subject, store_image, corruptions, place, &mut tally);
    Ok(tally)
}

/// Damages the stores of one life, up to `most` images each.
fn life(subject: &Subject, seed: u64, most: usize, all: u64, watch: &Watch, tally: &mut CorruptionSummary) {
    let stores = match live(subject, seed) {
        Ok(stores) => stores,
        Err(violation) => {
            let place = CorruptionPoint { seed, ending: Ending::Closed, image: 0 };
            return tally.findings.add(place, BEFORE, violation);
        }
    };
    for store_image in stores {
        tally.stores += 1;
        let ending = store_image.ending;
        for (image, corruptions) in images_of(subject, seed, &store_image).iter().enumerate().take(most) {
            if tally.images >= all || tally.findings.are_enough() {
                return;
            }
            let place = CorruptionPoint { seed, ending, image };
            watch.begin(&subject.name, place);
            one(subject, &store_image, corruptions, place, tally);
        }
    }
}

/// The images of a store; designs differ in which come first.
fn images_of(subject: &Subject, seed: u64, store_image: &StoreImage) -> Vec<Vec<Corruption>> {
    let name = format!("{} {:?} {}", subject.name, subject.wal, store_image.ending);
    images(store_image, &mut Xoshiro256PlusPlus::seed_from_u64(seed ^ xxh3_64(name.as_bytes())))
}

fn one(
    subject: &Subject,
    store_image: &StoreImage,
    corruptions: &[Corruption],
    place: CorruptionPoint,
    tally: &mut CorruptionSummary,
) {
    let outcome: Result<Outcome, Violation> = Inspection::new(subject, store_image, corruptions).run();
    tally.images += u64::from(outcome != Ok(Outcome::Nothing));
    match outcome {
        Ok(Outcome::Nothing) => {}
        Ok(Outcome::Told) => tally.told += 1,
        Ok(Outcome::Harmless(class)) => tally.harmless[class as usize] += 1,
        Err(violation) => {
            let corruptions =
                corruptions.iter().map(|corruption| Described(store_image, corruption).to_string());
            tally.findings.add(place, corruptions.collect::<Vec<_>>().join(" and "), violation);
        }
    }
}

/// Sees to it that no image takes forever.
#[derive(Default)]
struct Watch {
    current: Mutex<Option<(String, CorruptionPoint)>>,
}

impl Watch {
    fn begin(&self, subject: &str, place: CorruptionPoint) {
        *self.lock() = Some((subject.to_owned(), place));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(String, CorruptionPoint)>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks now and then until the exploration is over; ends the process where it stands still, since no
    /// thread can be made to leave a loop.
    fn until(&self, is_done: &mpsc::Receiver<()>) {
        let mut last = None;
        while is_done.recv_timeout(LONGEST_IMAGE) == Err(RecvTimeoutError::Timeout) {
            let current = self.lock().clone();
            if current.is_some() && current == last {
                let _ = thread::spawn(move || panic!("an image hangs: {last:?}")).join();
                std::process::abort();
            }
            last = current;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_back() {
        for text in ["7:stopped:12", "1:closed:0", "2:set-aside:3", "0:copied:9"] {
            assert_eq!(text.parse::<CorruptionPoint>().unwrap().to_string(), text);
        }
        for text in ["", "7:12", "7:alive:12", "7:closed:x", "7:closed:1:2"] {
            assert!(text.parse::<CorruptionPoint>().is_err(), "{text}");
        }
    }
}
