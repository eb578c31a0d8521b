//! One interface: whether it can be captured from, and what its card and driver do to packets.

use super::{Finding, Part};
use flowpin_socket::{Driver, Ring, RingOptions, SocketError, driver};
use flowpin_words::number;
use std::fs;
use std::thread;

/// Examines an interface.
///
/// # Errors
/// There is none of that name.
pub(crate) fn interface(name: &str) -> Result<Part, SocketError> {
    let card = driver(name)?;
    let folder = format!("/sys/class/net/{name}");
    let findings = [
        Some(rights(name)),
        state(name, &folder),
        queues(name, &card),
        spreading(name, &card),
        ring(name, &card),
        offload(name, &card),
        lost(name, &folder),
        interrupts(name),
        frames(&folder),
    ];
    Ok(Part {
        name: match card.name.as_str() {
            "" => format!("Interface {name}"),
            by => format!("Interface {name}, driver {by}"),
        },
        findings: findings.into_iter().flatten().collect(),
    })
}

/// Opens it as a run would, for a moment.
fn rights(name: &str) -> Finding {
    let options = RingOptions {
        interface: name.to_owned(),
        queue: None,
        snap_len: 64,
        promiscuous: false,
        ring_bytes: 0,
        rings: 1,
        timeout_ms: 1,
    };
    match Ring::open::<SocketError>(&options, |_| Ok(Vec::new())) {
        Ok(_) => Finding::good("capture", "this user may capture from it"),
        Err(SocketError::NotPermitted { .. }) => {
            let todo = "run as root, or `sudo setcap cap_net_raw+ep $(command -v flowpin)`";
            Finding::problem("capture", "this user may not capture from it", todo)
        }
        Err(error) => Finding::problem("capture", error.to_string(), "name another interface"),
    }
}

fn state(name: &str, folder: &str) -> Option<Finding> {
    let flags = read(folder, "flags")?;
    let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).ok()?;
    Some(if flags & IS_UP == 0 {
        let todo = format!("`ip link set {name} up`");
        Finding::problem("link", "it is down", todo)
    } else if read(folder, "carrier").as_deref() == Some("0") {
        Finding::problem(
            "link",
            "it is up, without a carrier",
            "check the cable, or the tap",
        )
    } else {
        Finding::good("link", "it is up")
    })
}

fn queues(name: &str, card: &Driver) -> Option<Finding> {
    let queues = card.receive_queues?;
    let processors = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let shown = number::things(queues.into(), "receive queue");
    Some(if u64::from(queues) < processors && queues == 1 {
        let what = format!("{shown}: one processor takes all packets from the card");
        let most = |queues: u32| u64::from(queues).min(processors);
        let todo = match card.receive_queues_max {
            (_, both @ 2..) => format!("`ethtool -L {name} combined {}`", most(both)),
            (receive @ 2.., _) => format!("`ethtool -L {name} rx {}`", most(receive)),
            _ => format!("the card has no more: `--rings {processors}` divides by hosts"),
        };
        Finding::advice("queues", what, todo)
    } else {
        Finding::good("queues", shown)
    })
}

/// Whether both directions of a connection come by one queue: it matters to runs of single queues.
fn spreading(name: &str, card: &Driver) -> Option<Finding> {
    let is_symmetric = card.spreads_symmetrically?;
    (card.receive_queues? > 1).then(|| match is_symmetric {
        true => Finding::good("queues' key", "both directions of a connection, one queue"),
        false => Finding::advice(
            "queues' key",
            format!(
                "the two directions of a connection come by different queues: `-i {name}@0` alone \
                 has halves; `-i {name}` has all"
            ),
            format!("for runs of single queues, `ethtool -X {name} hkey {SYMMETRIC_KEY}`"),
        ),
    })
}

fn ring(name: &str, card: &Driver) -> Option<Finding> {
    let (now, most) = card.ring?;
    let shown = format!(
        "the card holds {} a queue",
        number::things(now.into(), "packet")
    );
    Some(if now < most {
        let todo = format!("`ethtool -G {name} rx {most}`");
        Finding::advice(
            "card's ring",
            format!("{shown}, and could hold {most}"),
            todo,
        )
    } else {
        Finding::good("card's ring", shown)
    })
}

fn offload(name: &str, card: &Driver) -> Option<Finding> {
    let joins = card.joins == Some(true);
    Some(match card.joins_in_hardware {
        Some(true) => Finding::problem(
            "offload",
            "the card joins segments (LRO): acknowledgements and lengths are not those of the wire",
            format!("`ethtool -K {name} lro off`"),
        ),
        _ if joins => Finding::advice(
            "offload",
            "the kernel joins segments (GRO): packets are fewer and longer than on the wire",
            format!("`ethtool -K {name} gro off`, where packets have to be counted exactly"),
        ),
        // What the other end sends comes as it is.
        _ if card.name == "veth" && card.cuts_late == Some(true) => Finding::advice(
            "offload",
            "packets come before they are cut into segments (TSO, GSO): longer than on a wire, \
             without their checksums",
            format!("`ethtool -K {name} tso off gso off`, and the same at the other end"),
        ),
        _ if card.joins.is_none() => return None,
        _ if card.cuts_late == Some(true) => Finding::good(
            "offload",
            "packets are as on the wire, but for those that this host sends: they are seen before \
             the card cuts them",
        ),
        _ => Finding::good("offload", "packets are as on the wire"),
    })
}

/// Packets that the card or its driver has dropped since the interface came up.
fn lost(name: &str, folder: &str) -> Option<Finding> {
    let count = |what: &str| {
        let text = read(folder, &format!("statistics/{what}"))?;
        text.parse::<u64>().ok()
    };
    let lost = count("rx_missed_errors")?.saturating_add(count("rx_fifo_errors")?);
    let total = count("rx_packets")?.saturating_add(lost);
    Some(if lost > 0 {
        let what = format!(
            "{} found the card's ring full, {} of all",
            number::things(lost, "packet"),
            number::percent(lost, total)
        );
        let todo = format!("a longer ring (`ethtool -g {name}`), more queues, or less other work");
        Finding::problem("card's losses", what, todo)
    } else {
        Finding::good("card's losses", "none since it came up")
    })
}

/// Which processors take its packets.
fn interrupts(name: &str) -> Option<Finding> {
    let all = flowpin_cpu::interrupts(name);
    let mut processors: Vec<_> = all.into_iter().map(|one| one.processors).collect();
    let count = processors.len();
    processors.sort_unstable();
    processors.dedup();
    if count == 0 {
        return None;
    }
    let shown = processors.join(", ");
    Some(if count > 1 && processors.len() == 1 {
        let what = format!("all {count} interrupts go to processor {shown}");
        let todo = "start irqbalance, or write to /proc/irq/*/smp_affinity_list";
        Finding::advice("interrupts", what, todo)
    } else {
        Finding::good("interrupts", format!("by processors {shown}"))
    })
}

/// How long frames may be.
fn frames(folder: &str) -> Option<Finding> {
    let mtu = read(folder, "mtu")?;
    Some(Finding::good("frames", format!("MTU {mtu}")))
}

fn read(folder: &str, file: &str) -> Option<String> {
    let text = fs::read_to_string(format!("{folder}/{file}")).ok()?;
    Some(text.trim().to_owned())
}

/// `IFF_UP`.
const IS_UP: u32 = 1;
/// A key in which each two bytes are the same gives both directions one hash; of the length that
/// most cards want.
const SYMMETRIC_KEY: &str = "6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:\
    6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a:6d:5a";
