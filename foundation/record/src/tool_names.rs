//! What Zeek and Suricata call the protocols that identification tells.
//!
//! Their names stand in their formats, so that what was written for their records finds ours:
//! Zeek's are those of its analyzers (`service` in `conn.log`), Suricata's those of `app_proto`. A
//! protocol that a tool does not know has our name there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// One protocol's names.
#[derive(Debug, PartialEq, Eq)]
pub struct ToolNames {
    own: &'static str,
    /// Over streams, and over datagrams.
    zeek: [&'static str; 2],
    suricata: [&'static str; 2],
}

impl ToolNames {
    /// What no protocol has: no names.
    pub const NONE: &'static Self = &same("");

    /// The names of the protocol that has this one here; of one that a user's pattern brings they
    /// are the same everywhere. To be asked once for each protocol of a run: what it makes for an
    /// unknown one stays for as long as the process, and serves all its runs.
    pub fn of(own: &'static str) -> &'static Self {
        static MADE: Mutex<BTreeMap<&str, &ToolNames>> = Mutex::new(BTreeMap::new());
        Self::known(own).unwrap_or_else(|| {
            let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
            made.entry(own)
                .or_insert_with(|| Box::leak(Box::new(same(own))))
        })
    }

    /// Those of a protocol in the table.
    pub fn known(own: &str) -> Option<&'static Self> {
        let place = TABLE.binary_search_by(|names| names.own.cmp(own)).ok()?;
        TABLE.get(place)
    }

    /// The name of the protocol that they are of.
    pub const fn own(&self) -> &'static str {
        self.own
    }

    /// Whether a protocol in the table has this name, here or in Suricata.
    pub fn is_name(name: &str) -> bool {
        TABLE
            .iter()
            .any(|names| names.own == name || names.suricata.contains(&name))
    }

    /// Zeek's, over this IP protocol.
    #[inline]
    pub const fn zeek(&self, ip_protocol: u8) -> &'static str {
        let [stream, datagram] = self.zeek;
        if ip_protocol == UDP { datagram } else { stream }
    }

    /// Suricata's, over this IP protocol.
    #[inline]
    pub const fn suricata(&self, ip_protocol: u8) -> &'static str {
        let [stream, datagram] = self.suricata;
        if ip_protocol == UDP { datagram } else { stream }
    }
}

/// A name that lives as long as the process. Records hold names without owning them and are copied
/// between threads; there are as many of these as the user has patterns in all runs.
pub fn lasting(name: &str) -> &'static str {
    static MADE: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = made.get(name) {
        return name;
    }
    let name: &str = Box::leak(name.to_owned().into_boxed_str());
    made.insert(name);
    name
}

const UDP: u8 = 17;

const fn same(own: &'static str) -> ToolNames {
    row(own, [own; 2], [own; 2])
}

const fn row(own: &'static str, zeek: [&'static str; 2], suricata: [&'static str; 2]) -> ToolNames {
    ToolNames {
        own,
        zeek,
        suricata,
    }
}

/// All protocols, by their names.
#[rustfmt::skip]
static TABLE: &[ToolNames] = &[
    same("9p"),
    same("adb"),
    same("ads"),
    same("aerospike"),
    same("afp"),
    same("aim"),
    same("ajp"),
    same("alicloud"),
    same("amanda"),
    same("amqp"),
    same("arangodb"),
    same("artnet"),
    same("ayiya"),
    same("babel"),
    same("bacnet"),
    same("beanstalkd"),
    same("bfd"),
    same("bgp"),
    same("bitcoin"),
    row("bittorrent", ["bittorrent", "bittorrent"], ["bittorrent", "bittorrent-dht"]),
    same("bjnp"),
    same("bolt"),
    same("c1222"),
    same("capwap"),
    same("cassandra"),
    same("ceph"),
    same("chargen"),
    same("check-mk"),
    same("cip"),
    same("citrix"),
    same("clickhouse"),
    same("coap"),
    same("codesys"),
    same("collectd"),
    same("cpha"),
    same("cups"),
    same("cvs"),
    same("dahua"),
    row("dcerpc", ["dce_rpc", "dce_rpc"], ["dcerpc", "dcerpc"]),
    same("dhcp"),
    same("dhcpv6"),
    same("diameter"),
    same("dicom"),
    same("dict"),
    same("direct-connect"),
    same("discord"),
    same("distcc"),
    same("dlms"),
    row("dnp3", ["dnp3_tcp", "dnp3_udp"], ["dnp3", "dnp3"]),
    same("dns"),
    same("dnscrypt"),
    same("doip"),
    same("drbd"),
    same("drda"),
    same("dropbox"),
    same("dtls"),
    same("dubbo"),
    same("edonkey"),
    same("elasticsearch"),
    same("enip"),
    same("epson"),
    same("esp-udp"),
    same("ethereum"),
    same("ethersbus"),
    same("fastcgi"),
    same("finger"),
    same("fins"),
    same("firebird"),
    same("fix"),
    same("fox"),
    same("ftp"),
    same("ftp-data"),
    same("gamespy"),
    same("gearman"),
    same("gelf"),
    same("geneve"),
    same("git"),
    same("gnutella"),
    same("gopher"),
    same("gpsd"),
    same("graphite"),
    row("gtp", ["gtpv1", "gtpv1"], ["gtp", "gtp"]),
    same("h323"),
    same("hadoop-rpc"),
    same("hana"),
    same("hart-ip"),
    same("hl7"),
    same("hsrp"),
    same("http"),
    row("http-connect", ["http", "http"], ["http", "http"]),
    row("http-proxy", ["http", "http"], ["http", "http"]),
    same("http2"),
    same("iax2"),
    same("icecast"),
    same("ident"),
    same("iec104"),
    same("ignite"),
    same("ike"),
    same("imap"),
    same("irc"),
    same("iscsi"),
    same("java-rmi"),
    same("jdwp"),
    same("kafka"),
    row("kerberos", ["krb_tcp", "krb"], ["krb5", "krb5"]),
    same("knx"),
    same("l2tp"),
    row("ldap", ["ldap_tcp", "ldap_udp"], ["ldap", "ldap"]),
    same("ldp"),
    same("libp2p"),
    same("lifx"),
    same("lisp"),
    row("llmnr", ["dns", "dns"], ["llmnr", "llmnr"]),
    same("lmtp"),
    same("lpd"),
    same("lsp-ping"),
    same("lumberjack"),
    same("m-bus"),
    same("m3ua"),
    same("managesieve"),
    same("mavlink"),
    row("mdns", ["dns", "dns"], ["mdns", "mdns"]),
    same("megaco"),
    same("memcached"),
    same("mgcp"),
    same("miio"),
    same("minecraft"),
    same("mms"),
    same("mndp"),
    same("modbus"),
    same("monero"),
    same("mongodb"),
    same("mpeg-ts"),
    same("mpls-udp"),
    same("mqtt"),
    same("mqtt-sn"),
    same("mssql"),
    same("mumble"),
    same("munin"),
    same("mysql"),
    same("mysqlx"),
    same("nano"),
    same("nat-pmp"),
    same("nats"),
    same("nbd"),
    row("netbios", ["netbios_ssn", "dns"], ["netbios", "netbios"]),
    same("netcode"),
    same("netflow"),
    same("nfs"),
    same("ngap"),
    same("nmea"),
    same("nntp"),
    same("nomachine"),
    same("nsdp"),
    same("nsq"),
    same("ntp"),
    same("ntrip"),
    same("olsr"),
    same("onc-rpc"),
    same("opcua"),
    same("openflow"),
    same("openvpn"),
    same("openwire"),
    same("oracle"),
    same("osc"),
    same("pcworx"),
    same("pfcp"),
    same("pjl"),
    same("pop3"),
    row("postgresql", ["postgresql", "postgresql"], ["pgsql", "pgsql"]),
    same("pptp"),
    same("profinet"),
    same("proxy-protocol"),
    same("ptp"),
    same("pulsar"),
    same("qq"),
    same("quake"),
    same("quic"),
    same("radius"),
    same("radmin"),
    same("raknet"),
    row("rdp", ["rdp", "rdpeudp"], ["rdp", "rdp"]),
    same("redis"),
    same("relp"),
    same("resilio"),
    same("rethinkdb"),
    same("rip"),
    same("ripe-atlas"),
    same("rlogin"),
    same("rmcp"),
    same("rsync"),
    same("rtcp"),
    same("rtmp"),
    same("rtp"),
    same("rtp-midi"),
    same("rtps"),
    same("rtsp"),
    same("rxrpc"),
    same("s1ap"),
    same("s7comm"),
    same("sacn"),
    same("samp"),
    same("sap"),
    same("sap-router"),
    same("sbs-1"),
    same("scgi"),
    same("sd-rtn"),
    same("sflow"),
    same("sigtran"),
    same("sip"),
    same("skinny"),
    same("slmp"),
    same("slp"),
    row("smb1", ["smb", "smb"], ["smb", "smb"]),
    row("smb2", ["smb", "smb"], ["smb", "smb"]),
    same("smpp"),
    same("smtp"),
    same("snmp"),
    row("soap", ["http", "http"], ["http", "http"]),
    same("socketcan"),
    same("socks"),
    same("softether"),
    same("someip"),
    same("sonos"),
    same("source-engine"),
    same("spice"),
    same("splunk"),
    same("spotify"),
    same("srt"),
    same("ssdp"),
    same("ssh"),
    same("sstp"),
    same("statsd"),
    same("steam"),
    same("stomp"),
    same("stratum"),
    same("stun"),
    same("svn"),
    same("synchrophasor"),
    same("syncthing"),
    same("synology"),
    same("syslog"),
    same("tacacs"),
    same("tailscale"),
    same("tarantool"),
    same("tcpcl"),
    same("teamspeak"),
    same("teamviewer"),
    same("teeworlds"),
    same("telegram"),
    same("telnet"),
    same("teredo"),
    same("tftp"),
    same("thrift"),
    same("tinc"),
    same("tivo"),
    row("tls", ["ssl", "ssl"], ["tls", "tls"]),
    same("tplink"),
    same("tuya"),
    same("tzsp"),
    same("ubiquiti"),
    same("uftp"),
    same("usbip"),
    same("uwsgi"),
    same("viber"),
    row("vnc", ["rfb", "rfb"], ["rfb", "rfb"]),
    same("vtun"),
    same("vxlan"),
    same("wake-on-lan"),
    same("warp"),
    same("wccp"),
    same("websocket"),
    same("whatsapp"),
    same("whois"),
    same("wireguard"),
    same("wiz"),
    same("world-of-warcraft"),
    same("ws-discovery"),
    same("x11"),
    same("x2ap"),
    same("xdmcp"),
    row("xmpp", ["xmpp", "xmpp"], ["jabber", "jabber"]),
    same("zabbix"),
    same("zep"),
    same("zmtp"),
    same("zookeeper"),
    same("zoom"),
    same("zug"),
];

#[cfg(test)]
mod tests {
    use super::{TABLE, ToolNames};

    /// It is searched by halves.
    #[test]
    fn the_table_is_in_order() {
        assert!(TABLE.is_sorted_by(|a, b| a.own < b.own));
    }

    /// The names are those of the tools, by transport where theirs are.
    #[test]
    fn names_are_the_tools() {
        let (tcp, udp) = (6, 17);
        let zeek = |own, over| ToolNames::of(own).zeek(over);
        assert_eq!(zeek("tls", tcp), "ssl");
        assert_eq!(
            (zeek("ldap", tcp), zeek("ldap", udp)),
            ("ldap_tcp", "ldap_udp")
        );
        assert_eq!(
            (zeek("kerberos", tcp), zeek("kerberos", udp)),
            ("krb_tcp", "krb")
        );
        assert_eq!((zeek("mdns", udp), zeek("dcerpc", tcp)), ("dns", "dce_rpc"));
        let suricata = |own, over| ToolNames::of(own).suricata(over);
        assert_eq!(
            (suricata("tls", tcp), suricata("smb2", tcp)),
            ("tls", "smb")
        );
        assert_eq!(suricata("bittorrent", udp), "bittorrent-dht");
        assert_eq!(
            (suricata("postgresql", tcp), suricata("kerberos", udp)),
            ("pgsql", "krb5")
        );
        assert_eq!(
            (zeek("of-a-pattern", tcp), suricata("of-a-pattern", udp)),
            ("of-a-pattern", "of-a-pattern")
        );
    }
}
