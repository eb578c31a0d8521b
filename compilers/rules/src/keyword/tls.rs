//! Keywords about TLS's handshake that are no buffers: its version and messages, and the times of
//! the server's certificate.

use super::value;
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{
    Asks, BufferId, Lookup, NumberCheck, Pcre, Term, TimeCheck, ValueSet, buffer, seconds_of,
};
use std::sync::Arc;

/// `ssl_version:[!]VERSION[,VERSION...]`: the version that the server chose is one of these.
pub(super) fn version(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let mut set = ValueSet::default();
    let mut negated = None;
    for word in value(option)?.unquoted().split_commas() {
        let (word, is_not) = match word.strip_prefix('!') {
            Some(rest) => (rest.trim(), true),
            None => (word, false),
        };
        if *negated.get_or_insert(is_not) != is_not {
            return Err(word.fault("all versions are excluded, or none"));
        }
        let known = SSL_VERSIONS.iter();
        let mut known = known.filter(|(name, _)| name.eq_ignore_ascii_case(word.text));
        let Some((_, version)) = known.next() else {
            let names: Vec<&str> = SSL_VERSIONS.iter().map(|one| one.0).collect();
            return Err(word.fault(format!("one of {}", names.join(", "))));
        };
        set.add(version.as_bytes(), 0);
    }
    let asks = match negated {
        Some(true) => Asks::NotIn,
        _ => Asks::In,
    };
    let Some((id, _)) = buffer("tls.version") else {
        return Err(option.name.fault("it has no buffer"));
    };
    let set = Arc::new(set);
    builder.push_to(id, Term::In(Lookup { set, asks }));
    Ok(())
}

/// `ssl_state:[!]MESSAGE[|MESSAGE...]`, or with commas: one of these messages is in the handshake,
/// or none of them.
pub(super) fn state(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
    id: BufferId,
) -> Result<(), Fault> {
    let word = value(option)?.unquoted();
    let (words, negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let mut letters = String::new();
    let words = words.split_outside('|', ('\0', '\0')).into_iter();
    for word in words.flat_map(Word::split_commas) {
        let known = MESSAGES.iter().find(|(name, _)| *name == word.text);
        let Some((_, letter)) = known else {
            let names: Vec<&str> = MESSAGES.iter().map(|one| one.0).collect();
            return Err(word.fault(format!("one of {}", names.join(", "))));
        };
        letters.push(*letter);
    }
    let one_of = Pcre {
        pattern: format!("[{letters}]"),
        negated,
        ..Pcre::default()
    };
    builder.push_to(id, Term::Pcre(one_of));
    Ok(())
}

/// `tls_cert_notbefore:[<|>]TIME` or `TIME<>TIME`: as in Suricata, both ends belong to it.
pub(super) fn time(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
    id: BufferId,
) -> Result<(), Fault> {
    let word = value(option)?.unquoted();
    let check = if let Some(rest) = word.strip_prefix('<') {
        NumberCheck::within(0, seconds(rest)?)
    } else if let Some(rest) = word.strip_prefix('>') {
        NumberCheck::within(seconds(rest)?, u64::MAX)
    } else if let Some(at) = word.text.find("<>") {
        let from = seconds(word.part(0, at))?;
        let to = seconds(word.part(at + 2, word.text.len()))?;
        if to < from {
            return Err(word.fault("no time lies between these"));
        }
        NumberCheck::within(from, to)
    } else {
        NumberCheck::equal(seconds(word)?)
    };
    builder.push_to(id, Term::Time(TimeCheck::Is(check)));
    Ok(())
}

fn seconds(word: Word<'_>) -> Result<u64, Fault> {
    let word = word.trim();
    let why = || {
        format!(
            "\"{}\" is no time: 2026-11-28T20:30:00, or its beginning, or seconds since 1970",
            word.text
        )
    };
    // Four digits are a year.
    let is_number = word.text.len() > 4 && word.text.bytes().all(|byte| byte.is_ascii_digit());
    let found = match is_number {
        true => word.text.parse().ok(),
        // One blank may stand for the T.
        false => seconds_of(&word.text.replacen(' ', "T", 1)),
    };
    found.ok_or_else(|| word.fault(why()))
}

/// The end of the certificate's validity, by the time of the capture.
pub(super) fn expires(
    builder: &mut Builder<'_>,
    name: Word<'_>,
    check: TimeCheck,
) -> Result<(), Fault> {
    let Some((id, _)) = buffer("tls_cert_notafter") else {
        return Err(name.fault("it has no buffer"));
    };
    builder.push_to(id, Term::Time(check));
    Ok(())
}

/// How rules spell versions, and what records have.
const SSL_VERSIONS: [(&str, &str); 6] = [
    ("sslv2", "SSLv2"),
    ("sslv3", "SSLv3"),
    ("tls1.0", "TLSv1"),
    ("tls1.1", "TLS 1.1"),
    ("tls1.2", "TLS 1.2"),
    ("tls1.3", "TLS 1.3"),
];

/// Messages of a handshake, and their letters in its history: those of the client in capitals.
const MESSAGES: [(&str, char); 4] = [
    ("client_hello", 'C'),
    ("server_hello", 's'),
    ("client_keyx", 'G'),
    ("server_keyx", 'k'),
];
