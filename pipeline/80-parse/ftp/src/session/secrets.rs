//! Finds the password in a command.

use super::commands::is_known;

/// The position of the secret in a line with this first word, if it may have one.
///
/// Servers have their own commands to change passwords and to add users: subcommands of SITE (`SITE
/// PSWD`, `SITE CHPASS`, `SITE ADDUSER`) and nonstandard commands (`XPAS`). They are recognised by
/// their names.
pub(super) fn begin(line: &[u8], word: &[u8], is_guest: bool) -> Option<usize> {
    let is = |command: &[u8]| word.eq_ignore_ascii_case(command);
    let argument_at = word.len().saturating_add(1);
    if is(b"SITE") {
        return below_site(line, argument_at);
    }
    let is_secret = is(b"PASS") && !is_guest
        || is(b"ACCT")
        || is(b"ADAT")
        || !is_known(word) && names_secret(word);
    is_secret.then_some(argument_at)
}

/// The position after the second word, if that is a subcommand with a password.
fn below_site(line: &[u8], argument_at: usize) -> Option<usize> {
    let rest = line.get(argument_at..)?;
    let blanks = rest.len().saturating_sub(rest.trim_ascii_start().len());
    let word = rest.trim_ascii_start();
    let len = word.iter().position(u8::is_ascii_whitespace)?;
    let word = word.get(..len)?;
    let makes_user = USER_MAKERS
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name));
    let start = argument_at.saturating_add(blanks).saturating_add(len);
    (makes_user || names_secret(word)).then_some(start.saturating_add(1))
}

/// Whether a word contains one of the usual abbreviations of "password".
fn names_secret(word: &[u8]) -> bool {
    let has = |part: &[u8]| {
        word.windows(part.len())
            .any(|some| some.eq_ignore_ascii_case(part))
    };
    SECRETS.iter().any(|part| has(part))
}

/// `PASS`, `PASSWD`, `CHPASS`, `GPASS`, `XPAS`; `PSWD`, `PSW`; `CHPWD`.
const SECRETS: [&[u8]; 3] = [b"PAS", b"PSW", b"PWD"];

/// Subcommands of SITE that take a new user's password.
const USER_MAKERS: [&[u8]; 3] = [b"ADDUSER", b"GADDUSER", b"USERADD"];
