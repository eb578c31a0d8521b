//! The worst case: a trace all of whose connections meet on one worker.

use super::{Lab, Trace};
use anyhow::Result;
use flowpin_capture::{Options, PcapWriter, Precision, Source, link_number};
use flowpin_config::Input;
use flowpin_disk::{Existing, Reads, create};
use flowpin_dispatch::{DispatchOptions, Dispatched, Dispatcher};
use flowpin_packet::{LinkType, PacketMeta, Piece, Timestamp};
use std::io::BufWriter;
use std::rc::Rc;

impl Lab {
    /// Of a preset's trace, the packets that the first of `workers` would get.
    ///
    /// # Errors
    /// The trace cannot be made, read or written.
    pub(crate) fn one_worker(&mut self, preset: &str, workers: u8) -> Result<Rc<Trace>> {
        let whole = self.preset(preset)?;
        let path = self.path("one-worker.pcap");
        let file = create(&path, Existing::Replace, &Reads::default())?;
        let out = BufWriter::with_capacity(1 << 20, file);
        let link = link_number(LinkType::Ethernet).unwrap_or(1);
        let mut out = PcapWriter::new(out, link, Precision::Nanos)?;
        let inputs = [Input::File(whole.path.clone())];
        let mut source = Source::open(&inputs, &Options::default())?;
        let mut dispatcher = Dispatcher::new(DispatchOptions::default());
        let (mut piece, mut meta) = (Piece::default(), PacketMeta::default());
        let mut totals = whole.totals.clone();
        (totals.packets, totals.frame_bytes) = (0, 0);
        while source.fill(&mut piece)? {
            let mut walk = source.walk(&piece);
            while let Some(frame) = walk.next_frame() {
                let found =
                    dispatcher.dispatch(&piece.bytes, &frame, 1, Timestamp::default(), &mut meta);
                // Shards are dealt out in turn.
                if !matches!(found, Dispatched::Packet) || meta.shard().0 % workers != 0 {
                    continue;
                }
                let start = frame.start as usize;
                let end = start + frame.captured_len as usize;
                let bytes = piece.bytes.get(start..end).unwrap_or_default();
                out.write(frame.time, frame.wire_len, bytes)?;
                totals.packets += 1;
                totals.frame_bytes += u64::from(frame.wire_len);
            }
        }
        out.flush()?;
        Ok(Rc::new(Trace {
            path,
            totals,
            part: whole.part,
        }))
    }
}
