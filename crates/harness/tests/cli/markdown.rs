//! The Markdown pages of the documentation: their code blocks, their inline code, and their shell commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A code block of a page.
#[derive(Debug)]
pub(crate) struct Block {
    /// The number of the first line of the code, from 1.
    pub(crate) line: usize,
    /// The language of the block, such as `toml`.
    pub(crate) language: String,
    /// The last paragraph above the block, on one line.
    pub(crate) above: String,
    /// The code.
    pub(crate) code: String,
}

/// A line of a shell block, without its prompt.
#[derive(Debug)]
pub(crate) struct CommandLine {
    /// The number of the line in the page, from 1.
    pub(crate) line: usize,
    /// The command. Lines that end with a backslash are joined.
    pub(crate) text: String,
    /// The output that the page quotes below the command.
    pub(crate) output: Option<String>,
}

/// A step that a page asks its reader to do.
#[derive(Debug)]
pub(crate) enum Step {
    /// Save a file.
    Save { name: String, content: String },
    /// Replace the end of a file, from the line `from` on. `line` is the number of a line of the page.
    ReplaceEnd { line: usize, name: String, from: String, content: String },
    /// Run a command.
    Run(CommandLine),
}

impl Step {
    /// Changes the files of a reader, by their names, if this step saves or changes a file.
    pub(crate) fn save(&self, page: &str, files: &mut BTreeMap<String, String>) {
        match self {
            Self::Save { name, content } => drop(files.insert(name.clone(), content.clone())),
            Self::ReplaceEnd { line, name, from, content } => {
                let place = format!("{page}:{line}");
                let file = files.get_mut(name).unwrap_or_else(|| panic!("{place}: there is no file {name}"));
                let at = file.find(&format!("\n{from}\n"));
                let at = at.unwrap_or_else(|| panic!("{place}: {name} does not contain the line {from}"));
                file.replace_range(at + 1.., content);
            }
            Self::Run(_) => {}
        }
    }
}

/// Returns the path of a file of the repository.
pub(crate) fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the paths of `README.md` and of all pages in `docs`, relative to the root of the repository.
pub(crate) fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    collect("docs", &mut pages);
    pages.sort();
    pages
}

/// Adds the paths of the pages in a folder and its subfolders.
fn collect(folder: &str, pages: &mut Vec<String>) {
    for entry in fs::read_dir(in_repository(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => collect(&path, pages),
            false if is_file(&path, "md") => pages.push(path),
            false => {}
        }
    }
}

/// Returns whether the name of a file has this ending, such as `md`.
pub(crate) fn is_file(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == ending)
}

/// Returns the text of a page.
pub(crate) fn read(page: &str) -> String {
    fs::read_to_string(in_repository(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns the code blocks of a page.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let (mut paragraph, mut is_ended) = (String::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => {
                blocks.extend(open.take());
                paragraph.clear();
            }
            (Some(block), _) => block.code.extend([line, "\n"]),
            (None, Some(language)) => {
                let above = paragraph.trim().to_owned();
                let (line, language) = (number + 1, language.to_owned());
                open = Some(Block { line, language, above, code: String::new() });
            }
            (None, None) if line.is_empty() => is_ended = true,
            (None, None) => {
                if std::mem::take(&mut is_ended) {
                    paragraph.clear();
                }
                paragraph.extend([line, " "]);
            }
        }
    }
    assert!(open.is_none(), "a code block does not end");
    blocks
}

/// Returns the inline code of a page, each with the number of its line. Code that continues on the next line is joined.
pub(crate) fn spans(text: &str) -> Vec<(usize, String)> {
    let mut spans = Vec::new();
    let (mut is_block, mut open): (bool, Option<(usize, String)>) = (false, None);
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            is_block = !is_block;
            continue;
        }
        if is_block {
            continue;
        }
        for (place, part) in line.split('`').enumerate() {
            if place > 0 {
                match open.take() {
                    Some(span) => spans.push(span),
                    None => open = Some((number, String::new())),
                }
            }
            if let Some((_, span)) = &mut open {
                if !span.is_empty() {
                    span.push(' ');
                }
                span.push_str(part.trim());
            }
        }
        // Inline code does not continue in another paragraph.
        if line.is_empty() {
            open = None;
        }
    }
    spans
}

/// Returns the command lines of a block in the language `sh` or `console`. In a `console` block, a command begins with
/// `$ `, and the other lines are its output.
pub(crate) fn command_lines(block: &Block) -> Vec<CommandLine> {
    let mut commands: Vec<CommandLine> = Vec::new();
    let is_console = block.language == "console";
    let mut is_continued = false;
    for (line, text) in (block.line..).zip(block.code.lines()) {
        let command = if is_console && !is_continued { text.strip_prefix("$ ") } else { Some(text) };
        let Some(command) = command else {
            let last = commands.last_mut().expect("a console block begins with a command");
            last.output.get_or_insert_default().extend([text, "\n"]);
            continue;
        };
        let part = command.strip_suffix('\\').unwrap_or(command);
        match commands.last_mut() {
            Some(last) if is_continued => last.text.push_str(part),
            _ => commands.push(CommandLine { line, text: part.to_owned(), output: None }),
        }
        is_continued = part.len() < command.len();
    }
    commands
}

/// Returns the lines of a workflow of GitHub that can be commands, with the numbers of the lines. A line that begins with
/// an option continues a command.
pub(crate) fn workflow_commands(block: &Block) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    for (line, text) in (block.line..).zip(block.code.lines()) {
        let text = text.trim_start();
        match commands.last_mut() {
            Some((_, command)) if text.starts_with("--") => command.extend([" ", text]),
            _ => commands.push((line, text.strip_prefix("- run: ").unwrap_or(text).to_owned())),
        }
    }
    commands
}

/// Returns the steps of a page in their order. A `text` block is the output of the last command above it, except in
/// generated parts of pages.
///
/// A `toml` block is a file if the paragraph above it ends with "as `NAME`:". A block below "In `NAME`, replace
/// everything from the line `LINE` to the end of the file by the following text:" is the new end of a file.
pub(crate) fn steps(page: &str, text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in blocks(text) {
        let line = block.line;
        match &*block.language {
            "sh" | "console" => steps.extend(command_lines(&block).into_iter().map(Step::Run)),
            // The tests of the reference compare the text of the generated pages, and `documents.rs` the quick start.
            "text" if page.starts_with("docs/reference/") || block.above == "<!-- gallery -->" => {}
            "text" => {
                let Some(Step::Run(command)) = steps.last_mut() else {
                    panic!(
                        "{page}:{line}: a text block is the output of a command, and no command is above it"
                    );
                };
                assert!(command.output.is_none(), "{page}:{line}: the command above has two outputs");
                command.output = Some(block.code);
            }
            "toml" => {
                let code: Vec<&str> = block.above.split('`').collect();
                match code[..] {
                    [.., before, name, after] if before.ends_with(" as ") && is_end_of_name(after) => {
                        steps.push(Step::Save { name: name.to_owned(), content: block.code });
                    }
                    [.., before, name, ", replace everything from the line ", from, _]
                        if before.ends_with("In ") =>
                    {
                        let (name, from) = (name.to_owned(), from.to_owned());
                        steps.push(Step::ReplaceEnd { line, name, from, content: block.code });
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    steps
}

/// Returns whether this text can stand between the name of a file and the block with its content.
fn is_end_of_name(text: &str) -> bool {
    text == ":" || text.starts_with(", ") && text.ends_with(':')
}

#[test]
fn blocks_have_their_language_and_paragraph() {
    let text =
        "Old.\n\nSave this\nas `a.toml`:\n\n```toml\na = 1\nb = 2\n```\n```console\n$ ls \\\n  -l\na\n```\n";
    let found: Vec<_> =
        blocks(text).into_iter().map(|block| (block.line, block.language, block.above)).collect();
    let above = "Save this as `a.toml`:".to_owned();
    assert_eq!(found, [(7, "toml".to_owned(), above), (11, "console".to_owned(), String::new())]);
    let steps = steps("page", text);
    let [Step::Save { name, content, .. }, Step::Run(command)] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!((&**name, &**content), ("a.toml", "a = 1\nb = 2\n"));
    assert_eq!((&*command.text, command.output.as_deref()), ("ls   -l", Some("a\n")));
    assert_eq!(spans("a `b\nc` d\n```\n`e`\n```\n"), [(1, "b c".to_owned())]);
}
