//! A phase of mixed operations on drawn keys or on the keys of a trace.

use catalog::{Choice, ChoiceError, Count, Time};
use toml::{Table, Value};

use crate::keys;
use crate::mix::Mix;
use crate::operation::Kind;
use crate::range::RangeSpec;
use crate::spelling::{self, Spelling, bounded, inside};
use crate::trace::TraceFile;

/// Maximum number of operations in one batch or multi-get.
pub(crate) const MOST_MEMBERS: u64 = 65_536;

/// The kinds of operations that write a value. A mix without these kinds has no use for the settings of values.
const WITH_VALUES: [Kind; 5] =
    [Kind::Put, Kind::Insert, Kind::ReadModifyWrite, Kind::Merge, Kind::PutIfAbsent];

/// The kinds of operations that do not use the key that the stream draws for each operation. An insert, for example,
/// uses the next new key, and a batch uses the keys of its members.
const WITHOUT_DRAWN_KEY: [Kind; 5] = [Kind::Insert, Kind::First, Kind::Last, Kind::SingleDelete, Kind::Batch];

/// Default number of members of a batch or multi-get.
const DEFAULT_MEMBERS: u32 = 100;

/// A phase of mixed operations: `operations = 1_000_000` or `seconds = "30s"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixed {
    /// The number of operations, summed over all threads. `None` if the phase ends at its time limit, or at the end
    /// of its trace.
    pub operations: Option<u64>,
    /// The time limit in nanoseconds. The phase ends at this limit, even if operations remain.
    pub time_limit_ns: Option<u64>,
    /// The share of each kind of operation in the phase.
    pub mix: Mix,
    /// The source of the keys that the operations access.
    pub keys: KeySource,
    /// The share of absent keys, which are keys that never existed. The share applies to the keys of gets and
    /// multi-gets, and to the start keys of scans with a span.
    pub absent: f64,
    /// The lengths and directions of the scans.
    pub range: RangeSpec,
    /// The number of operations in a write batch, or of gets in a multi-get.
    pub batch: u32,
    /// The share of each kind of operation in write batches.
    pub batch_mix: Mix,
}

/// Source of the keys of a mixed phase.
#[derive(Clone, Debug, PartialEq)]
pub enum KeySource {
    /// Keys that are drawn from a distribution of [`keys::CATALOG`].
    Drawn(Choice),
    /// Keys of a trace, in the recorded order.
    Recorded(TraceFile),
}

impl Mixed {
    /// Reads the settings of a mix from a `[[phase]]` table. If `trace` is a trace, its keys are the keys of the
    /// operations. If `trace` is `None`, the keys are drawn from a distribution.
    pub(crate) fn from_spelling(
        spelling: &mut Spelling,
        trace: Option<TraceFile>,
    ) -> Result<Self, ChoiceError> {
        spelling
            .forbid("order", "this key applies only to a load (insert = …); for a mix, set `keys` instead")?;
        let end = End::from_spelling(spelling)?;
        if !end.is_given() && trace.is_none() {
            spelling.misspelt("a phase", &["insert", "operations", "seconds", "replay", "step"])?;
            let message = "the phase has no operations; write insert = …, operations = …, seconds = …, replay = …, or \
                           step = …";
            return Err(ChoiceError::at("operations", message));
        }
        Self::with_end(spelling, end, trace)
    }

    /// Reads the settings of a mix from a `[[phase.role]]` table. A role needs neither a number of operations nor a
    /// time.
    pub(crate) fn of_role(spelling: &mut Spelling) -> Result<Self, ChoiceError> {
        let end = End::from_spelling(spelling)?;
        Self::with_end(spelling, end, None)
    }

    fn with_end(
        spelling: &mut Spelling,
        End { operations, time_limit_ns }: End,
        trace: Option<TraceFile>,
    ) -> Result<Self, ChoiceError> {
        let mix = match (spelling.take("mix"), &trace) {
            (Some(mix), _) => Mix::from_toml(&mix).map_err(|error| inside("mix", error))?,
            (None, Some(_)) => Mix::only(Kind::Get),
            (None, None) => {
                spelling.misspelt("a phase", &["mix"])?;
                return Err(ChoiceError::at(
                    "mix",
                    "a phase with operations needs a mix, such as mix = { get = 1 }",
                ));
            }
        };
        let batch = bounded(spelling, "batch", MOST_MEMBERS)?;
        let absent = spelling.take("absent").map_or(Ok(0.0), |share| spelling::share("absent", &share))?;
        let range = match spelling.take("range") {
            Some(range) => RangeSpec::from_toml(&range).map_err(|error| inside("range", error))?,
            None => RangeSpec::default(),
        };
        let keys = read_keys(spelling, trace, &mix)?;
        let only_full_ranges = mix.has(Kind::Range) && range.span == 0;
        if absent > 0.0 && only_full_ranges && !mix.has(Kind::Get) && !mix.has(Kind::MultiGet) {
            let message = "absent applies to gets, multi-gets and scans with a span, but this phase has none \
                           of these; set a span, such as range = { span = 32 }";
            return Err(ChoiceError::at("absent", message));
        }
        if mix.has(Kind::Prefix) && range.prefix == 0 {
            let message =
                "a prefix scan needs the length of its prefixes in bytes, such as range = { prefix = 7 }";
            return Err(ChoiceError::at("range.prefix", message));
        }
        let batch = batch.unwrap_or(DEFAULT_MEMBERS);
        let batch_mix = spelling.take("batch_mix").map_or(Ok(Mix::only(Kind::Put)), |mix| {
            Mix::members_from_toml(&mix).map_err(|error| inside("batch_mix", error))
        })?;
        Ok(Self { operations, time_limit_ns, mix, keys, absent, range, batch, batch_mix })
    }

    /// Returns whether the mix executes operations of a kind, as single operations or in write batches.
    pub fn has(&self, kind: Kind) -> bool {
        self.mix.has(kind) || (self.mix.has(Kind::Batch) && self.batch_mix.has(kind))
    }

    /// Returns whether the write batches of the mix may contain operations of a kind.
    pub fn batches(&self, kind: Kind) -> bool {
        self.mix.has(Kind::Batch) && self.batch_mix.has(kind)
    }

    /// Returns the average number of operations of the kind `kind` per operation of the mix. The members of write
    /// batches count.
    pub fn rate(&self, kind: Kind) -> f64 {
        let members = self.mix.share(Kind::Batch) * f64::from(self.batch);
        self.mix.share(kind) + members * self.batch_mix.share(kind)
    }

    /// Returns the maximum number of writes that one operation of the mix executes: 1, or the number of members of a
    /// batch.
    pub(crate) fn most_writes(&self) -> u64 {
        if self.mix.has(Kind::Batch) { u64::from(self.batch) } else { 1 }
    }

    /// Returns whether the mix contains operations that may request absent keys: gets, multi-gets, or scans with a
    /// span.
    fn asks_for_absent(&self) -> bool {
        let ranges = self.mix.has(Kind::Range) && self.range.span > 0;
        self.mix.has(Kind::Get) || self.mix.has(Kind::MultiGet) || ranges
    }

    /// Returns whether the mix has scans, prefix scans or range deletes, which use the settings of `range`.
    fn has_lengths(&self) -> bool {
        [Kind::Range, Kind::DeleteRange, Kind::Prefix].into_iter().any(|kind| self.has(kind))
    }

    fn groups(&self) -> bool {
        self.mix.has(Kind::Batch) || self.mix.has(Kind::MultiGet)
    }

    /// Returns whether the mix uses the TOML key `key` of the `[[phase]]` table. For example, a mix of gets does not
    /// use `batch`.
    pub(crate) fn reads(&self, key: &str) -> bool {
        match key {
            "absent" => self.asks_for_absent(),
            "range" => self.has_lengths(),
            "batch" => self.groups(),
            "batch_mix" => self.mix.has(Kind::Batch),
            "value" => WITH_VALUES.into_iter().any(|kind| self.has(kind)),
            "keys" => Kind::ALL
                .into_iter()
                .filter(|kind| !WITHOUT_DRAWN_KEY.contains(kind))
                .any(|kind| self.has(kind)),
            _ => true,
        }
    }

    /// Sets each setting that the mix does not use to its default. Settings for which `is_kept` returns true keep their
    /// values.
    pub(crate) fn forget_unread(&mut self, is_kept: impl Fn(&str) -> bool) {
        let is_idle = |mixed: &Self, key| !mixed.reads(key) && !is_kept(key);
        if is_idle(self, "absent") {
            self.absent = 0.0;
        }
        if is_idle(self, "range") {
            self.range = RangeSpec::default();
        }
        if is_idle(self, "batch") {
            self.batch = DEFAULT_MEMBERS;
        }
        if is_idle(self, "batch_mix") {
            self.batch_mix = Mix::only(Kind::Put);
        }
    }

    /// Writes the settings of the mix to the TOML table of the phase. Unused settings that differ from their defaults
    /// are also written, because a sweep may replace the mix, and the new mix may use these settings.
    pub(crate) fn write(&self, table: &mut Table) {
        if let Some(operations) = self.operations {
            table.insert("operations".to_owned(), operations.cast_signed().into());
        }
        if let Some(time) = self.time_limit_ns {
            table.insert("seconds".to_owned(), Time(time).to_string().into());
        }
        table.insert("mix".to_owned(), self.mix.to_toml());
        match &self.keys {
            KeySource::Drawn(choice) => table.insert("keys".to_owned(), choice.to_toml()),
            KeySource::Recorded(trace) => table.insert("replay".to_owned(), Value::Table(trace.to_toml())),
        };
        if self.asks_for_absent() || self.absent > 0.0 {
            table.insert("absent".to_owned(), self.absent.into());
        }
        if self.has_lengths() || self.range != RangeSpec::default() {
            table.insert("range".to_owned(), self.range.to_toml());
        }
        if self.groups() || self.batch != DEFAULT_MEMBERS {
            table.insert("batch".to_owned(), i64::from(self.batch).into());
        }
        if self.batch_mix != Mix::only(Kind::Put) {
            table.insert("batch_mix".to_owned(), self.batch_mix.to_toml());
        }
    }
}

/// The TOML settings that end a phase or a role: a number of operations, or a time.
struct End {
    operations: Option<u64>,
    time_limit_ns: Option<u64>,
}

impl End {
    fn from_spelling(spelling: &mut Spelling) -> Result<Self, ChoiceError> {
        let operations = spelling.read::<Count>("operations")?.map(|count| count.0);
        if operations == Some(0) {
            return Err(ChoiceError::at(
                "operations",
                "operations is 0; a phase executes at least 1 operation",
            ));
        }
        Ok(Self { operations, time_limit_ns: spelling::seconds(spelling)? })
    }

    fn is_given(&self) -> bool {
        self.operations.is_some() || self.time_limit_ns.is_some()
    }
}

fn read_keys(spelling: &mut Spelling, trace: Option<TraceFile>, mix: &Mix) -> Result<KeySource, ChoiceError> {
    let Some(trace) = trace else {
        let choice = match spelling.take("keys") {
            Some(value) => keys::CATALOG.choose(&value).map_err(|error| inside("keys", error))?,
            None => keys::CATALOG.baseline(),
        };
        return Ok(KeySource::Drawn(choice));
    };
    spelling.forbid("keys", "the replayed trace determines the keys; remove `keys`")?;
    let without_known_key = [
        Kind::Insert,
        Kind::Batch,
        Kind::MultiGet,
        Kind::DeleteRange,
        Kind::First,
        Kind::Last,
        Kind::SingleDelete,
    ];
    match without_known_key.into_iter().find(|kind| mix.has(*kind)) {
        None => Ok(KeySource::Recorded(trace)),
        Some(kind) => {
            let message = format!(
                "{kind} cannot use the keys of a trace, because a trace has one key per operation; remove {kind}"
            );
            Err(ChoiceError::at(format!("mix.{kind}"), message))
        }
    }
}
