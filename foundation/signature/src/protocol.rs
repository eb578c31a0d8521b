//! A protocol: its name, its groups, and the rules that identify it.

use crate::{Check, Lead};

/// What a protocol is for. One may be in several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Pages and what they are made of.
    Web,
    /// Mail and news.
    Mail,
    /// Talk in text.
    Chat,
    /// Voice and pictures, and what sets them up.
    Media,
    /// Names, addresses, neighbours.
    Naming,
    /// Routes and availability of routers.
    Routing,
    /// Watching and steering devices.
    Management,
    /// Who may do what.
    Access,
    /// Screens and shells from afar.
    Remote,
    /// Files over the net.
    Files,
    /// Databases and caches.
    Database,
    /// Queues, calls between services.
    Messaging,
    /// Plants, buildings, vehicles.
    Industrial,
    /// Small devices.
    Things,
    /// Peers without servers.
    Peers,
    /// Coins and ledgers.
    Ledger,
    /// Games.
    Games,
    /// What carries others, encrypted or not.
    Tunnel,
    /// Encrypted.
    Encrypted,
    /// Money and health.
    Trade,
}

impl Group {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Mail => "mail",
            Self::Chat => "chat",
            Self::Media => "media",
            Self::Naming => "naming",
            Self::Routing => "routing",
            Self::Management => "management",
            Self::Access => "access",
            Self::Remote => "remote",
            Self::Files => "files",
            Self::Database => "database",
            Self::Messaging => "messaging",
            Self::Industrial => "industrial",
            Self::Things => "things",
            Self::Peers => "peers",
            Self::Ledger => "ledger",
            Self::Games => "games",
            Self::Tunnel => "tunnel",
            Self::Encrypted => "encrypted",
            Self::Trade => "trade",
        }
    }
}

impl On {
    /// The transport's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Sctp => "sctp",
        }
    }
}

/// Over what a rule looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum On {
    /// The bytes of each direction of a TCP connection.
    Tcp,
    /// UDP datagrams.
    Udp,
    /// SCTP's data.
    Sctp,
}

/// One protocol.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// As users know it, lower case.
    pub name: &'static str,
    /// What it is for; the first is the main one.
    pub groups: &'static [Group],
    /// Ports where it often is. A hint for people and for choosing a parser's first guess; never
    /// a verdict.
    pub ports: &'static [u16],
    /// What identifies it. Any of them is enough.
    pub rules: &'static [Rule],
}

/// One way to identify a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Names the rule in results.
    pub name: &'static str,
    /// Over what it looks.
    pub on: On,
    /// Where rules of several protocols say yes, the one of the lowest rank decides.
    pub rank: u8,
    /// How it looks.
    pub how: How,
}

/// How a rule looks.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// An expression from the first byte on (`flowpin_pattern::own`).
    Pattern(&'static str),
    /// A function, asked only where one of the leads fits.
    Check(&'static [Lead], Check),
}

impl Rule {
    /// The rank of a rule that says nothing about it.
    pub const RANK: u8 = 100;

    /// An expression that begins with the first byte of a direction or datagram.
    pub const fn pattern(name: &'static str, on: On, expression: &'static str) -> Self {
        Self {
            name,
            on,
            rank: Self::RANK,
            how: How::Pattern(expression),
        }
    }

    /// A function, asked where one of `leads` fits.
    pub const fn check(name: &'static str, on: On, leads: &'static [Lead], check: Check) -> Self {
        Self {
            name,
            on,
            rank: Self::RANK,
            how: How::Check(leads, check),
        }
    }

    /// The same rule with another rank: below [`Rule::RANK`] if it is special and others are
    /// general, above if it is weak.
    pub const fn ranked(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }
}
