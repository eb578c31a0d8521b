//! Names of classes, opcodes and parameters, as registered, and how types are written.

pub(crate) use flowpin_record::{dns_rcode_name as rcode_name, dns_type_name as type_name};

/// Returns the name of a class as in Zeek.
pub(crate) const fn class_name(class: u16) -> Option<&'static str> {
    Some(match class {
        1 => "C_INTERNET",
        2 => "C_CSNET",
        3 => "C_CHAOS",
        4 => "C_HESIOD",
        254 => "C_NONE",
        255 => "C_ANY",
        _ => return None,
    })
}

/// Returns the name of an opcode.
pub(crate) const fn opcode_name(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        0 => "query",
        1 => "iquery",
        2 => "server-status",
        4 => "notify",
        5 => "dynamic-update",
        6 => "dso",
        _ => return None,
    })
}

/// Returns the key of a service parameter (RFC 9460 §14.3.2).
pub(crate) const fn parameter_name(key: u16) -> Option<&'static str> {
    Some(match key {
        0 => "mandatory",
        1 => "alpn",
        2 => "no-default-alpn",
        3 => "port",
        4 => "ipv4hint",
        5 => "ech",
        6 => "ipv6hint",
        7 => "dohpath",
        8 => "ohttp",
        _ => return None,
    })
}

/// Appends the name of a type, or `TYPE` and its number (RFC 3597 §5).
pub(crate) fn put_type(out: &mut Vec<u8>, kind: u16) {
    match type_name(kind) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => {
            out.extend_from_slice(b"TYPE");
            put_number(out, kind.into());
        }
    }
}

/// Appends a number in decimal.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut first = digits.len();
    for (at, digit) in digits.iter_mut().enumerate().rev() {
        let ones = u8::try_from(number % 10).unwrap_or(0);
        *digit = b'0'.saturating_add(ones);
        number /= 10;
        first = at;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(first..).unwrap_or_default());
}
