//! Names of versions, groups and alerts.

/// Returns the name of a version in Suricata and in Zeek.
pub(crate) const fn version(number: u16) -> Option<(&'static str, &'static str)> {
    Some(match number {
        0x0002 => ("SSLv2", "SSLv2"),
        0x0300 => ("SSLv3", "SSLv3"),
        0x0301 => ("TLSv1", "TLSv10"),
        0x0302 => ("TLS 1.1", "TLSv11"),
        0x0303 => ("TLS 1.2", "TLSv12"),
        // 0x7fxx: drafts.
        0x0304 | 0x7f00..=0x7fff => ("TLS 1.3", "TLSv13"),
        0xfeff => ("DTLS 1.0", "DTLSv10"),
        0xfefd => ("DTLS 1.2", "DTLSv12"),
        0xfefc => ("DTLS 1.3", "DTLSv13"),
        _ => return None,
    })
}

/// Returns the name of a group of RFC 8446 §4.2.7 and its registry.
pub(crate) const fn group(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "sect163k1",
        3 => "sect163r2",
        6 => "sect233k1",
        7 => "sect233r1",
        9 => "sect283k1",
        10 => "sect283r1",
        11 => "sect409k1",
        12 => "sect409r1",
        13 => "sect571k1",
        14 => "sect571r1",
        16 => "secp160r1",
        18 => "secp192k1",
        19 => "secp192r1",
        20 => "secp224k1",
        21 => "secp224r1",
        22 => "secp256k1",
        23 => "secp256r1",
        24 => "secp384r1",
        25 => "secp521r1",
        26 => "brainpoolP256r1",
        27 => "brainpoolP384r1",
        28 => "brainpoolP512r1",
        29 => "x25519",
        30 => "x448",
        256 => "ffdhe2048",
        257 => "ffdhe3072",
        258 => "ffdhe4096",
        259 => "ffdhe6144",
        260 => "ffdhe8192",
        512 => "MLKEM512",
        513 => "MLKEM768",
        514 => "MLKEM1024",
        0x11eb => "SecP256r1MLKEM768",
        0x11ec => "X25519MLKEM768",
        0x11ed => "SecP384r1MLKEM1024",
        0x6399 => "X25519Kyber768Draft00",
        0x639a => "SecP256r1Kyber768Draft00",
        _ => return None,
    })
}

/// Returns the name of an alert of RFC 8446 §6 and earlier versions.
pub(crate) const fn alert(number: u8) -> Option<&'static str> {
    Some(match number {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        121 => "ech_required",
        _ => return None,
    })
}
