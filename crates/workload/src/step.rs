//! Steps on the store between operations: `step = "flush"`.

use catalog::{ChoiceError, suggestion};

use crate::spelling::Spelling;

/// The keys of phases with operations, none of which a step reads.
const OF_OPERATIONS: [&str; 14] = [
    "insert",
    "replay",
    "order",
    "operations",
    "mix",
    "keys",
    "absent",
    "value",
    "range",
    "batch",
    "threads",
    "rate",
    "cache",
    "warm_up",
];

/// A step on the store between operations. A separate phase runs and times the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreStep {
    /// Writes the memtables to storage.
    Flush,
    /// Compacts the whole store, as far as the engine's compaction can.
    Compact,
    /// Waits until no flush and no compaction is running or due.
    Settle,
    /// Closes the store and opens it again.
    Reopen,
    /// Makes a copy of the store in another folder, which is compared with the expected content and removed.
    Checkpoint,
    /// Evicts the files of the store from the page cache.
    DropCaches,
    /// Waits for a number of nanoseconds.
    Sleep(u64),
}

impl StoreStep {
    /// The names of all steps, in the order of documents.
    const NAMES: [&'static str; 7] =
        ["flush", "compact", "settle", "reopen", "checkpoint", "drop_caches", "sleep"];

    /// Returns the name in TOML, which is also the operation of its rows in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flush => "flush",
            Self::Compact => "compact",
            Self::Settle => "settle",
            Self::Reopen => "reopen",
            Self::Checkpoint => "checkpoint",
            Self::DropCaches => "drop_caches",
            Self::Sleep(_) => "sleep",
        }
    }

    /// Returns whether the step needs files on storage of the operating system.
    pub fn needs_files(self) -> bool {
        matches!(self, Self::Reopen | Self::Checkpoint | Self::DropCaches)
    }

    /// Returns whether the step changes the files of a store, so that a fixture may have it.
    pub fn is_kept_in_files(self) -> bool {
        matches!(self, Self::Flush | Self::Compact | Self::Settle)
    }

    /// Reads `step`, and `seconds` of a sleep; rejects the keys of operations. `None` for a phase without a step.
    pub(crate) fn from_spelling(spelling: &mut Spelling) -> Result<Option<Self>, ChoiceError> {
        let Some(name) = spelling.read::<String>("step")? else { return Ok(None) };
        for key in OF_OPERATIONS {
            spelling.forbid(key, "a step runs no operations; give them a phase of their own")?;
        }
        let step = match name.as_str() {
            "flush" => Self::Flush,
            "compact" => Self::Compact,
            "settle" => Self::Settle,
            "reopen" => Self::Reopen,
            "checkpoint" => Self::Checkpoint,
            "drop_caches" => Self::DropCaches,
            "sleep" => {
                let missing = || ChoiceError::at("seconds", "a sleep has a length: seconds = \"5s\"");
                return Ok(Some(Self::Sleep(crate::spelling::seconds(spelling)?.ok_or_else(missing)?)));
            }
            other => {
                let hint = suggestion(other, Self::NAMES.into_iter());
                let names = Self::NAMES.join(", ");
                return Err(ChoiceError::at(
                    "step",
                    format!("no step is called \"{other}\"; {hint}Valid: {names}"),
                ));
            }
        };
        spelling.forbid("seconds", "only a sleep has a length; every other step lasts until it is done")?;
        Ok(Some(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::{Phase, Work};

    fn read(text: &str) -> Result<Phase, ChoiceError> {
        Phase::from_toml(&format!("name = \"between\"\n{text}").parse().unwrap())
    }

    #[test]
    fn every_step_reads_back() {
        for name in StoreStep::NAMES {
            let length = if name == "sleep" { "\nseconds = \"250ms\"" } else { "" };
            let phase = read(&format!("step = \"{name}\"{length}")).unwrap();
            let Work::Step(step) = phase.work else { panic!("{name} is a step") };
            assert_eq!(step.name(), name);
            assert_eq!(Phase::from_toml(&phase.to_toml()).unwrap(), phase, "{}", phase.to_toml());
        }
        assert_eq!(
            read("step = \"sleep\"\nseconds = 0.5").unwrap().work,
            Work::Step(StoreStep::Sleep(500_000_000))
        );
    }

    #[test]
    fn what_a_step_does_not_read_is_rejected() {
        for key in OF_OPERATIONS {
            let error = read(&format!("step = \"flush\"\n{key} = 1")).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key));
            assert!(error.message.contains("a step runs no operations"), "{error}");
        }
        for (text, key, message) in [
            ("step = \"flsh\"", "step", "did you mean \"flush\"? Valid: flush, compact, settle"),
            ("step = \"sleep\"", "seconds", "a sleep has a length: seconds = \"5s\""),
            ("step = \"sleep\"\nseconds = 0", "seconds", "must be above 0"),
            ("step = \"compact\"\nseconds = 1", "seconds", "only a sleep has a length"),
            ("step = \"flush\"\nsize = 1", "size", "a step has no \"size\"; Valid: name, step"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key), "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }
}
