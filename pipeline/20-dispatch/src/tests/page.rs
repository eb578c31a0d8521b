//! The page of the documentation that lists encapsulations has what the code has.

use crate::peel::LAYERS_MAX;
use flowpin_wire::Next;
use flowpin_wire::tunnel::{IpTunnel, UdpTunnel};

const PAGE: &str = include_str!("../../../../docs/user/tunnels.md");

/// The numbers in the first column of the table under a heading, in order.
fn numbers(heading: &str) -> Vec<u32> {
    let (_, section) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| "));
    let mut numbers: Vec<u32> = rows
        .skip(1)
        .filter(|row| !row.starts_with('-'))
        .flat_map(|row| row.split('|').next().unwrap().split(','))
        .map(|number| match number.trim().strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).unwrap(),
            None => number.trim().parse().unwrap(),
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

fn sorted(numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

/// A tunnel that was added must be on the page, and none that is not opened.
#[test]
fn the_page_lists_every_tunnel() {
    let ports = UdpTunnel::PORTS.iter().map(|&(port, _)| u32::from(port));
    assert_eq!(numbers("Tunnels over UDP"), sorted(ports));
    let protocols = IpTunnel::PROTOCOLS
        .iter()
        .map(|&(protocol, _)| u32::from(protocol));
    assert_eq!(numbers("Tunnels over IP"), sorted(protocols));
}

/// The same for types that are read after an Ethernet header.
#[test]
fn the_page_lists_every_ethernet_type() {
    let read = |number: &u16| Next::from_ether_type(*number) != Next::Opaque;
    let types = (0..=u16::MAX).filter(read).map(u32::from);
    assert_eq!(numbers("Ethernet types"), sorted(types));
}

/// The page states the limit that the loop has.
#[test]
fn the_page_states_the_limit_of_layers() {
    assert!(PAGE.contains(&format!("tunnel headers | {LAYERS_MAX} |")));
}
