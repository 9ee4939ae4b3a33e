//! Creates and updates the manifest of a run.

use std::collections::BTreeSet;
use std::path::Path;

use catalog::{Axis, VariantInfo};
use experiment::{Cell, DEFAULT_INTERVAL_NS, Experiment, Overrides};
use results::{
    BuildInfo, CellInfo, ComponentInfo, HarnessCost, LeftOut, MANIFEST_VERSION, MachineInfo, Manifest,
    RunMode,
};
use subject::Task;
use toml::{Table, Value};
use trial::{clock_cost, harness_cost, seam_costs};
use xxhash_rust::xxh3::xxh3_64;

use super::fixture::catalogs_of_stores;
use super::{doctor, engine_info, environment};

/// The warning that lsmbench writes to the manifest of a run with `--quick`.
pub const QUICK: &str = "quick run (reduced size); rerun without --quick before drawing conclusions";

/// Creates the manifest at the start of a new run. `build` describes the program, and `out` is the output folder.
pub(super) fn begin(
    experiment: &Experiment,
    overrides: &Overrides,
    build: &BuildInfo,
    out: &Path,
) -> Manifest {
    let trials = &experiment.trials;
    let machine = examined_machine(out);
    let started = environment::now();
    let config_hash = experiment.config_hash();
    let run_id = xxh3_64(format!("{config_hash}{started}{}", std::process::id()).as_bytes());
    let mut warnings = match trials.mode {
        RunMode::Timed => doubts(&machine),
        RunMode::Counted => Vec::new(),
    };
    warnings.extend_from_slice(&experiment.warnings);
    if overrides.quick {
        warnings.push(QUICK.to_owned());
    }
    let cells: Vec<CellInfo> = experiment.cells.iter().map(cell_info).collect();
    for engine in cells.iter().filter_map(|cell| cell.engine.as_ref()) {
        let told = engine.doubts.iter().map(|doubt| format!("engine {}: {doubt}", engine.name));
        let new: Vec<String> = told.filter(|doubt| !warnings.contains(doubt)).collect();
        warnings.extend(new);
    }
    if trials.check_stride() == 0 && experiment.task.workload().is_some() {
        warnings.push("answers are not checked because trials.check = 0; set it to 1 or more".to_owned());
    }
    let mut manifest = Manifest {
        version: MANIFEST_VERSION,
        experiment: experiment.name.clone(),
        run_id: format!("{run_id:016x}"),
        config_hash,
        command: std::env::args().collect(),
        seed: trials.seed,
        mode: trials.mode.name().to_owned(),
        quick: overrides.quick,
        components: components(experiment),
        cells,
        build: build.clone(),
        machine,
        harness: match trials.mode {
            RunMode::Timed if experiment.task.component().is_some() => clock_cost(),
            RunMode::Timed => harness_cost(trials.sampling, trials.check_stride(), DEFAULT_INTERVAL_NS),
            RunMode::Counted => HarnessCost::default(),
        },
        seams: seam_costs(experiment.cells.iter().map(|cell| &cell.design)),
        started,
        assumptions: experiment.assumptions.clone(),
        warnings,
        ..Manifest::default()
    };
    describe(&mut manifest, experiment);
    manifest
}

/// Returns warnings about this machine for the manifest: one per source of timing noise. Returns no warnings in counted
/// mode, because noise does not affect counters.
fn doubts(machine: &MachineInfo) -> Vec<String> {
    let concerns = machine.findings.iter().filter_map(|finding| {
        let value = finding.value.as_ref().map_or_else(String::new, |value| format!(", {value}"));
        Some(format!("{}{value}: {}", finding.check, finding.advice.as_ref()?))
    });
    concerns.collect()
}

/// Updates the manifest of a run that is resumed: adds the time of the resumption, and the settings that may differ.
pub(super) fn resume(mut manifest: Manifest, experiment: &Experiment, build: &BuildInfo) -> Manifest {
    let by = if manifest.build == *build { "" } else { ", by another build" };
    let time = environment::now();
    manifest.warnings.push(format!("the run was resumed at {time}{by}"));
    describe(&mut manifest, experiment);
    manifest
}

/// Returns information about this machine for the manifest, with the findings of `lsmbench doctor`.
pub(super) fn examined_machine(out: &Path) -> MachineInfo {
    let machine = environment::machine_info(out);
    MachineInfo { findings: doctor::examine(&machine, out), ..machine }
}

/// Sets the entries of the manifest that may differ after a run is resumed, such as the number of trials.
fn describe(manifest: &mut Manifest, experiment: &Experiment) {
    manifest.question.clone_from(&experiment.question);
    manifest.resolved = experiment.resolved();
    manifest.trials = experiment.trials.count;
    manifest.swept = experiment.swept();
    manifest.phases = experiment.task.phases();
    let left_out = experiment.left_out.iter();
    manifest.left_out =
        left_out.map(|left| LeftOut { label: left.label.clone(), reason: left.reason.clone() }).collect();
    manifest.ended = None;
}

/// Returns the catalogs of all components that a run can use, in the order of the manifest.
fn catalogs() -> impl Iterator<Item = &'static dyn Axis> {
    let others: [&'static dyn Axis; 3] = [&engines::CATALOG, &subject::SUBJECTS, &plot::KINDS];
    catalogs_of_stores().chain(others)
}

/// Returns all variants of components that a run can use, with their packages and versions, for the manifest.
pub fn known_components() -> Vec<ComponentInfo> {
    catalogs().flat_map(|axis| axis.variants().into_iter().map(|variant| component(axis, &variant))).collect()
}

/// Returns the manifest entry of a component variant, such as the filter `standard`.
fn component(axis: &dyn Axis, variant: &VariantInfo) -> ComponentInfo {
    ComponentInfo {
        axis: axis.name().to_owned(),
        kind: variant.kind.to_owned(),
        package: variant.origin.package.to_owned(),
        version: variant.origin.version.to_owned(),
    }
}

/// Returns the manifest entries of all component variants that the experiment uses. Each variant occurs once.
fn components(experiment: &Experiment) -> Vec<ComponentInfo> {
    let mut used: BTreeSet<(&str, String)> = experiment.cells.iter().flat_map(used_by).collect();
    used.extend(experiment.charts.iter().map(|chart| (plot::KINDS.name(), chart.kind.kind().to_owned())));
    let of_catalog = |axis: &'static dyn Axis| {
        let name = axis.name();
        let variants = axis.variants().into_iter();
        variants
            .filter(|variant| used.contains(&(name, variant.kind.to_owned())))
            .map(|variant| component(axis, &variant))
            .collect::<Vec<_>>()
    };
    catalogs().flat_map(of_catalog).collect()
}

/// Returns the kind and the name of each component that a configuration uses, such as ("filter", "standard").
fn used_by(cell: &Cell) -> Vec<(&'static str, String)> {
    let is_read = |axis: &&dyn Axis| cell.task.unread(&[axis.name()]).is_none();
    let of_design = tree::AXES.iter().copied().filter(is_read);
    let mut used: Vec<(&str, String)> =
        of_design.map(|axis| (axis.name(), cell.design.choice(axis.name()).kind().to_owned())).collect();
    let mut add = |axis: &'static dyn Axis, value: Option<&Value>| {
        used.extend(value.and_then(kind_of).map(|kind| (axis.name(), kind.to_owned())));
    };
    match &cell.task {
        Task::Workload(workload) => {
            add(&engines::CATALOG, Some(&cell.engine.to_toml()));
            add(&workload::FORMATS, Some(&workload.key.to_toml()));
            for phase in workload.to_toml().get("phase").and_then(Value::as_array).into_iter().flatten() {
                add(&workload::KEYS, phase.get("keys"));
                add(&workload::SIZES, phase.get("value"));
                add(&workload::LENGTHS, phase.get("range"));
                add(&workload::TRACES, phase.get("replay"));
            }
        }
        Task::Component(component) => {
            add(&subject::SUBJECTS, Some(&Value::from(component.kind())));
            let parameters = component.to_toml();
            let parameters = parameters.get(subject::COMPONENT).and_then(Value::as_table);
            // No name is in two of these catalogs, so at most one of the calls adds a component.
            for value in parameters.into_iter().flat_map(Table::values) {
                add(&workload::KEYS, Some(value));
                add(&workload::FORMATS, Some(value));
                add(&workload::TRACES, Some(value));
            }
        }
    }
    used
}

/// Returns the name of the variant that a TOML value selects: the key `kind` of a table, or the text before the
/// parameters in a string such as `l0-tiered(growth=8)`.
fn kind_of(choice: &Value) -> Option<&str> {
    match choice {
        Value::Table(table) => table.get("kind")?.as_str(),
        Value::String(label) => label.split('(').next(),
        _ => None,
    }
}

fn cell_info(cell: &Cell) -> CellInfo {
    CellInfo {
        cell: cell.number,
        label: cell.label.clone(),
        swept: cell.swept.clone(),
        design_hash: format!("{:016x}", xxh3_64(cell.task.design_toml(&cell.design).to_string().as_bytes())),
        engine: engine_info::engine_info(cell),
        survives_kill: engine_info::survival(cell),
        streams: Vec::new(),
    }
}
