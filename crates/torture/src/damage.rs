//! Corrupts every part of every file of a store, and checks how the store reacts.
//!
//! A seeded sequence of actions (a history) leaves four stores: a closed store, a store whose process was killed, a
//! store without one file that was moved to the quarantine, and a checkpoint. The test applies one or two corruptions
//! at a time to the files of these stores. The files of a store with their corruptions are an image. Each image is
//! verified, opened, read through every read path, written to, closed and opened again. Each image is also opened in
//! quarantine mode, which moves the corrupted files away.

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
use crate::store_kind::StoreKind;
use crate::violation::Violation;

pub use self::rule::Class;
pub use self::store_image::Ending;

/// The maximum number of corrupted images of one store that the test checks. An image consists of all files of a store.
const MOST_OF_A_STORE: usize = 400;

/// The time limit for the check of one corrupted image. If a check takes longer, the process prints the image and
/// aborts.
const LONGEST_IMAGE: Duration = Duration::from_mins(1);

/// The text that a report contains instead of the corruption, if a check failed before any corruption.
const BEFORE: &str = "before any corruption";

/// The limits of an exploration of corruptions: its first seed, and its number of corrupted images.
#[derive(Clone, Copy, Debug)]
pub struct CorruptionBudget {
    /// The first seed. A seed determines a sequence of actions on a store. Each further sequence has the next higher
    /// seed.
    pub seed: u64,
    /// The number of corrupted images (all files of a store) to check.
    pub images: u64,
}

/// The numbers that reproduce one corrupted image, which consists of all files of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptionPoint {
    /// The seed, which determines the sequence of actions on the store.
    pub seed: u64,
    /// The way in which the sequence of actions ended. Each way leaves another store.
    pub ending: Ending,
    /// The number of the corrupted image among all images of this store, from 0.
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
        place.ok_or_else(|| {
            let endings = Ending::ALL.map(|ending| ending.to_string()).join(", ");
            format!(
                "\"{text}\" does not name a corrupted image; write SEED:ENDING:NUMBER, such as \
                 7:stopped:12. Valid endings: {endings}"
            )
        })
    }
}

/// The counts and the failed checks of one exploration of corruptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorruptionSummary {
    /// The number of stores whose files were corrupted.
    pub stores: u64,
    /// The number of checked images. An image consists of all files of a store, one or two of which are corrupted.
    pub images: u64,
    /// The number of images for which `verify` reported the corruption.
    pub told: u64,
    /// For each class in [`Class::ALL`], the number of images with a harmless corruption that `verify` did not report.
    pub harmless: [u64; Class::ALL.len()],
    /// The violations (failed checks) that the exploration found.
    pub findings: Findings<CorruptionPoint>,
}

/// Explores corruptions of one kind of store within the limits `budget`.
pub fn explore(subject: &StoreKind, budget: CorruptionBudget) -> CorruptionSummary {
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

/// Checks the corrupted image at `place` again, to reproduce a violation.
///
/// # Errors
/// The image does not exist, or a check fails before any corruption.
pub fn replay(subject: &StoreKind, place: CorruptionPoint) -> Result<CorruptionSummary, String> {
    let mut tally = CorruptionSummary { stores: 1, ..CorruptionSummary::default() };
    let all = live(subject, place.seed).map_err(|violation| violation.to_string())?;
    let store_image = all.iter().find(|store_image| store_image.ending == place.ending);
    let store_image = store_image.ok_or_else(|| {
        format!("the history of seed {} leaves no store with the ending \"{}\"", place.seed, place.ending)
    })?;
    let images = images_of(subject, place.seed, store_image);
    let Some(corruptions) = images.get(place.image) else {
        let count = images.len();
        return Err(format!(
            "the store with the ending \"{}\" of seed {} has only {count} images, numbered from 0",
            place.ending, place.seed
        ));
    };
    one(subject, store_image, corruptions, place, &mut tally);
    Ok(tally)
}

/// Corrupts the stores that one history (a seeded sequence of actions) leaves, and checks at most `most` images per
/// store. Stops when the exploration has checked `all` images in total.
fn life(subject: &StoreKind, seed: u64, most: usize, all: u64, watch: &Watch, tally: &mut CorruptionSummary) {
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

/// Returns the corruptions of each image of a store. Their order depends only on the kind of the store, its WAL mode,
/// its ending and the seed.
fn images_of(subject: &StoreKind, seed: u64, store_image: &StoreImage) -> Vec<Vec<Corruption>> {
    let name = format!("{} {:?} {}", subject.name, subject.wal, store_image.ending);
    images(store_image, &mut Xoshiro256PlusPlus::seed_from_u64(seed ^ xxh3_64(name.as_bytes())))
}

fn one(
    subject: &StoreKind,
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

/// A watch that ends the process if the check of one image takes too long.
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

    /// Watches the checks until the exploration ends. Aborts the process if a check hangs, because a thread cannot be
    /// stopped.
    fn until(&self, is_done: &mpsc::Receiver<()>) {
        let mut last = None;
        while is_done.recv_timeout(LONGEST_IMAGE) == Err(RecvTimeoutError::Timeout) {
            let current = self.lock().clone();
            if current.is_some() && current == last {
                let _ = thread::spawn(move || {
                    panic!("the check of a corrupted store image takes longer than one minute: {last:?}")
                })
                .join();
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
