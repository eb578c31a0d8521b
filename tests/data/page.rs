//! A page of the documentation, in pieces: what is run, and what it prints.
//!
//! ```text
//!  a block `console`:  `$ ` begins a command, which goes on while a quote is open or after `\`;
//!                      what stands below it is its output
//!  a block `python`:   a program; a block `text` below it is its output
//! ```

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Not run: lines as they are.
    Prose(String),
    /// A line of a shell, without the prompt.
    Command(String),
    /// A Python program.
    Program(String),
    /// What the last command or program printed.
    Output(String),
}

/// The pieces of a page, in order; an output behind each command and each program.
pub(crate) fn pieces(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut prose, mut lines) = (String::new(), page.lines().peekable());
    while let Some(line) = lines.next() {
        put_line(&mut prose, line);
        match line {
            "```console" => {
                pieces.push(Piece::Prose(core::mem::take(&mut prose)));
                put_console(&mut pieces, &mut lines);
            }
            "```python" => {
                pieces.push(Piece::Prose(core::mem::take(&mut prose)));
                pieces.push(Piece::Program(block(&mut lines)));
                let between = ["```", "", "```text"];
                for expected in between {
                    let line = lines.next();
                    assert_eq!(
                        line,
                        Some(expected),
                        "what a program prints is a block below it"
                    );
                    put_line(&mut prose, expected);
                }
                pieces.push(Piece::Prose(core::mem::take(&mut prose)));
                pieces.push(Piece::Output(block(&mut lines)));
            }
            _ => {}
        }
    }
    pieces.push(Piece::Prose(prose));
    pieces
}

/// The page of these pieces.
pub(crate) fn joined(pieces: &[Piece]) -> String {
    let mut page = String::new();
    for piece in pieces {
        match piece {
            Piece::Command(command) => {
                page.push_str("$ ");
                put_line(&mut page, command);
            }
            Piece::Prose(text) | Piece::Program(text) | Piece::Output(text) => page.push_str(text),
        }
    }
    page
}

type Lines<'a> = std::iter::Peekable<core::str::Lines<'a>>;

/// The lines up to the end of a block, which stays.
fn block(lines: &mut Lines<'_>) -> String {
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| *line != "```") {
        put_line(&mut text, line);
    }
    text
}

fn put_console(pieces: &mut Vec<Piece>, lines: &mut Lines<'_>) {
    while let Some(line) = lines.next_if(|line| *line != "```") {
        let command = line.strip_prefix("$ ");
        let mut command = command.expect("a command begins a block").to_owned();
        while goes_on(&command) {
            command.push('\n');
            command.push_str(lines.next().expect("a command ends in its block"));
        }
        pieces.push(Piece::Command(command));
        let mut output = String::new();
        while let Some(line) = lines.next_if(|line| *line != "```" && !line.starts_with("$ ")) {
            put_line(&mut output, line);
        }
        pieces.push(Piece::Output(output));
    }
}

/// Whether a shell would wait for the rest of a command.
fn goes_on(command: &str) -> bool {
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            // A line that ends so goes on.
            (None | Some('"'), '\\') if letters.next().is_none() => return true,
            (None | Some('"'), '\\') => {}
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    quote.is_some()
}

fn put_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The pieces make up the page again, and a command ends where a shell would end it.
#[test]
fn pages_survive_their_pieces() {
    let page = "# A\n\n```console\n$ echo 'a\n  b' \\\n    c\na\n$ true\n```\n\n```python\nprint(1)\n\
                ```\n\n```text\n1\n```\n\nend\n";
    let pieces = pieces(page);
    assert_eq!(joined(&pieces), page);
    let command = "echo 'a\n  b' \\\n    c".to_owned();
    assert_eq!(pieces[1], Piece::Command(command));
    assert_eq!(pieces[2], Piece::Output("a\n".to_owned()));
    assert_eq!(pieces[6], Piece::Program("print(1)\n".to_owned()));
}
