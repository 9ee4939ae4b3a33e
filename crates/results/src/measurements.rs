//! The measured values of one row, as a trial process reports them. The experiment, the configuration and the trial
//! are not included.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::reference::known;
use crate::{Metric, Value};

/// The measured values of one row, keyed by metric. Values that were not measured are absent.
///
/// The values are serialized as a map from column names to values. Deserialization rejects a name that is not a
/// column of any result file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements(Vec<(&'static Metric, Value)>);

impl Measurements {
    /// Sets the value of a metric. An empty value does not replace an earlier value.
    ///
    /// # Panics
    /// The value has the wrong type for the metric, which is a mistake in the measuring code.
    pub fn set(&mut self, metric: &'static Metric, value: impl Into<Value>) -> &mut Self {
        let value = metric.hold(&value.into());
        if value.is_empty() {
            return self;
        }
        match self.0.iter_mut().find(|(other, _)| other.name == metric.name) {
            Some((_, earlier)) => *earlier = value,
            None => self.0.push((metric, value)),
        }
        self
    }

    /// Sets the value of a metric. `None` does not replace an earlier value.
    pub fn set_some(&mut self, metric: &'static Metric, value: Option<impl Into<Value>>) -> &mut Self {
        match value {
            Some(value) => self.set(metric, value),
            None => self,
        }
    }

    /// Returns the value of a metric. The value is empty if the metric was not measured.
    pub fn get(&self, metric: &Metric) -> &Value {
        self.0.iter().find(|(other, _)| other.name == metric.name).map_or(&Value::Empty, |(_, value)| value)
    }

    /// Returns the value of a metric as a number. Returns `None` if the metric was not measured or is a text.
    pub fn number(&self, metric: &Metric) -> Option<f64> {
        self.get(metric).number()
    }

    /// Returns the value of a metric as an integer. Returns `None` if the metric was not measured or is not an
    /// unsigned integer.
    pub fn integer(&self, metric: &Metric) -> Option<u64> {
        self.get(metric).integer()
    }

    /// Adds all values of `other`. The value of `other` replaces an earlier value of the same metric.
    pub fn extend(&mut self, other: Self) {
        for (metric, value) in other.0 {
            self.set(metric, value);
        }
    }

    /// Keeps only the values whose metrics are in one of the lists `columns`.
    pub fn retain(&mut self, columns: &[&[Metric]]) {
        self.0.retain(|(metric, _)| {
            columns.iter().any(|list| list.iter().any(|column| column.name == metric.name))
        });
    }

    /// Returns every metric with its value, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Metric, &Value)> {
        self.0.iter().map(|(metric, value)| (*metric, value))
    }
}

impl Serialize for Measurements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(metric, value)| (metric.name, value)))
    }
}

impl<'de> Deserialize<'de> for Measurements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Row;

        impl<'de> Visitor<'de> for Row {
            type Value = Measurements;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("a map from column names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measurements, A::Error> {
                let mut measurements = Measurements::default();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    let unknown = || A::Error::custom(format!("unknown column \"{name}\""));
                    let metric = known(&name).ok_or_else(unknown)?;
                    let value = metric.accept(value).ok_or_else(|| {
                        A::Error::custom(format!(
                            "the value of column \"{name}\" must be {kind}",
                            kind = metric.kind.expected()
                        ))
                    })?;
                    measurements.set(metric, value);
                }
                Ok(measurements)
            }
        }

        deserializer.deserialize_map(Row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{FPR, OPS, PHASE, WRITE_AMP};
    use crate::counters::GETS;

    #[test]
    fn values_are_keyed_by_metric_and_what_was_not_measured_is_not_there() {
        let mut row = Measurements::default();
        row.set(&OPS, 5_u64).set(&FPR, f64::NAN).set_some(&WRITE_AMP, None::<f64>).set(&OPS, 6_u64);
        assert_eq!(row.iter().collect::<Vec<_>>(), [(&OPS, &Value::Integer(6))]);
        let mut other = Measurements::default();
        other.set(&OPS, 7_u64).set(&FPR, 1_u64).set(&GETS, 3_u64);
        row.extend(other);
        assert_eq!((row.integer(&OPS), row.number(&FPR), row.integer(&GETS)), (Some(7), Some(1.0), Some(3)));
        row.retain(&[&[OPS], &[PHASE]]);
        assert_eq!(row.iter().collect::<Vec<_>>(), [(&OPS, &Value::Integer(7))]);
    }

    #[test]
    fn a_row_reads_back_as_it_was_written_and_unknown_columns_are_named() {
        let mut row = Measurements::default();
        row.set(&PHASE, "load").set(&OPS, u64::MAX).set(&FPR, 0.1).set(&WRITE_AMP, 3.0);
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(text, r#"{"phase":"load","ops":18446744073709551615,"fpr":0.1,"write_amp":3.0}"#);
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), row);
        for (text, expected) in [
            (r#"{"gets": 1}"#, "unknown column \"gets\""),
            (r#"{"opps": 1}"#, "unknown column \"opps\""),
            (r#"{"ops": 1.5}"#, "the value of column \"ops\" must be a whole number"),
        ] {
            let error = serde_json::from_str::<Measurements>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    #[should_panic(expected = "column \"ops\" must contain a whole number")]
    fn a_value_of_the_wrong_kind_is_a_mistake_in_the_code() {
        Measurements::default().set(&OPS, 0.5);
    }
}
