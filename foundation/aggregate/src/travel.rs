//! News as bytes, for a decider in another process. Numbers are little-endian.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_packet::Timestamp;
use flowpin_record::{RecordKey, ToolNames, lasting};

/// News that a decider in another process takes.
pub trait Travel: Sized {
    /// When the earliest happens of what they tell; none if they tell nothing.
    fn earliest(&self) -> Option<Timestamp>;

    /// Leaves out what happens before `from`, or from `until` on.
    fn keep_between(&mut self, from: Timestamp, until: Timestamp);

    /// As they travel.
    fn to_bytes(&self) -> Vec<u8>;

    /// What [`Travel::to_bytes`] has made; none of other bytes.
    fn of_bytes(bytes: &[u8]) -> Option<Self>;
}

/// Puts a number.
pub fn put(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// Takes a number.
pub fn take(from: &mut &[u8]) -> Option<u64> {
    take_some(from).map(u64::from_le_bytes)
}

/// Takes a number that fits into fewer bits.
pub fn take_small<T: TryFrom<u64>>(from: &mut &[u8]) -> Option<T> {
    T::try_from(take(from)?).ok()
}

/// Takes so many bytes.
pub fn take_some<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (some, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*some)
}

/// Puts some bytes, and before them how many.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes what [`put_bytes`] has put.
pub fn take_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_small(from)?;
    let (bytes, rest) = from.split_at_checked(len)?;
    *from = rest;
    Some(bytes)
}

/// Puts an address.
pub fn put_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => put_bytes(out, &address.octets()),
        IpAddr::V6(address) => put_bytes(out, &address.octets()),
    }
}

/// Takes what [`put_address`] has put.
pub fn take_address(from: &mut &[u8]) -> Option<IpAddr> {
    let bytes = take_bytes(from)?;
    let v4 = <[u8; 4]>::try_from(bytes).map(|octets| Ipv4Addr::from(octets).into());
    let v6 = || <[u8; 16]>::try_from(bytes).map(|octets| Ipv6Addr::from(octets).into());
    v4.or_else(|_| v6()).ok()
}

/// Takes the name of a protocol, which [`put_bytes`] has put.
pub fn take_name(from: &mut &[u8]) -> Option<&'static str> {
    let text = core::str::from_utf8(take_bytes(from)?).ok()?;
    let known = ToolNames::known(text).map(ToolNames::own);
    known.or_else(|| (text.len() <= NAME_LEN_MAX).then(|| lasting(text)))
}

/// Names that users give to protocols are shorter.
const NAME_LEN_MAX: usize = 256;

/// Puts a key.
pub fn put_key(out: &mut Vec<u8>, key: RecordKey) {
    for word in [key.time.0, key.number, key.ordinal.into()] {
        put(out, word);
    }
}

/// Takes what [`put_key`] has put.
pub fn take_key(from: &mut &[u8]) -> Option<RecordKey> {
    Some(RecordKey {
        time: Timestamp(take(from)?),
        number: take(from)?,
        ordinal: take_small(from)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{put_address, put_bytes, put_key, take_address, take_bytes, take_key};
    use flowpin_packet::Timestamp;
    use flowpin_record::RecordKey;

    /// What is put is taken; what is cut off is not.
    #[test]
    fn values_travel() {
        let key = RecordKey {
            time: Timestamp(7),
            number: u64::MAX,
            ordinal: 9,
        };
        let addresses = ["10.0.0.1", "2001:db8::1"].map(|text| text.parse().unwrap());
        let mut out = Vec::new();
        put_key(&mut out, key);
        for address in addresses {
            put_address(&mut out, address);
        }
        put_bytes(&mut out, b"end");
        let from = &mut out.as_slice();
        assert_eq!(take_key(from), Some(key));
        assert_eq!(addresses.map(|_| take_address(from)), addresses.map(Some));
        assert_eq!(take_bytes(from), Some(&b"end"[..]));
        assert!(from.is_empty());
        let cut = &mut &out[..out.len() - 1];
        assert!(take_key(cut).is_some() && take_address(cut).is_some());
        assert!(take_address(cut).is_some() && take_bytes(cut).is_none());
        // Nobody is made to reserve memory, or to read beyond the end.
        assert_eq!(take_bytes(&mut &u64::MAX.to_le_bytes()[..]), None);
    }
}
