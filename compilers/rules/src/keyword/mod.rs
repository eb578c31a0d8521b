//! What each keyword makes of its value.

mod asn1;
mod bytes;
mod content;
mod entropy;
mod event;
mod fields;
mod file;
mod meta;
mod numbers;
mod packet;
mod pcre;
mod reputation;
mod set;
mod state;
mod tls;
mod transform;

pub(crate) use meta::Classes;
pub(crate) use state::count;

use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{
    Absent, Asks, BufferId, BufferSource, Codes, Condition, Content, Lookup, NumberCheck, Protocol,
    Status, Term, TimeCheck, ValueSet, buffer, keyword,
};
use std::sync::Arc;

/// Reads one option.
pub(crate) fn read(
    builder: &mut Builder<'_>,
    option: RuleOption<'_>,
    classes: &Classes,
) -> Result<(), Fault> {
    let name = option.name;
    match keyword(name.text) {
        None => return Err(name.fault(format!("\"{}\" is no known keyword", name.text))),
        Some(Status::Refused(why)) => {
            let why = why.trim_end_matches('.');
            let why = format!("\"{}\" is not supported: {why}", name.text);
            return Err(name.fault(why));
        }
        Some(Status::Accepted(_)) => return Ok(()),
        Some(Status::Evaluated(_)) => {}
    }
    if let Some(result) = name_buffer(builder, &option) {
        return result;
    }
    if let Some(result) = meta::read(builder, &option, classes) {
        return result;
    }
    match name.text {
        "content" | "uricontent" => content::content(builder, &option),
        "nocase" | "offset" | "depth" | "distance" | "within" | "startswith" | "endswith"
        | "fast_pattern" => content::modifier(builder, &option),
        "pcre" => pcre::pcre(builder, &option),
        "byte_test" => bytes::test(builder, &option),
        "byte_jump" => bytes::jump(builder, &option),
        "byte_extract" => bytes::extract(builder, &option),
        "byte_math" => bytes::math(builder, &option),
        "isdataat" => bytes::is_data_at(builder, &option),
        "bsize" | "urilen" => bytes::size(builder, &option),
        "filename" | "fileext" | "filesize" => file::read(builder, &option),
        "base64_decode" => bytes::base64_decode(builder, &option),
        "base64_data" => builder.enter_base64(name),
        "entropy" => entropy::read(builder, &option),
        "frame" => frame(builder, &option),
        "ssl_version" => tls::version(builder, &option),
        "tls_cert_expired" => tls::expires(builder, name, TimeCheck::Over),
        "tls_cert_valid" => tls::expires(builder, name, TimeCheck::ToCome),
        "asn1" => asn1::read(builder, &option),
        "ssh.protoversion" => ssh_version(builder, &option),
        "ssh.softwareversion" => ssh_software(builder, &option),
        "iprep" => reputation::read(builder, &option),
        "ftpbounce" => ftp_bounce(builder, name),
        "absent" => {
            let absent = match option.value.map(|value| value.text) {
                Some("or_else") => Absent::OrElse,
                _ => Absent::Only,
            };
            if !builder.is_in_buffer() {
                return Err(name.fault("\"absent\" must follow the name of a buffer"));
            }
            builder.set_absent(absent);
            Ok(())
        }
        "dataset" | "datarep" | "filemd5" | "filesha1" | "filesha256" => {
            set::read(builder, &option)
        }
        "app-layer-event" | "decode-event" | "engine-event" | "stream-event" => {
            event::read(builder, &option)
        }
        "flowbits" | "flowint" | "xbits" | "hostbits" | "threshold" | "detection_filter" => {
            state::read(builder, &option)
        }
        _ => {
            if let Some(condition) = fields::read(&option) {
                builder.rule.conditions.push(condition?);
                return Ok(());
            }
            match transform::read(&option) {
                Some(transform) => builder.transform(name, transform?),
                None => packet::read(builder, &option),
            }
        }
    }
}

/// `frame:[PROTOCOL.]NAME`: what follows examines the frame; the protocol is the rule's.
fn frame(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    let name = word.text.to_ascii_lowercase();
    let of_rule = match &builder.rule.header.protocol {
        Protocol::App(protocol) => format!("frame.{protocol}.{name}"),
        _ => String::new(),
    };
    let known = buffer(&of_rule).or_else(|| buffer(&format!("frame.{name}")));
    let Some((id, _)) = known else {
        return Err(word.fault(format!("\"{}\" is no frame that is known here", word.text)));
    };
    builder.enter(id, option.name.at);
    Ok(())
}

/// The name of a buffer: what follows examines it, or the content before it belongs there.
fn name_buffer(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Option<Result<(), Fault>> {
    let name = option.name;
    let (mut id, is_behind) = buffer(name.text)?;
    match name.text {
        "tls.cert_chain_len" => return Some(number(builder, option, id, Codes::None)),
        "ssl_state" => return Some(tls::state(builder, option, id)),
        _ => {}
    }
    match id.info().source {
        BufferSource::Number(_, _, codes) => return Some(number(builder, option, id, codes)),
        BufferSource::Word(_, _, words) => return Some(one_of(builder, option, id, words)),
        BufferSource::Time(..) => return Some(tls::time(builder, option, id)),
        _ => {}
    }
    if builder.rule.header.transactional
        && let Some(side) = option.value
    {
        let to_server = match side.text {
            "to_server" => true,
            "to_client" => false,
            _ => return Some(Err(side.fault("a side is to_server or to_client"))),
        };
        builder.enter_side(id, name.at, Some(to_server));
        return Some(Ok(()));
    }
    if let Some(value) = option.value {
        if ["tls.subject", "tls.issuerdn", "tls.fingerprint"].contains(&name.text) {
            return Some(packet::text(builder, id, value));
        }
        let field = value.text.strip_prefix("field ").map(str::trim);
        let of_field = field.and_then(|field| {
            let field = field.to_ascii_lowercase();
            let known = FIELDS.iter().find(|(one, _)| *one == field)?;
            buffer(known.1).map(|(id, _)| id)
        });
        match of_field.filter(|_| name.text == "http_header") {
            Some(of_field) => id = of_field,
            None => {
                let why = format!("\"{}\" takes no value that is known here", name.text);
                return Some(Err(value.fault(why)));
            }
        }
    }
    if is_behind && !builder.is_snort3 {
        return Some(builder.move_content(option, id));
    }
    builder.enter(id, name.at);
    Some(Ok(()))
}

/// `ssh.protoversion:VERSION`: the older form of a content in `ssh.proto`.
fn ssh_version(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?.unquoted();
    let Some((id, _)) = buffer("ssh.proto") else {
        return Err(option.name.fault("it has no buffer"));
    };
    let is_version = word.text.starts_with(|one: char| one.is_ascii_digit())
        && word
            .text
            .chars()
            .all(|one| one.is_ascii_digit() || matches!(one, '.' | '-'));
    if word.text != "2_compat" && !is_version {
        return Err(word.fault("a version is as 2.0, or 2_compat, and cannot be negated"));
    }
    let mut set = ValueSet::default();
    // RFC 4253 §5.1: 1.99 is a server that speaks 2.0, too.
    let versions = match word.text {
        "2_compat" => ["2.0", "1.99", "2"],
        version => [version; 3],
    };
    for version in versions {
        set.add(version.as_bytes(), 0);
    }
    let set = Arc::new(set);
    let asks = Asks::In;
    builder.push_to(id, Term::In(Lookup { set, asks }));
    Ok(())
}

/// `ssh.softwareversion:TEXT`, with or without quotes: the older form of a content in
/// `ssh.software`.
fn ssh_software(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    let Some((id, _)) = buffer("ssh.software") else {
        return Err(option.name.fault("it has no buffer"));
    };
    let is_plain = |one: char| one.is_ascii_alphanumeric() || " :.-_+".contains(one);
    if word.text.is_empty() || !word.text.chars().all(is_plain) {
        return packet::text(builder, id, word);
    }
    let content = Content {
        pattern: word.text.as_bytes().to_vec(),
        ..Content::default()
    };
    builder.push_to(id, Term::Content(content));
    Ok(())
}

/// FTP's `PORT` with the address of a third host.
fn ftp_bounce(builder: &mut Builder<'_>, name: Word<'_>) -> Result<(), Fault> {
    let of = |name_of_buffer| {
        buffer(name_of_buffer)
            .map(|one| one.0)
            .ok_or_else(|| name.fault("it has no buffer"))
    };
    let port = Content {
        pattern: b"port".to_vec(),
        nocase: true,
        startswith: true,
        endswith: true,
        ..Content::default()
    };
    builder.push_to(of("ftp.command")?, Term::Content(port));
    // The argument has to be there for the condition to read it.
    let some = NumberCheck::within(1, u64::MAX);
    builder.push_to(of("ftp.command_data")?, Term::Size(some));
    builder.rule.conditions.push(Condition::FtpBounce);
    Ok(())
}

/// A column is compared as a number.
fn number(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
    id: BufferId,
    codes: Codes,
) -> Result<(), Fault> {
    let check = numbers::check_named(value(option)?, codes)?;
    builder.push_to(id, Term::Number(check));
    Ok(())
}

/// A column has to have a value that the rule names.
fn one_of(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
    id: BufferId,
    words: &[(&str, &str)],
) -> Result<(), Fault> {
    let word = value(option)?.unquoted();
    let known = words
        .iter()
        .find(|(spelled, _)| spelled.eq_ignore_ascii_case(word.text));
    let Some((_, value)) = known else {
        let spelled: Vec<&str> = words.iter().map(|one| one.0).collect();
        return Err(word.fault(format!("one of {}", spelled.join(", "))));
    };
    let whole = Content {
        pattern: value.as_bytes().to_vec(),
        startswith: true,
        endswith: true,
        ..Content::default()
    };
    builder.push_to(id, Term::Content(whole));
    Ok(())
}

/// Fields of HTTP that have a buffer of their own, for Snort 3's `http_header:field NAME`.
const FIELDS: [(&str, &str); 12] = [
    ("host", "http.host.raw"),
    ("user-agent", "http.user_agent"),
    ("referer", "http.referer"),
    ("cookie", "http.cookie"),
    ("accept", "http.accept"),
    ("accept-encoding", "http.accept_enc"),
    ("accept-language", "http.accept_lang"),
    ("connection", "http.connection"),
    ("content-type", "http.content_type"),
    ("content-length", "http.content_len"),
    ("server", "http.server"),
    ("location", "http.location"),
];

/// The value that an option has to have.
pub(crate) fn value<'a>(option: &RuleOption<'a>) -> Result<Word<'a>, Fault> {
    let why = || format!("\"{}\" needs a value", option.name.text);
    let some = option.value.filter(|value| !value.text.is_empty());
    some.ok_or_else(|| option.name.fault(why()))
}
