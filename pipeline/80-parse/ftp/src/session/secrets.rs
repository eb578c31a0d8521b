//! Where a password stands in a command.

use super::commands::is_known;

/// Where a secret begins in a line with this first word, if it may have one.
///
/// Servers change passwords and make users by commands of their own, below SITE (`SITE PSWD`,
/// `SITE CHPASS`, `SITE ADDUSER`) or besides the standard's (`XPAS`): what their names say decides.
pub(super) fn begin(line: &[u8], word: &[u8], is_guest: bool) -> Option<usize> {
    let is = |command: &[u8]| word.eq_ignore_ascii_case(command);
    let behind = word.len().saturating_add(1);
    if is(b"SITE") {
        return below_site(line, behind);
    }
    let is_secret = is(b"PASS") && !is_guest
        || is(b"ACCT")
        || is(b"ADAT")
        || !is_known(word) && names_secret(word);
    is_secret.then_some(behind)
}

/// Behind the second word, if that is of a command with passwords.
fn below_site(line: &[u8], behind: usize) -> Option<usize> {
    let rest = line.get(behind..)?;
    let blanks = rest.len().saturating_sub(rest.trim_ascii_start().len());
    let word = rest.trim_ascii_start();
    let len = word.iter().position(u8::is_ascii_whitespace)?;
    let word = word.get(..len)?;
    let makes_user = USER_MAKERS
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name));
    let start = behind.saturating_add(blanks).saturating_add(len);
    (makes_user || names_secret(word)).then_some(start.saturating_add(1))
}

/// Whether a word has a password in its name, in one of the ways to shorten that.
fn names_secret(word: &[u8]) -> bool {
    let has = |part: &[u8]| {
        word.windows(part.len())
            .any(|some| some.eq_ignore_ascii_case(part))
    };
    SECRETS.iter().any(|part| has(part))
}

/// `PASS`, `PASSWD`, `CHPASS`, `GPASS`, `XPAS`; `PSWD`, `PSW`; `CHPWD`.
const SECRETS: [&[u8]; 3] = [b"PAS", b"PSW", b"PWD"];

/// Commands below SITE that take a new user's password.
const USER_MAKERS: [&[u8]; 3] = [b"ADDUSER", b"GADDUSER", b"USERADD"];
