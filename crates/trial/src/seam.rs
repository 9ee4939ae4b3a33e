//! Measures the overhead of calls to components in other languages or processes, before the run. A seam is the
//! interface between lsmbench and such a component.

use catalog::{Choice, Seam};
use measure::Clock;
use results::SeamCost;
use tree::Design;

/// How often the overhead of a call is measured. The smallest result counts, because disturbances only add time.
const REPEATS: usize = 15;

/// A function that returns the interface (seam) through which lsmbench calls a component in another language or
/// process. Returns `None` for a built-in component.
type SeamOf = fn(&Choice) -> Option<Seam>;

/// The axes whose variants may be in another language or process. Each element has the name of the axis, and a function
/// that returns the interface (seam) of a variant.
const SEAMS: [(&str, SeamOf); 4] = [
    ("bloom", bloom::seam),
    ("compaction", seam_of_policy),
    ("cache", cache::seam),
    ("compression", compression::seam),
];

/// The name of a hidden subcommand that runs a compaction policy in its own process, to measure the overhead of calls.
/// This policy never returns a compaction.
pub const POLICY_COMMAND: &str = "policy-process";

/// Returns the interface (seam) through which lsmbench calls a compaction policy in another process. For the
/// measurement, the other process runs this program.
fn seam_of_policy(choice: &Choice) -> Option<Seam> {
    let program = std::env::current_exe().ok()?.to_str()?.to_owned();
    compaction::seam(choice, &[program, POLICY_COMMAND.to_owned()])
}

/// Measures the overhead of a call to a component in another language or process, for each such component of the
/// designs. The result is empty if all components are built-in.
pub fn seam_costs<'a>(designs: impl Iterator<Item = &'a Design>) -> Vec<SeamCost> {
    let mut costs: Vec<SeamCost> = Vec::new();
    let clock = Clock::new();
    for (design, (axis, seam_of)) in designs.flat_map(|design| SEAMS.map(|seam| (design, seam))) {
        let Some(seam) = seam_of(design.choice(axis)) else { continue };
        if !costs.iter().any(|cost| cost.axis == axis && cost.call == seam.call) {
            costs.push(cost(seam, &clock));
        }
    }
    costs
}

/// Measures the overhead of one call to a component in another language or process. The function alternates such calls
/// with direct calls.
fn cost(mut seam: Seam, clock: &Clock) -> SeamCost {
    let (mut through_ns, mut direct_ns) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        for (calls, least) in [(&mut seam.through, &mut through_ns), (&mut seam.direct, &mut direct_ns)] {
            let start = clock.now();
            calls();
            let elapsed = clock.ns_between(start, clock.now()) as f64;
            *least = least.min(elapsed / f64::from(seam.calls));
        }
    }
    SeamCost {
        axis: seam.axis.to_owned(),
        kind: seam.kind.to_owned(),
        call: seam.call.to_owned(),
        call_ns: through_ns - direct_ns,
    }
}
