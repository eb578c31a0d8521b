//! BPF filters: compiled by libpcap, one program for each link type, run here.
//!
//! libpcap's own interpreter is not used because its binding cannot be told the original length
//! of a frame, which `greater`, `less` and `len` are about.

mod advice;
mod program;

use crate::error::CaptureError;
use crate::format::Order;
use crate::link;
use flowpin_packet::LinkType;
pub(crate) use program::Program;

/// One filter expression, for all link types of the input.
#[derive(Debug)]
pub(crate) struct Filters {
    expression: String,
    /// Programs by libpcap's link type; `None`: no frame passes.
    programs: Vec<(i32, Option<Program>)>,
    /// What went wrong since the last look.
    pub(crate) failure: Option<CaptureError>,
}

impl Filters {
    /// Compiles `expression` for the link types known so far (Ethernet if there are none).
    pub(crate) fn new(expression: &str, links: &[(u16, Order)]) -> Result<Self, CaptureError> {
        let mut filters = Self {
            expression: expression.to_owned(),
            programs: Vec::new(),
            failure: None,
        };
        let mut refused = None;
        for &(number, order) in links {
            match filters.compile(number, order) {
                Ok(program) => filters.programs.push((dlt(number, order), Some(program))),
                Err(error) => {
                    // Link types that are not decoded, or that the expression can never match,
                    // pass nothing, unless that is all there is.
                    if !passes_nothing(&error, number) {
                        return Err(error);
                    }
                    filters.programs.push((dlt(number, order), None));
                    refused = Some(error);
                }
            }
        }
        if filters
            .programs
            .iter()
            .all(|(_, program)| program.is_none())
        {
            if let Some(error) = refused {
                return Err(error);
            }
            filters.compile(ETHERNET, Order::Little)?;
        }
        Ok(filters)
    }

    /// Whether a frame passes.
    pub(crate) fn accepts(&mut self, link: (u16, Order), frame: &[u8], wire_len: u32) -> bool {
        self.program(link)
            .is_some_and(|program| program.accepts(frame, wire_len))
    }

    /// The program for a link type, compiled when its first frame comes.
    fn program(&mut self, (number, order): (u16, Order)) -> Option<&Program> {
        let key = dlt(number, order);
        let known = self.programs.iter().position(|(dlt, _)| *dlt == key);
        let index = known.unwrap_or_else(|| {
            let program = match self.compile(number, order) {
                Ok(program) => Some(program),
                Err(error) => {
                    if !passes_nothing(&error, number) {
                        self.failure = Some(error);
                    }
                    None
                }
            };
            self.programs.push((key, program));
            self.programs.len() - 1
        });
        self.programs
            .get(index)
            .and_then(|(_, program)| program.as_ref())
    }

    fn compile(&self, number: u16, order: Order) -> Result<Program, CaptureError> {
        let failed = |message: String| CaptureError::Filter {
            expression: shown(&self.expression),
            link: format!("{number} ({})", link::link_name(number)),
            message: match advice::advice(&self.expression) {
                Some(advice) => format!("{message}; {advice}"),
                None => message,
            },
        };
        let weight = weight(&self.expression);
        if weight > WEIGHT_MAX {
            return Err(CaptureError::Filter {
                expression: format!("of {} bytes", self.expression.len()),
                link: link::link_name(number),
                message: TOO_LONG.to_owned(),
            });
        }
        let handle = pcap::Capture::dead(pcap::Linktype(dlt(number, order)));
        let handle = handle.map_err(|error| failed(message(&error)))?;
        let program = handle.compile(&self.expression, weight <= WEIGHT_OPTIMIZED);
        let program = program.map_err(|error| failed(message(&error)))?;
        Program::new(program.get_instructions())
            .ok_or_else(|| failed("libpcap made a program that cannot be run".to_owned()))
    }
}

/// The program of an expression for one link type.
///
/// # Errors
/// It does not compile.
pub(crate) fn compile(expression: &str, link_number: u16) -> Result<Program, CaptureError> {
    let filters = Filters {
        expression: expression.to_owned(),
        programs: Vec::new(),
        failure: None,
    };
    filters.compile(link_number, Order::Little)
}

/// Whether an expression that does not compile for this link type just matches none of its
/// frames.
fn passes_nothing(error: &CaptureError, number: u16) -> bool {
    let never = matches!(error, CaptureError::Filter { message, .. }
        if message.contains("rejects all packets"));
    never || LinkType::of_number(number) == LinkType::Unsupported
}

/// What libpcap said, without the binding's words around it.
fn message(error: &pcap::Error) -> String {
    match error {
        pcap::Error::PcapError(text) => text.clone(),
        other => other.to_string(),
    }
}

/// libpcap's number. BSD loopback frames hold a number in the order of the recording machine,
/// which libpcap takes for ours: where it is not, the big-endian sibling has the right one.
fn dlt(number: u16, order: Order) -> i32 {
    let ours = if cfg!(target_endian = "little") {
        Order::Little
    } else {
        Order::Big
    };
    if number == NULL && order == Order::Big && order != ours {
        return link::dlt(LOOP);
    }
    link::dlt(number)
}

/// An expression in a message: its beginning, if it is long.
fn shown(expression: &str) -> String {
    match expression.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", expression.get(..end).unwrap_or_default()),
        None => expression.to_owned(),
    }
}

/// What an expression costs to compile: its words, of which those of ports become many
/// instructions, and its operators, which do as well. An address has a slash and a range a dash,
/// which are none.
fn weight(expression: &str) -> usize {
    let is_operator = |letter: char| "!&|+*%^[]<>=~".contains(letter);
    let is_end = |letter: char| letter.is_whitespace() || "()".contains(letter);
    let words = expression.split(|letter: char| is_end(letter) || is_operator(letter));
    let words = words.filter(|word| !word.is_empty()).map(|word| {
        let signs = word.matches(['/', '-']).count().saturating_sub(1);
        signs + if word.starts_with("port") { 13 } else { 1 }
    });
    words.sum::<usize>() + expression.matches(is_operator).count() / 2
}

/// Of expressions that libpcap's optimizer gets: it takes a time that grows with the cube of their
/// length, minutes for a thousand hosts. Heavier ones run as they are written.
const WEIGHT_OPTIMIZED: usize = 200;

/// Letters of an expression in a message.
const SHOWN_MAX: usize = 200;

const TOO_LONG: &str = "it is too long (some 1,000 hosts or 200 ports are possible): name \
                        networks, or filter in several runs";

/// Of any expression: libpcap takes about a second without optimizing it.
const WEIGHT_MAX: usize = 3200;

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const LOOP: u16 = 108;

#[cfg(test)]
mod tests;
