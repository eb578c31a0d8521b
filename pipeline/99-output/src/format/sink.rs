//! The records as they come: each is counted, and written in the formats that have it.

use super::message::{self, Message};
use super::{Formatter, eve};
use crate::batch::{NO_ROW, TextFormat, push_row};
use core::hint::black_box;
use flowpin_record::{
    AnomalyRecord, CommunityId, ConnRecord, ConnRow, FloodRecord, HostPairRecord, MessagePlace,
    MessageSchema, RecordKey, RecordSink, RecordType, ScanRecord, Shown, TunnelRecord, Value,
};

impl RecordSink for Formatter {
    #[inline]
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        let record_type = if record.interim > 0 {
            RecordType::ConnLong
        } else {
            RecordType::Conn
        };
        self.count(record_type);
        if !self.formats.any() {
            // Built is built: the work before must not be optimised away.
            black_box(record);
            return;
        }
        let community_id = self
            .community_seed
            .map(|seed| CommunityId::of(seed, record));
        let mut place = self.place();
        if self.formats.eve {
            let (text, dates) = (&mut self.hold.text, &mut self.dates);
            let id = community_id.as_ref();
            let interface = self.interfaces.get(record.interface);
            let len = text.line(|line| eve::conn(line, dates, key, record, (id, interface)));
            place.lens = place.lens.with(TextFormat::Eve, len);
        }
        if self.formats.columns() {
            let interface = self.interfaces.name(record.interface);
            let row = ConnRow::new(record, community_id, interface);
            place.lens = self.put_columns(&row, place.lens);
            if self.formats.parquet {
                place.row = push_row(&mut self.hold.rows.conns, Some(row));
            }
        }
        self.push(key, (record_type, record.uid.0), place);
    }

    /// Zeek's logs have a row of it. In the other formats the tunnel's own record tells of it, so
    /// that sums over connections count no byte twice.
    fn carrier(&mut self, key: RecordKey, record: &ConnRecord) {
        if !self.formats.zeek_tsv && !self.formats.zeek_json {
            return;
        }
        self.count(RecordType::Conn);
        let seed = self.community_seed;
        let community_id = seed.map(|seed| CommunityId::of(seed, record));
        // Zeek's columns do not have it.
        let row = ConnRow::new(record, community_id, None);
        let mut place = self.place();
        place.row = NO_ROW;
        place.lens = self.put_zeek(&row, place.lens);
        self.push(key, (RecordType::Conn, record.uid.0), place);
    }

    fn anomaly(&mut self, key: RecordKey, record: &AnomalyRecord) {
        self.count(RecordType::Anomaly);
        if !self.formats.any() {
            black_box(record);
            return;
        }
        let tie = record.packet_number.unwrap_or(key.number);
        let mut place = self.place();
        if self.formats.eve {
            let (text, dates) = (&mut self.hold.text, &mut self.dates);
            let interface = self.interfaces.get(record.interface);
            let len = text.line(|line| eve::anomaly(line, dates, record, interface));
            place.lens = place.lens.with(TextFormat::Eve, len);
        }
        place.lens = self.put_columns(record, place.lens);
        if self.formats.parquet {
            place.row = push_row(&mut self.hold.rows.anomalies, Some(*record));
        }
        self.push(key, (RecordType::Anomaly, tie), place);
    }

    fn tunnel(&mut self, key: RecordKey, record: &TunnelRecord) {
        self.count(RecordType::Tunnel);
        if !self.formats.any() {
            black_box(record);
            return;
        }
        let mut place = self.place();
        if self.formats.eve {
            let (text, dates) = (&mut self.hold.text, &mut self.dates);
            let len = text.line(|line| eve::tunnel(line, dates, key.time, record));
            place.lens = place.lens.with(TextFormat::Eve, len);
        }
        place.lens = self.put_columns(record, place.lens);
        if self.formats.parquet {
            place.row = push_row(&mut self.hold.rows.tunnels, Some(*record));
        }
        self.push(key, (RecordType::Tunnel, record.uid.0), place);
    }

    fn scan(&mut self, key: RecordKey, record: &ScanRecord) {
        self.count(RecordType::Scan);
        if !self.formats.any() {
            black_box(record);
            return;
        }
        let mut place = self.place();
        if self.formats.eve {
            let (text, dates) = (&mut self.hold.text, &mut self.dates);
            let len = text.line(|line| eve::scan(line, dates, key.time, record));
            place.lens = place.lens.with(TextFormat::Eve, len);
        }
        place.lens = self.put_columns(record, place.lens);
        if self.formats.parquet {
            place.row = push_row(&mut self.hold.rows.scans, Some(*record));
        }
        self.push(key, (RecordType::Scan, record.uid.0), place);
    }

    fn flood(&mut self, key: RecordKey, record: &FloodRecord) {
        self.count(RecordType::Flood);
        if !self.formats.any() {
            black_box(record);
            return;
        }
        let mut place = self.place();
        if self.formats.eve {
            let (text, dates) = (&mut self.hold.text, &mut self.dates);
            let len = text.line(|line| eve::flood(line, dates, key.time, record));
            place.lens = place.lens.with(TextFormat::Eve, len);
        }
        place.lens = self.put_columns(record, place.lens);
        if self.formats.parquet {
            place.row = push_row(&mut self.hold.rows.floods, Some(*record));
        }
        self.push(key, (RecordType::Flood, record.uid.0), place);
    }

    fn host_pair(&mut self, key: RecordKey, record: &HostPairRecord) {
        self.count(RecordType::HostPair);
        if !self.formats.any() {
            black_box(record);
            return;
        }
        let mut place = self.place();
        if self.formats.eve {
            let (text, dates) = (&mut self.hold.text, &mut self.dates);
            let len = text.line(|line| eve::host_pair(line, dates, key.time, record));
            place.lens = place.lens.with(TextFormat::Eve, len);
        }
        place.lens = self.put_columns(record, place.lens);
        if self.formats.parquet {
            place.row = push_row(&mut self.hold.rows.host_pairs, Some(*record));
        }
        self.push(key, (RecordType::HostPair, 0), place);
    }

    fn message(
        &mut self,
        key: RecordKey,
        place: &MessagePlace,
        schema: &MessageSchema,
        values: &[Value<'_>],
    ) {
        let formats = self.formats.with(schema.shown);
        let Some(number) = self.count_schema(schema) else {
            return;
        };
        if !formats.any() {
            return;
        }
        let community_id = self.ids.of(place);
        let mut texts = self.place();
        let interface = self.interfaces.get(place.interface);
        let Some(ready) = self.schemas.get(number) else {
            return;
        };
        let lists = match ready.lists_files {
            true => message::file_lists(schema, values, place.uid),
            false => Vec::new(),
        };
        let mut with_lists = Vec::new();
        let values = if lists.is_empty() {
            values
        } else {
            with_lists.extend_from_slice(values);
            for (column, list) in &lists {
                if let Some(value) = with_lists.get_mut(*column) {
                    *value = Value::List(list);
                }
            }
            with_lists.as_slice()
        };
        let message = Message {
            ready,
            place,
            values,
            community_id,
            interface,
            from_server: schema.is_from_server(values),
        };
        let (text, dates) = (&mut self.hold.text, &mut self.dates);
        let lens = message::put_all(text, dates, formats, &message);
        let fields = if formats.parquet {
            ready.fields.as_slice()
        } else {
            &[]
        };
        let fields = fields.iter().filter(|field| field.logs.in_tables());
        let values = fields.map(|field| message.value(field));
        let schema = u16::try_from(number).unwrap_or(u16::MAX);
        texts.row = self.hold.rows.messages.push(schema, lens, values);
        self.push(key, (RecordType::Message, place.uid.0), texts);
    }

    fn unread_message(&mut self, schema: &MessageSchema) {
        self.count_schema(schema);
    }

    #[inline]
    fn reads_messages(&self, shown: Shown) -> bool {
        self.formats.with(shown).any()
    }
}
