//! A simple parser of Rust source that finds modules, items, imports and paths. The search for dependencies between
//! files uses the results.

use std::collections::BTreeSet;

/// An import: the name that it adds to a module, and the path of the imported item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// The name that the import adds to the module; `*` for an import of all names.
    pub(crate) name: String,
    /// The segments of the path. `crate`, `self` and `super` are also segments.
    pub(crate) path: Vec<String>,
    /// Whether the import is public, so that the module re-exports the name.
    pub(crate) is_public: bool,
}

/// The content of one module, as far as one file contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Module {
    /// The modules in separate files, each with the value of its `path` attribute.
    pub(crate) files: Vec<(String, Option<String>)>,
    /// The modules that are declared with braces inside this module.
    pub(crate) inline: Vec<(String, Module)>,
    /// The names of the items that the module defines.
    pub(crate) items: Vec<String>,
    /// The imports of the module, including imports inside functions.
    pub(crate) imports: Vec<Import>,
    /// The paths with at least two segments in the code.
    pub(crate) paths: Vec<Vec<String>>,
    /// The single words of the code, including keywords.
    pub(crate) words: BTreeSet<String>,
    /// The macros that the module defines with `macro_rules!`.
    pub(crate) macros: Vec<String>,
    /// The macros that the code calls by a single name.
    pub(crate) calls: Vec<String>,
}

/// Parses the text of a file. Items under `#[cfg(test)]` and comments are ignored.
pub(crate) fn read(text: &str) -> Module {
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let mut module = Module::default();
    reader.module(&mut module);
    module
}

/// A token of Rust source, as far as the parser distinguishes tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word: a name, a keyword or a number.
    Word(String),
    /// The contents of a string.
    Text(String),
    /// `::`.
    Path,
    /// Any other character.
    Sign(char),
}

/// Splits a text into tokens. Comments, lifetimes and character literals are skipped.
fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&c) = characters.get(at) {
        let next = characters.get(at + 1).copied().unwrap_or_default();
        if c == '/' && next == '/' {
            at = end_of(&characters, at, |c| c == '\n');
        } else if c == '/' && next == '*' {
            at = end_of_comment(&characters, at);
        } else if c == '"' {
            let end = end_of_string(&characters, at);
            tokens.push(Token::Text(characters[at + 1..end.max(at + 2) - 1].iter().collect()));
            at = end;
        } else if let Some(end) = end_of_raw_string(&characters, at) {
            tokens.push(Token::Text(String::new()));
            at = end;
        } else if c == '\'' {
            at = end_of_quote(&characters, at);
        } else if is_word(c) {
            let end = end_of(&characters, at, |c| !is_word(c));
            tokens.push(Token::Word(characters[at..end].iter().collect()));
            at = end;
        } else if c == ':' && next == ':' {
            tokens.push(Token::Path);
            at += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Sign(c));
            }
            at += 1;
        }
    }
    tokens
}

/// Returns the first position from `at` on at which `ends` returns true for the character. Returns the end of the text
/// if there is no such position.
fn end_of(characters: &[char], at: usize, ends: impl Fn(char) -> bool) -> usize {
    characters[at..].iter().position(|c| ends(*c)).map_or(characters.len(), |found| at + found)
}

/// Returns the end of the block comment that begins at `at`. Block comments may be nested.
fn end_of_comment(characters: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < characters.len() {
        match characters[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the end of the string that begins with the quote at `at`.
fn end_of_string(characters: &[char], mut at: usize) -> usize {
    at += 1;
    while at < characters.len() && characters[at] != '"' {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(characters.len())
}

/// Returns the end of the raw string at `at`. Returns `None` if no raw string begins at `at`.
fn end_of_raw_string(characters: &[char], at: usize) -> Option<usize> {
    let prefix = characters[at..].iter().take(2).take_while(|c| "bcr".contains(**c)).count();
    let starts = prefix > 0 && characters[at + prefix - 1] == 'r';
    let hashes = characters[at + prefix..].iter().take_while(|c| **c == '#').count();
    let open = at + prefix + hashes;
    if !starts || characters.get(open) != Some(&'"') {
        return None;
    }
    let closes =
        |from: usize| characters[from + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
    let close = (open + 1..characters.len()).find(|from| characters[*from] == '"' && closes(*from));
    Some(close.map_or(characters.len(), |close| close + 1 + hashes))
}

/// Returns the end of the character literal or the lifetime that begins at `at`.
fn end_of_quote(characters: &[char], at: usize) -> usize {
    match (characters.get(at + 1), characters.get(at + 2)) {
        (Some('\\'), _) => {
            let close = end_of(characters, (at + 3).min(characters.len()), |c| c == '\'');
            (close + 1).min(characters.len())
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

/// The keywords that precede the name of an item.
const ITEMS: [&str; 10] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro", "mod"];

impl Reader<'_> {
    /// Parses items and code up to the brace that closes the module, or up to the end of the file.
    fn module(&mut self, module: &mut Module) {
        let mut depth = 0;
        let mut path_attribute = None;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('#') if self.sign(1) == Some('[') || self.sign(1) == Some('!') => {
                    let attribute = self.attribute();
                    if is_of_tests(attribute) {
                        self.skip_item();
                    } else if let [Token::Word(word), Token::Sign('='), Token::Text(path)] = attribute
                        && word == "path"
                    {
                        path_attribute = Some(path.clone());
                    }
                    continue;
                }
                Token::Sign('{') => depth += 1,
                Token::Sign('}') if depth == 0 => return,
                Token::Sign('}') => depth -= 1,
                Token::Word(word) if word == "use" => {
                    let before = module.imports.len();
                    let is_public = is_behind_pub(&self.tokens[..self.at]);
                    self.at += 1;
                    self.import(Vec::new(), module);
                    module.imports[before..].iter_mut().for_each(|import| import.is_public = is_public);
                    continue;
                }
                Token::Word(word) if word == "macro_rules" => {
                    module.macros.extend(self.word(2).map(str::to_owned));
                    self.at += 2;
                    continue;
                }
                Token::Word(word) if word == "mod" && self.word(1).is_some() => {
                    let name = self.word(1).unwrap_or_default().to_owned();
                    let is_inline = self.sign(2) == Some('{');
                    self.at += 3;
                    if is_inline {
                        let mut inner = Module::default();
                        self.module(&mut inner);
                        self.at += 1;
                        module.inline.push((name, inner));
                    } else {
                        module.files.push((name, path_attribute.take()));
                    }
                    continue;
                }
                Token::Word(word) if depth == 0 && ITEMS.contains(&word.as_str()) => {
                    module.items.extend(self.word(1).map(str::to_owned));
                }
                Token::Word(_) if self.is_start_of_path() => {
                    self.path(module);
                    continue;
                }
                Token::Word(word) => {
                    module.words.insert(word.clone());
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        match self.tokens.get(self.at + ahead) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn sign(&self, ahead: usize) -> Option<char> {
        match self.tokens.get(self.at + ahead) {
            Some(Token::Sign(sign)) => Some(*sign),
            _ => None,
        }
    }

    fn is_start_of_path(&self) -> bool {
        let follows_path = self.at > 0 && self.tokens[self.at - 1] == Token::Path;
        !follows_path && matches!(self.tokens.get(self.at + 1), Some(Token::Path | Token::Sign('!')))
    }

    /// Parses a path such as `a::b::c`. If `!` follows, the path is the name of a macro.
    fn path(&mut self, module: &mut Module) {
        let mut path = vec![self.word(0).unwrap_or_default().to_owned()];
        self.at += 1;
        while self.tokens.get(self.at) == Some(&Token::Path)
            && let Some(word) = self.word(1)
        {
            path.push(word.to_owned());
            self.at += 2;
        }
        if path.len() > 1 {
            module.paths.push(path);
        } else if self.sign(0) == Some('!') && self.sign(1) != Some('=') {
            module.calls.append(&mut path);
        }
    }

    /// Parses the tree of an import after the prefix `path`, up to the character that ends the import.
    fn import(&mut self, mut path: Vec<String>, module: &mut Module) {
        loop {
            match self.tokens.get(self.at) {
                Some(Token::Word(word)) if word == "as" => {
                    let name = self.word(1).unwrap_or_default().to_owned();
                    self.at += 2;
                    return module.imports.push(Import { name, path, is_public: false });
                }
                Some(Token::Word(word)) => path.push(word.clone()),
                Some(Token::Path) => {}
                Some(Token::Sign('*')) => {
                    self.at += 1;
                    return module.imports.push(Import { name: "*".to_owned(), path, is_public: false });
                }
                Some(Token::Sign('{')) => {
                    self.at += 1;
                    while self.at < self.tokens.len() && self.sign(0) != Some('}') {
                        self.import(path.clone(), module);
                        if self.sign(0) != Some('}') {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                _ => {
                    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                        path.pop();
                    }
                    let name = path.last().cloned().unwrap_or_default();
                    return module.imports.push(Import { name, path, is_public: false });
                }
            }
            self.at += 1;
        }
    }

    /// Skips an attribute, and returns the tokens in its brackets.
    fn attribute(&mut self) -> &[Token] {
        self.at += if self.sign(1) == Some('!') { 2 } else { 1 };
        let start = self.at + 1;
        self.skip_group();
        self.tokens.get(start..self.at.max(start + 1) - 1).unwrap_or_default()
    }

    /// Skips the group in brackets that begins at the current token.
    fn skip_group(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('{' | '[' | '(') => depth += 1,
                Token::Sign('}' | ']' | ')') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips an item with its attributes.
    fn skip_item(&mut self) {
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Sign('[' | '(') => self.skip_group(),
                Token::Sign('{') => return self.skip_group(),
                Token::Sign(';' | ',') => {
                    self.at += 1;
                    return;
                }
                // The end of the enclosing item.
                Token::Sign('}') => return,
                _ => self.at += 1,
            }
        }
    }
}

/// Returns whether the next token follows `pub` or `pub(…)`.
fn is_behind_pub(before: &[Token]) -> bool {
    let is_pub = |token: Option<&Token>| token == Some(&Token::Word("pub".to_owned()));
    let open = before.iter().rposition(|token| *token == Token::Sign('('));
    let is_restricted = before.last() == Some(&Token::Sign(')'));
    is_pub(before.last()) || (is_restricted && open.is_some_and(|open| is_pub(before[..open].last())))
}

/// Returns whether an attribute is `cfg(test)`, either directly or as one of several conditions that must all be true.
fn is_of_tests(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute
        .iter()
        .filter_map(|token| if let Token::Word(word) = token { Some(word.as_str()) } else { None })
        .collect();
    matches!(words[..], ["cfg", "test"] | ["cfg", "all", "test", ..])
}
