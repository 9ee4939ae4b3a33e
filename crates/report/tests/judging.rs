//! Tests the judgements of all claims in `experiments/`. Rows with the claimed number must reproduce a claim, and
//! other rows must not. Computed claims must have the finding that their rule expects.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::{DOCUMENTS, claims, sheets};
use lsmbench_report::{
    COMPUTATIONS, Claim, Claims, Compare, Evidence, Facts, Finding, Force, Judgement, Other, ParamColumn,
    Rule, Scale, Statement, Texts, Way, judge,
};
use results::columns::{CELL, HARDWARE, IMPLAUSIBLE, OPERATION, PHASE, SECONDS, TRIAL, WRONG_ANSWERS};
use results::{Better, Column, Row, Schema, Table, Value};

/// Facts of an experiment of which only the result rows are known.
struct Rows;

impl Facts for Rows {
    fn setting(&self, _path: &str) -> Option<f64> {
        None
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

/// The name of the computation that needs a run of the program.
const BEYOND: &str = "torture_kill";

/// The measurement of the other side. The measurement of the claim is the claimed ratio times this value. The value is
/// large, because some columns contain only integers.
const OTHER: f64 = 1e9;

fn rules(way: Way) -> Vec<(Claims, Rule)> {
    let mut all = Vec::new();
    for (document, _) in DOCUMENTS {
        let claims = claims(document);
        for sheet in sheets(document).into_values() {
            let rules = sheet.rules.into_iter().filter(|rule| rule.way() == way);
            all.extend(rules.map(|rule| (claims.clone(), rule)));
        }
    }
    all
}

fn finding(rule: &Rule, place: usize, claims: &Claims, runs: Option<&Table>) -> (Finding, String) {
    let judged = judge(
        rule,
        place,
        claims,
        &Evidence { runs: runs.ok_or("no results"), cores: Some(64), facts: &Rows },
    );
    (judged.finding, format!("{judged:?}"))
}

#[test]
fn computations_come_out_as_their_rules_expect() {
    let (mut wrong, mut findings) = (Vec::new(), BTreeMap::<Finding, usize>::new());
    for (claims, rule) in rules(Way::Computed) {
        let name = rule.computed.as_deref().unwrap();
        let computation =
            COMPUTATIONS.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name}"));
        assert!(rule.with.keys().all(|key| computation.arguments.contains(&key.as_str())), "{name}");
        for place in 0..rule.ids.all().len() {
            let (found, judged) = finding(&rule, place, &claims, None);
            *findings.entry(found).or_default() += 1;
            let is_right = match (computation.force, found) {
                _ if name == BEYOND => found == Finding::NotTestable,
                (Force::Given, _) => found == Finding::NotTestable,
                (_, Finding::DirectionOnly) => {
                    let standing = claims.get(&rule.ids.all()[place]).unwrap().standing;
                    rule.bound.is_some() || standing == Statement::UpTo
                }
                (Force::Must, _) => matches!(found, Finding::Reproduced | Finding::Impossible),
                (Force::Should, _) => matches!(found, Finding::Reproduced | Finding::NotReproduced),
            };
            if !is_right {
                wrong.push(judged);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let counts = Finding::ALL.map(|finding| findings.get(&finding).copied().unwrap_or_default());
    assert_eq!(counts, [49, 4, 14, 32, 5], "as the five verdicts go");
}

/// Tests that an impossible claim exceeds a bound or contradicts arithmetic, and that the judgement shows the
/// derivation.
#[test]
fn what_is_impossible_shows_its_bound_and_derivation() {
    for (claims, rule) in rules(Way::Computed) {
        for place in 0..rule.ids.all().len() {
            let evidence = Evidence { runs: Err("no results"), cores: None, facts: &Rows };
            let judged = judge(&rule, place, &claims, &evidence);
            if judged.finding == Finding::Impossible {
                assert!(judged.theory.as_ref().is_some_and(|theory| theory.value.is_some()), "{judged:?}");
                assert!(rule.reason.is_some(), "{} is derived", judged.id);
            }
        }
    }
}

#[test]
fn theory_is_computed_for_every_claim_that_has_some() {
    let mut computed = 0;
    for (claims, rule) in [rules(Way::Run), rules(Way::Untestable)].concat() {
        let Some(theory) = &rule.theory else { continue };
        for place in 0..rule.ids.all().len() {
            let evidence = Evidence { runs: Err("no results"), cores: None, facts: &Rows };
            let expected = judge(&rule, place, &claims, &evidence).theory.unwrap();
            assert_eq!(expected.value.is_some(), theory.computed.is_some(), "{expected:?}");
            assert!(
                expected.value.is_none_or(|value| value.is_finite() && value.abs() < 1e6),
                "{expected:?}"
            );
            assert_eq!(expected.says, theory.says);
            computed += usize::from(expected.value.is_some());
        }
    }
    assert!(computed > 50, "{computed}");
}

#[test]
fn nothing_is_reproduced_without_rows() {
    for (claims, rule) in [rules(Way::Run), rules(Way::Untestable)].concat() {
        for place in 0..rule.ids.all().len() {
            let (found, judged) = finding(&rule, place, &claims, None);
            assert_eq!(found, Finding::NotTestable, "{judged}");
        }
    }
}

#[test]
fn rows_that_say_what_a_claim_says_reproduce_it_and_no_others_do() {
    let (mut wrong, mut judged_claims, mut bases) = (Vec::new(), 0, 0);
    for (claims, rule) in rules(Way::Run) {
        for place in 0..rule.ids.all().len() {
            let made =
                Made { rule: &rule, claims: &claims, claim: claims.get(&rule.ids.all()[place]).unwrap() };
            if made.is_base() {
                bases += 1;
                let (found, judged) = finding(&rule, place, &claims, Some(&made.table(0.0, false)));
                assert_eq!(found, Finding::NotTestable, "{judged}");
                continue;
            }
            judged_claims += 1;
            let mut expect = |off: f64, is_wrong: bool, right: &dyn Fn(Finding) -> bool| {
                let (found, judged) = finding(&rule, place, &claims, Some(&made.table(off, is_wrong)));
                if !right(found) {
                    wrong.push(format!("off by {off}: {judged}"));
                }
            };
            expect(0.0, false, &|found| found == Finding::Reproduced);
            expect(0.0, true, &|found| found == Finding::NotTestable);
            for off in made.beyond() {
                expect(off, false, &|found| found != Finding::Reproduced && found != Finding::NotTestable);
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(judged_claims + bases, 559);
    assert!(judged_claims > 300, "{judged_claims} are compared with something");
}

/// Returns the judgement of a claim, based on rows with the claimed number. `change` may change the rows.
fn made_for(id: &str, change: impl Fn(&mut Row)) -> Judgement {
    let of_claim = |(_, rule): &(Claims, Rule)| rule.ids.all().iter().any(|one| one == id);
    let (claims, rule) = rules(Way::Run).into_iter().find(of_claim).unwrap();
    let made = Made { rule: &rule, claims: &claims, claim: claims.get(id).unwrap() };
    let table = made.table(0.0, false);
    let mut rows = table.rows().to_vec();
    rows.iter_mut().for_each(change);
    let table = Table::new(table.schema().clone(), rows);
    let place = rule.ids.all().iter().position(|one| one == id).unwrap();
    judge(&rule, place, &claims, &Evidence { runs: Ok(&table), cores: Some(64), facts: &Rows })
}

#[test]
fn a_measurement_at_another_size_says_which() {
    for (id, size) in [
        ("byron-111", Some("1,250,000")),
        ("byron-110", Some("1,250,000 against 125,000")),
        ("cs265-126", Some("2,500,000 against 250,000")),
        ("byron-094", Some("1,250,000 against 125,000")),
        ("cs265-097", None),
    ] {
        let judged = made_for(id, |_| {});
        assert_eq!(judged.measured_at.as_deref(), size, "{judged:?}");
    }
}

#[test]
fn what_a_run_takes_for_impossible_is_no_measurement() {
    let judged = made_for("byron-111", |row| {
        row.set(&IMPLAUSIBLE, "bytes of merges: more were written than read");
    });
    assert_eq!(judged.finding, Finding::NotTestable);
    assert!(judged.reason.contains("the measured values are implausible: bytes of merges"), "{judged:?}");
    assert_eq!(judged.measured, None);
}

#[test]
fn what_takes_hardware_counters_is_not_tested_without_them() {
    for id in ["byron-001", "byron-003", "byron-112"] {
        assert_eq!(made_for(id, |_| {}).finding, Finding::Reproduced, "{id}");
        let judged = made_for(id, |row| {
            HARDWARE.iter().for_each(|column| {
                row.set(column, Value::Empty);
            });
        });
        assert_eq!(judged.finding, Finding::NotTestable, "{judged:?}");
        assert!(judged.reason.contains("provided no hardware counters"), "{judged:?}");
    }
    let other = made_for("byron-004", |row| {
        row.set(&SECONDS, Value::Empty);
    });
    assert!(other.reason.ends_with("seconds was not measured"), "{other:?}");
}

#[test]
fn no_row_that_is_published_is_impossible() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/published");
    let mut rows = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path().join("runs.csv");
        if !path.exists() {
            continue;
        }
        for row in Table::read(&path).unwrap().rows() {
            assert!(row.get(&IMPLAUSIBLE).is_empty(), "{}: {}", path.display(), row.get(&IMPLAUSIBLE));
            rows += 1;
        }
    }
    assert!(rows > 1000, "{rows}");
}

/// Synthetic rows for one claim.
struct Made<'a> {
    rule: &'a Rule,
    claims: &'a Claims,
    claim: &'a Claim,
}

impl Made<'_> {
    fn compare(&self) -> Compare {
        self.rule.compare.unwrap()
    }

    /// Returns whether other measurements of the rule are relative to this claim.
    fn is_base(&self) -> bool {
        match (&self.rule.to, &self.rule.against) {
            (None, _) => false,
            (_, Some(id)) if *id == self.claim.id => true,
            _ => self.other_cells().is_some_and(|other| other == self.cells(self.claim)),
        }
    }

    /// Returns relative errors of a measurement with which the claim must not be reproduced.
    fn beyond(&self) -> Vec<f64> {
        let off = 2.0 * self.rule.tolerance + 0.1;
        match (self.compare(), self.claim.standing) {
            (Compare::Rank | Compare::Crossing, _) | (_, Statement::AtMost | Statement::To) => vec![off],
            (_, Statement::AtLeast | Statement::From) => vec![-off],
            _ => vec![off, -off],
        }
    }

    /// Returns the cells by which a claim is looked up, computed independently of the report. Each cell has a column
    /// and a value. If several values match, the last value is used.
    fn cells(&self, claim: &Claim) -> Vec<(String, String)> {
        self.selected(&claim.subject, &|param| claim.params.get(param).cloned())
    }

    fn other_cells(&self) -> Option<Vec<(String, String)>> {
        match self.rule.to.as_ref()? {
            Other::Subject(subject) => {
                Some(self.selected(subject, &|param| self.claim.params.get(param).cloned()))
            }
            Other::Differing(table) => {
                let changed = |param: &str| {
                    let other = table.get(param).and_then(|texts| texts.all().first()).cloned();
                    other.or_else(|| self.claim.params.get(param).cloned())
                };
                let mut cells = self.selected(&self.claim.subject, &changed);
                for (column, texts) in table.iter().filter(|(name, _)| !self.rule.params.contains_key(*name))
                {
                    cells.retain(|(name, _)| name != column);
                    cells.push((column.clone(), texts.all().last().unwrap().clone()));
                }
                cells.sort();
                Some(cells)
            }
        }
    }

    fn selected(&self, subject: &str, param: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let last = |texts: &Texts| texts.all().last().unwrap().clone();
        let mut cells = BTreeMap::new();
        if !self.rule.phase.is_empty() {
            cells.insert("phase".to_owned(), last(&self.rule.phase));
        }
        cells.extend(self.rule.filter.iter().map(|(column, texts)| (column.clone(), last(texts))));
        let chosen = self.rule.subjects.get(subject).into_iter().flatten();
        cells.extend(chosen.map(|(column, texts)| (column.clone(), last(texts))));
        for (name, column) in &self.rule.params {
            let value = param(name).unwrap();
            let text = match column {
                ParamColumn::Same(_) => value,
                ParamColumn::Translated { values, .. } => last(&values[&value]),
            };
            cells.insert(column.column().to_owned(), text);
        }
        cells.into_iter().collect()
    }

    fn scale(&self, cells_of_other: bool) -> f64 {
        match &self.rule.scale {
            None => 1.0,
            Some(Scale::Number(number)) => {
                if cells_of_other {
                    1.0
                } else {
                    *number
                }
            }
            Some(Scale::Param(param)) => {
                let other = match &self.rule.to {
                    Some(Other::Differing(table)) if cells_of_other => {
                        table.get(param).map(|texts| texts.all()[0].clone())
                    }
                    _ => None,
                };
                other.unwrap_or_else(|| self.claim.params[param].clone()).parse().unwrap()
            }
        }
    }

    /// Returns the schema of an experiment that has all columns of the rule.
    fn schema(&self) -> Schema {
        let fixed = Schema::runs::<&str>(&[]).unwrap();
        let named: BTreeSet<&str> =
            self.rule.columns().map(|(_, name)| name).filter(|name| fixed.position(name).is_none()).collect();
        let named: Vec<&str> = named
            .into_iter()
            .filter(|name| !self.rule.params.contains_key(*name) || name.contains('.'))
            .collect();
        Schema::runs(&named).unwrap()
    }

    fn better(&self, schema: &Schema) -> Better {
        let of = |name: &str| schema.columns()[schema.find(name).unwrap()].better();
        let quantity = self.rule.column.as_ref().unwrap();
        match (of(&quantity.column), quantity.over.as_deref().map(of)) {
            (Better::Neither, Some(Better::Lower)) => Better::Higher,
            (Better::Neither, Some(Better::Higher)) => Better::Lower,
            (own, _) => own,
        }
    }

    /// Returns the measurement that corresponds to the claim, changed by the relative error `off`.
    fn measurement(&self, schema: &Schema, off: f64) -> f64 {
        let wanted = match self.claim.value {
            0.0 => off,
            value => value + off * value.abs(),
        };
        let is_higher = self.better(schema) == Better::Higher;
        let of_factor = |factor: f64| if is_higher { OTHER * factor } else { OTHER / factor };
        match self.compare() {
            Compare::Value | Compare::Amplification => wanted,
            Compare::Ratio => OTHER * wanted,
            Compare::Factor => of_factor(wanted),
            Compare::PercentLess => OTHER * (1.0 - wanted / 100.0),
            Compare::PercentMore => of_factor(1.0 + wanted / 100.0),
            Compare::PercentSlower => OTHER * (1.0 + wanted / 100.0),
            Compare::PercentOf => OTHER * wanted / 100.0,
            Compare::Difference => OTHER + if is_higher { wanted } else { -wanted },
            Compare::Rank | Compare::Crossing => unreachable!("these have tables of their own"),
        }
    }

    /// Returns the value of the claim about the other side of a ratio.
    fn other_value(&self) -> f64 {
        if self.compare() != Compare::Ratio {
            return OTHER;
        }
        if let Some(id) = &self.rule.against {
            return OTHER * self.claims.get(id).unwrap().value;
        }
        let there = self.other_cells().unwrap();
        let all = || self.rule.ids.all().iter().map(|id| self.claims.get(id).unwrap());
        let fits = || all().filter(|claim| self.cells(claim) == there);
        let other = fits().find(|claim| claim.metric == self.claim.metric).or_else(|| fits().next());
        let other = other.unwrap_or_else(|| panic!("no claim is about the other side of {}", self.claim.id));
        OTHER * other.value
    }

    fn table(&self, off: f64, is_wrong: bool) -> Table {
        let schema = self.schema();
        let mut rows = Vec::new();
        match self.compare() {
            Compare::Rank => {
                let all: Vec<&Claim> =
                    self.rule.ids.all().iter().map(|id| self.claims.get(id).unwrap()).collect();
                let most = all.iter().map(|claim| claim.value).fold(1.0, f64::max);
                let least = all.iter().map(|claim| claim.value).fold(most, f64::min);
                for claim in all {
                    // The wrong measurement is moved to the other end of the order.
                    let value = match claim.id == self.claim.id && off != 0.0 {
                        true if claim.value > least => least / 10.0,
                        true => most * 10.0,
                        false => claim.value,
                    };
                    rows.push((self.cells(claim), value));
                }
            }
            Compare::Crossing => return self.leading_table(&schema, off, is_wrong),
            _ => {
                let value = self.measurement(&schema, off) / self.scale(false);
                rows.push((self.cells(self.claim), value));
                if let Some(other) = self.other_cells().filter(|other| *other != self.cells(self.claim)) {
                    rows.push((other, self.other_value() / self.scale(true)));
                }
            }
        }
        let rows = rows.into_iter().enumerate().flat_map(|(cell, (cells, value))| {
            (0..6).map(move |trial| (cell, trial, cells.clone(), value)).collect::<Vec<_>>()
        });
        let rows = rows.map(|(cell, trial, cells, value)| {
            let mut row = row(&schema, cell as u64, trial, &cells);
            if let Some(operation) = &self.rule.operation {
                row.set(&OPERATION, operation.as_str());
            }
            if is_wrong {
                row.set(&WRONG_ANSWERS, 1_u64);
            } else {
                self.put(&mut row, value);
            }
            row
        });
        Table::new(schema.clone(), rows.collect())
    }

    /// Returns a table with two curves. The claim's curve is better from the claimed point on. If `is_wrong`, the
    /// curve is better from a wrong point on.
    fn leading_table(&self, schema: &Schema, off: f64, is_wrong: bool) -> Table {
        let (quantity, at) = (self.rule.column.as_ref().unwrap(), self.rule.at.as_ref().unwrap());
        let place = self.claim.value * (1.0 + off);
        let mut rows = Vec::new();
        for x in [place / 4.0, place / 2.0, place, place * 2.0] {
            for (is_own, cells) in [(true, self.cells(self.claim)), (false, self.other_cells().unwrap())] {
                let mut row = row(schema, rows.len() as u64, 0, &cells);
                set(&mut row, &quantity.column, x.round());
                let y = if is_own && x >= place { 50.0 } else { 100.0 };
                match is_wrong {
                    true => row.set(&WRONG_ANSWERS, 1_u64),
                    false => set(&mut row, &at.column, y),
                };
                rows.push(row);
            }
        }
        Table::new(schema.clone(), rows)
    }

    fn put(&self, row: &mut Row, value: f64) {
        let quantity = self.rule.column.as_ref().unwrap();
        match &quantity.over {
            None => set(row, &quantity.column, value),
            // Both columns of the quotient may contain only integers.
            Some(over) => {
                set(row, &quantity.column, value * 1e9);
                set(row, over, 1e9)
            }
        };
    }
}

fn row(schema: &Schema, cell: u64, trial: u64, cells: &[(String, String)]) -> Row {
    let mut row = Row::new(schema);
    row.set(&CELL, cell).set(&TRIAL, trial).set(&OPERATION, "all");
    for (column, text) in cells {
        match column.as_str() {
            "phase" => row.set(&PHASE, text.as_str()),
            "operation" => row.set(&OPERATION, text.as_str()),
            path if schema.swept().any(|swept| swept == path) => row.set_swept(path, text).unwrap(),
            fixed => set(&mut row, fixed, text.parse().unwrap()),
        };
    }
    row
}

/// Sets a column to a number. If the column contains integers, the number is rounded.
fn set<'a>(row: &'a mut Row, column: &str, value: f64) -> &'a mut Row {
    let schema = row.schema().clone();
    match &schema.columns()[schema.find(column).unwrap()] {
        Column::Swept(path) => row.set_swept(path, &format!("{value}")).unwrap(),
        Column::Fixed(metric) if metric.kind == results::ValueType::Integer => {
            row.set(metric, Value::Integer(value.round() as i128))
        }
        Column::Fixed(metric) => row.set(metric, value),
    }
}
