//! A row of a table, and the group of rows that it belongs to.

use crate::columns::{CELL, TRIAL};
use crate::{Column, Measurements, Metric, ResultsError, Schema, Value};

/// A trial of a configuration, which identifies a group of rows. The rows of a group are appended to the file in one
/// write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    /// The number of the configuration.
    pub cell: u64,
    /// The number of the trial.
    pub trial: u64,
}

/// A row of a table, with one cell per column. All cells of a new row are empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    schema: Schema,
    cells: Vec<Value>,
}

impl Row {
    /// Creates an empty row.
    pub fn new(schema: &Schema) -> Self {
        Self { schema: schema.clone(), cells: vec![Value::Empty; schema.columns().len()] }
    }

    pub(crate) fn from_cells(schema: &Schema, cells: Vec<Value>) -> Self {
        Self { schema: schema.clone(), cells }
    }

    /// Sets the value of a column with a fixed name, which is one of the [`columns`](crate::columns).
    ///
    /// # Panics
    /// The file of the row does not contain the column, or the value has another type than the column. Both are
    /// mistakes in the measuring code.
    pub fn set(&mut self, metric: &Metric, value: impl Into<Value>) -> &mut Self {
        let at = self.schema.position(metric.name);
        let at = at.unwrap_or_else(|| {
            panic!("the results file must have the column \"{name}\"", name = metric.name)
        });
        self.cells[at] = metric.hold(&value.into());
        self
    }

    /// Copies all measured values into their columns.
    ///
    /// # Panics
    /// The cases in which [`set`](Self::set) panics.
    pub fn fill(&mut self, measurements: &Measurements) -> &mut Self {
        measurements.iter().for_each(|(metric, value)| _ = self.set(metric, value.clone()));
        self
    }

    /// Sets the column of a swept path. [`Value::infer`] determines the type of the value from its text.
    ///
    /// # Errors
    /// The path is not swept.
    pub fn set_swept(&mut self, path: &str, value: &str) -> Result<&mut Self, ResultsError> {
        let at = self.schema.find(path)?;
        self.cells[at] = Value::infer(value);
        Ok(self)
    }

    /// Replaces the values of all swept columns. `text` returns the text of the new value for the name of a column and
    /// the text of the old value. Empty cells stay empty.
    pub(crate) fn replace_swept(&mut self, text: impl Fn(&str, &str) -> String) {
        for (column, cell) in self.schema.columns().iter().zip(&mut self.cells) {
            if let (Column::Swept(path), false) = (column, cell.is_empty()) {
                *cell = Value::infer(&text(path, &cell.to_string()));
            }
        }
    }

    /// Returns the value of a column. The value is empty if the file does not contain the column.
    pub fn get(&self, metric: &Metric) -> &Value {
        self.schema.position(metric.name).map_or(&Value::Empty, |at| &self.cells[at])
    }

    /// Returns all values, in the order of the columns.
    pub fn cells(&self) -> &[Value] {
        &self.cells
    }

    /// Returns the columns of the row.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the configuration and the trial of the row. Returns `None` if one of these columns is empty.
    pub fn group(&self) -> Option<Group> {
        Some(Group { cell: self.get(&CELL).integer()?, trial: self.get(&TRIAL).integer()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{FPR, LABEL, OPS};

    #[test]
    fn cells_are_set_by_column_and_empty_before() {
        let schema = Schema::runs(&["design.bloom"]).unwrap();
        let mut row = Row::new(&schema);
        assert!(row.get(&OPS).is_empty());
        row.set(&OPS, 5_u64).set(&FPR, 1_u64).set(&LABEL, "x").set_swept("design.bloom", "12").unwrap();
        assert_eq!(row.get(&OPS), &Value::Integer(5));
        assert_eq!(row.get(&FPR), &Value::Number(1.0));
        assert!(row.set_swept("design.fence", "x").is_err());
    }

    #[test]
    #[should_panic(expected = "column \"ops\" must contain a whole number")]
    fn a_cell_of_the_wrong_kind_is_a_mistake_in_the_code() {
        Row::new(&Schema::runs::<&str>(&[]).unwrap()).set(&OPS, 0.5);
    }
}
