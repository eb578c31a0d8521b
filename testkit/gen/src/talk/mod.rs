//! What is said: dialogues of application protocols, as templates that are rendered a segment at
//! a time, so that no message is ever held whole.

mod bittorrent;
mod dns;
mod fix;
mod http;
mod lines;
mod material;
mod message;
mod plain;

pub(crate) use material::Material;
pub(crate) use message::{Message, Piece, Step};

use crate::options::{Kind, Options, Service};
use std::ops::Range;

/// One way a conversation of a protocol goes: some first messages, a turn that is repeated, some
/// last messages. `steps` may hold alternatives behind those.
#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) service: Service,
    pub(crate) port: u16,
    pub(crate) steps: Vec<Step>,
    pub(crate) first: Range<usize>,
    pub(crate) turn: Range<usize>,
    pub(crate) last: Range<usize>,
    /// Segments of data that a turn usually takes: from this follows how many turns there are.
    pub(crate) turn_segments: u32,
    /// A turn may be taken more than once.
    pub(crate) repeats: bool,
}

impl Dialogue {
    /// A dialogue of these messages, the middle ones repeated.
    pub(crate) fn new(
        service: Service,
        port: u16,
        first: Vec<Step>,
        turn: Vec<Step>,
        last: Vec<Step>,
    ) -> Self {
        let turn_from = first.len();
        let last_from = turn_from + turn.len();
        let end = last_from + last.len();
        let turn_segments = u32::try_from(turn.len()).unwrap_or(1);
        let steps = first.into_iter().chain(turn).chain(last).collect();
        Self {
            service,
            port,
            steps,
            first: 0..turn_from,
            turn: turn_from..last_from,
            last: last_from..end,
            turn_segments,
            repeats: true,
        }
    }

    /// The steps of a range, and what they hold without their elastic parts.
    pub(crate) fn fixed(&self, range: &Range<usize>) -> Fixed {
        let steps = self.steps.get(range.clone()).unwrap_or_default();
        Fixed {
            messages: u32::try_from(steps.len()).unwrap_or(0),
            elastic: u32::try_from(steps.iter().filter(|step| step.is_elastic()).count())
                .unwrap_or(0),
            bytes: steps.iter().map(Step::fixed_len).sum(),
        }
    }
}

/// What some steps hold at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed {
    pub(crate) messages: u32,
    pub(crate) elastic: u32,
    pub(crate) bytes: u32,
}

/// The dialogues of a trace, with the share of connections that each takes, in thousandths of a
/// thousandth, cumulated.
pub(crate) fn dialogues(options: &Options) -> Vec<(Dialogue, f64)> {
    match options.kind {
        Kind::Http => even(http::dialogues(options)),
        Kind::Fix => even(fix::dialogues()),
        Kind::Dns => even(dns::dialogues()),
        Kind::Connections => even(vec![plain::tcp()]),
        Kind::Fragments => even(vec![plain::datagrams()]),
        Kind::Scan | Kind::Flood => Vec::new(),
        Kind::Mix => options
            .mix
            .iter()
            .flat_map(|&(service, share)| {
                let ways = of_service(service, options);
                #[expect(clippy::cast_precision_loss, reason = "a handful")]
                let each = share / ways.len().max(1) as f64;
                ways.into_iter().map(move |way| (way, each))
            })
            .collect(),
    }
}

fn even(ways: Vec<Dialogue>) -> Vec<(Dialogue, f64)> {
    ways.into_iter().map(|way| (way, 1.0)).collect()
}

fn of_service(service: Service, options: &Options) -> Vec<Dialogue> {
    match service {
        Service::Http => http::dialogues(options),
        Service::Fix => fix::dialogues(),
        Service::Dns => dns::dialogues(),
        Service::BitTorrent => vec![bittorrent::dialogue()],
        Service::Smtp => vec![lines::smtp()],
        Service::Pop3 => vec![lines::pop3()],
        Service::Imap => vec![lines::imap()],
        Service::Telnet => vec![lines::telnet()],
        Service::Irc => vec![lines::irc()],
        Service::Plain => vec![plain::tcp()],
        Service::Probe => Vec::new(),
    }
}
