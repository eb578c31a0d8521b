//! Scanners that flex 2.6 has made, in push mode: they stop in the middle of a token where a piece
//! of the stream ends, and continue with the next piece.
//!
//! flex pulls: at the end of its buffer it asks for more, and takes what it has for the last token
//! if there is nothing. Three edits of its skeleton let it stop there instead; what is appended
//! keeps the state of each stream. The tables and the rules stay as they are.

/// A scanner in push mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushScanner {
    /// The C source.
    pub source: String,
    /// The header for programs that use it.
    pub header: String,
    /// What its names begin with: `yy`, or what flex was told.
    pub prefix: String,
    /// Variables that each stream has.
    pub variables: Vec<String>,
}

/// Why a scanner cannot be pushed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScannerError {
    /// It is something else.
    #[error("this is no scanner of flex 2.6: `{0}` is missing, or there more than once")]
    NotFlex(&'static str),
    /// It uses what cannot stop in the middle.
    #[error("line {line}: {what}")]
    Unsupported {
        /// Where.
        line: usize,
        /// What, and what to do instead.
        what: &'static str,
    },
    /// It is pushed already.
    #[error("this scanner is in push mode already")]
    Again,
}

/// Makes a scanner push-mode and resumable. `header` is what the header will be called.
///
/// # Errors
/// [`ScannerError`]: it is no scanner of flex 2.6, or uses `input()`, `yymore()` or `REJECT`.
pub fn push_scanner(source: &str, header: &str) -> Result<PushScanner, ScannerError> {
    if source.contains("yyflow_scan") {
        return Err(ScannerError::Again);
    }
    let is_flex = source.contains("#define YY_FLEX_MAJOR_VERSION 2\n")
        && source.contains("#define YY_FLEX_MINOR_VERSION 6\n");
    if !is_flex {
        return Err(ScannerError::NotFlex("#define YY_FLEX_MINOR_VERSION 6"));
    }
    supported(source)?;
    let prefix = prefix(source);
    let variables = variables(source);
    let mut text = source.to_owned();
    for (anchor, replacement) in EDITS {
        text = replaced_once(&text, anchor, replacement)?;
    }
    text.push_str(&appendix(&prefix, &variables));
    let guard = header
        .to_uppercase()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let header_text = include_str!("../../runtime/yyflow.h");
    Ok(PushScanner {
        source: text,
        header: header_text
            .replace("@PREFIX@", &prefix)
            .replace("@GUARD@", &guard),
        prefix,
        variables,
    })
}

/// What flex's skeleton has, and what takes its place.
const EDITS: &[(&str, &str)] = &[
    (
        "#define EOB_ACT_LAST_MATCH 2\n",
        "#define EOB_ACT_LAST_MATCH 2\n\
         /* No more bytes in this piece, and the token may go on in the next one. */\n\
         #define EOB_ACT_NEED_MORE 3\n#define YY_NEED_MORE (-2)\n\
         static const char *yyflow_bytes[2];\nstatic int yyflow_count[2];\n\
         static int yyflow_is_last, yyflow_is_done;\n\
         static int yyflow_pull(char *buffer, int room);\n\
         #undef YY_INPUT\n\
         #define YY_INPUT(buffer, count, room) ((count) = yyflow_pull((buffer), (int)(room)))\n",
    ),
    (
        "\tif ( (yy_n_chars) == 0 )\n\t\t{\n\t\tif ( number_to_move == YY_MORE_ADJ )",
        "\tif ( (yy_n_chars) == 0 && ! yyflow_is_last )\n\
         \t\tret_val = EOB_ACT_NEED_MORE;\n\n\
         \telse if ( (yy_n_chars) == 0 )\n\t\t{\n\t\tif ( number_to_move == YY_MORE_ADJ )",
    ),
    (
        "\t\telse switch ( yy_get_next_buffer(  ) )\n\t\t\t{\n\
         \t\t\tcase EOB_ACT_END_OF_FILE:\n\t\t\t\t{\n",
        "\t\telse switch ( yy_get_next_buffer(  ) )\n\t\t\t{\n\
         \t\t\tcase EOB_ACT_NEED_MORE:\n\
         \t\t\t\t(yy_c_buf_p) = (yytext_ptr);\n\
         \t\t\t\t(yy_hold_char) = *(yy_c_buf_p);\n\
         \t\t\t\treturn YY_NEED_MORE;\n\n\
         \t\t\tcase EOB_ACT_END_OF_FILE:\n\t\t\t\t{\n\t\t\t\tyyflow_is_done = 1;\n",
    ),
];

fn replaced_once(
    text: &str,
    anchor: &'static str,
    replacement: &str,
) -> Result<String, ScannerError> {
    if text.matches(anchor).count() != 1 {
        let line = anchor.trim().lines().next().unwrap_or_default();
        return Err(ScannerError::NotFlex(line));
    }
    Ok(text.replacen(anchor, replacement, 1))
}

/// Refuses what looks at bytes that have not come yet, or that are gone.
fn supported(source: &str) -> Result<(), ScannerError> {
    let (mut is_in_actions, mut found) = (false, None);
    for (line, number) in source.lines().zip(1..) {
        is_in_actions |= line.contains("switch ( yy_act )");
        is_in_actions &= !line.contains("case YY_END_OF_BUFFER:");
        for (word, what) in UNSUPPORTED {
            let is_used = line.match_indices(word).any(|(at, _)| {
                let before = line.get(..at).and_then(|text| text.chars().last());
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            });
            if is_in_actions && is_used && found.is_none() {
                found = Some(ScannerError::Unsupported { line: number, what });
            }
        }
    }
    found.map_or(Ok(()), Err)
}

const UNSUPPORTED: &[(&str, &str)] = &[
    (
        "input(",
        "input() may ask for bytes that have not come: match them by a pattern",
    ),
    (
        "yyinput(",
        "yyinput() may ask for bytes that have not come: match them by a pattern",
    ),
    (
        "yymore(",
        "yymore() needs the bytes of earlier tokens: match the whole by one pattern",
    ),
    (
        "REJECT",
        "REJECT goes back to bytes that may be gone: use start conditions",
    ),
    (
        "yy_switch_to_buffer(",
        "yy_switch_to_buffer() changes what is scanned",
    ),
];

/// What names begin with: flex renames `yylex` if it was told another prefix.
fn prefix(source: &str) -> String {
    let defined = source
        .lines()
        .find_map(|line| line.strip_prefix("#define yylex "));
    let name = defined.and_then(|name| name.trim().strip_suffix("lex"));
    name.unwrap_or("yy").to_owned()
}

/// Variables of `#pragma flowpin perflow a, b`.
fn variables(source: &str) -> Vec<String> {
    let lines = source.lines().filter_map(|line| {
        let rest = line.trim().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("pragma")?.trim_start();
        rest.strip_prefix("flowpin")?
            .trim_start()
            .strip_prefix("perflow ")
    });
    let names = lines.flat_map(|names| names.split(','));
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    names.retain(|name| !name.is_empty());
    names.dedup();
    names
}

fn appendix(prefix: &str, variables: &[String]) -> String {
    let each = |line: &dyn Fn(&str) -> String| -> String {
        variables.iter().map(|name| line(name)).collect()
    };
    let mut text = include_str!("../../runtime/yyflow.c").to_owned();
    text = text
        .replace(
            "@FIELDS@",
            &each(&|name| format!("\t__typeof__({name}) {name};\n")),
        )
        .replace(
            "@SAVE_INITIAL@",
            &each(&|name| copy("initial", ".", name, true, 2)),
        )
        .replace("@TAKE@", &each(&|name| copy("flow", "->", name, false, 1)))
        .replace("@SAVE@", &each(&|name| copy("flow", "->", name, true, 1)));
    if prefix == "yy" {
        return text;
    }
    let names = ["flow", "flow_new", "flow_free", "flow_scan"];
    let renamed = names
        .iter()
        .map(|name| format!("#define yy{name} {prefix}{name}\n"));
    format!("\n{}{text}", renamed.collect::<String>())
}

fn copy(structure: &str, arrow: &str, name: &str, saves: bool, depth: usize) -> String {
    let field = format!("{structure}{arrow}{name}");
    let (to, from) = if saves {
        (&field, name)
    } else {
        (&name.to_owned(), field.as_str())
    };
    let tabs = "\t".repeat(depth);
    format!("{tabs}memcpy(&{to}, &{from}, sizeof {to});\n")
}

#[cfg(test)]
mod tests {
    use super::{prefix, push_scanner, supported, variables};

    /// What is no scanner, or one of another flex, is refused by name.
    #[test]
    fn other_sources_are_refused() {
        let error = push_scanner("int main(void) { return 0; }", "x.h").unwrap_err();
        assert!(error.to_string().contains("flex 2.6"), "{error}");
    }

    /// Only calls in actions count, not the skeleton's own functions.
    #[test]
    fn actions_that_look_ahead_are_refused() {
        let skeleton = "static int input(void);\nswitch ( yy_act )\nX\n\tcase YY_END_OF_BUFFER:\n";
        assert!(supported(&skeleton.replace('X', "return 1;")).is_ok());
        assert!(supported(&skeleton.replace('X', "skip_input();")).is_ok());
        let error = supported(&skeleton.replace('X', "c = input();")).unwrap_err();
        assert!(error.to_string().starts_with("line 3: input()"), "{error}");
    }

    /// The prefix is flex's, and variables are listed by pragmas.
    #[test]
    fn names_are_read_from_the_source() {
        assert_eq!(prefix("#define yylex httplex\n"), "http");
        assert_eq!(prefix("int yylex(void);\n"), "yy");
        let text = "#pragma flowpin perflow length, headers\n # pragma flowpin perflow kind\n";
        assert_eq!(variables(text), ["length", "headers", "kind"]);
    }
}
