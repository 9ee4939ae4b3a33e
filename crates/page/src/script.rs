//! Builds the script of a page. The parts of the script share one scope, and have no comments and no unnecessary
//! spaces.

/// The parts of the script that every page needs, in order.
const SHARED: [&str; 3] =
    [include_str!("assets/estimate.js"), include_str!("assets/format.js"), include_str!("assets/chart.js")];

/// The parts of the script that show runs, in order.
const RUNS: [&str; 4] = [
    include_str!("assets/model.js"),
    include_str!("assets/multiples.js"),
    include_str!("assets/detail.js"),
    include_str!("assets/view.js"),
];

/// The part of the script that shows a history.
const HISTORY: &str = include_str!("assets/history.js");

/// The contents of a page that its script must show: runs, a history, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) has_runs: bool,
    pub(crate) has_history: bool,
}

/// The JavaScript operators and brackets next to which a space can be removed.
const SIGNS: &str = "{}()[],;:?=<>&|*!%+-";

/// The JavaScript characters after which a line break can be removed, followed by the characters before which a line
/// break can be removed. Removal is safe because all statements except blocks end with a semicolon.
const BEFORE_BREAK: &str = ";,{}([:?=&|";
const AFTER_BREAK: &str = "})],.?:&|";

/// The keywords of declarations. A constant is a variable that no statement changes, so `let` can declare it, too.
const DECLARATIONS: [&str; 2] = ["const", "let"];

/// Constants of JavaScript, and shorter expressions of equal value.
const SHORTER: [(&str, &str); 2] = [("true", "!0"), ("false", "!1")];

/// Whether the last two statements at one nesting level of brackets are declarations, which [`bare`] can then join.
#[derive(Clone, Copy, Default)]
struct Statements {
    /// Whether the current statement is a declaration, such as `let a = 1`.
    is_declaration: bool,
    /// Whether the previous statement was a declaration, such as `let a = 1`.
    was_declaration: bool,
}

/// Returns whether a character can be a part of a JavaScript name or number.
fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.')
}

/// Returns the script of a page with these contents. Without a browser document, as in a test, the script for runs
/// exports its functions.
pub(crate) fn script(contents: Contents) -> String {
    let Contents { has_runs, has_history } = contents;
    let of_runs = RUNS.iter().filter(|_| has_runs);
    let parts = SHARED.iter().chain(of_runs).chain(has_history.then_some(&HISTORY));
    let parts: String = parts.map(|part| bare(part)).collect();
    let mut begin = String::new();
    if has_runs {
        begin += "if(typeof document==='undefined')globalThis.lsmbench={computeRows,changeOf,value};else start();\n";
    }
    if has_history {
        begin += "startHistory();\n";
    }
    format!("(()=>{{'use strict';\n{parts}{begin}}})();\n")
}

/// Shortens a part of the script without changing its meaning: removes comments, unnecessary spaces and line breaks,
/// replaces `const` with `let`, and joins declarations.
fn bare(part: &str) -> String {
    let lines = part.lines().map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let characters: Vec<char> = lines.flat_map(|line| line.chars().chain(['\n'])).collect();
    let is_one_of = |signs: &str, at: Option<&char>| at.is_some_and(|sign| signs.contains(*sign));
    let is_sign = |at: Option<&char>| is_one_of(SIGNS, at);
    let (mut text, mut at) = (String::new(), 0);
    let mut levels = vec![Statements::default()];
    while let Some(letter) = characters.get(at) {
        let end = match letter {
            '\'' | '"' | '`' => end_of_text(&characters, at),
            '/' if starts_pattern(&text) => end_of_pattern(&characters, at),
            // Without the space, the two signs would form one operator, such as `++`.
            ' ' if text.ends_with(['+', '-']) && is_one_of("+-", characters.get(at + 1)) => at + 1,
            ' ' if is_sign(characters.get(at + 1)) || is_sign(text.chars().last().as_ref()) => {
                at += 1;
                continue;
            }
            '\n' if is_one_of(BEFORE_BREAK, text.chars().last().as_ref())
                || is_one_of(AFTER_BREAK, characters.get(at + 1)) =>
            {
                at += 1;
                continue;
            }
            '(' if !text.ends_with(is_part_of_name)
                && let Some(length) = single_parameter(&characters[at..]) =>
            {
                text.extend(&characters[at + 1..at + 1 + length]);
                at += length + 2;
                continue;
            }
            _ if !text.ends_with(is_part_of_name)
                && let Some(keyword) = DECLARATIONS.iter().find(|word| is_word(&characters[at..], word)) =>
            {
                let was_declaration = levels.last().is_some_and(|level| level.was_declaration);
                at += keyword.len();
                if was_declaration && text.ends_with(';') {
                    text.pop();
                    text.push(',');
                    at += usize::from(characters.get(at) == Some(&' '));
                } else {
                    text += "let";
                }
                if let Some(level) = levels.last_mut() {
                    level.is_declaration = true;
                }
                continue;
            }
            _ if !text.ends_with(is_part_of_name)
                && let Some((word, shorter)) =
                    SHORTER.iter().find(|(word, _)| is_word(&characters[at..], word)) =>
            {
                text += shorter;
                at += word.len();
                continue;
            }
            ';' if characters[at + 1..].iter().find(|letter| !letter.is_whitespace()) == Some(&'}') => {
                at += 1;
                continue;
            }
            _ => at + 1,
        };
        match letter {
            '(' | '[' | '{' => levels.push(Statements::default()),
            ')' | ']' | '}' => drop(levels.pop()),
            ';' => {
                if let Some(level) = levels.last_mut() {
                    *level = Statements { is_declaration: false, was_declaration: level.is_declaration };
                }
            }
            _ => {}
        }
        text.extend(&characters[at..end]);
        at = end;
    }
    text
}

/// Returns whether the characters begin with the whole word `word`.
fn is_word(characters: &[char], word: &str) -> bool {
    let length = word.len();
    characters.iter().take(length).copied().eq(word.chars())
        && !characters.get(length).is_some_and(|next| is_part_of_name(*next))
}

/// Returns the length of the only parameter of an arrow function in parentheses, such as 1 for `(a) =>`. Returns `None`
/// for any other text.
fn single_parameter(characters: &[char]) -> Option<usize> {
    let length = characters.iter().skip(1).take_while(|letter| is_part_of_name(**letter)).count();
    let is_arrow = characters.get(length + 1..).is_some_and(|rest| rest.starts_with(&[')', ' ', '=', '>']));
    (length > 0 && is_arrow && characters[1] != '.').then_some(length)
}

/// Returns the end of the JavaScript string literal that begins at `at`. The expressions in a template literal belong
/// to the literal.
fn end_of_text(characters: &[char], at: usize) -> usize {
    let quote = characters[at];
    let mut end = at + 1;
    while end < characters.len() && characters[end] != quote {
        end = match characters[end..] {
            ['\\', ..] => end + 2,
            ['$', '{', ..] if quote == '`' => end_of_expression(characters, end + 2),
            _ => end + 1,
        };
    }
    (end + 1).min(characters.len())
}

/// Returns the end of an expression in a template literal. `at` is the position after its opening brace.
fn end_of_expression(characters: &[char], mut at: usize) -> usize {
    let mut depth = 1;
    while at < characters.len() && depth > 0 {
        match characters[at] {
            '\'' | '"' | '`' => {
                at = end_of_text(characters, at);
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Returns whether a slash after this text starts a regular expression in JavaScript. After a value, a slash is a
/// division.
fn starts_pattern(text: &str) -> bool {
    text.trim_end().chars().last().is_some_and(|last| "(,=:[!&|?{};".contains(last))
}

/// Returns the end of the regular expression that begins at `at`.
fn end_of_pattern(characters: &[char], at: usize) -> usize {
    let (mut end, mut is_set) = (at + 1, false);
    while end < characters.len() && (is_set || characters[end] != '/') {
        match characters[end] {
            '\\' => end += 1,
            '[' => is_set = true,
            ']' => is_set = false,
            _ => {}
        }
        end += 1;
    }
    (end + 1).min(characters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_patterns_stay_as_they_are() {
        let cases = [
            ("// gone\n  const a = { b: 1, c: 'x, y' };\n", "let a={b:1,c:'x, y'};"),
            ("f(`a, ${b ? `c = ${d}, ` : 'e }'} , f`, 1);\n", "f(`a, ${b ? `c = ${d}, ` : 'e }'} , f`,1);"),
            ("x = a / b, 'c / d';\n", "x=a / b,'c / d';"),
            ("s.replace(/[\", /] = /g, 'a');\n", "s.replace(/[\", /] = /g,'a');"),
            ("a + -b in c;\n", "a+ -b in c;"),
            ("f(\n  a,\n  b\n)\n  .c()\nd()\n", "f(a,b).c()\nd()\n"),
            ("if (a) {\n  b();\n}\nc();\n", "if(a){b()}c();"),
            ("'it\\'s, so' , 1\n", "'it\\'s, so',1\n"),
            ("const a = (b) => b;\nconst [c] = d;\n", "let a=b=>b,[c]=d;"),
            (
                "let a = () => { const b = 1; b(); const c = 2; };\nconst d = 3;\n",
                "let a=()=>{let b=1;b();let c=2},d=3;",
            ),
            ("return (a) => (a, b) => true;\n", "return(a)=>(a,b)=>!0;"),
            ("const isTrue = a.true === trueish;\n", "let isTrue=a.true===trueish;"),
            ("for (const a of b) c(a);\nconst d = 1;\n", "for(let a of b)c(a);let d=1;"),
        ];
        for (part, expected) in cases {
            assert_eq!(bare(part), expected);
        }
    }

    #[test]
    fn the_script_is_small() {
        let bytes = script(Contents { has_runs: true, has_history: false }).len();
        assert!(bytes <= 60_000, "{bytes} bytes");
        let more = script(Contents { has_runs: true, has_history: true }).len() - bytes;
        assert!(more <= 8_000, "{more} bytes for the history");
    }
}
