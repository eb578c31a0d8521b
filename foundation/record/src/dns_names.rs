//! Names of DNS's types and response codes, as registered: records have them, and rules ask by
//! them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Returns the name of a record or query type (IANA, DNS Parameters), if it is known here.
pub const fn dns_type_name(kind: u16) -> Option<&'static str> {
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

/// Returns the name of a response code (IANA, DNS RCODEs); the extended ones need EDNS.
pub const fn dns_rcode_name(rcode: u16) -> Option<&'static str> {
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

/// The number of a type: of a registered name, or of `TYPE` and the number (RFC 3597 §5).
///
/// ```
/// assert_eq!(flowpin_record::dns_type("AAAA"), Some(28));
/// assert_eq!(flowpin_record::dns_type("TYPE65280"), Some(65280));
/// assert_eq!(flowpin_record::dns_type("AAAAA"), None);
/// ```
pub fn dns_type(name: &str) -> Option<u16> {
    static BY_NAME: Names = Names::new(|| by_name(dns_type_name));
    let known = BY_NAME.get(name).copied();
    known.or_else(|| name.strip_prefix("TYPE")?.parse().ok())
}

/// The number of a response code, by its registered name.
///
/// ```
/// assert_eq!(flowpin_record::dns_rcode("NXDOMAIN"), Some(3));
/// assert_eq!(flowpin_record::dns_rcode("nxdomain"), None);
/// ```
pub fn dns_rcode(name: &str) -> Option<u16> {
    static BY_NAME: Names = Names::new(|| by_name(dns_rcode_name));
    BY_NAME.get(name).copied()
}

type Names = LazyLock<HashMap<&'static str, u16>>;

fn by_name(name: fn(u16) -> Option<&'static str>) -> HashMap<&'static str, u16> {
    let named = (0..=u16::MAX).filter_map(|number| Some((name(number)?, number)));
    named.collect()
}
