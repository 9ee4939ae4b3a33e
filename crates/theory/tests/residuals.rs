//! The form of K-LSM beside the simulator: how far its writes and runs are from those of the policies, for trees between two
//! full levels. `cargo test -p lsmbench-theory --test residuals -- --nocapture` prints the table.

use compaction::{CATALOG, Load, Simulator};
use lsmbench_theory::KLsm;

/// Entries of a full memtable.
const BUFFER: u64 = 1000;

/// Numbers of flushes after which the tree is compared.
const FLUSHES: [u64; 6] = [60, 150, 400, 1000, 1700, 2500];

/// Residuals of a form: form / simulation − 1.
struct Residuals {
    mean: f64,
    worst: f64,
}

fn residuals(pairs: &[(f64, f64)]) -> Residuals {
    let each: Vec<f64> = pairs.iter().map(|(form, simulated)| form / simulated - 1.0).collect();
    let worst = each.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
    Residuals { mean: each.iter().sum::<f64>() / each.len() as f64, worst }
}

/// The write amplification and the mean number of runs at rest, form beside simulation, after each number of flushes.
fn compared(policy: &str, runs: (f64, f64), size_ratio: f64) -> (Residuals, Residuals) {
    let choice = CATALOG.choose(&toml::Value::from(policy)).unwrap();
    let built = CATALOG.build(&choice).unwrap();
    let load =
        Load { writes_per_flush: BUFFER, entry_bytes: 100, entries_per_table: u64::MAX, distinct_keys: None };
    let mut simulator = Simulator::new(&*built, load).unwrap();
    let (mut writes, mut seeks) = (Vec::new(), Vec::new());
    let (mut runs_since, mut flushes_since, mut form_since) = (0.0, 0.0, 0.0);
    for flush in 1..=FLUSHES[FLUSHES.len() - 1] {
        simulator.flush().unwrap();
        let tree = KLsm {
            size_ratio,
            upper_runs: runs.0,
            largest_runs: runs.1,
            entries: (flush * BUFFER) as f64,
            buffer: BUFFER as f64,
            entries_per_block: 32.0,
        };
        // Half of the runs of a full level are there on average.
        runs_since += simulator.report().runs() as f64;
        form_since += tree.scan_seeks();
        flushes_since += 1.0;
        if FLUSHES.contains(&flush) {
            writes.push((tree.write_amp(), simulator.report().write_amp()));
            seeks.push((form_since / flushes_since, runs_since / flushes_since));
            (runs_since, flushes_since, form_since) = (0.0, 0.0, 0.0);
        }
    }
    (residuals(&writes), residuals(&seeks))
}

#[test]
fn the_form_is_near_the_simulated_trees() {
    println!("policy                                   writes: mean  worst   runs: mean  worst");
    for ratio in [3.0, 4.0, 6.0, 10.0] {
        for (kind, runs) in
            [("leveled", (1.0, 1.0)), ("tiered", (ratio - 1.0, ratio - 1.0)), ("lazy", (ratio - 1.0, 1.0))]
        {
            let policy = match kind {
                "leveled" => format!("leveled(size_ratio={ratio}, level0_runs=1)"),
                "tiered" => format!("tiered(size_ratio={ratio})"),
                _ => format!("lazy-leveled(size_ratio={ratio})"),
            };
            let (writes, seeks) = compared(&policy, runs, ratio);
            println!(
                "{policy:<42} {:>+8.1} % {:>+6.1} % {:>+8.1} % {:>+6.1} %",
                writes.mean * 100.0,
                writes.worst * 100.0,
                seeks.mean * 100.0,
                seeks.worst * 100.0
            );
            assert!(writes.worst.abs() < 0.45, "{policy}: writes {:+.2}", writes.worst);
            // The form counts the runs of full levels, so it is an upper bound.
            assert!(seeks.worst > -0.15, "{policy}: runs {:+.2}", seeks.worst);
        }
    }
}
