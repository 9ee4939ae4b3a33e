//! Steps on the store between operations, such as `step = "flush"`.

use catalog::{ChoiceError, alternatives};

use crate::spelling::Spelling;

/// The TOML keys that are valid only for a phase with operations. A phase with a step must not have these keys.
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

/// A step on the store between operations. A step is a phase of its own, and lsmbench measures the duration of the
/// step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreStep {
    /// Flushes all memtables to storage.
    Flush,
    /// Compacts the whole store, as far as the engine supports such a compaction.
    Compact,
    /// Waits until no flush and no compaction is running or due.
    Settle,
    /// Closes the store and opens it again.
    Reopen,
    /// Copies the store to another folder. The copy is compared with the expected content, and then removed.
    Checkpoint,
    /// Evicts the files of the store from the page cache.
    DropCaches,
    /// Waits for this number of nanoseconds without operations.
    Sleep(u64),
}

impl StoreStep {
    /// The names of all steps, in the order of the documentation.
    const NAMES: [&'static str; 7] =
        ["flush", "compact", "settle", "reopen", "checkpoint", "drop_caches", "sleep"];

    /// Returns the name of the step in TOML. Results contain this name as the operation of the step.
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

    /// Returns whether the step needs a store with files on a file system.
    pub fn needs_files(self) -> bool {
        matches!(self, Self::Reopen | Self::Checkpoint | Self::DropCaches)
    }

    /// Returns whether the files of the store contain the effect of the step. A fixture (a prepared store that several
    /// trials copy) can contain only such steps.
    pub fn is_kept_in_files(self) -> bool {
        matches!(self, Self::Flush | Self::Compact | Self::Settle)
    }

    /// Reads the step of a phase from the keys `step` and `seconds`. Returns `None` if the table of the phase has no
    /// key `step`. Returns an error if the table has the key `step` and also a key for operations, such as `mix`.
    pub(crate) fn from_spelling(spelling: &mut Spelling) -> Result<Option<Self>, ChoiceError> {
        let Some(name) = spelling.read::<String>("step")? else { return Ok(None) };
        for key in OF_OPERATIONS {
            spelling
                .forbid(key, "a step executes no operations; put the operations into a separate phase")?;
        }
        let step = match name.as_str() {
            "flush" => Self::Flush,
            "compact" => Self::Compact,
            "settle" => Self::Settle,
            "reopen" => Self::Reopen,
            "checkpoint" => Self::Checkpoint,
            "drop_caches" => Self::DropCaches,
            "sleep" => {
                let missing = || {
                    ChoiceError::at(
                        "seconds",
                        "seconds is missing; set the length of the sleep, such as seconds = \"5s\"",
                    )
                };
                return Ok(Some(Self::Sleep(crate::spelling::seconds(spelling)?.ok_or_else(missing)?)));
            }
            other => {
                let message = format!("unknown step \"{other}\"{}", alternatives(other, Self::NAMES));
                return Err(ChoiceError::at("step", message));
            }
        };
        spelling.forbid("seconds", "only the step \"sleep\" has a duration; remove seconds")?;
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
            assert!(error.message.contains("a step executes no operations"), "{error}");
        }
        for (text, key, message) in [
            ("step = \"flsh\"", "step", "did you mean \"flush\"? Valid: \"flush\", \"compact\", \"settle\""),
            (
                "step = \"sleep\"",
                "seconds",
                "seconds is missing; set the length of the sleep, such as seconds = \"5s\"",
            ),
            ("step = \"sleep\"\nseconds = 0", "seconds", "must be above 0"),
            ("step = \"compact\"\nseconds = 1", "seconds", "only the step \"sleep\" has a duration"),
            ("step = \"flush\"\nsize = 1", "size", "a step has no key \"size\". Valid: \"name\", \"step\""),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key), "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }
}
