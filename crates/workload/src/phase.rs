//! A phase of a workload as written in an experiment file.

use catalog::{ChoiceError, Count, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use toml::{Table, Value};

use crate::before::Before;
use crate::mixed::{KeySource, MOST_MEMBERS, Mixed};
use crate::operation::Kind;
use crate::rate::Rate;
use crate::replay_spec::ReplaySpec;
use crate::role::Role;
use crate::spelling::{self, Spelling, bounded, inside, read_name};
use crate::step::StoreStep;
use crate::trace::{TEXT, TraceFile};
use crate::value::ValueSpec;

/// Maximum number of threads of a phase.
const MOST_THREADS: u64 = 1024;

/// The content of one `[[phase]]` table: a load, a mix of operations, a replay, or a step on the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The name of the phase, which must be unique in the workload. The random numbers of the phase depend on the
    /// name.
    pub name: String,
    /// The column family whose keys the phase uses. In a phase with roles, each role has its own family. `None` in a
    /// workload without families.
    pub family: Option<String>,
    /// The preparation of the phase (caches and warm-up), before its clock starts.
    pub before: Before,
    /// The work that the phase executes.
    pub work: Work,
    /// The sizes and the compressibility of the values that the phase writes.
    pub value: ValueSpec,
    /// The number of threads, summed over all roles.
    pub threads: u32,
    /// The rate of requests. In a phase with roles, each role has its own rate.
    pub rate: Rate,
    /// Whether the phase waits at its end until no flush and no compaction is running or due.
    pub settle: bool,
}

/// The work of a phase: what its threads execute.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Adds new keys. Each new key is added once.
    Load(Load),
    /// Executes operations of a mix, on drawn keys or on the keys of a trace.
    Mixed(Box<Mixed>),
    /// Executes the mixes of several roles at the same time. Each role has its own threads.
    Roles(Vec<Role>),
    /// Executes the recorded operations of a trace.
    Replay(Box<ReplaySpec>),
    /// Executes a step on the store instead of operations.
    Step(StoreStep),
}

/// A phase that adds keys: `insert = 1_000_000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The number of keys that the load adds after the existing keys. With `None`, all keys of the replayed trace are
    /// added.
    pub keys: Option<u64>,
    /// The order in which the load adds the keys.
    pub order: Order,
    /// The number of keys per atomic write batch of the load. With `None`, each key is a separate put.
    pub batch: Option<u32>,
}

/// The order in which a load adds keys. The order refers to the indexes of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The order is a permutation that the seed determines.
    #[default]
    Random,
    /// The keys are added in ascending order of their indexes.
    Sequential,
    /// The keys are added in descending order of their indexes.
    Reverse,
}

/// The kind of work of a phase, which follows from the keys of its `[[phase]]` table.
enum PhaseWork {
    Load(Option<u64>),
    Mixed,
    Roles(Vec<Role>),
    /// A mix of operations on the keys of a trace.
    Trace(TraceFile),
    Replay(Box<ReplaySpec>),
}

impl Phase {
    /// Reads a `[[phase]]` table.
    ///
    /// # Errors
    /// Returns an error that names an invalid key and the valid keys. The name of a key in an inner table begins with
    /// the name of the table, as in `keys.theta`.
    pub fn from_toml(table: &Table) -> Result<Self, ChoiceError> {
        let mut spelling = Spelling::new(table.clone());
        let name = read_name(&mut spelling, "a phase", "load")?;
        if let Some(step) = StoreStep::from_spelling(&mut spelling)? {
            let settle = match step {
                StoreStep::Settle => spelling
                    .forbid("settle", "the step \"settle\" always waits for compaction; remove `settle`")
                    .map(|()| true)?,
                _ => spelling.read("settle")?.unwrap_or(true),
            };
            spelling.finish("a step")?;
            return Ok(Self::of_step(name, step, settle));
        }
        let work = match read_source(&mut spelling)? {
            PhaseWork::Load(keys) => Work::Load(read_load(&mut spelling, keys)?),
            PhaseWork::Mixed => Work::Mixed(Box::new(Mixed::from_spelling(&mut spelling, None)?)),
            PhaseWork::Roles(roles) => Work::Roles(roles),
            PhaseWork::Trace(trace) => {
                Work::Mixed(Box::new(Mixed::from_spelling(&mut spelling, Some(trace))?))
            }
            PhaseWork::Replay(replay) => Work::Replay(read_operations(&mut spelling, replay)?),
        };
        let before = Before::from_spelling(&mut spelling, no_warm_up(&work))?;
        let family = spelling.read("family")?;
        let value = match spelling.take("value") {
            Some(value) => ValueSpec::from_toml(&value).map_err(|error| inside("value", error))?,
            None => ValueSpec::default(),
        };
        let threads = match &work {
            Work::Roles(roles) => roles.iter().map(|role| role.threads).sum(),
            _ => bounded(&mut spelling, "threads", MOST_THREADS)?.unwrap_or(1),
        };
        let rate = spelling.take("rate").as_ref().map_or(Ok(Rate::Closed), Rate::from_toml)?;
        let settle = spelling.read("settle")?.unwrap_or(true);
        spelling.finish("a phase")?;
        let phase = Self { name, family, before, work, value, threads, rate, settle };
        phase.check_threads()?;
        phase.check_rate()?;
        Ok(phase)
    }

    /// Creates a phase that executes the step `step` on the store.
    fn of_step(name: String, step: StoreStep, settle: bool) -> Self {
        let (before, value) = (Before::default(), ValueSpec::default());
        let family = None;
        Self { name, family, before, work: Work::Step(step), value, threads: 1, rate: Rate::Closed, settle }
    }

    /// Returns the phase as TOML with all defaults. Parsing this TOML gives an equal phase.
    pub fn to_toml(&self) -> Table {
        let mut table = Table::new();
        table.insert("name".to_owned(), self.name.clone().into());
        table.extend(self.family.clone().map(|family| ("family".to_owned(), family.into())));
        self.before.write(&mut table);
        match &self.work {
            Work::Load(load) => load.write(&mut table),
            Work::Mixed(mixed) => mixed.write(&mut table),
            Work::Roles(roles) => {
                let roles = roles.iter().map(|role| Value::Table(role.to_toml())).collect();
                table.insert("role".to_owned(), Value::Array(roles));
            }
            Work::Replay(replay) => {
                table.insert("replay".to_owned(), replay.to_toml());
                if let Some(operations) = replay.operations {
                    table.insert("operations".to_owned(), operations.cast_signed().into());
                }
            }
            Work::Step(step) => {
                table.insert("step".to_owned(), step.name().into());
                if let StoreStep::Sleep(ns) = step {
                    table.insert("seconds".to_owned(), Time(*ns).to_string().into());
                }
            }
        }
        if !is_text(&self.work) && self.step().is_none() {
            table.insert("value".to_owned(), self.value.to_toml());
        }
        if self.step().is_none() && self.roles().is_empty() {
            table.insert("threads".to_owned(), i64::from(self.threads).into());
            table.insert("rate".to_owned(), self.rate.to_toml());
        }
        if !self.settle {
            table.insert("settle".to_owned(), false.into());
        }
        table
    }

    /// Returns the step that the phase executes, or `None` if the phase executes operations.
    pub fn step(&self) -> Option<StoreStep> {
        match self.work {
            Work::Step(step) => Some(step),
            _ => None,
        }
    }

    /// Returns whether an operation of the phase may change the content of the store. A step does not change it.
    pub fn may_write(&self) -> bool {
        match &self.work {
            Work::Load(_) | Work::Replay(_) => true,
            Work::Mixed(mixed) => mixed.mix.writes(),
            Work::Roles(roles) => roles.iter().any(Role::writes),
            Work::Step(_) => false,
        }
    }

    /// Returns the roles of the phase, which are groups of threads with their own mixes. The result is empty if the
    /// phase has no roles.
    pub fn roles(&self) -> &[Role] {
        match &self.work {
            Work::Roles(roles) => roles,
            _ => &[],
        }
    }

    /// Returns the role that the thread with the number `thread` executes, and the position of the thread among the
    /// threads of this role. Returns `None` for a phase without roles.
    pub fn role_of(&self, thread: u32) -> Option<(&Role, u32)> {
        let (number, place) = Role::of_thread(self.roles(), thread)?;
        Some((&self.roles()[number], place))
    }

    /// Returns whether the phase uses the TOML key `key` of its table. The TOML key of a role contains the name of the
    /// role, as in `role.writer.batch`.
    pub fn reads(&self, key: &str) -> bool {
        let of_role = key.strip_prefix("role.").and_then(|path| path.split_once('.'));
        match (&self.work, of_role) {
            (Work::Mixed(mixed), _) => mixed.reads(key),
            (Work::Roles(roles), Some((name, key))) => {
                roles.iter().filter(|role| role.name == name).any(|role| role.mixed.reads(key))
            }
            (Work::Roles(roles), None) if key == "value" => roles.iter().any(|role| role.mixed.reads(key)),
            _ => true,
        }
    }

    /// Returns the phase with default values for its unused settings. Two phases that do the same work are then equal.
    /// A setting for which `is_kept` returns true keeps its value.
    #[must_use]
    pub fn without_unread(mut self, is_kept: impl Fn(&str) -> bool) -> Self {
        match &mut self.work {
            Work::Mixed(mixed) => mixed.forget_unread(is_kept),
            Work::Roles(roles) => {
                for Role { name, mixed, .. } in roles {
                    mixed.forget_unread(|key| is_kept(&format!("role.{name}.{key}")));
                }
            }
            _ => {}
        }
        self
    }

    /// Returns the trace whose keys the phase replays, if any.
    pub fn trace(&self) -> Option<&TraceFile> {
        match &self.work {
            Work::Mixed(mixed) => match &mixed.keys {
                KeySource::Recorded(trace) => Some(trace),
                KeySource::Drawn(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the settings of the replay of recorded operations, if the phase is such a replay.
    pub fn replay(&self) -> Option<&ReplaySpec> {
        match &self.work {
            Work::Replay(replay) => Some(replay),
            _ => None,
        }
    }

    /// Checks that the setting `rate` fits the other settings of the phase. For example, a rate search executes the
    /// phase several times, so the work of the phase must be repeatable.
    fn check_rate(&self) -> Result<(), ChoiceError> {
        if self.replay().is_some_and(|replay| replay.speed.is_some()) && self.rate != Rate::Closed {
            let message = "rate: the recorded times determine the rate; remove `rate` or `replay.speed`";
            return Err(ChoiceError::at("rate", message));
        }
        let retires = matches!(&self.work, Work::Mixed(mixed) if mixed.has(Kind::SingleDelete));
        if retires && matches!(self.rate, Rate::Sustained(_)) {
            let message = "rate: a search repeats the phase, but a second single delete of a key is not \
                           allowed; use `delete`, or a fixed rate";
            return Err(ChoiceError::at("rate", message));
        }
        let can_repeat = matches!(self.work, Work::Mixed(_)) && self.trace().is_none();
        if !self.settle && matches!(self.rate, Rate::Sustained(_)) {
            let message = "settle: a rate search waits for compaction before it tries a rate, so settle has \
                           no effect; remove settle";
            return Err(ChoiceError::at("settle", message));
        }
        if can_repeat || !matches!(self.rate, Rate::Sustained(_)) {
            return Ok(());
        }
        let message = "rate: a search repeats the phase at many rates, which is possible only for a mix with \
                       drawn keys; set a fixed rate";
        Err(ChoiceError::at("rate", message))
    }

    fn check_threads(&self) -> Result<(), ChoiceError> {
        let writes = matches!(&self.work, Work::Mixed(mixed) if mixed.mix.writes());
        let deletes_ranges = matches!(&self.work, Work::Mixed(mixed) if mixed.has(Kind::DeleteRange));
        let reason = match &self.work {
            _ if deletes_ranges => "a range delete may delete keys that other threads write; set threads = 1",
            Work::Replay(_) => "a replay keeps the recorded order of operations; set threads = 1",
            _ if writes && self.trace().is_some() => {
                "writes to the keys of a trace keep the recorded order; set threads = 1"
            }
            _ => return Ok(()),
        };
        if self.threads == 1 {
            return Ok(());
        }
        Err(ChoiceError::at("threads", format!("threads is {}; {reason}", self.threads)))
    }
}

impl Load {
    fn write(&self, table: &mut Table) {
        let keys = self.keys.map_or_else(|| "all".into(), |keys| Value::Integer(keys.cast_signed()));
        table.insert("insert".to_owned(), keys);
        let order = match self.order {
            Order::Random => "random",
            Order::Sequential => "sequential",
            Order::Reverse => "reverse",
        };
        table.insert("order".to_owned(), order.into());
        if let Some(batch) = self.batch {
            table.insert("batch".to_owned(), i64::from(batch).into());
        }
    }
}

/// Returns the reason why a phase with this work cannot begin with a warm-up, because its work can be executed only
/// once. Returns `None` if a warm-up is possible.
fn no_warm_up(work: &Work) -> Option<&'static str> {
    match work {
        Work::Load(_) => Some("a load is measured from its first key on; use warm_up in a phase with a mix"),
        Work::Replay(_) => Some("a replay is measured from the first access of the trace on; remove warm_up"),
        Work::Mixed(mixed) => match &mixed.keys {
            KeySource::Recorded(_) => {
                Some("a replay is measured from the first access of the trace on; remove warm_up")
            }
            KeySource::Drawn(_) => None,
        },
        Work::Roles(_) => {
            Some("all roles start at the same time; put a separate warm-up phase before this phase")
        }
        Work::Step(_) => Some("a step executes no operations; remove warm_up"),
    }
}

fn read_source(spelling: &mut Spelling) -> Result<PhaseWork, ChoiceError> {
    if let Some(roles) = spelling.take("role") {
        let reason = "each role has its own setting; write this key under [[phase.role]]";
        for key in [
            "family",
            "insert",
            "operations",
            "order",
            "seconds",
            "mix",
            "keys",
            "absent",
            "range",
            "batch",
            "batch_mix",
            "replay",
            "threads",
            "rate",
        ] {
            spelling.forbid(key, reason)?;
        }
        return Role::list_from_toml(roles, MOST_THREADS).map(PhaseWork::Roles);
    }
    let (insert, replay) = (spelling.take("insert"), spelling.take("replay"));
    match (insert, replay) {
        (Some(_), Some(_)) => Err(ChoiceError::at(
            "replay",
            "a phase has either `insert` or `replay`; remove one of the two keys",
        )),
        (Some(insert), None) => Ok(PhaseWork::Load(read_insert(&insert)?)),
        (None, Some(replay)) => {
            read_replay(replay, spelling.has("mix")).map_err(|error| inside("replay", error))
        }
        (None, None) => Ok(PhaseWork::Mixed),
    }
}

fn read_insert(insert: &Value) -> Result<Option<u64>, ChoiceError> {
    if insert.as_str() == Some("all") {
        return Ok(None);
    }
    let Count(keys) = spelling::read("insert", insert)?;
    if keys == 0 {
        return Err(ChoiceError::at("insert", "insert is 0; a load adds at least 1 key"));
    }
    Ok(Some(keys))
}

fn read_replay(replay: Value, has_mix: bool) -> Result<PhaseWork, ChoiceError> {
    let (replay, own) = ReplaySpec::from_toml(replay)?;
    let reader = replay.trace.reader();
    if !has_mix && (own.is_some() || !reader.as_ref().is_some_and(|reader| reader.has_only_keys())) {
        return Ok(PhaseWork::Replay(Box::new(replay)));
    }
    if let Some(own) = own {
        let message = format!(
            "{own} applies only to a replay of recorded operations, but a phase with a mix replays only the \
             keys of the trace; remove `{own}` or `mix`"
        );
        return Err(ChoiceError::at(own, message));
    }
    let kind = replay.trace.kind().unwrap_or_default();
    if reader.is_some_and(|reader| reader.width().is_none()) {
        let message = format!(
            "the keys of a {kind} trace are not numbers of one width, so a mix cannot use them; remove `mix`"
        );
        return Err(ChoiceError::at("kind", message));
    }
    Ok(PhaseWork::Trace(replay.trace))
}

/// Reads the settings of a replay of recorded operations.
fn read_operations(
    spelling: &mut Spelling,
    mut replay: Box<ReplaySpec>,
) -> Result<Box<ReplaySpec>, ChoiceError> {
    let is_text = replay.trace.kind() == Some(TEXT);
    let reason = if is_text {
        "the commands of the text file determine this setting; remove the key"
    } else {
        "the operations of the trace determine this setting; remove the key"
    };
    for key in ["order", "seconds", "mix", "keys", "absent", "range", "batch", "batch_mix"] {
        spelling.forbid(key, reason)?;
    }
    if is_text {
        spelling.forbid("value", reason)?;
    }
    replay.read_operations(spelling)?;
    Ok(replay)
}

/// Returns whether the phase replays a trace in the text form of the DSL. Such a trace contains all written values, so
/// the phase has no settings of values.
fn is_text(work: &Work) -> bool {
    matches!(work, Work::Replay(replay) if replay.trace.kind() == Some(TEXT))
}

fn read_load(spelling: &mut Spelling, keys: Option<u64>) -> Result<Load, ChoiceError> {
    let reason = "a load (insert = …) only inserts keys; put other operations into a separate phase";
    for key in ["operations", "seconds", "mix", "keys", "absent", "range", "batch_mix"] {
        spelling.forbid(key, reason)?;
    }
    let order = spelling.read("order")?.unwrap_or_default();
    Ok(Load { keys, order, batch: bounded(spelling, "batch", MOST_MEMBERS)? })
}

impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_toml().serialize(serializer).map_err(ser::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_toml(&Table::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
