//! A learned index (PGM-index), which predicts the position of a key. Lines predict the position of a head (8-byte
//! prefix) with an error of at most `epsilon`. The next level predicts the positions of these lines with other lines.
//!
//! The heads are split into as few segments as possible. For each segment, one line predicts the positions of the
//! heads with an error of at most `epsilon`. The first heads of the segments are split into segments again, and so
//! on, until there is only one segment. On each level, a search computes a position with a line, and then searches
//! around this position. Sources: Ferragina & Vinciguerra, "The PGM-index" (PVLDB 2020), sections 3 and 4; for
//! splitting in one pass, O'Rourke, "An on-line algorithm for fitting straight lines between data ranges" (CACM
//! 1981).
//!
//! If a head occurs several times, a line predicts the position of its first occurrence. For the head plus 1, the line
//! predicts the position after the last occurrence. A search is right even if a prediction is wrong. The search checks
//! the ends of the range that it has read, and continues if the result is outside of the range.
//!
//! Memory: 8 bytes per separator for the head, and 24 bytes per segment. If heads do not suffice to compare
//! separators, the bytes after the heads take additional memory. One segment covers about `epsilon`² heads, if heads
//! are random numbers. A search reads one or two cache lines per level, and about log2(2 `epsilon`) heads.

use std::hint::select_unpredictable;
use std::ops::Range;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::stored;
use crate::suffixes::Bound;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<Learned>(
    "learned",
    "a PGM-index, which predicts the position of a key by lines and corrects it by a short search",
    "# Maximum error of the predicted position, as a number of separators, 1 to 4096. A larger error\n\
     # takes less memory, but a longer search.\n\
     epsilon = 32\n",
);

const TAG: stored::Tag = *b"fpgm";

/// The largest error, in positions, of the lines in the upper levels. These lines predict the position of a segment in
/// the level below.
const UPPER_EPSILON: u64 = 4;

/// A policy that builds learned fences, which predict the position of a key by lines.
struct Learned {
    epsilon: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    epsilon: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { epsilon: 32 }
    }
}

impl Build<dyn FencePolicy> for Learned {
    type Params = Params;

    fn build(Params { epsilon }: Params) -> Result<Box<dyn FencePolicy>, String> {
        if !(1..=4096).contains(&epsilon) {
            return Err(format!("epsilon is {epsilon}; it must be 1 to 4096"));
        }
        Ok(Box::new(Self { epsilon }))
    }
}

impl FencePolicy for Learned {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        HeadFence::open(TAG, table, |heads| Pgm::new(heads, self.epsilon))
    }
}

/// The heads (8-byte prefixes) of the separators in sorted order, and the lines that predict the position of a head.
struct Pgm {
    heads: Vec<u64>,
    epsilon: u64,
    /// The levels of segments. Level 0 predicts positions of heads, and each further level predicts positions of
    /// segments in the level below. The last level has a single segment.
    levels: Vec<Vec<Segment>>,
}

/// A line that predicts the position of each head (8-byte prefix of a separator) in one segment. A segment is a range
/// of successive heads.
#[derive(Clone, Copy, Debug)]
struct Segment {
    first: u64,
    /// The slope of the line: by how many positions the prediction grows if the head grows by 1.
    slope: f64,
    /// The position that the line predicts for the first head of the segment.
    place: f64,
}

impl Segment {
    /// Predicts the position of `head` (an 8-byte key prefix), which must be at or above the first head of the segment.
    #[inline]
    fn foretell(&self, head: u64) -> usize {
        // The cast converts values below 0 to 0.
        (self.slope * (head - self.first) as f64 + self.place) as usize
    }
}

impl Pgm {
    fn new(heads: Vec<u64>, epsilon: u64) -> Self {
        let mut levels = vec![cut(steps(&heads), epsilon)];
        while levels[levels.len() - 1].len() > 1 {
            let below = &levels[levels.len() - 1];
            let firsts = below.iter().enumerate().map(|(place, segment)| (segment.first, place as u64));
            let above = cut(firsts, UPPER_EPSILON);
            levels.push(above);
        }
        Self { heads, epsilon, levels }
    }

    /// Returns the segment of level 0 whose line predicts the position of `head` (an 8-byte key prefix). Returns `None`
    /// if the head is below all segments.
    #[inline]
    fn segment(&self, head: u64) -> Option<&Segment> {
        let (top, levels) = self.levels.split_last()?;
        let mut segment = top.first().filter(|top| top.first <= head)?;
        for level in levels.iter().rev() {
            let around = around(segment.foretell(head), UPPER_EPSILON, level.len());
            let behind = partition_around(level, around, |segment| segment.first <= head);
            segment = &level[behind - 1];
        }
        Some(segment)
    }
}

impl HeadIndex for Pgm {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        let rank = match self.segment(head) {
            Some(segment) => {
                let around = around(segment.foretell(head), self.epsilon, self.heads.len());
                partition_around(&self.heads, around, |other| *other < head)
            }
            None => 0,
        };
        Bound::at(&self.heads, rank, head)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.heads) + self.levels.iter().map(|level| size_of_val(&**level)).sum::<usize>()
    }
}

/// Returns the positions around a predicted position to which the search is limited. The range has one additional
/// position on each side, because predictions are rounded.
#[inline]
fn around(place: usize, epsilon: u64, count: usize) -> Range<usize> {
    let reach = epsilon as usize + 1;
    let start = place.saturating_sub(reach).min(count);
    start..place.saturating_add(reach + 1).min(count)
}

/// Returns the number of `items` for which `comes_before` is true. These items must be before all other items. The
/// search begins in the range `around`, and continues outside if the result is not in this range.
#[inline]
fn partition_around<T>(items: &[T], around: Range<usize>, comes_before: impl Fn(&T) -> bool) -> usize {
    let Range { mut start, mut end } = around;
    let mut step = 1;
    while start > 0 && !comes_before(&items[start - 1]) {
        (start, end) = (start.saturating_sub(step), start - 1);
        step *= 2;
    }
    while end < items.len() && comes_before(&items[end]) {
        (start, end) = (end + 1, (end + 1).saturating_add(step).min(items.len()));
        step *= 2;
    }
    let (mut first, mut count) = (start, end - start);
    while count > 1 {
        let half = count / 2;
        count -= half;
        first = select_unpredictable(comes_before(&items[first + half - 1]), first + half, first);
    }
    first + usize::from(count == 1 && comes_before(&items[first]))
}

/// Returns the points (head, position) that the lines must fit. Each distinct head gives the point of its first
/// occurrence. A head that occurs several times also gives the head plus 1, at the position after the last occurrence.
fn steps(heads: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let mut next = 0;
    heads.chunk_by(|a, b| a == b).flat_map(move |equal| {
        let place = next;
        next += equal.len() as u64;
        let above = equal[0].checked_add(1).filter(|_| equal.len() > 1);
        std::iter::once((equal[0], place)).chain(above.map(|head| (head, next)))
    })
}

/// Splits points (head, position) into segments, so that one line predicts all points of a segment with an error of at
/// most `epsilon`. Each segment is as long as possible. The points are in the order of their heads. If several points
/// have equal heads, only the first point is used.
fn cut(points: impl Iterator<Item = (u64, u64)>, epsilon: u64) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut corridor: Option<Corridor> = None;
    let mut last = None;
    for (head, place) in points {
        if last == Some(head) {
            continue;
        }
        last = Some(head);
        if !corridor.as_mut().is_some_and(|corridor| corridor.admit(head, place)) {
            let done = corridor.replace(Corridor::new(head, place, epsilon));
            segments.extend(done.map(|corridor| corridor.segment()));
        }
    }
    segments.extend(corridor.map(|corridor| corridor.segment()));
    segments
}

/// A point (head, position) of a segment, relative to the first head of the segment. `x` is the difference of the
/// heads, and `y` is the difference of the positions, which may be negative.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: i128,
    y: i128,
}

impl Point {
    /// Compares the slopes of the lines from this point to `a` and to `b`, which are both to the right of this point.
    /// The result is positive if the line to `b` is steeper, and negative if it is flatter. The result is the cross
    /// product of the two lines.
    fn turn(self, a: Self, b: Self) -> i128 {
        (a.x - self.x) * (b.y - self.y) - (b.x - self.x) * (a.y - self.y)
    }
}

/// The set of all lines that predict the positions of all heads in a segment with an error of at most `epsilon`. The
/// segment can grow as long as the set has a line.
struct Corridor {
    first: u64,
    place: u64,
    epsilon: i128,
    /// The points that no line of the set may exceed: each head of the segment, with its position plus `epsilon`. The
    /// list has only the points of the convex hull.
    upper: Vec<Point>,
    /// The points below which no line of the set may fall: each head of the segment, with its position minus `epsilon`.
    /// The list has only the points of the convex hull.
    lower: Vec<Point>,
    /// The two points through which the flattest line of the set goes: a head with its position plus `epsilon`, and a
    /// later head with its position minus `epsilon`.
    flattest: [Point; 2],
    steepest: [Point; 2],
}

impl Corridor {
    fn new(first: u64, place: u64, epsilon: u64) -> Self {
        let epsilon = i128::from(epsilon);
        let (above, below) = (Point { x: 0, y: epsilon }, Point { x: 0, y: -epsilon });
        Self {
            first,
            place,
            epsilon,
            upper: vec![above],
            lower: vec![below],
            flattest: [above, above],
            steepest: [below, below],
        }
    }

    /// Adds the point (head, position) to the segment, to the right of all other points. If no line could then predict
    /// all points with the allowed error, the function does not add the point, and returns `false`.
    fn admit(&mut self, head: u64, place: u64) -> bool {
        let (x, y) = (i128::from(head - self.first), i128::from(place) - i128::from(self.place));
        let (above, below) = (Point { x, y: y + self.epsilon }, Point { x, y: y - self.epsilon });
        if self.flattest[1].x == 0 {
            (self.flattest[1], self.steepest[1]) = (below, above);
        } else {
            let [flat, to] = self.flattest;
            let [steep, up] = self.steepest;
            if flat.turn(to, above) < 0 || steep.turn(up, below) > 0 {
                return false;
            }
            if flat.turn(to, below) > 0 {
                self.flattest = [touch(&mut self.upper, below, |turn| turn >= 0), below];
            }
            if steep.turn(up, above) < 0 {
                self.steepest = [touch(&mut self.lower, above, |turn| turn <= 0), above];
            }
        }
        extend(&mut self.upper, above, |turn| turn > 0);
        extend(&mut self.lower, below, |turn| turn < 0);
        true
    }

    /// Returns the line of the segment. Its slope is the mean of the flattest and the steepest possible slope. The line
    /// goes through the point where the flattest and the steepest line cross.
    fn segment(&self) -> Segment {
        let [flat, to] = self.flattest;
        let [steep, up] = self.steepest;
        if to.x == 0 {
            return Segment { first: self.first, slope: 0.0, place: self.place as f64 };
        }
        let slope_of = |from: Point, to: Point| (to.y - from.y) as f64 / (to.x - from.x) as f64;
        let (least, most) = (slope_of(flat, to), slope_of(steep, up));
        let slope = f64::midpoint(least, most);
        // The x at which flat.y + least * (x - flat.x) = steep.y + most * (x - steep.x).
        let across = (flat.y - steep.y) as f64 + most * steep.x as f64 - least * flat.x as f64;
        // If all lines are nearly equal, any x is suitable.
        let x = (across / (most - least)).clamp(0.0, to.x.max(up.x) as f64);
        let x = if x.is_nan() { flat.x as f64 } else { x };
        let y = flat.y as f64 + least * (x - flat.x as f64);
        Segment { first: self.first, slope, place: self.place as f64 + y - slope * x }
    }
}

/// Finds the flattest or the steepest line from a point of a convex chain to `end`, the new end point of the segment.
/// Returns the chain point at which this line starts. Also removes all earlier points of the chain, because no later
/// line starts there.
///
/// The function tries the chain points in order. At each point, `is_passed` gets the result of `Point::turn` for the
/// next chain point and `end`, and returns whether the line must start at a later point.
fn touch(chain: &mut Vec<Point>, end: Point, is_passed: impl Fn(i128) -> bool) -> Point {
    let mut at = 0;
    while at + 1 < chain.len() && is_passed(chain[at].turn(chain[at + 1], end)) {
        at += 1;
    }
    chain.drain(..at);
    chain[0]
}

/// Appends `point` to a convex chain. First removes points from the end of the chain, as long as the chain would not be
/// convex with `point`. For the last point of the chain, `sticks_out` gets the result of `Point::turn`, and returns
/// whether the last point stays.
fn extend(chain: &mut Vec<Point>, point: Point, sticks_out: impl Fn(i128) -> bool) {
    while let [.., before, last] = chain.as_slice()
        && !sticks_out(before.turn(*last, point))
    {
        chain.pop();
    }
    chain.push(point);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    /// Returns several kinds of heads: random, evenly spread, with steep and flat parts, and with equal heads.
    fn shapes() -> Vec<Vec<u64>> {
        let mut random = 1u64;
        let mut draw = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random ^ (random >> 29)
        };
        let shapes = vec![
            (0..20_000).map(|_| draw()).collect(),
            (0..20_000).map(|i| i << 44).collect(),
            (0..20_000).map(|i| i * i * i).collect(),
            (0..20_000).map(|i| if i / 100 % 2 == 0 { i } else { i << 30 }).collect(),
            (0..20_000).map(|_| draw() >> 52).collect(),
            (0..20_000).map(|i| u64::MAX - (i / 7) * (i % 3)).collect(),
        ];
        shapes
            .into_iter()
            .map(|mut heads: Vec<u64>| {
                heads.sort_unstable();
                heads
            })
            .collect()
    }

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        for epsilon in [1, 4, 32, 4096] {
            check_index(&[1000, 20_000], |heads| Pgm::new(heads, epsilon));
        }
        for heads in shapes() {
            let pgm = Pgm::new(heads.clone(), 8);
            for probe in heads.iter().flat_map(|head| [head.wrapping_sub(1), *head, head.wrapping_add(1)]) {
                assert_eq!(pgm.lower_bound(probe).rank as usize, heads.partition_point(|head| *head < probe));
            }
        }
    }

    /// Tests that every line predicts its points with the allowed error, so that no search leaves the predicted
    /// range.
    #[test]
    fn lines_are_off_by_epsilon_at_most() {
        for heads in shapes() {
            for epsilon in [1, 8, 64] {
                let segments = cut(steps(&heads), epsilon);
                for (head, place) in steps(&heads) {
                    let segment = segments[segments.partition_point(|segment| segment.first <= head) - 1];
                    let off = segment.foretell(head).abs_diff(place as usize) as u64;
                    assert!(off <= epsilon + 1, "{head} is off by {off} at {epsilon}");
                }
            }
        }
    }

    /// Tests that segments are as long as possible. The first point of a segment must not fit to any line of the
    /// previous segment.
    #[test]
    fn segments_are_as_long_as_can_be() {
        let even: Vec<u64> = (0..50_000).map(|i| i * 1_000_003).collect();
        assert_eq!(cut(steps(&even), 1).len(), 1);
        // The points form steps of ten positions. At a distance of 4, no line fits two steps. At a distance of 5,
        // one line fits all steps.
        let stairs = |epsilon| cut((0..1000).map(|i| (i, i / 2 * 2 * 5)), epsilon).len();
        assert_eq!(stairs(5), 1);
        assert!(stairs(2) > 300);
        let random = &shapes()[0];
        assert!(cut(steps(random), 32).len() < 20_000 / 500);
    }

    #[test]
    fn a_wrong_stretch_is_left_to_either_side() {
        let items: Vec<usize> = (0..1000).collect();
        for bound in [0, 1, 500, 999, 1000] {
            for start in (0..=1000).step_by(50) {
                for end in [start, (start + 3).min(1000), 1000] {
                    assert_eq!(partition_around(&items, start..end, |item| *item < bound), bound);
                }
            }
        }
    }

    #[test]
    fn impossible_distances_are_refused() {
        for epsilon in [0, 4097] {
            assert!(<Learned as Build<_>>::build(Params { epsilon }).err().unwrap().contains("1 to 4096"));
        }
    }
}
