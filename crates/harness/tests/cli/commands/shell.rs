//! The calls of lsmbench in a shell command.

/// A call of lsmbench.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Call {
    /// The environment variables that the command sets for the call.
    pub(super) environment: Vec<(String, String)>,
    /// The arguments, without the name of the program.
    pub(super) arguments: Vec<String>,
}

/// Returns the calls of lsmbench in a command line, also below `cargo run` and `systemd-run`. The function removes
/// comments, quotes and redirections, and does not expand variables or patterns of file names.
pub(super) fn calls(line: &str) -> Vec<Call> {
    commands(line).into_iter().filter_map(call).collect()
}

/// Splits a command line into simple commands, and each of them into words.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut word) = (vec![Vec::new()], None::<String>);
    let mut is_target = false;
    let mut characters = line.chars().peekable();
    let end = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>, is_target: &mut bool| {
        if let Some(word) = word.take()
            && !std::mem::take(is_target)
        {
            commands.last_mut().unwrap().push(word);
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '#' if word.is_none() => break,
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                word.extend(characters.by_ref().take_while(|next| *next != character));
            }
            '>' => {
                end(&mut word, &mut commands, &mut is_target);
                is_target = true;
            }
            ';' | '&' | '|' => {
                end(&mut word, &mut commands, &mut is_target);
                commands.push(Vec::new());
            }
            _ if character.is_whitespace() => end(&mut word, &mut commands, &mut is_target),
            _ => word.get_or_insert_default().push(character),
        }
    }
    end(&mut word, &mut commands, &mut is_target);
    commands
}

/// Returns the call of lsmbench that a simple command makes; `None` if the command calls another program.
fn call(words: Vec<String>) -> Option<Call> {
    let mut words = words.into_iter().peekable();
    let is_name = |name: &str| name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    let mut environment = Vec::new();
    while let Some((name, value)) =
        words.peek().and_then(|word| word.split_once('=')).filter(|(name, _)| is_name(name))
    {
        environment.push((name.to_owned(), value.to_owned()));
        words.next();
    }
    match &*words.next()? {
        "cargo" => {
            words.next().filter(|command| command == "run")?;
            // With `-p`, cargo runs a program of another crate.
            words.find(|word| word == "--" || word == "-p").filter(|word| word == "--")?;
        }
        "systemd-run" => drop(words.find(|word| word == "lsmbench")?),
        "lsmbench" => {}
        path => drop(path.strip_suffix("/lsmbench")?),
    }
    Some(Call { environment, arguments: words.collect() })
}

#[test]
fn calls_are_found_in_shell_commands() {
    let found = |line: &str| {
        let arguments = |call: Call| call.arguments.join("|");
        calls(line).into_iter().map(arguments).collect::<Vec<_>>()
    };
    assert_eq!(found("lsmbench run 'a b.toml' --set x=\"c d\"  # a comment"), ["run|a b.toml|--set|x=c d"]);
    assert_eq!(found("./target/release/lsmbench list > file; lsmbench man | less"), ["list", "man"]);
    assert_eq!(found("cargo run --release -- run a.toml"), ["run|a.toml"]);
    assert_eq!(found("systemd-run --user -p A=b lsmbench run a.toml || echo lsmbench"), ["run|a.toml"]);
    assert_eq!(found("git clone URL lsmbench && cd lsmbench"), [""; 0]);
    assert_eq!(found("cargo build --release"), [""; 0]);
    let set = calls("LSMBENCH_PASSWORD=secret lsmbench serve db");
    assert_eq!(set[0].environment, [("LSMBENCH_PASSWORD".to_owned(), "secret".to_owned())]);
}
