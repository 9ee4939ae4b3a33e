//! Copies of results, from which `lsmbench report` generates its pages. The copies are small enough for git, because
//! their rows have no empty columns, and their manifests contain nothing that is specific to one machine. `lsmbench
//! report --check` generates exactly the same report from these copies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use experiment::{AnswerFile, ENGINE, extended_tables};
use plot::{ChartFile, Form};
use results::{Folder, Manifest, Table};
use verdict::copy_rows;
use xxhash_rust::xxh3::xxh3_64;

use super::found::Found;
use super::trimmed::{Seals, trimmed};
use crate::output::line;
use types::{Outcome, Problem};

/// The folder in git with the copies of results from which the report is generated.
pub(super) const FOLDER: &str = "results/published";
/// The name of the file that lists the experiments in a folder of copies.
const INDEX: &str = "experiments.csv";
/// The columns of `experiments.csv`, the file that lists the experiments in a folder of copies.
const HEADER: [&str; 3] = ["experiment", "file", "recipe"];
/// The tables and keys of an experiment file that do not affect the measured results. The hash that identifies the
/// measured version of an experiment does not include them.
const PRESENTATION: [&str; 6] = ["source", "claim", "chart", "style", "verdict", "question"];

/// A folder with copies of results.
pub(super) struct Published {
    folder: PathBuf,
    /// A hash for each experiment, by the name of the experiment. The hash includes all settings that affect the
    /// results of the experiment.
    recipes: BTreeMap<String, String>,
    /// Whether at least one copy comes from a quick run (`--quick`).
    pub(super) quick: bool,
}

impl Published {
    /// Opens a folder of results. Returns `None` if the folder has no list of experiments, so it contains the
    /// original results of runs instead of copies.
    pub(super) fn read(folder: &Path) -> Outcome<Option<Self>> {
        let path = folder.join(INDEX);
        if !path.exists() {
            return Ok(None);
        }
        let wrong = |error: csv::Error| Problem::at(&path, None, error.to_string());
        let mut recipes = BTreeMap::new();
        for row in csv::Reader::from_path(&path).map_err(wrong)?.deserialize::<(String, String, String)>() {
            let (experiment, _, recipe) = row.map_err(wrong)?;
            recipes.insert(experiment, recipe);
        }
        let manifests = recipes.keys().map(|name| Folder::new(folder.join(name)).manifest());
        let mut quick = false;
        for manifest in manifests.filter(|path| path.exists()) {
            quick |= Manifest::read(&manifest)?.quick;
        }
        Ok(Some(Self { folder: folder.to_owned(), recipes, quick }))
    }

    /// Returns whether the copy of an experiment's results was measured with the settings that the experiment file has
    /// now.
    pub(super) fn is_of(&self, experiment: &str, file: &Path) -> Outcome<bool> {
        Ok(self.recipes.get(experiment) == Some(&recipe(file)?))
    }

    /// Returns whether the existing copy of an experiment's results stays, and prints this decision. The copy stays if
    /// the new results lack rows of the copy, for example because an engine is not installed. A copy of another version
    /// or size of the experiment does not stay.
    fn stays(&self, file: &AnswerFile, found: &Found<'_>, quick: bool) -> Outcome<bool> {
        let name = &found.experiment.name;
        let own = Folder::new(self.folder.join(name));
        if !self.recipes.contains_key(name) || !own.manifest().exists() {
            return Ok(false);
        }
        let kept = Table::read(&own.runs())?;
        let lacking = match &found.rows {
            Err(why) => why.clone(),
            Ok((_, table)) => {
                let now = engines(table);
                let gone: Vec<String> =
                    engines(&kept).into_iter().filter(|engine| !now.contains(engine)).collect();
                if gone.is_empty() {
                    return Ok(false);
                }
                format!("{} was not measured", gone.join(", "))
            }
        };
        let folder = own.root().display();
        let other = match (self.is_of(name, &file.path)?, Manifest::read(&own.manifest())?.quick == quick) {
            (false, _) => "another version of the experiment",
            (true, false) => "a run of another size",
            (true, true) => {
                line(&format!(
                    "{name}: {lacking}, so {folder} keeps its earlier results; to replace them, remove this \
                     folder and repeat the command"
                ));
                return Ok(true);
            }
        };
        line(&format!(
            "{name}: {lacking}; the results in {folder} came from {other}, so the run replaced these \
             results nevertheless"
        ));
        Ok(false)
    }

    /// Removes the copies of all experiments that are not in `staying`.
    fn clear(&self, staying: &BTreeSet<String>) -> Outcome<()> {
        for name in self.recipes.keys().filter(|name| !staying.contains(*name)) {
            let folder = self.folder.join(name);
            if folder.exists() {
                std::fs::remove_dir_all(&folder)
                    .map_err(|error| Problem::doing(format!("remove {}", folder.display()), error))?;
            }
        }
        Ok(())
    }
}

/// Returns the engines that occur in the rows of a sweep of engines. Returns an empty list if the experiment does not
/// sweep engines.
fn engines(table: &Table) -> Vec<String> {
    table.distinct(ENGINE).into_iter().flatten().map(|engine| engine.to_string()).collect()
}

/// Copies the results that the report needs into a folder, and replaces older copies. Returns the names of the
/// experiments whose older copies stay.
pub(super) fn publish(
    found: &[(&AnswerFile, Found<'_>)],
    folder: &Path,
    quick: bool,
) -> Outcome<BTreeSet<String>> {
    let mut staying = BTreeSet::new();
    if let Some(earlier) = Published::read(folder)? {
        for (file, found) in found {
            if earlier.stays(file, found, quick)? {
                staying.insert(found.experiment.name.clone());
            }
        }
        earlier.clear(&staying)?;
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| Problem::doing(format!("create {}", folder.display()), error))?;
    let mut rows = Vec::new();
    for (file, found) in found {
        let name = &found.experiment.name;
        rows.push([name.clone(), file.name(), recipe(&file.path)?]);
        if let (Ok((manifest, table)), false) = (&found.rows, staying.contains(name)) {
            keep(found, manifest, table, &Folder::new(folder.join(name)))?;
        }
    }
    rows.sort();
    let path = folder.join(INDEX);
    let wrong = |error: csv::Error| Problem::doing(format!("write {}", path.display()), error);
    let mut writer = csv::Writer::from_path(&path).map_err(wrong)?;
    writer.write_record(HEADER).map_err(wrong)?;
    rows.iter().try_for_each(|row| writer.write_record(row)).map_err(wrong)?;
    writer.flush().map_err(|error| Problem::doing(format!("write {}", path.display()), error))?;
    Ok(staying)
}

/// Copies the results of one experiment: its rows, its verdicts, its manifest, and the files that its charts need.
fn keep(found: &Found<'_>, manifest: &Manifest, table: &Table, to: &Folder) -> Outcome<()> {
    let from = &found.folder;
    let uses = |form: Form| found.experiment.charts.iter().any(|chart| chart.form() == form);
    let levels = found.experiment.charts.iter().any(|chart| chart.file == Some(ChartFile::Levels));
    std::fs::create_dir_all(to.root())
        .map_err(|error| Problem::doing(format!("create {}", to.root().display()), error))?;
    let runs = copy_rows(table.schema(), &from.runs(), &to.runs(), str::to_owned)?;
    let others =
        [(uses(Form::Timeline), from.timeline(), to.timeline()), (levels, from.levels(), to.levels())];
    let mut seals = [None, None];
    for ((is_used, path, copy), seal) in others.into_iter().zip(&mut seals) {
        if is_used && path.exists() {
            *seal = Some(copy_rows(Table::read(&path)?.schema(), &path, &copy, str::to_owned)?);
        }
    }
    let [timeline, levels] = seals;
    let seals = Seals { runs: Some(runs), timeline, levels };
    if from.verdicts().exists() {
        copy(&from.verdicts(), &to.verdicts())?;
    }
    if uses(Form::Cdf) {
        copy_histograms(from, to)?;
    }
    trimmed(manifest, seals).write(&to.manifest()).map_err(Problem::from)
}

fn copy_histograms(from: &Folder, to: &Folder) -> Outcome<()> {
    let cannot = |error| Problem::doing(format!("copy {}", from.histograms().display()), error);
    std::fs::create_dir_all(to.histograms()).map_err(cannot)?;
    for entry in from.histograms().read_dir().map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        copy(&entry.path(), &to.histograms().join(entry.file_name()))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let copied = std::fs::copy(from, to).map(drop);
    copied.map_err(|error| Problem::doing(format!("copy {} to {}", from.display(), to.display()), error))
}

/// Returns a hash of the settings that affect the results of an experiment: the experiment file and the designs that it
/// extends, without the tables and keys in [`PRESENTATION`]. The hash does not depend on the machine.
fn recipe(file: &Path) -> Outcome<String> {
    let cannot = |error: &dyn std::fmt::Display| Problem::doing(format!("read {}", file.display()), error);
    let text = std::fs::read_to_string(file).map_err(|error| cannot(&error))?;
    let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| cannot(&error.message()))?;
    table.retain(|key, _| !PRESENTATION.contains(&key));
    let below: String = extended_tables(file)?.iter().map(toml::Table::to_string).collect();
    Ok(format!("{:016x}", xxh3_64(format!("{table}{below}").as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_what_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.toml");
        let of = |text: &str| {
            std::fs::write(&path, text).unwrap();
            recipe(&path).unwrap()
        };
        let first = of("question = \"x\"\n[design]\nfence = \"binary\"\n");
        assert_eq!(
            first,
            of("question = \"y\" # other\n[design]\nfence = \"binary\"\n[source]\nfigure = \"E1\"\n")
        );
        assert_ne!(first, of("question = \"x\"\n[design]\nfence = \"lanes\"\n"));
        assert!(recipe(&folder.path().join("none.toml")).is_err());
    }

    #[test]
    fn a_recipe_changes_with_the_designs_that_it_extends() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("e.toml", "question = \"x\"\nextends = \"near.toml\"\n");
        write("near.toml", "about = \"a\"\nextends = \"far.toml\"\n[design]\nfence = \"binary\"\n");
        write("far.toml", "[design]\nbloom = \"none\"\n");
        let of = || recipe(&folder.path().join("e.toml")).unwrap();
        let first = of();
        write("near.toml", "about = \"b\"\nextends = \"far.toml\"\n[design]\nfence = \"binary\"\n");
        assert_eq!(of(), first, "the description of a design is not measured");
        write("far.toml", "[design]\nbloom = \"ribbon\"\n");
        let second = of();
        assert_ne!(second, first);
        write("near.toml", "about = \"b\"\nextends = \"far.toml\"\n[design]\nfence = \"lanes\"\n");
        assert_ne!(of(), second);
        write("far.toml", "extends = \"near.toml\"\n[design]\n");
        of(); // A cycle ends here, and is rejected where the design is read.
    }
}
