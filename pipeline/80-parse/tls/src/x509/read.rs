//! The fields of a certificate (RFC 5280 §4.1).

use crate::certificate::{BOOLEAN, EXTENSIONS, INTEGER, OBJECT, OCTETS, SEQUENCE, VERSION};
use crate::certificate::{element, time};
use core::net::IpAddr;
use flowpin_wire::Cursor;

/// What a record shows, as encoded.
#[derive(Clone, Copy, Default)]
pub(super) struct Fields<'a> {
    /// From 1.
    pub(super) version: u64,
    pub(super) serial: &'a [u8],
    /// The object that names the signature's algorithm.
    pub(super) signature: &'a [u8],
    pub(super) issuer: &'a [u8],
    pub(super) not_before: &'a [u8],
    pub(super) not_after: &'a [u8],
    pub(super) subject: &'a [u8],
    pub(super) key_algorithm: &'a [u8],
    pub(super) key_parameters: &'a [u8],
    pub(super) key: &'a [u8],
    /// The list of the subject's other names.
    pub(super) alternatives: &'a [u8],
    pub(super) basic: Option<Basic>,
}

/// The extension `basicConstraints` (§4.2.1.9).
#[derive(Clone, Copy)]
pub(super) struct Basic {
    pub(super) is_authority: bool,
    pub(super) path_len: Option<u64>,
}

impl<'a> Fields<'a> {
    pub(super) fn read(certificate: &'a [u8]) -> Option<Self> {
        let mut outer = Cursor::over(element(&mut Cursor::over(certificate), SEQUENCE)?);
        let mut fields = Cursor::over(element(&mut outer, SEQUENCE)?);
        let mut first = fields;
        let mut version = 0;
        if let Some(explicit) = element(&mut first, VERSION) {
            version = number(element(&mut Cursor::over(explicit), INTEGER)?)?;
            fields = first;
        }
        let serial = element(&mut fields, INTEGER)?;
        let mut signature = Cursor::over(element(&mut fields, SEQUENCE)?);
        let issuer = element(&mut fields, SEQUENCE)?;
        let mut validity = Cursor::over(element(&mut fields, SEQUENCE)?);
        let subject = element(&mut fields, SEQUENCE)?;
        let mut key = Cursor::over(element(&mut fields, SEQUENCE)?);
        let mut algorithm = Cursor::over(element(&mut key, SEQUENCE)?);
        let key_algorithm = element(&mut algorithm, OBJECT)?;
        let parameters = algorithm.ber();
        let parameters = parameters.and_then(|(_, len)| algorithm.take(len));
        let mut read = Self {
            version: version.saturating_add(1),
            serial,
            signature: element(&mut signature, OBJECT)?,
            issuer,
            not_before: time(&mut validity)?,
            not_after: time(&mut validity)?,
            subject,
            key_algorithm,
            key_parameters: parameters.unwrap_or_default(),
            // The first byte counts unused bits.
            key: element(&mut key, BIT_STRING)?.get(1..)?,
            ..Self::default()
        };
        read.extensions(fields);
        Some(read)
    }

    /// Those after the key; what cannot be read ends them.
    fn extensions(&mut self, mut fields: Cursor<'a>) -> Option<()> {
        let mut extensions = loop {
            let (tag, len) = fields.ber()?;
            let value = fields.take(len)?;
            if tag == EXTENSIONS {
                break Cursor::over(element(&mut Cursor::over(value), SEQUENCE)?);
            }
        };
        loop {
            let mut extension = Cursor::over(element(&mut extensions, SEQUENCE)?);
            let object = element(&mut extension, OBJECT)?;
            let (tag, len) = extension.ber()?;
            let mut value = extension.take(len)?;
            if tag == BOOLEAN {
                value = element(&mut extension, OCTETS)?;
            }
            match *object {
                [0x55, 0x1d, 0x11] => {
                    let names = element(&mut Cursor::over(value), SEQUENCE);
                    self.alternatives = names.unwrap_or_default();
                }
                [0x55, 0x1d, 0x13] => self.basic = basic(value),
                _ => {}
            }
        }
    }

    /// The subject's names for hosts in its own name (`CN`).
    pub(super) fn common_names(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut sets = Cursor::over(self.subject);
        core::iter::from_fn(move || element(&mut sets, crate::certificate::SET))
            .filter_map(|set| element(&mut Cursor::over(set), SEQUENCE))
            .filter_map(|pair| {
                let mut pair = Cursor::over(pair);
                let object = element(&mut pair, OBJECT)?;
                let (_, len) = pair.ber()?;
                pair.take(len).filter(|_| *object == [0x55, 4, 3])
            })
    }
}

fn basic(value: &[u8]) -> Option<Basic> {
    let mut fields = Cursor::over(element(&mut Cursor::over(value), SEQUENCE)?);
    let mut first = fields;
    let authority = element(&mut first, BOOLEAN);
    if authority.is_some() {
        fields = first;
    }
    Some(Basic {
        is_authority: authority.is_some_and(|value| value != [0]),
        path_len: element(&mut fields, INTEGER).and_then(number),
    })
}

/// A short number that is not negative.
pub(super) fn number(bytes: &[u8]) -> Option<u64> {
    let bytes = match bytes {
        [0, rest @ ..] => rest,
        whole => whole,
    };
    let fits = bytes.len() <= 8;
    let fold = |number: u64, &byte: &u8| (number << 8) | u64::from(byte);
    fits.then(|| bytes.iter().fold(0, fold))
}

/// One of a subject's other names (§4.2.1.6).
pub(super) enum AlternativeName<'a> {
    Mail(&'a [u8]),
    Host(&'a [u8]),
    Uri(&'a [u8]),
    Address(IpAddr),
}

/// The names of a list that have a form that is known here.
pub(super) fn names_of(list: &[u8]) -> impl Iterator<Item = AlternativeName<'_>> {
    let mut names = Cursor::over(list);
    let all = core::iter::from_fn(move || {
        let (tag, len) = names.ber()?;
        Some((tag, names.take(len)?))
    });
    all.filter_map(|(tag, name)| match tag {
        0x81 => Some(AlternativeName::Mail(name)),
        0x82 => Some(AlternativeName::Host(name)),
        0x86 => Some(AlternativeName::Uri(name)),
        0x87 => address(name).map(AlternativeName::Address),
        _ => None,
    })
}

/// An address of four or sixteen bytes.
fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        return Some(bytes.into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

const BIT_STRING: u8 = 0x03;
