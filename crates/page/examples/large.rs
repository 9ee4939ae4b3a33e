//! Writes invented results of a sweep with many configurations, to test the page with a large amount of data. Run
//! `large FOLDER CELLS`.

use std::path::PathBuf;

use results::{CellInfo, Folder, MANIFEST_VERSION, Manifest, Row, RowWriter, Schema, columns as c};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments.next().map(PathBuf::from).ok_or("usage: large FOLDER CELLS")?;
    let count: u64 =
        arguments.next().and_then(|count| count.to_str()?.parse().ok()).ok_or("usage: large FOLDER CELLS")?;
    std::fs::create_dir_all(&folder)?;
    let folder = Folder::new(folder);
    let swept = ["design.bloom.bits_per_key", "design.memtable.capacity", "phase.mixed.threads"];
    let schema = Schema::runs(&swept)?;
    let mut writer = RowWriter::create(&folder.runs(), &schema)?;
    let mut cells = Vec::new();
    for cell in 0..count {
        let values =
            [(cell % 25).to_string(), format!("{}KiB", 16 + cell / 25 % 20), (1 + cell / 500).to_string()];
        let label = format!("bits_per_key={}, capacity={}, threads={}", values[0], values[1], values[2]);
        let rows: Vec<Row> = (0..6_u64)
            .map(|trial| {
                let mut row = Row::new(&schema);
                let noise = ((cell * 37 + trial * 101) % 97) as f64 / 970.0;
                let rate = 1e5 * (1.0 + noise) * (1.0 + (cell % 25) as f64 / 50.0);
                row.set(&c::EXPERIMENT, "large")
                    .set(&c::CELL, cell)
                    .set(&c::LABEL, label.as_str())
                    .set(&c::TRIAL, trial);
                row.set(&c::PHASE, "mixed")
                    .set(&c::OPERATION, "all")
                    .set(&c::MODE, "timed")
                    .set(&c::SEED, 42_u64);
                row.set(&c::OPS_PER_SECOND, rate).set(&c::WRITE_AMP, 3.0 + (cell % 20) as f64 / 10.0);
                for (path, value) in swept.iter().zip(&values) {
                    row.set_swept(path, value)?;
                }
                Ok(row)
            })
            .collect::<Result<_, results::ResultsError>>()?;
        writer.append(&rows)?;
        cells.push(CellInfo { cell, label, swept: values.to_vec(), ..CellInfo::default() });
    }
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        experiment: "large".to_owned(),
        question: "Does a page of many configurations stay fluid?".to_owned(),
        mode: "timed".to_owned(),
        seed: 42,
        trials: 6,
        swept: swept.iter().map(ToString::to_string).collect(),
        phases: vec!["mixed".to_owned()],
        cells,
        runs: Some(writer.seal()?),
        ..Manifest::default()
    };
    manifest.write(&folder.manifest())?;
    Ok(())
}
