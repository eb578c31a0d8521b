//! What stands above and below the records of a text file.

use crate::batch::TextFormat;
use crate::format::{
    MessageField, ReadySchema, csv_header, zeek_footer, zeek_header, zeek_header_of,
};
use flowpin_packet::Timestamp;
use flowpin_record::{
    AnomalyRecord, ConnRow, FloodRecord, HostPairRecord, RecordType, Row, ScanRecord, TunnelRecord,
};

/// Header and footer of a file.
pub(super) struct Frame {
    /// The lines above the first record, which came at that time.
    pub(super) header: Box<dyn Fn(Timestamp) -> Vec<u8> + Send>,
    /// The lines below the last record, which came at that time.
    pub(super) footer: fn(Timestamp) -> Vec<u8>,
}

/// EVE JSON has neither header nor footer.
pub(super) fn eve_frame() -> Frame {
    Frame {
        header: Box::new(|_| Vec::new()),
        footer: |_| Vec::new(),
    }
}

/// Header and footer of a format that goes by columns.
pub(super) fn column_frame(format: TextFormat, record_type: RecordType) -> Frame {
    match record_type {
        RecordType::Conn | RecordType::ConnLong => frame_of::<ConnRow>(format, record_type),
        RecordType::Anomaly => frame_of::<AnomalyRecord>(format, record_type),
        RecordType::Tunnel => frame_of::<TunnelRecord>(format, record_type),
        RecordType::Scan => frame_of::<ScanRecord>(format, record_type),
        RecordType::Flood => frame_of::<FloodRecord>(format, record_type),
        RecordType::HostPair => frame_of::<HostPairRecord>(format, record_type),
        RecordType::Message => eve_frame(),
    }
}

fn frame_of<R: Row>(format: TextFormat, record_type: RecordType) -> Frame {
    let stem = record_type.file_stem();
    match format {
        TextFormat::ZeekTsv => {
            let header = Box::new(move |open| zeek_header::<R>(stem, open));
            let footer = zeek_footer;
            Frame { header, footer }
        }
        TextFormat::Csv => {
            let header = Box::new(|_| csv_header::<R>());
            let footer = |_| Vec::new();
            Frame { header, footer }
        }
        TextFormat::ZeekJson | TextFormat::Eve => eve_frame(),
    }
}

/// Likewise of one kind of messages.
pub(super) fn message_frame(format: TextFormat, ready: &ReadySchema) -> Frame {
    match format {
        TextFormat::ZeekTsv => {
            let columns = ready.fields.iter().filter(|field| field.logs.in_zeek());
            let columns: Vec<_> = columns.map(|one| (one.name.clone(), one.kind)).collect();
            let stem = ready.schema.file_stem.clone();
            let header = Box::new(move |open| {
                let named = columns.iter().map(|(name, kind)| (name.as_str(), *kind));
                zeek_header_of(&named.collect::<Vec<_>>(), &stem, open)
            });
            let footer = zeek_footer;
            Frame { header, footer }
        }
        TextFormat::Csv => {
            let fields = ready.fields.iter().filter(|field| field.logs.in_tables());
            let names: Vec<_> = fields.map(MessageField::flat_name).collect();
            let line = (names.join(",") + "\n").into_bytes();
            let header = Box::new(move |_| line.clone());
            let footer = |_| Vec::new();
            Frame { header, footer }
        }
        TextFormat::ZeekJson | TextFormat::Eve => eve_frame(),
    }
}
