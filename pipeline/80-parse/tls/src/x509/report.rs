//! A certificate's record.

use super::chain::{Fingerprint, Told, in_hex};
use super::key::Key;
use super::oid;
use super::read::{AlternativeName, Fields, names_of};
use super::schema::X509;
use super::texts::{serial, time};
use crate::distinguished::for_zeek;
use crate::facts::list;
use flowpin_record::Value;

/// Where a certificate stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The first of its chain: that of the host itself.
    pub(super) is_host: bool,
    /// The client sent it.
    pub(super) by_client: bool,
}

/// Reports a certificate. What cannot be read as one has no record.
pub(super) fn report(
    certificate: &[u8],
    fingerprint: &Fingerprint,
    place: Place,
    told: &mut Told<'_>,
) {
    let Some(fields) = Fields::read(certificate) else {
        return;
    };
    let [subject, issuer] = [fields.subject, fields.issuer].map(for_zeek);
    let (print, serial) = (in_hex(fingerprint), serial(fields.serial));
    let [key_algorithm, signature_algorithm] =
        [fields.key_algorithm, fields.signature].map(oid::long_name);
    let key = Key::of(fields.key_algorithm, fields.key_parameters, fields.key);
    let exponent = key.exponent();
    let names = Names::of(fields.alternatives);
    if names.is_cut || subject.is_full() || issuer.is_full() || serial.is_full() {
        told.leave_out();
    }
    let word = |word: Option<&'static str>| word.map_or(Value::Unset, Value::Text);
    let [hosts, uris, mail, addresses] = names.lists();
    let values = [
        Value::Bytes(print.get()),
        Value::Count(fields.version),
        Value::Bytes(serial.get()),
        Value::bytes(subject.get()),
        Value::bytes(issuer.get()),
        time(fields.not_before),
        time(fields.not_after),
        Value::bytes(key_algorithm.get()),
        Value::bytes(signature_algorithm.get()),
        word(key.kind),
        Value::count(key.bits),
        Value::bytes(exponent.get()),
        word(key.curve),
        hosts,
        uris,
        mail,
        addresses,
        fields
            .basic
            .map_or(Value::Unset, |basic| Value::Bool(basic.is_authority)),
        Value::count(fields.basic.and_then(|basic| basic.path_len)),
        Value::Bool(place.is_host),
        Value::Bool(place.by_client),
    ];
    told.sink.message(&X509, told.at, &values);
}

/// A subject's other names, by their kinds: those of one behind those of the one before.
struct Names<'a> {
    values: [Value<'a>; NAMES_MAX],
    /// Where those of each kind end.
    ends: [usize; KINDS],
    /// Whether there are more.
    is_cut: bool,
}

impl<'a> Names<'a> {
    fn of(encoded: &'a [u8]) -> Self {
        let mut names = Self {
            values: [Value::Unset; NAMES_MAX],
            ends: [0; KINDS],
            is_cut: false,
        };
        let mut count = 0usize;
        for (kind, end) in names.ends.iter_mut().enumerate() {
            for name in names_of(encoded) {
                let (its_kind, value) = match name {
                    AlternativeName::Host(name) => (0, Value::Bytes(name)),
                    AlternativeName::Uri(name) => (1, Value::Bytes(name)),
                    AlternativeName::Mail(name) => (2, Value::Bytes(name)),
                    AlternativeName::Address(ip) => (3, Value::Address(ip)),
                };
                if its_kind != kind {
                    continue;
                }
                if let Some(free) = names.values.get_mut(count) {
                    *free = value;
                    count = count.saturating_add(1);
                } else {
                    names.is_cut = true;
                }
            }
            *end = count;
        }
        names
    }

    fn lists(&self) -> [Value<'_>; KINDS] {
        let mut begin = 0;
        self.ends.map(|end| {
            let values = self.values.get(begin..end);
            begin = end;
            list(values.unwrap_or_default())
        })
    }
}

/// Hosts, URIs, mail addresses, addresses.
const KINDS: usize = 4;

/// The most names of a certificate that a record has.
const NAMES_MAX: usize = 512;
