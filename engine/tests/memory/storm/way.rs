//! How a connection's packets travel: as they are, over IPv6, in tunnels, in fragments.

use super::Dice;
use flowpin_testkit::build::{Ip, IpPacket, tunnel};

/// The frames so far.
pub(super) struct Wire<'a> {
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) dice: &'a mut Dice,
    identification: u16,
}

/// What surrounds a packet.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Plain,
    Tagged,
    Fragments,
    Gre,
    Vxlan,
    Gtp,
    FragmentsOfGre,
    GreOfFragments,
}

impl Way {
    /// One that the dice choose; mostly none.
    pub(super) fn any(dice: &mut Dice) -> Self {
        match dice.below(20) {
            0 => Self::Tagged,
            1 | 2 => Self::Fragments,
            3 => Self::Gre,
            4 => Self::Vxlan,
            5 => Self::Gtp,
            6 => Self::FragmentsOfGre,
            7 => Self::GreOfFragments,
            _ => Self::Plain,
        }
    }
}

impl<'a> Wire<'a> {
    pub(super) fn new(dice: &'a mut Dice) -> Self {
        Self {
            frames: Vec::new(),
            dice,
            identification: 0,
        }
    }

    /// Sends a packet on its way, in a tunnel of which there are a few or many.
    pub(super) fn send(&mut self, way: Way, packet: &IpPacket) {
        let many = [4, 4000][self.dice.below(2)];
        let number = self.dice.below(many) as u16;
        let [high, low] = number.to_be_bytes();
        let outer = Ip::v4([172, 16, high, low], [172, 31, 0, 1]);
        match way {
            Way::Plain => self.frames.push(packet.ethernet()),
            Way::Tagged => self.frames.push(packet.tagged(&[number % 4, 7])),
            Way::Fragments => self.in_fragments(packet),
            Way::Gre => self.frames.push(outer.gre(Some(1), packet).ethernet()),
            Way::Vxlan => {
                let inner = tunnel::vxlan(number.into(), &packet.ethernet());
                self.frames.push(outer.udp(4789, 4789, &inner).ethernet());
            }
            Way::Gtp => {
                let inner = tunnel::gtpu(number.into(), packet);
                self.frames.push(outer.udp(2152, 2152, &inner).ethernet());
            }
            Way::FragmentsOfGre => {
                self.identification = self.identification.wrapping_add(1);
                let outer = outer.identified(self.identification);
                self.in_fragments(&outer.gre(None, packet));
            }
            Way::GreOfFragments => {
                for fragment in packet.fragments(200) {
                    self.frames.push(outer.gre(None, &fragment).ethernet());
                }
            }
        }
    }

    /// Cuts a packet; pieces are lost, come twice, or in another order.
    fn in_fragments(&mut self, packet: &IpPacket) {
        let mtu = 68 + self.dice.below(700);
        let mut pieces = packet.fragments(mtu);
        let nth = self.dice.below(pieces.len());
        match self.dice.below(6) {
            0 => drop(pieces.remove(nth)),
            1 => pieces.push(pieces[nth].clone()),
            2 => pieces.reverse(),
            3 => pieces.swap(0, nth),
            _ => {}
        }
        self.frames.extend(pieces.iter().map(IpPacket::ethernet));
    }
}
