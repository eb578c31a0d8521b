//! Variables of addresses and ports, and what headers make of them.

use crate::header::{Known, addresses, ports};
use crate::option::Word;
use flowpin_rule::{AddressSet, PortSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Variables by their names, without the dollar sign.
#[derive(Clone, Debug)]
pub struct Variables {
    texts: BTreeMap<String, String>,
    /// What was made of a text: most rules have the same few.
    pub(crate) known: Known,
}

impl Default for Variables {
    /// Those that rule sets use, as Suricata's settings have them.
    fn default() -> Self {
        let texts = DEFAULTS.iter();
        let texts = texts.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            texts: texts.collect(),
            known: Known::default(),
        }
    }
}

impl Variables {
    /// Gives a variable a value: addresses or ports, as headers have them.
    pub fn set(&mut self, name: &str, value: &str) {
        let name = name.trim_start_matches('$');
        self.texts.insert(name.to_owned(), value.trim().to_owned());
        self.known = Known::default();
    }

    /// What a variable stands for.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// Checks that a value can be addresses or ports.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&mut self, name: &str) -> Result<(), String> {
        let value = self.get(name.trim_start_matches('$'));
        let value = value.unwrap_or_default().to_owned();
        let word = Word {
            text: &value,
            at: 0,
        };
        let as_addresses: Result<Arc<AddressSet>, _> = addresses(word, self);
        let Err(why) = as_addresses else {
            return Ok(());
        };
        let as_ports: Result<Arc<PortSet>, _> = ports(word, self);
        as_ports.map(|_| ()).map_err(|_| why.why)
    }
}

/// Variables of rule sets, and what they stand for unless said otherwise.
pub const DEFAULTS: &[(&str, &str)] = &[
    ("HOME_NET", "[192.168.0.0/16,10.0.0.0/8,172.16.0.0/12]"),
    ("EXTERNAL_NET", "!$HOME_NET"),
    ("HTTP_SERVERS", "$HOME_NET"),
    ("SMTP_SERVERS", "$HOME_NET"),
    ("SQL_SERVERS", "$HOME_NET"),
    ("DNS_SERVERS", "$HOME_NET"),
    ("TELNET_SERVERS", "$HOME_NET"),
    ("SSH_SERVERS", "$HOME_NET"),
    ("FTP_SERVERS", "$HOME_NET"),
    ("SIP_SERVERS", "$HOME_NET"),
    ("AIM_SERVERS", "$EXTERNAL_NET"),
    ("DC_SERVERS", "$HOME_NET"),
    ("DNP3_SERVER", "$HOME_NET"),
    ("DNP3_CLIENT", "$HOME_NET"),
    ("MODBUS_CLIENT", "$HOME_NET"),
    ("MODBUS_SERVER", "$HOME_NET"),
    ("ENIP_CLIENT", "$HOME_NET"),
    ("ENIP_SERVER", "$HOME_NET"),
    ("HTTP_PORTS", "80"),
    ("SHELLCODE_PORTS", "!80"),
    ("ORACLE_PORTS", "1521"),
    ("SSH_PORTS", "22"),
    ("TELNET_PORTS", "23"),
    ("MAIL_PORTS", "[25,110,143]"),
    ("DNP3_PORTS", "20000"),
    ("MODBUS_PORTS", "502"),
    ("FILE_DATA_PORTS", "[$HTTP_PORTS,110,143]"),
    ("FTP_PORTS", "21"),
    ("SIP_PORTS", "[5060,5061,5600]"),
    ("GENEVE_PORTS", "6081"),
    ("VXLAN_PORTS", "4789"),
    ("TEREDO_PORTS", "3544"),
];
