//! Parser of the text language (DSL) in which `lsmbench shell` reads commands.

use thiserror::Error;

use super::command::Command;

/// A syntax error in a line of the text language (DSL), with its position in the line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("column {column}: {message}")]
pub struct SyntaxError {
    /// The column of the first wrong byte, from 1.
    pub column: usize,
    /// A description of the syntax error, which contains the valid syntax.
    pub message: String,
}

impl SyntaxError {
    /// Creates an error at an offset in the line, from 0. Very long words of the message are shortened.
    fn at(offset: usize, message: String) -> Self {
        Self { column: offset + 1, message: types::Problem::new(message).to_string() }
    }
}

impl Command {
    /// Parses one line, with or without a line end. Returns `None` if the line is empty or a comment.
    ///
    /// # Errors
    /// Returns an error if the line is not a valid command. The error contains the column, and the valid
    /// syntax.
    pub fn parse(line: &[u8]) -> Result<Option<Self>, SyntaxError> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut cursor = Cursor { line, at: 0 };
        cursor.skip_blanks();
        let start = cursor.at;
        let name = match cursor.peek() {
            None | Some(b'#') => return Ok(None),
            Some(_) => cursor.name(),
        };
        let command = match name {
            b"p" => Self::Put { key: cursor.token("p KEY VALUE")?, value: cursor.token("p KEY VALUE")? },
            b"g" => Self::Get { key: cursor.token("g KEY")? },
            b"d" => Self::Delete { key: cursor.token("d KEY")? },
            b"sd" => Self::SingleDelete { key: cursor.token("sd KEY")? },
            b"m" => {
                Self::Merge { key: cursor.token("m KEY OPERAND")?, operand: cursor.token("m KEY OPERAND")? }
            }
            b"x" => Self::DeleteRange { low: cursor.token("x LOW HIGH")?, high: cursor.token("x LOW HIGH")? },
            b"r" => Self::Range { low: cursor.token("r LOW HIGH")?, high: cursor.token("r LOW HIGH")? },
            b"l" => Self::Load { file: cursor.token("l \"FILE\"")? },
            b"s" => Self::Statistics,
            other => {
                let message = format!(
                    "unknown command \"{}\". Valid: p KEY VALUE, g KEY, d KEY, sd KEY, m KEY OPERAND, x LOW HIGH, \
                     r LOW HIGH, l \"FILE\", s",
                    other.escape_ascii()
                );
                return Err(SyntaxError::at(start, message));
            }
        };
        cursor.end(&command)?;
        Ok(Some(command))
    }
}

struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns the name of the command, which is the text up to the next blank.
    fn name(&mut self) -> &'a [u8] {
        let start = self.at;
        while !matches!(self.peek(), None | Some(b' ' | b'\t')) {
            self.at += 1;
        }
        &self.line[start..self.at]
    }

    /// Returns the next token of the line: a word, or a text in quotes. If the token is missing, the error message
    /// shows `form`, the syntax of the whole command.
    fn token(&mut self, form: &str) -> Result<Vec<u8>, SyntaxError> {
        self.skip_blanks();
        match self.peek() {
            None => Err(self.error(format!("the line ends too early; write {form}"))),
            Some(b'"') => self.quoted(),
            Some(_) => {
                let start = self.at;
                let token = self.name();
                match token.iter().position(|byte| *byte == b'"') {
                    None => Ok(token.to_vec()),
                    Some(quote) => {
                        self.at = start + quote;
                        Err(self.error(
                            "a quote stands inside a word that does not begin with a quote; quote the whole \
                             word"
                                .to_owned(),
                        ))
                    }
                }
            }
        }
    }

    fn quoted(&mut self) -> Result<Vec<u8>, SyntaxError> {
        let open = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => bytes.push(self.escape()?),
                Some(byte) => {
                    bytes.push(byte);
                    self.at += 1;
                }
                None => {
                    self.at = open;
                    return Err(self.error("the quote is never closed".to_owned()));
                }
            }
        }
        self.at += 1;
        match self.peek() {
            None | Some(b' ' | b'\t') => Ok(bytes),
            Some(_) => Err(self.error("expected a blank after a closing quote".to_owned())),
        }
    }

    fn escape(&mut self) -> Result<u8, SyntaxError> {
        let byte = match self.line.get(self.at + 1) {
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'0') => 0,
            Some(b'x') => {
                let digits = self.line.get(self.at + 2..self.at + 4);
                let byte = digits.and_then(|digits| Some(hex(digits[0])? << 4 | hex(digits[1])?));
                let byte =
                    byte.ok_or_else(|| self.error("two hexadecimal digits must follow \\x".to_owned()))?;
                self.at += 2;
                byte
            }
            _ => {
                return Err(self.error(r#"unknown escape. Valid: \" \\ \n \r \t \0 \xHH"#.to_owned()));
            }
        };
        self.at += 2;
        Ok(byte)
    }

    fn end(&mut self, command: &Command) -> Result<(), SyntaxError> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(format!("unexpected text after the end of \"{command}\""))),
        }
    }

    fn error(&self, message: String) -> SyntaxError {
        SyntaxError::at(self.at, message)
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_words_are_shortened_in_messages() {
        let word = "w".repeat(300_000);
        for line in
            [word.clone(), format!("p k v {word}"), format!("g {word} more"), format!("l \"{word}\" more")]
        {
            let error = Command::parse(line.as_bytes()).unwrap_err();
            assert!(error.message.len() < 400, "{} bytes", error.message.len());
        }
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let blanks =
            prop::collection::vec(prop::sample::select(b" \t\n\r\"\\#\0x0ab\x7f\xff".to_vec()), 0..12);
        prop_oneof![prop::collection::vec(any::<u8>(), 0..40), blanks]
    }

    fn command() -> impl Strategy<Value = Command> {
        prop_oneof![
            (bytes(), bytes()).prop_map(|(key, value)| Command::Put { key, value }),
            bytes().prop_map(|key| Command::Get { key }),
            bytes().prop_map(|key| Command::Delete { key }),
            (bytes(), bytes()).prop_map(|(key, operand)| Command::Merge { key, operand }),
            (bytes(), bytes()).prop_map(|(low, high)| Command::DeleteRange { low, high }),
            bytes().prop_map(|key| Command::SingleDelete { key }),
            (bytes(), bytes()).prop_map(|(low, high)| Command::Range { low, high }),
            bytes().prop_map(|file| Command::Load { file }),
            Just(Command::Statistics),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_printed_reads_back(command in command()) {
            let line = command.to_string();
            prop_assert!(line.is_ascii() && !line.contains('\n'));
            prop_assert_eq!(Command::parse(line.as_bytes()), Ok(Some(command)));
        }

        /// Tests that any bytes parse to a command, or to an error with a position inside the line. Every command
        /// must print a line that parses back to the same command.
        #[test]
        fn any_line_is_read_or_refused(line in bytes()) {
            match Command::parse(&line) {
                Ok(Some(command)) => {
                    let again = Command::parse(command.to_string().as_bytes());
                    prop_assert_eq!(again, Ok(Some(command)));
                }
                Ok(None) => {}
                Err(error) => prop_assert!((1..=line.len() + 1).contains(&error.column)),
            }
        }
    }

    #[test]
    fn lines_as_people_write_them() {
        let put = |key: &[u8], value: &[u8]| Some(Command::Put { key: key.to_vec(), value: value.to_vec() });
        for (line, command) in [
            ("p 10 7", put(b"10", b"7")),
            ("  p\t10  7 \r\n", put(b"10", b"7")),
            (r#"p "a b" "\x00\xfF\n""#, put(b"a b", b"\x00\xff\n")),
            (r"p a\b c#d", put(br"a\b", b"c#d")),
            ("p \"\" käse", put(b"", "käse".as_bytes())),
            ("l \"data file.bin\"", Some(Command::Load { file: b"data file.bin".to_vec() })),
            ("s", Some(Command::Statistics)),
            ("# p 1 2", None),
            ("", None),
            ("   \n", None),
        ] {
            assert_eq!(Command::parse(line.as_bytes()), Ok(command), "{line}");
        }
    }

    #[test]
    fn errors_name_the_column_and_what_is_accepted() {
        for (line, column, message) in [
            ("x 1", 4, "the line ends too early; write x LOW HIGH"),
            ("y 1", 1, "unknown command \"y\". Valid: p KEY VALUE"),
            ("put 1 2", 1, "unknown command \"put\""),
            ("p 10", 5, "write p KEY VALUE"),
            ("g", 2, "write g KEY"),
            ("d 1 2", 5, "after the end of \"d 1\""),
            ("s now", 3, "after the end of \"s\""),
            ("g \"abc", 3, "never closed"),
            ("g ab\"c", 5, "quote the whole word"),
            (r#"g "a\q""#, 5, "unknown escape"),
            (r#"g "a\xg0""#, 5, "two hexadecimal digits"),
            (r#"g "a"b"#, 6, "expected a blank"),
        ] {
            let error = Command::parse(line.as_bytes()).unwrap_err();
            assert_eq!(error.column, column, "{line}: {error}");
            assert!(error.message.contains(message), "{line}: {error}");
        }
    }
}
