//! Entry point for fuzzing.

use crate::quality::LINKS;
use crate::{DispatchOptions, Dispatched, Dispatcher, decode, tunnels, verify, vlans};
use flowpin_packet::{
    Datagram, Frame, FrameBytes, InterfaceId, PacketMeta, PeelContext, Timestamp,
};

/// Dispatches one frame: `data` starts with link type and how many bytes the capture cut.
///
/// Checks the guarantees for later stages: offsets in order, the key independent of the cut.
pub fn fuzz_dispatch(data: &[u8]) {
    let Some((&[link, cut], bytes)) = data.split_first_chunk() else {
        return;
    };
    let link = LINKS
        .get(usize::from(link) % LINKS.len())
        .copied()
        .unwrap_or_default();
    let captured_len = bytes.len() as u32;
    let wire_len = captured_len + u32::from(cut);
    let frame = Frame {
        start: 0,
        captured_len,
        wire_len,
        link,
        interface: InterfaceId::NONE,
        time: Timestamp(1),
    };
    let mut found = [PacketMeta::default(); 2];
    for (meta, now) in found.iter_mut().zip([true, false]) {
        let options = DispatchOptions {
            decode: now,
            checksums: now,
            ..DispatchOptions::default()
        };
        let mut dispatcher = Dispatcher::new(options);
        let dispatched = dispatcher.dispatch(bytes, &frame, 1, Timestamp(2), meta);
        match dispatched {
            Dispatched::Packet => look(bytes, meta),
            Dispatched::Fragment(fragment) => {
                dispatcher.dispatch_lone(bytes, &fragment, meta);
                look(bytes, meta);
            }
            _ => *meta = PacketMeta::default(),
        }
        *meta = later(*meta, bytes, now);
    }
    let [now, then] = found.map(|meta| format!("{meta:?}"));
    assert_eq!(now, then, "the cut made a difference");
    as_datagram(bytes, u32::from(cut));
}

/// The same bytes as a datagram in extra bytes.
fn as_datagram(bytes: &[u8], cut: u32) {
    let captured_len = bytes.len() as u32;
    let len = captured_len + cut;
    let context = PeelContext {
        layers: 3,
        ..PeelContext::default()
    };
    let datagram = Datagram {
        captured_len,
        len,
        context,
        ..Datagram::default()
    };
    let mut meta = PacketMeta::default();
    let mut dispatcher = Dispatcher::new(DispatchOptions::default());
    if dispatcher.dispatch_datagram(bytes, &datagram, &mut meta) == Dispatched::Packet {
        look(bytes, &meta);
    }
}

fn later(mut meta: PacketMeta, bytes: &[u8], done: bool) -> PacketMeta {
    let frame = FrameBytes {
        piece: bytes,
        extra: bytes,
    }
    .frame(&meta);
    if !done {
        decode(&mut meta, frame);
        verify(&mut meta, frame);
    }
    meta
}

fn look(bytes: &[u8], meta: &PacketMeta) {
    let all = FrameBytes {
        piece: bytes,
        extra: bytes,
    };
    let frame = all.frame(meta);
    assert!(meta.l4_offset <= meta.payload_offset);
    assert!(all.payload(meta).len() <= meta.payload_len as usize);
    let _ = (all.endpoints(meta), vlans(meta, frame));
    tunnels(meta, frame, |layer| {
        assert!(layer.inner_offset <= meta.l3_offset)
    });
}
