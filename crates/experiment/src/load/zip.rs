//! Creates the error for a sweep with `combine = "zip"` if `--set` shortens only one of its lists. The error contains
//! the options that select the corresponding configurations.

use toml::Value;
use types::Problem;

use super::Loader;
use crate::overrides::{Set, SetBy};
use crate::sweep::{Combine, Factor, Sweep};

impl Loader<'_> {
    /// Returns an error if an option `--set` shortens one list of a sweep with `combine = "zip"`, and another list
    /// keeps its length. The error suggests options that shorten all lists alike. Returns `None` for any other sweep.
    pub(super) fn shortened_zip(&self, sweep: &Sweep) -> Option<Problem> {
        if sweep.combine != Combine::Zip {
            return None;
        }
        let table = self.file.table.get("sweep")?;
        let list = |path: &str| table.get(path)?.as_array();
        let shortened = |(path, set): (Vec<&str>, &Set)| {
            let (all, own) = (list(&path.join("."))?, set.value.as_array()?);
            let is_selection = own.len() < all.len() && own.iter().all(|value| all.contains(value));
            let kept: Vec<usize> = (0..all.len()).filter(|at| own.contains(&all[*at])).collect();
            is_selection.then(|| (set.clone(), own.len(), kept))
        };
        let mut of_user = self.sets.under("sweep").filter(|(_, set)| set.by == SetBy::CommandLine);
        let (set, length, kept) = of_user.find_map(shortened)?;
        let other = sweep.factors.iter().find(|factor| factor.values.len() != length)?;
        let option = |factor: &Factor| {
            let all = list(&factor.path)?;
            let values = kept.iter().map(|at| all.get(*at).cloned()).collect::<Option<Vec<Value>>>()?;
            Some(format!("--set 'sweep.{}={}'", factor.path, Value::Array(values)))
        };
        let options = sweep.factors.iter().map(option).collect::<Option<Vec<String>>>()?;
        let message = format!(
            "combine = \"zip\" needs lists of equal length, but \"{}\" has {} values; to run only the \
             configurations with the values of this option, use: {}",
            other.path,
            other.values.len(),
            options.join(" ")
        );
        Some(set.problem(&self.file, message))
    }
}
