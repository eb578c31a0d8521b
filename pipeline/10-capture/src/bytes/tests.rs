//! Damage in compressed bytes takes nothing away of what lies before it.

use super::{ByteStream, Raw, Windows};
use crate::magic::Compression;
use proptest::prelude::*;
use std::io::{self, Read, Write};

const ALL: [Compression; 4] = [
    Compression::Gzip,
    Compression::Zstd,
    Compression::Lz4,
    Compression::Xz,
];

/// A compressed file: members of chunks, each flushed.
struct Packed {
    bytes: Vec<u8>,
    plain: Vec<u8>,
    /// Where chunks end: compressed, plain, and whether a member ends there, too.
    ends: Vec<(usize, usize, bool)>,
}

/// An encoder that says how much it has written.
trait Encode: Write {
    fn so_far(&self) -> usize;
    fn done(self: Box<Self>) -> Vec<u8>;
}

macro_rules! encode {
    ($encoder:ty, $so_far:expr) => {
        impl Encode for $encoder {
            fn so_far(&self) -> usize {
                $so_far(self)
            }
            fn done(self: Box<Self>) -> Vec<u8> {
                self.finish().unwrap()
            }
        }
    };
}

encode!(flate2::write::GzEncoder<Vec<u8>>, |it: &Self| it
    .get_ref()
    .len());
encode!(zstd::Encoder<'static, Vec<u8>>, |it: &Self| it
    .get_ref()
    .len());
encode!(lz4_flex::frame::FrameEncoder<Vec<u8>>, |it: &Self| it
    .get_ref()
    .len());
// It keeps what it made in a buffer of its own after a flush.
encode!(liblzma::write::XzEncoder<Vec<u8>>, |it: &Self| {
    usize::try_from(it.total_out()).unwrap()
});

fn encoder(compression: Compression) -> Box<dyn Encode> {
    let to = Vec::new();
    match compression {
        Compression::Gzip => Box::new(flate2::write::GzEncoder::new(
            to,
            flate2::Compression::fast(),
        )),
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(to, 1).unwrap();
            encoder.include_checksum(true).unwrap();
            Box::new(encoder)
        }
        Compression::Lz4 => Box::new(lz4_flex::frame::FrameEncoder::new(to)),
        Compression::Xz | Compression::None => Box::new(liblzma::write::XzEncoder::new(to, 0)),
    }
}

fn pack(compression: Compression, members: &[Vec<Vec<u8>>]) -> Packed {
    let (mut bytes, mut plain, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for chunks in members {
        let mut encoder = encoder(compression);
        for chunk in chunks {
            encoder.write_all(chunk).unwrap();
            encoder.flush().unwrap();
            plain.extend(chunk);
            ends.push((bytes.len() + encoder.so_far(), plain.len(), false));
        }
        bytes.extend(encoder.done());
        ends.push((bytes.len(), plain.len(), true));
    }
    Packed { bytes, plain, ends }
}

impl Packed {
    /// What must come out of a file that is right up to a byte, and whether it may end there.
    fn before(&self, at: usize) -> (&[u8], bool) {
        let whole = self.ends.iter().rev().find(|(end, ..)| *end <= at);
        whole.map_or((&[], false), |&(end, len, is_member)| {
            (&self.plain[..len], is_member && end == at)
        })
    }
}

/// All that comes out, and how it ends.
fn unpack(compression: Compression, bytes: &[u8], piece: usize) -> (Vec<u8>, io::Result<()>) {
    let mut stream = ByteStream::new(
        Raw::memory(bytes.to_vec()),
        compression,
        &Windows::new(256 << 20),
    )
    .unwrap();
    let mut out = Vec::new();
    let mut room = vec![0; piece];
    loop {
        match stream.read(&mut room) {
            Ok(0) => return (out, Ok(())),
            Ok(count) => out.extend(&room[..count]),
            Err(error) => return (out, Err(error)),
        }
        // What is damaged may be decoded to anything, but not without end.
        assert!(out.len() < 64 << 20);
    }
}

/// Text that repeats in part, as packets do.
fn chunk() -> impl Strategy<Value = Vec<u8>> {
    let random = prop::collection::vec(any::<u8>(), 1..3000);
    (random, 1_usize..80).prop_map(|(random, times)| {
        let mut chunk = random.repeat(times);
        chunk.extend(&random[..random.len() / 2]);
        chunk
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_lies_before_damage_comes_out(
        members in prop::collection::vec(prop::collection::vec(chunk(), 1..4), 1..4),
        place in any::<prop::sample::Index>(),
        bit in 0..8_u32,
        junk in prop::collection::vec(any::<u8>(), 1..40),
        piece in prop::sample::select(vec![7, 4096, 65_536, 1 << 20]),
    ) {
        for compression in ALL {
            let packed = pack(compression, &members);
            let (out, end) = unpack(compression, &packed.bytes, piece);
            prop_assert!(end.is_ok(), "{}: {end:?}", compression.name());
            prop_assert_eq!(&out, &packed.plain);

            let at = place.index(packed.bytes.len());
            let (right, may_end) = packed.before(at);
            let (out, end) = unpack(compression, &packed.bytes[..at], piece);
            prop_assert!(out.starts_with(right), "{}: cut at {at}", compression.name());
            prop_assert!(packed.plain.starts_with(&out));
            prop_assert!(end.is_err() || may_end || at == 0, "{}: cut {at}", compression.name());

            let mut flipped = packed.bytes.clone();
            flipped[at] ^= 1 << bit;
            let (out, _) = unpack(compression, &flipped, piece);
            prop_assert!(out.starts_with(right), "{}: flipped at {at}", compression.name());

            let mut followed = packed.bytes.clone();
            followed.extend(&junk);
            followed.push(1);
            let (out, end) = unpack(compression, &followed, piece);
            prop_assert_eq!(&out, &packed.plain, "{}: junk", compression.name());
            prop_assert!(end.is_err(), "{}: junk", compression.name());
        }
    }
}

/// gzip's own tool passes over the zeros that tapes and block devices add; xz has such padding in
/// its format.
#[test]
fn zeros_behind_the_last_member_are_none() {
    for compression in [Compression::Gzip, Compression::Xz] {
        let mut packed = pack(compression, &[vec![b"one".to_vec()], vec![b"two".to_vec()]]);
        packed.bytes.resize(packed.bytes.len() + 512, 0);
        let (out, end) = unpack(compression, &packed.bytes, 64);
        assert_eq!(out, b"onetwo");
        assert!(end.is_ok(), "{}: {end:?}", compression.name());
    }
}

/// What a decoder still has to give when its room is full comes out before the damage behind it is
/// found, however small the room; and a magic number alone is no file.
#[test]
fn small_rooms_lose_nothing_before_damage() {
    let chunks = vec![vec![b"first".repeat(400), b"second".repeat(300)]];
    for compression in ALL {
        let packed = pack(compression, &chunks);
        let &(at, len, _) = packed.ends.first().unwrap();
        for bit in 0..8 {
            for piece in [1, 3, 7, 64, 1000] {
                let mut flipped = packed.bytes.clone();
                flipped[at] ^= 1 << bit;
                let (out, _) = unpack(compression, &flipped, piece);
                let is_whole = out.starts_with(&packed.plain[..len]);
                assert!(is_whole, "{}: bit {bit}, room {piece}", compression.name());
            }
        }
        for at in 1..8.min(packed.bytes.len()) {
            let (out, end) = unpack(compression, &packed.bytes[..at], 64);
            assert!(
                out.is_empty() && end.is_err(),
                "{}: {at}",
                compression.name()
            );
        }
    }
}
