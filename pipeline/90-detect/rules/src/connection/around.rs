//! Packets that stand around others: errors of ICMP, which quote one, and those of tunnels.

use super::occasion::Occasion;
use super::state::Connection;
use super::{Detector, Ends, Found, Packet};
use flowpin_rule::Action;

impl Detector {
    /// An ICMP error about a connection: its addresses are its own, not those of the packet that it
    /// quotes.
    pub(super) fn icmp_error(&mut self, handle: u32, packet: &Packet<'_>, found: &mut Vec<Found>) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let group = self.database.packets.get(2).and_then(|both| both.first());
        let (Some(group), Some((from, to))) = (group, packet.error_addresses()) else {
            return;
        };
        if group.is_empty() || connection.has(Connection::PASSED) {
            return;
        }
        let ends = Ends {
            protocol: if from.is_ipv4() { 1 } else { 58 },
            client: (from, 0),
            server: (to, 0),
        };
        let occasion = Occasion {
            packet: Some(packet),
            payload: packet.payload,
            ..Occasion::new(&ends, true)
        };
        let scratch = &mut self.scratch;
        scratch.begin();
        scratch.search("packets", group, packet.payload, occasion.place());
        scratch.add_others(group, &occasion);
        let before = found.len();
        let (database, losses) = (&self.database, &mut self.losses);
        scratch.evaluate(database, connection, &occasion, losses, found);
        // As a connection of ICMP has them: type and code in place of ports.
        let (kind, code) = packet.icmp().unwrap_or_default();
        let told = Ends {
            client: (from, kind as u16),
            server: (to, code as u16),
            ..ends
        };
        for one in found.iter_mut().skip(before) {
            one.around = Some(told);
        }
    }

    /// A packet around one of the connection, which a tunnel carries: its addresses are compared.
    pub fn around(&mut self, handle: u32, ends: &Ends, found: &mut Vec<Found>) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let is_first = !connection.has(Connection::AROUND);
        connection.note(Connection::AROUND);
        let group = self.database.packets.last().and_then(|both| both.first());
        let Some(group) = group.filter(|_| !connection.has(Connection::PASSED)) else {
            return;
        };
        let occasion = Occasion::new(ends, true);
        self.scratch.begin();
        let udp = self.database.packets.get(1).and_then(|both| both.first());
        if let Some(udp) = udp.filter(|_| ends.protocol == 17) {
            // What lets it pass, whatever it carries.
            self.scratch.add_others(udp, &occasion);
            let database = &self.database;
            self.scratch.retain(|at| {
                let compiled = database.rules.get(at as usize);
                let rule = compiled.and_then(|compiled| database.rule(compiled));
                rule.is_some_and(|rule| rule.action == Action::Pass)
            });
        }
        self.scratch.add_others(group, &occasion);
        // Others than these have no connections of their own: each packet is a first one.
        let has_connections = matches!(ends.protocol, 1 | 6 | 17 | 58 | 132);
        if is_first || !has_connections {
            self.scratch.add_others(&self.database.first, &occasion);
        }
        let before = found.len();
        let (database, losses) = (&self.database, &mut self.losses);
        self.scratch
            .evaluate(database, connection, &occasion, losses, found);
        // It is not the connection that passes.
        connection.forget(Connection::PASSED);
        for one in found.iter_mut().skip(before) {
            one.around = Some(*ends);
        }
    }
}
