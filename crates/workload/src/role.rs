//! Roles of a phase. The threads of a role execute the mix of the role. The threads of other roles execute other
//! mixes at the same time.

use catalog::ChoiceError;
use toml::{Table, Value};

use crate::mixed::Mixed;
use crate::operation::Kind;
use crate::rate::Rate;
use crate::spelling::{Spelling, bounded, inside, read_name};

/// One `[[phase.role]]` table. The threads of a role execute the mix of the role at the same time as the threads of
/// other roles.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// The name of the role, which must be unique in the phase.
    pub name: String,
    /// The column family whose keys the role uses. `None` in a workload without families.
    pub family: Option<String>,
    /// The operations of the role. A role without a number of operations and without a time ends when all other
    /// roles have ended.
    pub mixed: Mixed,
    /// The number of threads of the role.
    pub threads: u32,
    /// The rate of requests, summed over the threads of the role.
    pub rate: Rate,
}

impl Role {
    /// Returns whether the role has no end of its own, so that its threads run until all other roles have ended.
    pub fn is_background(&self) -> bool {
        self.mixed.operations.is_none() && self.mixed.time_limit_ns.is_none()
    }

    /// Returns the role of the thread with the number `thread`: the position of the role in `roles`, and the position
    /// of the thread among the threads of that role. Returns `None` if the roles together have fewer threads.
    pub(crate) fn of_thread(roles: &[Self], thread: u32) -> Option<(usize, u32)> {
        let mut place = thread;
        for (number, role) in roles.iter().enumerate() {
            if place < role.threads {
                return Some((number, place));
            }
            place -= role.threads;
        }
        None
    }

    /// Parses the roles of a phase.
    ///
    /// # Errors
    /// Returns an error that names the invalid key, as in `role.writer.rate`.
    pub(crate) fn list_from_toml(list: Value, most_threads: u64) -> Result<Vec<Self>, ChoiceError> {
        let tables = match list {
            Value::Array(tables) if !tables.is_empty() => tables,
            _ => {
                let message = "role must be a list of tables; write [[phase.role]] under the phase";
                return Err(ChoiceError::at("role", message));
            }
        };
        let mut roles: Vec<Self> = Vec::new();
        for (number, table) in tables.into_iter().enumerate() {
            let Value::Table(table) = table else {
                return Err(ChoiceError::at("role", "each role must be a table; write [[phase.role]]"));
            };
            let name =
                table.get("name").and_then(Value::as_str).map_or_else(|| number.to_string(), str::to_owned);
            let at = |error| inside("role", inside(&name, error));
            let role = Self::from_toml(table, most_threads).map_err(at)?;
            if roles.iter().any(|other| other.name == role.name) {
                let message =
                    format!("two roles have the name \"{}\"; give each role its own name", role.name);
                return Err(at(ChoiceError::at("name", message)));
            }
            roles.push(role);
        }
        check_together(&roles, most_threads)?;
        Ok(roles)
    }

    fn from_toml(table: Table, most_threads: u64) -> Result<Self, ChoiceError> {
        let mut spelling = Spelling::new(table);
        let name = read_name(&mut spelling, "a role", "readers")?;
        for key in ["value", "settle", "cache", "warm_up"] {
            spelling.forbid(key, "this key applies to the whole phase; move it above [[phase.role]]")?;
        }
        let family = spelling.read("family")?;
        let mixed = Mixed::of_role(&mut spelling)?;
        let threads = bounded(&mut spelling, "threads", most_threads)?.unwrap_or(1);
        let rate = spelling.take("rate").as_ref().map_or(Ok(Rate::Closed), Rate::from_toml)?;
        if matches!(rate, Rate::Sustained(_)) {
            let message = "rate: a role cannot have a rate search, because a search repeats the whole phase; \
                           set a number of operations per second";
            return Err(ChoiceError::at("rate", message));
        }
        spelling.finish("a role")?;
        Ok(Self { name, family, mixed, threads, rate })
    }

    /// Returns the role as TOML. Parsing this TOML gives an equal role.
    pub(crate) fn to_toml(&self) -> Table {
        let mut table = Table::new();
        table.insert("name".to_owned(), self.name.clone().into());
        table.extend(self.family.clone().map(|family| ("family".to_owned(), family.into())));
        self.mixed.write(&mut table);
        table.insert("threads".to_owned(), i64::from(self.threads).into());
        table.insert("rate".to_owned(), self.rate.to_toml());
        table
    }

    /// Returns whether an operation of the role may change the store.
    pub(crate) fn writes(&self) -> bool {
        self.mixed.mix.writes()
    }

    /// Returns whether the mix of the role adds new keys.
    pub(crate) fn inserts(&self) -> bool {
        self.mixed.has(Kind::Insert)
    }

    /// Returns whether the mix of the role overwrites or deletes existing keys.
    pub(crate) fn updates(&self) -> bool {
        Kind::ALL.into_iter().any(|kind| kind.writes() && kind != Kind::Insert && self.mixed.mix.has(kind))
    }
}

/// Checks the rules that apply to all roles of a phase together, such as the maximum number of threads.
fn check_together(roles: &[Role], most_threads: u64) -> Result<(), ChoiceError> {
    if roles.iter().all(Role::is_background) {
        let message = "role: set operations or seconds in at least one role, because a role without them runs \
                       until all other roles have ended";
        return Err(ChoiceError::at("role", message));
    }
    let threads: u64 = roles.iter().map(|role| u64::from(role.threads)).sum();
    if threads > most_threads {
        let message =
            format!("role: the roles have {threads} threads in total; the maximum is {most_threads}");
        return Err(ChoiceError::at("role", message));
    }
    // Each key of a family needs a single writer. Roles that insert write the new keys, and roles that update write
    // the existing keys.
    let does_both = |role: &&Role| role.inserts() && role.updates();
    let other_of = |both: &Role| {
        let mut others = roles.iter().filter(|role| role.family == both.family && role.writes());
        others.find(|role| !does_both(role))
    };
    let conflict = roles.iter().filter(does_both).find_map(|both| Some((both, other_of(both)?)));
    let Some((both, other)) = conflict else { return Ok(()) };
    let message = format!(
        "role \"{}\" inserts and overwrites keys, and role \"{}\" does one of the two; split the first role \
         into a role that inserts and a role that does not insert",
        both.name, other.name
    );
    Err(ChoiceError::at(format!("role.{}.mix", both.name), message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Phase, Work};

    fn read(roles: &str) -> Result<Phase, ChoiceError> {
        Phase::from_toml(&format!("name = \"p\"\n{roles}").parse().unwrap())
    }

    #[test]
    fn roles_read_back() {
        let text = "[[role]]\nname = \"readers\"\nthreads = 3\noperations = 90\nmix = { get = 1 }\nkeys = \"zipfian\"\n\
                    [[role]]\nname = \"writer\"\nmix = { put = 1 }\nrate = 100\n";
        let phase = read(text).unwrap();
        let Work::Roles(roles) = &phase.work else { panic!("{phase:?}") };
        assert_eq!(phase.threads, 4);
        assert_eq!([roles[0].is_background(), roles[1].is_background()], [false, true]);
        assert_eq!(roles[1].rate, Rate::Open { per_second: 100.0 });
        assert!(phase.may_write());
        assert_eq!(Phase::from_toml(&phase.to_toml()).unwrap(), phase);
    }

    #[test]
    fn roles_that_cannot_run_together_name_their_key() {
        let one = |rest: &str| format!("[[role]]\nname = \"a\"\n{rest}\n");
        let reader = one("mix = { get = 1 }\noperations = 9");
        for (text, key, message) in [
            (one("mix = { get = 1 }"), "role", "set operations or seconds in at least one role"),
            ("role = 3".to_owned(), "role", "write [[phase.role]]"),
            (
                one("mix = { get = 1 }\noperations = 9\nthread = 3"),
                "role.a.thread",
                "did you mean \"threads\"?",
            ),
            (one("mix = { gte = 1 }\noperations = 9"), "role.a.mix.gte", "did you mean \"get\"?"),
            (one("operations = 9"), "role.a.mix", "operations needs a mix"),
            (
                one("mix = { put = 1 }\noperations = 9\nvalue = { bytes = 9 }"),
                "role.a.value",
                "above [[phase.role]]",
            ),
            (
                one("mix = { get = 1 }\noperations = 9\nrate = { p99 = \"1ms\" }"),
                "role.a.rate",
                "set a number of operations",
            ),
            (format!("{reader}{reader}"), "role.a.name", "two roles have the name \"a\""),
            (format!("operations = 9\n{reader}"), "operations", "each role has its own"),
            (format!("family = \"index\"\n{reader}"), "family", "each role has its own"),
            (format!("warm_up = \"1s\"\n{reader}"), "warm_up", "put a separate warm-up phase"),
            (
                format!(
                    "{}[[role]]\nname = \"b\"\nmix = {{ put = 1 }}\n",
                    one("mix = { insert = 1, put = 1 }\noperations = 9")
                ),
                "role.a.mix",
                "split the first role into a role that inserts",
            ),
            (
                one("mix = { get = 1 }\noperations = 9\nthreads = 1025"),
                "role.a.threads",
                "between 1 and 1024",
            ),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key), "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }
}
