//! Parses a message: its header, its questions, and its records with their texts.
//!
//! ```text
//!  id flags counts │ questions │ answers │ authority │ additional │ (trailing bytes)
//!       12 bytes   │  name type class  │  name type class ttl length rdata
//! ```

use super::codes::{put_type, type_name};
use super::cursor::{Cursor, Short};
use super::name::{BadName, Name};
use super::text::{ByteRange, Texts};
use crate::rdata::{self, Rdata};

/// The header of a message (RFC 1035 §4.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) id: u16,
    pub(crate) flags: u16,
    /// Numbers of questions, answers, authority and additional records.
    pub(crate) counts: [u16; 4],
}

impl Header {
    pub(crate) const LEN: usize = 12;

    pub(crate) fn parse(message: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(message, 0, Self::LEN);
        let mut next = || cursor.u16().ok();
        Some(Self {
            id: next()?,
            flags: next()?,
            counts: [next()?, next()?, next()?, next()?],
        })
    }

    pub(crate) const fn is_response(&self) -> bool {
        self.flags & 0x8000 != 0
    }

    pub(crate) const fn opcode(&self) -> u16 {
        self.flags >> 11 & 15
    }

    pub(crate) const fn rcode(&self) -> u16 {
        self.flags & 15
    }

    /// Whether these may be the first bytes of a message, where the parser has to guess.
    pub(crate) fn is_plausible(&self) -> bool {
        let [questions, answers, authority, additional] = self.counts;
        self.opcode() <= 6
            && questions <= 8
            && (self.is_response() || answers == 0)
            && authority <= 512
            && additional <= 512
    }
}

/// The section of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Answer,
    Authority,
    Additional,
}

/// A question. Texts are ranges of [`Parsed::texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) name: Name,
    pub(crate) kind: u16,
    /// `TYPE` and the number, for types without a name.
    pub(crate) kind_text: ByteRange,
    pub(crate) class: u16,
}

/// A resource record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) section: Section,
    pub(crate) name: Name,
    pub(crate) kind: u16,
    /// As in [`Question`].
    pub(crate) kind_text: ByteRange,
    pub(crate) class: u16,
    pub(crate) ttl: u32,
    pub(crate) rdata: Rdata,
}

/// EDNS (RFC 6891): the fixed part of OPT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edns {
    pub(crate) udp_size: u16,
    pub(crate) extended_rcode: u8,
    pub(crate) version: u8,
    pub(crate) dnssec_ok: bool,
}

/// A parsed message; allocated once and reused for every message.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) header: Header,
    pub(crate) questions: Vec<Question>,
    /// Filled only if texts are wanted; contents are checked in any case.
    pub(crate) records: Vec<Record>,
    /// Number of records read.
    count: usize,
    pub(crate) texts: Texts,
    pub(crate) edns: Option<Edns>,
    /// EDNS options: ranges of `texts`.
    pub(crate) options: Vec<ByteRange>,
    /// The anomalies of the message, in the order found.
    pub(crate) events: Vec<&'static str>,
    /// Whether the structure is not that of a message.
    pub(crate) is_broken: bool,
    /// Whether records were left out for lack of room.
    pub(crate) cut_short: bool,
}

impl Parsed {
    pub(crate) fn new() -> Self {
        Self {
            header: Header::default(),
            questions: Vec::with_capacity(QUESTIONS_MAX),
            records: Vec::with_capacity(RECORDS_MAX),
            count: 0,
            texts: Texts::with_capacity(TEXT_MAX + TEXT_MARGIN),
            edns: None,
            options: Vec::with_capacity(OPTIONS_MAX),
            events: Vec::with_capacity(EVENTS_MAX),
            is_broken: false,
            cut_short: false,
        }
    }

    /// Returns the bytes of a text.
    pub(crate) fn text(&self, place: ByteRange) -> &[u8] {
        self.texts.get(place)
    }

    pub(crate) fn event(&mut self, event: &'static str) {
        if self.events.len() < EVENTS_MAX && !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    /// Parses a message; returns false if it has no header. `whole` is false if the capture
    /// truncated the message. `class_mask` clears the class bit that mDNS uses for flags.
    ///
    /// Without `TEXT` no texts are written; everything else is the same.
    pub(crate) fn read<const TEXT: bool>(
        &mut self,
        message: &[u8],
        whole: bool,
        class_mask: u16,
    ) -> bool {
        self.questions.clear();
        self.records.clear();
        self.count = 0;
        self.texts.clear();
        self.options.clear();
        self.events.clear();
        self.edns = None;
        self.cut_short = false;
        self.is_broken = true;
        let Some(header) = Header::parse(message) else {
            self.event("dns_truncated_message");
            return false;
        };
        self.header = header;
        if !matches!(header.opcode(), 0 | 1 | 2 | 4 | 5 | 6) {
            self.event("dns_unknown_opcode");
        }
        if header.flags & 0x0040 != 0 && class_mask == u16::MAX {
            self.event("dns_z_flag");
        }
        let mut cursor = Cursor::new(message, Header::LEN, message.len());
        let found = self.sections::<TEXT>(&mut cursor, class_mask);
        let goes_on = found.is_ok() && cursor.left() > 0 && whole;
        let is_cut = matches!(found, Err(Stop::Short | Stop::Name(BadName::Truncated))) && !whole;
        let is_read = found.is_ok() || is_cut || matches!(found, Err(Stop::Room));
        self.is_broken = !is_read || goes_on || header.opcode() > 6;
        match found {
            Ok(()) if cursor.left() > 0 && whole => self.event("dns_trailing_bytes"),
            Ok(()) => {}
            // Truncation by the capture is not an error of the sender.
            Err(Stop::Short | Stop::Name(BadName::Truncated)) if !whole => {}
            Err(Stop::Short) => self.event("dns_count_mismatch"),
            Err(Stop::Name(bad)) => self.event(bad.event()),
            // Without texts only an upper bound is known. Reading again with texts gives the exact
            // length.
            Err(Stop::Room) if !TEXT => return self.read::<true>(message, whole, class_mask),
            Err(Stop::Room) => {
                self.cut_short = true;
                self.event("dns_too_much_text");
            }
        }
        true
    }

    fn sections<const TEXT: bool>(
        &mut self,
        cursor: &mut Cursor<'_>,
        class_mask: u16,
    ) -> Result<(), Stop> {
        let [questions, answers, authority, additional] = self.header.counts;
        for _ in 0..questions {
            let name = self.name::<TEXT>(cursor)?;
            let kind = cursor.u16()?;
            let question = Question {
                name,
                kind,
                kind_text: self.kind_text::<TEXT>(kind),
                class: cursor.u16()? & class_mask,
            };
            if self.questions.len() >= QUESTIONS_MAX {
                return Err(Stop::Room);
            }
            self.questions.push(question);
        }
        let sections = [
            (Section::Answer, answers),
            (Section::Authority, authority),
            (Section::Additional, additional),
        ];
        for (section, count) in sections {
            for _ in 0..count {
                self.record::<TEXT>(section, cursor, class_mask)?;
            }
        }
        Ok(())
    }

    fn record<const TEXT: bool>(
        &mut self,
        section: Section,
        cursor: &mut Cursor<'_>,
        class_mask: u16,
    ) -> Result<(), Stop> {
        let name = self.name::<TEXT>(cursor)?;
        let kind = cursor.u16()?;
        let class = cursor.u16()?;
        let ttl = cursor.u32()?;
        let len = usize::from(cursor.u16()?);
        let from = cursor.at;
        cursor.take(len)?;
        if self.count >= RECORDS_MAX || self.texts.total() > TEXT_MAX {
            return Err(Stop::Room);
        }
        self.count = self.count.saturating_add(1);
        let mut inner = Cursor::new(cursor.message, from, cursor.at);
        if kind == OPT {
            self.opt::<TEXT>(class, ttl, &mut inner)?;
        }
        if !TEXT {
            if kind != OPT && rdata::is_bad(kind, &mut inner, &mut self.texts) {
                self.event("dns_bad_rdata");
            }
            return Ok(());
        }
        self.records.push(Record {
            section,
            name,
            kind,
            kind_text: ByteRange::default(),
            class: if kind == OPT {
                class
            } else {
                class & class_mask
            },
            ttl,
            rdata: Rdata::default(),
        });
        if let Some(record) = self.records.last_mut()
            && kind != OPT
        {
            rdata::read(kind, &mut inner, &mut self.texts, &mut record.rdata);
            if record.rdata.is_bad {
                self.event("dns_bad_rdata");
            }
        }
        let kind_text = self.kind_text::<TEXT>(kind);
        if let Some(record) = self.records.last_mut() {
            record.kind_text = kind_text;
        }
        Ok(())
    }

    /// RFC 6891 §6.1: OPT has the sender's payload size in place of a class, and flags in place of
    /// a TTL.
    fn opt<const TEXT: bool>(
        &mut self,
        class: u16,
        ttl: u32,
        rdata: &mut Cursor<'_>,
    ) -> Result<(), Stop> {
        let [extended_rcode, version, flags, _] = ttl.to_be_bytes();
        if self.edns.is_some() {
            // RFC 6891 §6.1.1: more than one OPT is an error.
            self.event("dns_second_opt");
            return Ok(());
        }
        self.edns = Some(Edns {
            udp_size: class,
            extended_rcode,
            version,
            dnssec_ok: flags & 0x80 != 0,
        });
        while rdata.left() > 0 {
            let begin = self.texts.bytes.len();
            let option = (|| {
                let code = rdata.u16()?;
                let len = rdata.u16()?;
                let from = rdata.at;
                rdata.take(len.into())?;
                Ok((code, Cursor::new(rdata.message, from, rdata.at)))
            })();
            let Ok((code, mut inner)) = option.map_err(|_: Short| ()) else {
                self.event("dns_bad_edns_option");
                break;
            };
            if self.options.len() >= OPTIONS_MAX || self.texts.total() > TEXT_MAX {
                if !TEXT {
                    return Err(Stop::Room);
                }
                self.cut_short = true;
                break;
            }
            if rdata::edns_option(code, &mut inner, &mut self.texts.bytes).is_err() {
                self.event("dns_bad_edns_option");
            }
            self.options.push(self.texts.since(begin));
        }
        Ok(())
    }

    fn kind_text<const TEXT: bool>(&mut self, kind: u16) -> ByteRange {
        let begin = self.texts.bytes.len();
        if TEXT && type_name(kind).is_none() {
            put_type(&mut self.texts.bytes, kind);
        }
        self.texts.since(begin)
    }

    fn name<const TEXT: bool>(&mut self, cursor: &mut Cursor<'_>) -> Result<Name, Stop> {
        if cursor.left() == 0 {
            return Err(Stop::Short);
        }
        if self.texts.total() > TEXT_MAX {
            return Err(Stop::Room);
        }
        self.texts.name::<TEXT>(cursor).map_err(Stop::Name)
    }
}

/// The reason to stop reading a message.
enum Stop {
    Short,
    Name(BadName),
    Room,
}

impl From<Short> for Stop {
    fn from(Short: Short) -> Self {
        Self::Short
    }
}

const OPT: u16 = 41;
const QUESTIONS_MAX: usize = 64;
const RECORDS_MAX: usize = 1024;
const OPTIONS_MAX: usize = 64;
const EVENTS_MAX: usize = 8;
/// Limit of the texts of one message. A name or record that begins below it may end above.
const TEXT_MAX: usize = 128 << 10;
/// The longest text of one record: 64 KiB in hexadecimal digits, and names.
const TEXT_MARGIN: usize = 160 << 10;
