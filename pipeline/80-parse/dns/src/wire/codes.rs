//! Names of types, classes, opcodes and response codes, as registered.

/// Returns the name of a record or query type (IANA, DNS Parameters), if it is known here.
pub(crate) const fn type_name(kind: u16) -> Option<&'static str> {
    Some(match kind {
        1 => "A",
        2 => "NS",
        3 => "MD",
        4 => "MF",
        5 => "CNAME",
        6 => "SOA",
        7 => "MB",
        8 => "MG",
        9 => "MR",
        10 => "NULL",
        11 => "WKS",
        12 => "PTR",
        13 => "HINFO",
        14 => "MINFO",
        15 => "MX",
        16 => "TXT",
        17 => "RP",
        18 => "AFSDB",
        19 => "X25",
        20 => "ISDN",
        21 => "RT",
        22 => "NSAP",
        23 => "NSAP-PTR",
        24 => "SIG",
        25 => "KEY",
        26 => "PX",
        27 => "GPOS",
        28 => "AAAA",
        29 => "LOC",
        30 => "NXT",
        31 => "EID",
        32 => "NIMLOC",
        33 => "SRV",
        34 => "ATMA",
        35 => "NAPTR",
        36 => "KX",
        37 => "CERT",
        38 => "A6",
        39 => "DNAME",
        40 => "SINK",
        41 => "OPT",
        42 => "APL",
        43 => "DS",
        44 => "SSHFP",
        45 => "IPSECKEY",
        46 => "RRSIG",
        47 => "NSEC",
        48 => "DNSKEY",
        49 => "DHCID",
        50 => "NSEC3",
        51 => "NSEC3PARAM",
        52 => "TLSA",
        53 => "SMIMEA",
        55 => "HIP",
        56 => "NINFO",
        57 => "RKEY",
        58 => "TALINK",
        59 => "CDS",
        60 => "CDNSKEY",
        61 => "OPENPGPKEY",
        62 => "CSYNC",
        63 => "ZONEMD",
        64 => "SVCB",
        65 => "HTTPS",
        66 => "DSYNC",
        99 => "SPF",
        100 => "UINFO",
        101 => "UID",
        102 => "GID",
        103 => "UNSPEC",
        104 => "NID",
        105 => "L32",
        106 => "L64",
        107 => "LP",
        108 => "EUI48",
        109 => "EUI64",
        249 => "TKEY",
        250 => "TSIG",
        251 => "IXFR",
        252 => "AXFR",
        253 => "MAILB",
        254 => "MAILA",
        255 => "*",
        256 => "URI",
        257 => "CAA",
        258 => "AVC",
        259 => "DOA",
        260 => "AMTRELAY",
        261 => "RESINFO",
        32768 => "TA",
        32769 => "DLV",
        65281 => "WINS",
        65282 => "WINS-R",
        _ => return None,
    })
}

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

/// Returns the name of a response code (IANA, DNS RCODEs); the extended ones need EDNS.
pub(crate) const fn rcode_name(rcode: u16) -> Option<&'static str> {
    Some(match rcode {
        0 => "NOERROR",
        1 => "FORMERR",
        2 => "SERVFAIL",
        3 => "NXDOMAIN",
        4 => "NOTIMP",
        5 => "REFUSED",
        6 => "YXDOMAIN",
        7 => "YXRRSET",
        8 => "NXRRSET",
        9 => "NOTAUTH",
        10 => "NOTZONE",
        11 => "DSOTYPENI",
        16 => "BADVERS",
        17 => "BADKEY",
        18 => "BADTIME",
        19 => "BADMODE",
        20 => "BADNAME",
        21 => "BADALG",
        22 => "BADTRUNC",
        23 => "BADCOOKIE",
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
