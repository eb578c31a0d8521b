//! Algorithms and curves by the names that OpenSSL gives them.

use crate::distinguished::put_dotted;
use crate::short::Short;

/// An algorithm's name; of an unknown one its numbers.
pub(super) fn long_name(object: &[u8]) -> Short<64> {
    if let Some(name) = algorithm(object) {
        return Short::of(name.as_bytes());
    }
    let mut text = Short::default();
    put_dotted(object, &mut text);
    text
}

#[rustfmt::skip]
fn algorithm(object: &[u8]) -> Option<&'static str> {
    Some(match *object {
        // RFC 8017: 1.2.840.113549.1.1.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, last] => match last {
            1 => "rsaEncryption",
            2 => "md2WithRSAEncryption",
            3 => "md4WithRSAEncryption",
            4 => "md5WithRSAEncryption",
            5 => "sha1WithRSAEncryption",
            7 => "rsaesOaep",
            10 => "rsassaPss",
            11 => "sha256WithRSAEncryption",
            12 => "sha384WithRSAEncryption",
            13 => "sha512WithRSAEncryption",
            14 => "sha224WithRSAEncryption",
            _ => return None,
        },
        [0x2b, 0x0e, 3, 2, 29] => "sha1WithRSA",
        // RFC 5758, RFC 3279: 1.2.840.10045.
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1] => "id-ecPublicKey",
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1] => "ecdsa-with-SHA1",
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, last] => match last {
            1 => "ecdsa-with-SHA224",
            2 => "ecdsa-with-SHA256",
            3 => "ecdsa-with-SHA384",
            4 => "ecdsa-with-SHA512",
            _ => return None,
        },
        [0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1] => "dsaEncryption",
        [0x2a, 0x86, 0x48, 0xce, 0x38, 4, 3] => "dsaWithSHA1",
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, last] => match last {
            1 => "dsa_with_SHA224",
            2 => "dsa_with_SHA256",
            17 => "ML-DSA-44",
            18 => "ML-DSA-65",
            19 => "ML-DSA-87",
            _ => return None,
        },
        // RFC 8410.
        [0x2b, 0x65, 110] => "X25519",
        [0x2b, 0x65, 111] => "X448",
        [0x2b, 0x65, 112] => "ED25519",
        [0x2b, 0x65, 113] => "ED448",
        _ => return None,
    })
}

/// A curve's name, and how many bits its field has.
pub(super) const fn curve(object: &[u8]) -> Option<(&'static str, u64)> {
    Some(match *object {
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 1] => ("prime192v1", 192),
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7] => ("prime256v1", 256),
        [0x2b, 0x81, 4, 0, 10] => ("secp256k1", 256),
        [0x2b, 0x81, 4, 0, 33] => ("secp224r1", 224),
        [0x2b, 0x81, 4, 0, 34] => ("secp384r1", 384),
        [0x2b, 0x81, 4, 0, 35] => ("secp521r1", 521),
        [0x2b, 0x24, 3, 3, 2, 8, 1, 1, 7] => ("brainpoolP256r1", 256),
        [0x2b, 0x24, 3, 3, 2, 8, 1, 1, 11] => ("brainpoolP384r1", 384),
        [0x2b, 0x24, 3, 3, 2, 8, 1, 1, 13] => ("brainpoolP512r1", 512),
        _ => return None,
    })
}
