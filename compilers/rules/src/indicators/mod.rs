//! Lists of indicators (addresses, domains, URLs, hashes, fingerprints) as rules of their own: a
//! few for each list, which look its entries up in sets.
//!
//! ```text
//!  list ─► lists: text, CSV, MISP, STIX ─► value: what it is ─► a set for each kind ─► rules
//! ```

mod lists;
mod value;

use crate::Reader;
use crate::compile::{self, Outcome};
use crate::files::given;
use crate::text;
use flowpin_rule::{AddressSet, Asks, Class, Rule, Term, ValueSet};
use lists::List;
use std::path::Path;
use std::sync::Arc;
use value::Indicator;

/// The generator of alerts that indicators make: none of Suricata's or Snort's.
pub(crate) const INDICATOR_GID: u32 = 9000;

/// The entries of a list, by kind.
#[derive(Debug, Default)]
struct Entries {
    networks: Vec<(core::net::IpAddr, u8)>,
    addresses: ValueSet,
    domains: ValueSet,
    urls: ValueSet,
    md5: ValueSet,
    sha1: ValueSet,
    sha256: ValueSet,
    /// SHA-1 of certificates, as records have them.
    certificates: ValueSet,
    ja3: ValueSet,
    ja4: ValueSet,
}

impl Entries {
    fn add(&mut self, one: &Indicator) {
        use core::net::IpAddr::{V4, V6};
        match one {
            Indicator::Network(V4(address), 32) => self.addresses.add(&address.octets(), 0),
            Indicator::Network(V6(address), 128) => self.addresses.add(&address.octets(), 0),
            Indicator::Network(address, prefix) => {
                self.networks.push((*address, *prefix));
                true
            }
            Indicator::Domain(name) => self.domains.add(name.as_bytes(), 0),
            Indicator::Url(url) => self.urls.add(url.as_bytes(), 0),
            Indicator::Md5(hash) => self.md5.add(hash.as_bytes(), 0),
            Indicator::Sha1(hash) => {
                let pairs = hash.as_bytes().chunks(2);
                let certificate = pairs.collect::<Vec<_>>().join(&b':');
                self.certificates.add(&certificate, 0);
                self.sha1.add(hash.as_bytes(), 0)
            }
            Indicator::Sha256(hash) => self.sha256.add(hash.as_bytes(), 0),
            Indicator::Ja3(hash) => self.ja3.add(hash.as_bytes(), 0),
            Indicator::Ja4(print) => self.ja4.add(print.as_bytes(), 0),
        };
    }
}

/// What a rule of indicators looks up: a number, what alerts say, the header's protocol, the
/// options before the lookup, what is asked.
type Form = (u32, &'static str, &'static str, &'static str, Asks);

/// A kind of entries: all of a list, the kind, what is asked, and where: protocols and buffers.
type ByKind<'a> = (
    ValueSet,
    &'static str,
    Asks,
    &'a [(&'static str, &'static str)],
);

/// Of a connection's packets the first.
const FIRST: &str = "flow.pkts:toserver,=1; flow.pkts:toclient,=0; ";

impl Reader {
    /// Reads a list of indicators, and makes rules of it.
    ///
    /// # Errors
    /// The list cannot be read, or has no indicator. Lines that are none are problems.
    pub fn read_indicators(&mut self, path: &Path) -> Result<(), String> {
        let shown = path.display().to_string();
        let text = given(path)?;
        let list = List::read(&text).map_err(|why| format!("{shown}: {why}"))?;
        self.files.push(path.to_owned());
        for (line, why) in &list.wrong {
            self.refuse_line(&shown, (*line, ""), why.clone());
        }
        let untold = list.wrong_count - list.wrong.len() as u64;
        if untold > 0 {
            self.refuse_line(&shown, (1, ""), format!("{untold} more are no indicators"));
        }
        if list.found.is_empty() {
            return Err(format!("{shown}: no indicator could be read"));
        }
        let mut entries = Entries::default();
        list.found.iter().for_each(|one| entries.add(one));
        drop(list);
        self.indicator_lists += 1;
        self.rules_of(&shown, entries);
        Ok(())
    }

    fn rules_of(&mut self, shown: &str, entries: Entries) {
        let networks = AddressSet::networks(entries.networks);
        let number = self.indicator_lists * FORMS_MAX;
        for (to_source, nth) in [(true, 1), (false, 2)] {
            if networks.is_empty() {
                continue;
            }
            let form: Form = (number + nth, "network", "ip", FIRST, Asks::In);
            if let Some(mut rule) = self.rule_of(shown, form, "") {
                let header = &mut rule.header;
                let end = if to_source {
                    &mut header.source
                } else {
                    &mut header.destination
                };
                *end = Arc::new(networks.clone());
                self.rules.push(rule);
            }
        }
        let Entries {
            addresses,
            domains,
            urls,
            md5,
            sha1,
            sha256,
            certificates,
            ja3,
            ja4,
            ..
        } = entries;
        let by_kind: [ByKind<'_>; 9] = [
            (
                addresses,
                "address",
                Asks::In,
                &[("ip", "ip.src"), ("ip", "ip.dst")],
            ),
            (
                domains,
                "domain",
                Asks::Domain,
                &[
                    ("dns", "dns.query"),
                    ("tls", "tls.sni"),
                    ("quic", "quic.sni"),
                    ("http", "http.host"),
                ],
            ),
            (urls, "url", Asks::In, &[("http", "http.url")]),
            (md5, "md5", Asks::In, &[("ip", "file.md5")]),
            (sha1, "sha1", Asks::In, &[("ip", "file.sha1")]),
            (sha256, "sha256", Asks::In, &[("ip", "file.sha256")]),
            (
                certificates,
                "certificate",
                Asks::In,
                &[("tls", "tls.cert_fingerprint")],
            ),
            (
                ja3,
                "ja3",
                Asks::In,
                &[("tls", "ja3.hash"), ("tls", "ja3s.hash")],
            ),
            (
                ja4,
                "ja4",
                Asks::In,
                &[("tls", "ja4.hash"), ("quic", "ja4.hash")],
            ),
        ];
        let mut nth = 2;
        for (set, kind, asks, places) in by_kind {
            let name = format!("#{number}:{kind}");
            let is_empty = set.is_empty();
            self.context.names.sets.give(&name, set);
            for (protocol, buffer) in places {
                nth += 1;
                if is_empty {
                    continue;
                }
                let first = if kind == "address" { FIRST } else { "" };
                let options = format!("{buffer}; dataset:isset,{name}; ");
                let form: Form = (number + nth, kind, protocol, first, asks);
                let rule = self.rule_of(shown, form, &options);
                self.rules.extend(rule);
            }
        }
    }

    /// The rule of a form, as if it stood in the list.
    fn rule_of(&mut self, shown: &str, form: Form, options: &str) -> Option<Rule> {
        let (sid, kind, protocol, first, asks) = form;
        let name = Path::new(shown).file_name()?.to_string_lossy();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name = name.replace(|c| !is_plain(c), "_");
        let text = format!(
            "alert {protocol} any any -> any any (msg:\"Indicator ({kind}) of {name}\"; {first}\
             {options}metadata:indicator {kind}, list {name}; gid:{INDICATOR_GID}; sid:{sid}; \
             rev:1; priority:1;)"
        );
        let file: Arc<str> = Arc::from(shown);
        let source = text::rules(&text).pop()?;
        match compile::rule(&source, &file, &mut self.context) {
            Ok(Outcome::Rule(mut rule)) => {
                rule.class = Arc::new(Class {
                    name: "indicator".to_owned(),
                    text: "Indicator".to_owned(),
                    priority: 1,
                });
                let terms = rule.inspections.iter_mut().flat_map(|one| &mut one.terms);
                for term in terms {
                    if let Term::In(lookup) = term {
                        lookup.asks = asks;
                    }
                }
                Some(*rule)
            }
            Ok(Outcome::LeftOut(why)) => {
                self.refuse_line(shown, (1, ""), why);
                None
            }
            Err(fault) => {
                self.refuse_line(shown, (1, &text), fault.why);
                None
            }
        }
    }
}

/// Numbers of rules between one list and the next.
const FORMS_MAX: u32 = 100;
