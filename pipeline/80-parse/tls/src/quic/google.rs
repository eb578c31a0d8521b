//! Google's QUIC before TLS (Q044 to Q049): its hellos stand in clear in packets with long headers
//! ("QUIC Crypto", Google's specification of 2016).

use crate::short::Short;
use flowpin_wire::Cursor;

/// A packet with a long header.
#[derive(Clone, Copy, Debug)]
pub(super) struct GooglePacket<'a> {
    pub(super) version: u32,
    /// The identifier of the receiver, and that of the sender.
    pub(super) to: &'a [u8],
    pub(super) from: &'a [u8],
    /// The client's hello, if it begins the packet.
    pub(super) hello: Option<Hello<'a>>,
}

impl<'a> GooglePacket<'a> {
    /// None if it is no such packet.
    pub(super) fn parse(payload: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::over(payload);
        let first = cursor.u8()?;
        let version = cursor.be32()?;
        if first & 0xc0 != 0xc0 || !VERSIONS.contains(&version) {
            return None;
        }
        let lens = cursor.u8()?;
        let len = |half: u8| match half {
            0 => 0,
            half => usize::from(half).saturating_add(3),
        };
        let to = cursor.take(len(lens >> 4))?;
        let from = cursor.take(len(lens & 15))?;
        // The packet's number, and a hash over what follows.
        let number_len = usize::from(first & 3).saturating_add(1);
        cursor.take(number_len.saturating_add(HASH_LEN))?;
        let frames = cursor.take(cursor.left())?;
        Some(Self {
            version,
            to,
            from,
            hello: stream(frames).and_then(Hello::parse),
        })
    }
}

/// The bytes of the first frame, if it is one of a stream; padding before it is skipped.
fn stream(frames: &[u8]) -> Option<&[u8]> {
    let begin = frames.iter().position(|&byte| byte != 0)?;
    let mut cursor = Cursor::over(frames.get(begin..)?);
    // 1fdooossB: whether its length is told, how long its offset and its number are.
    let kind = cursor.u8()?;
    if kind & 0x80 == 0 {
        return None;
    }
    let offset_len = match kind >> 2 & 7 {
        0 => 0,
        len => usize::from(len).saturating_add(1),
    };
    let number_len = usize::from(kind & 3).saturating_add(1);
    cursor.take(number_len.saturating_add(offset_len))?;
    if kind & 0x20 == 0 {
        return cursor.take(cursor.left());
    }
    let len = cursor.be16()?;
    cursor.take(len.into())
}

/// A client's hello: tags, and their values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hello<'a> {
    entries: &'a [u8],
    values: &'a [u8],
}

impl<'a> Hello<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        let rest = message.strip_prefix(b"CHLO")?;
        let (&[low, high, _, _], rest) = rest.split_first_chunk()?;
        let count = usize::from(u16::from_le_bytes([low, high]));
        if count > TAGS_MAX {
            return None;
        }
        let (entries, values) = rest.split_at_checked(count.saturating_mul(ENTRY_LEN))?;
        Some(Self { entries, values })
    }

    /// Its tags in order, with their values: of a value that goes on in another packet, its
    /// beginning.
    fn tags(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut begin = 0usize;
        self.entries.chunks_exact(ENTRY_LEN).map(move |entry| {
            let (tag, end) = entry.split_at_checked(4).unwrap_or_default();
            let end = end.first_chunk().map_or(0, |end| u32::from_le_bytes(*end));
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            let from = begin;
            begin = begin.max(end);
            let end = end.min(self.values.len());
            let value = self.values.get(from..end).unwrap_or_default();
            let len = tag.iter().rposition(|&byte| byte != 0);
            let len = len.map_or(0, |last| last.saturating_add(1));
            (tag.get(..len).unwrap_or_default(), value)
        })
    }

    /// The value of a tag.
    pub(super) fn value(self, wanted: &[u8]) -> &'a [u8] {
        let mut tags = self.tags();
        tags.find(|(tag, _)| *tag == wanted)
            .map_or(&[], |(_, value)| value)
    }

    /// Its fingerprint (CYU): the digits of the version, and the tags.
    pub(super) fn fingerprint(self, version: u32) -> Short<FINGERPRINT_LEN> {
        let mut out = Short::default();
        let [_, _, tens, ones] = version.to_be_bytes();
        out.push(&[tens, ones]);
        for (nth, (tag, _)) in self.tags().enumerate() {
            out.push(if nth == 0 { b"," } else { b"-" });
            out.push(tag);
        }
        out
    }
}

/// `Q044` to `Q049`: those before have other headers, those behind encrypt their hellos.
const VERSIONS: core::ops::RangeInclusive<u32> = 0x5130_3434..=0x5130_3439;
const HASH_LEN: usize = 12;
/// A tag, and where its value ends.
const ENTRY_LEN: usize = 8;
/// A hello has some 25.
const TAGS_MAX: usize = 48;
/// Two digits, and a tag with a separator each.
const FINGERPRINT_LEN: usize = 2 + 5 * TAGS_MAX;

#[cfg(test)]
mod tests {
    use super::GooglePacket;
    use proptest::prelude::*;

    fn packet() -> Vec<u8> {
        let mut bytes = b"\xc3Q046\x50abcdefgh\0\0\0\x01............\xa0\x01".to_vec();
        let mut hello = b"CHLO\x03\0\0\0SNI\0\x07\0\0\0VER\0\x0b\0\0\0UAID\x0d\0\0\0".to_vec();
        hello.extend(b"a.test.Q046me");
        bytes.extend((hello.len() as u16).to_be_bytes());
        bytes.extend(hello);
        bytes
    }

    /// The tags of a hello are its fingerprint, and values are found by their tags.
    #[test]
    fn hellos_are_read_in_clear() {
        let bytes = packet();
        let packet = GooglePacket::parse(&bytes).unwrap();
        let hello = packet.hello.unwrap();
        assert_eq!((packet.to, packet.from), (&b"abcdefgh"[..], &b""[..]));
        assert_eq!(hello.value(b"SNI"), b"a.test.");
        assert_eq!(hello.value(b"UAID"), b"me");
        let print = hello.fingerprint(packet.version);
        assert_eq!(print.get(), b"46,SNI-VER-UAID");
    }

    proptest! {
        /// Any damage is read to its end.
        #[test]
        fn damaged_packets_are_read_without_a_panic(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
            len in any::<prop::sample::Index>(),
        ) {
            let mut bytes = packet();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(len.index(bytes.len()) + 1);
            if let Some(hello) = GooglePacket::parse(&bytes).and_then(|packet| packet.hello) {
                let _ = (hello.value(b"SNI"), hello.fingerprint(0).get().len());
            }
        }
    }
}
