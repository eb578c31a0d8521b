//! What each source address holds.

use super::index::Index;
use super::pool::NONE;
use super::slot::Key;

/// A source with datagrams under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    address: [u64; 2],
    ipv6: bool,
    next_in_bucket: u32,
    /// Its datagrams, in order of age.
    pub(crate) oldest: u32,
    pub(crate) newest: u32,
    /// What they cost of the memory cap. 0: nobody is here.
    pub(crate) cost: u64,
}

/// The sources.
#[derive(Debug)]
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    free: Vec<u32>,
    index: Index,
    len: usize,
}

impl Hosts {
    pub(crate) fn new(secret: u64) -> Self {
        Self {
            hosts: Vec::new(),
            free: Vec::new(),
            index: Index::new(secret),
            len: 0,
        }
    }

    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        let mut number = self.index.head(&words(key.source, key.ipv6));
        while let Some(host) = self.hosts.get(number as usize) {
            if host.address == key.source && host.ipv6 == key.ipv6 {
                return Some(number);
            }
            number = host.next_in_bucket;
        }
        None
    }

    /// The source of `key`; it is to get a datagram next.
    pub(crate) fn find_or_add(&mut self, key: &Key) -> u32 {
        if let Some(number) = self.find(key) {
            return number;
        }
        self.len = self.len.saturating_add(1);
        if self.index.is_crowded(self.len) {
            self.index.grow();
            let hosts = self.hosts.iter_mut().zip(0u32..);
            for (host, number) in hosts.filter(|(host, _)| host.cost > 0) {
                let words = words(host.address, host.ipv6);
                host.next_in_bucket = self.index.push(&words, number);
            }
        }
        let number = self
            .free
            .pop()
            .unwrap_or_else(|| u32::try_from(self.hosts.len()).unwrap_or(NONE));
        let host = Host {
            address: key.source,
            ipv6: key.ipv6,
            next_in_bucket: self.index.push(&words(key.source, key.ipv6), number),
            oldest: NONE,
            newest: NONE,
            cost: 0,
        };
        match self.hosts.get_mut(number as usize) {
            Some(place) => *place = host,
            None => self.hosts.push(host),
        }
        number
    }

    /// Forgets a source without datagrams.
    pub(crate) fn remove(&mut self, number: u32) {
        let Some(&host) = self.hosts.get(number as usize) else {
            return;
        };
        let words = words(host.address, host.ipv6);
        let mut at = self.index.head(&words);
        if at == number {
            self.index.set_head(&words, host.next_in_bucket);
        }
        while let Some(before) = self.hosts.get_mut(at as usize) {
            if before.next_in_bucket == number {
                before.next_in_bucket = host.next_in_bucket;
                break;
            }
            at = before.next_in_bucket;
        }
        self.free.push(number);
        self.len = self.len.saturating_sub(1);
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Host> {
        self.hosts.get(number as usize)
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Host> {
        self.hosts.get_mut(number as usize)
    }
}

const fn words([high, low]: [u64; 2], ipv6: bool) -> [u64; 3] {
    [high, low, ipv6 as u64]
}
