//! LOC (RFC 1876): a position on Earth.

use crate::wire::cursor::{Cursor, Short};
use std::io::Write;

/// `51 30 12.748 N 0 7 39.611 W 0.00m 0.00m 0.00m 0.00m` (RFC 1876 §3).
pub(super) fn put(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), Short> {
    if cursor.u8()? != 0 {
        // RFC 1876 §2: other versions have another layout.
        return Err(Short);
    }
    let sizes = [cursor.u8()?, cursor.u8()?, cursor.u8()?];
    put_angle(out, cursor.u32()?, [b'S', b'N']);
    put_angle(out, cursor.u32()?, [b'W', b'E']);
    // Centimetres above a base 100 km below the reference spheroid.
    let altitude = i64::from(cursor.u32()?).saturating_sub(10_000_000);
    let sign = if altitude < 0 { "-" } else { "" };
    let (metres, rest) = (altitude.unsigned_abs() / 100, altitude.unsigned_abs() % 100);
    let _ = write!(out, "{sign}{metres}.{rest:02}m");
    for size in sizes {
        let centimetres =
            u64::from(size >> 4).saturating_mul(10u64.saturating_pow(u32::from(size & 15)));
        let _ = write!(out, " {}.{:02}m", centimetres / 100, centimetres % 100);
    }
    Ok(())
}

/// Thousandths of a second of arc; 2^31 is the equator or the prime meridian.
fn put_angle(out: &mut Vec<u8>, angle: u32, [negative, positive]: [u8; 2]) {
    let from_zero = i64::from(angle).saturating_sub(1 << 31);
    let side = if from_zero < 0 { negative } else { positive };
    let all = from_zero.unsigned_abs();
    let (degrees, minutes) = (all / 3_600_000, all / 60_000 % 60);
    let (seconds, thousandths) = (all / 1000 % 60, all % 1000);
    let side = char::from(side);
    let _ = write!(
        out,
        "{degrees} {minutes} {seconds}.{thousandths:03} {side} "
    );
}
