//! What records show of a public key (RFC 3279 §2.3, RFC 5480, RFC 8410).

use super::oid;
use super::read::number;
use crate::certificate::{INTEGER, SEQUENCE, element};
use crate::short::Short;
use core::fmt::Write as _;
use flowpin_wire::Cursor;

#[derive(Clone, Copy, Default)]
pub(super) struct Key {
    pub(super) kind: Option<&'static str>,
    pub(super) bits: Option<u64>,
    exponent: Option<u64>,
    pub(super) curve: Option<&'static str>,
}

impl Key {
    pub(super) fn of(algorithm: &[u8], parameters: &[u8], key: &[u8]) -> Self {
        match *algorithm {
            [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1 | 10] => Self::rsa(key),
            [0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1] => {
                let curve = oid::curve(parameters);
                Self {
                    kind: Some("ecdsa"),
                    bits: curve.map(|(_, bits)| bits),
                    curve: curve.map(|(name, _)| name),
                    ..Self::default()
                }
            }
            // The parameters begin with the prime.
            [0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1] => Self {
                kind: Some("dsa"),
                bits: element(&mut Cursor::over(parameters), INTEGER).map(bits),
                ..Self::default()
            },
            [0x2b, 0x65, 112] => Self::other("ED25519", 253),
            [0x2b, 0x65, 113] => Self::other("ED448", 456),
            [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, last @ 17..=19] => {
                let name = match last {
                    17 => "ML-DSA-44",
                    18 => "ML-DSA-65",
                    _ => "ML-DSA-87",
                };
                Self::other(name, (key.len() as u64).saturating_mul(8))
            }
            _ => Self::default(),
        }
    }

    fn other(kind: &'static str, bits: u64) -> Self {
        Self {
            kind: Some(kind),
            bits: Some(bits),
            ..Self::default()
        }
    }

    fn rsa(key: &[u8]) -> Self {
        let numbers = element(&mut Cursor::over(key), SEQUENCE);
        let mut numbers = Cursor::over(numbers.unwrap_or_default());
        let modulus = element(&mut numbers, INTEGER);
        let exponent = element(&mut numbers, INTEGER);
        let (Some(modulus), Some(exponent)) = (modulus, exponent) else {
            return Self::default();
        };
        Self {
            kind: Some("rsa"),
            bits: Some(bits(modulus)),
            exponent: number(exponent),
            curve: None,
        }
    }

    pub(super) fn exponent(&self) -> Short<20> {
        let mut text = Short::default();
        if let Some(exponent) = self.exponent {
            let _ = write!(text, "{exponent}");
        }
        text
    }
}

/// How many bits a number has, without leading zeros.
fn bits(number: &[u8]) -> u64 {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    let rest = number.get(zeros..).unwrap_or_default();
    let first = rest.first().map_or(0, |first| first.leading_zeros());
    (rest.len() as u64)
        .saturating_mul(8)
        .saturating_sub(u64::from(first))
}
