//! The examples, by what their protocols are for.

use super::By::{self, Client, Datagram, Server};
use super::Example;

const ANY: u16 = 50_001;

#[rustfmt::skip]
pub(super) const EXAMPLES: &[Example] = &[
    // Web.
    example("http", Client, ANY, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n", (13, b'7')),
    example("http", Server, ANY, b"HTTP/1.1 200 OK\r\n\r\n", (9, b'x')),
    example("http-connect", Client, ANY, b"CONNECT a.example:443 HTTP/1.1\r\n\r\n", (26, b'P')),
    example("http-proxy", Client, ANY, b"GET http://a.example/ HTTP/1.1\r\n\r\n", (9, b'x')),
    example("http2", Client, ANY, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (18, b'X')),
    example("http2", Server, ANY, b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64", (10, 0x70)),
    example(
        "websocket", Server, ANY,
        b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZ\r\n\r\n",
        (34, b'X'),
    ),
    example("soap", Client, ANY, b"POST /s HTTP/1.1\r\nSOAPAction: \"x\"\r\n\r\n", (18, b'T')),
    example("fastcgi", Client, ANY, b"\x01\x01\0\x01\0\x08\0\0\0\x01\0\0\0\0\0\0", (9, 7)),
    example("elasticsearch", Client, ANY, b"ES\0\0\0\x30\0\0\0\0\0\0\0\x01\x08\0\x6b", (2, 0xff)),
    example("proxy-protocol", Client, ANY, b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", (9, b'5')),
    example("proxy-protocol", Client, ANY, b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c", (12, 0x31)),
    // Mail and talk.
    example("smtp", Server, ANY, b"220 mail.example ESMTP\r\n", (0, b'3')),
    example("smtp", Client, ANY, b"EHLO a.example\r\n", (1, b'X')),
    example("pop3", Server, ANY, b"+OK POP3 ready\r\n", (1, b'X')),
    example("pop3", Client, ANY, b"CAPA\r\n", (0, b'X')),
    example("imap", Server, ANY, b"* OK [CAPABILITY IMAP4rev1] ready\r\n", (2, b'X')),
    example("imap", Client, ANY, b"a1 CAPABILITY\r\n", (3, b'X')),
    example("nntp", Server, ANY, b"200 news.example NNTP service\r\n", (2, b'7')),
    example("irc", Client, ANY, b"NICK me\r\nUSER me 0 * :Me\r\n", (1, b'X')),
    example("irc", Server, ANY, b":irc.example NOTICE * :hi\r\n", (0, b';')),
    example(
        "xmpp", Client, ANY,
        b"<?xml version='1.0'?><stream:stream to='a' xmlns='jabber:client'>",
        (22, b'X'),
    ),
    example("whatsapp", Client, ANY, b"WA\x06\x03\0\0\x24", (2, 0x70)),
    // Files.
    example("ftp", Server, ANY, b"220 FTP ready\r\n", (0, b'3')),
    example(
        "ftp-data", Server, ANY,
        b"-rw-r--r--    1 0        0     4 Jan 01 00:00 a\r\n",
        (3, b'q'),
    ),
    example("smb2", Client, ANY, b"\0\0\0\x66\xfeSMB\x40\0\x01\0\0\0\0\0", (8, 0x41)),
    example("smb1", Client, ANY, b"\0\0\0\x54\xffSMB\x72\0\0\0\0", (5, b'T')),
    example(
        "afp", Client, ANY,
        b"\0\x04\0\x01\0\0\0\0\0\0\0\x06\0\0\0\0\x01\x04\0\0\x04\0",
        (12, 1),
    ),
    example("rsync", Server, ANY, b"@RSYNCD: 31.0\n", (3, b'X')),
    example("git", Client, ANY, b"0032git-upload-pack /a.git\0host=a\0", (4, b'h')),
    example("tftp", Datagram, ANY, b"\0\x01a.bin\0octet\0", (8, b'x')),
    example(
        "nfs", Datagram, ANY,
        b"\x01\x02\x03\x04\0\0\0\0\0\0\0\x02\0\x01\x86\xa3\0\0\0\x03\0\0\0\x01\0\0\0\0\0\0\
            \0\0\0\0\0\0\0\0\0\0",
        (15, 0xa9),
    ),
    // Names and addresses.
    example(
        "mdns", Datagram, 5353,
        b"\0\0\0\0\0\x01\0\0\0\0\0\0\x05_http\x04_tcp\x05local\0\0\x0c\0\x01",
        (5, 2),
    ),
    example("llmnr", Datagram, 5355, b"\x12\x34\0\0\0\x01\0\0\0\0\0\0\x02pc\0\0\x01\0\x01", (5, 2)),
    example(
        "netbios", Datagram, ANY,
        b"\x12\x34\x01\x10\0\x01\0\0\0\0\0\0\x20CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\0\0\x21\0\
            \x01",
        (20, b'z'),
    ),
    example(
        "ssdp", Datagram, ANY,
        b"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n\r\n",
        (2, b'X'),
    ),
    example("slp", Datagram, ANY, b"\x02\x01\0\0\x12\0\0\0\0\0\0\x01\0\x02en\0\0", (4, 0x13)),
    example("whois", Server, ANY, b"% IANA WHOIS server\n", (2, b'X')),
    example("nat-pmp", Datagram, 5351, b"\0\0", (1, 9)),
    // Access.
    example(
        "kerberos", Datagram, ANY,
        b"\x6a\x20\x30\x1e\xa1\x03\x02\x01\x05\xa2\x03\x02\x01\x0a",
        (8, 4),
    ),
    example("ldap", Client, ANY, b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\0\x80\0", (9, 7)),
    example(
        "radius", Datagram, ANY,
        b"\x01\x07\0\x1a0123456789abcdef\x01\x03a\x04\x03b",
        (3, 0x1b),
    ),
    example("tacacs", Client, ANY, b"\xc0\x01\x01\0\x12\x34\x56\x78\0\0\0\x20", (2, 7)),
    // Screens and shells.
    example("telnet", Server, ANY, b"\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23", (3, 0x41)),
    example("rdp", Client, ANY, b"\x03\0\0\x13\x0e\xe0\0\0\0\0\0\x01\0\x08\0\x03\0\0\0", (13, 9)),
    example("vnc", Server, ANY, b"RFB 003.008\n", (7, b';')),
    example("radmin", Client, ANY, b"\x01\0\0\0\x01\0\0\0\x08\x08", (9, 7)),
    example("citrix", Server, ANY, b"\x7f\x7fICA\0", (4, b'B')),
    // Media.
    example("stun", Datagram, ANY, b"\0\x01\0\0\x21\x12\xa4\x42abcdefghijkl", (6, 0xa5)),
    example("rtcp", Datagram, ANY, b"\x80\xc8\0\x06abcd0123456789abcdefghij", (3, 5)),
    example("sip", Datagram, ANY, b"INVITE sip:a@b SIP/2.0\r\n", (7, b'x')),
    example("rtsp", Client, ANY, b"OPTIONS rtsp://a/ RTSP/1.0\r\n", (9, b'x')),
    example("megaco", Datagram, ANY, b"!/1 [192.0.2.1]:2944 T=1{}", (1, b'x')),
    example("mgcp", Datagram, ANY, b"CRCX 1 a@b MGCP 1.0\r\n", (11, b'X')),
    example("skinny", Client, 2000, b"\x14\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", (1, 0x99)),
    example(
        "discord", Datagram, ANY,
        &[
            0, 1, 0, 0x46, 0, 0, 0xac, 0xe3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        ],
        (3, 0x45),
    ),
    example("spotify", Datagram, ANY, b"SpotUdp0\x01\x02", (4, b'T')),
    example(
        "sd-rtn", Datagram, ANY,
        b"\0\x60\x2d\x94\0\0\x21\0\0\0\0\0\x04SNI\0\x1c\0edge",
        (14, b'M'),
    ),
    // Encrypted and tunnels.
    example("tls", Server, ANY, b"\x15\x03\x03\0\x02\x02\x28", (1, 4)),
    example("dtls", Datagram, ANY, b"\x16\xfe\xfd\0\0\0\0\0\0\0\0\0\x04\x01\0\0\0", (1, 0xfc)),
    example("openvpn", Datagram, ANY, b"\x38abcdefgh\0\0\0\0\0", (9, 1)),
    example(
        "ike", Datagram, ANY,
        b"abcdefgh\0\0\0\0\0\0\0\0\x21\x20\x22\x08\0\0\0\0\0\0\0\x1c",
        (27, 0x1d),
    ),
    example("tinc", Client, ANY, b"0 me 17\n", (6, b'8')),
    example("socks", Client, 1080, b"\x04\x01\0\x50\x5d\xb8\xd8\x77\0", (8, 1)),
    example("pptp", Client, ANY, b"\0\x9c\0\x01\x1a\x2b\x3c\x4d", (7, 0x4e)),
    // Databases.
    example("postgresql", Client, ANY, b"\0\0\0\x08\x04\xd2\x16\x2f", (7, 0x2e)),
    example("mysql", Server, ANY, b"\x4a\0\0\0\x0a8.0.36\0\x08\0\0\0", (4, 9)),
    example("mssql", Client, ANY, b"\x12\x01\0\x2f\0\0\0\0\0\0\x1a\0\x06\x01\0\x20", (12, 7)),
    example(
        "mongodb", Client, ANY,
        b"\x3a\0\0\0\x01\0\0\0\0\0\0\0\xd4\x07\0\0\0\0\0\0admin.$cmd\0",
        (12, 0xdf),
    ),
    example("cassandra", Client, ANY, b"\x04\0\0\0\x05\0\0\0\0", (8, 1)),
    example("redis", Client, ANY, b"*1\r\n$4\r\nPING\r\n", (4, b'%')),
    example("drda", Client, ANY, b"\0\x26\xd0\x41\0\x01\0\x20\x10\x41", (7, 0x21)),
    example("oracle", Client, ANY, b"\0\x3a\0\0\x01\0\0\0\x01\x39\x01\x2c\0\0", (9, 0xff)),
    example("memcached", Client, ANY, b"set k 0 0 1\r\n", (3, b'x')),
    // Messages between services.
    example("kafka", Client, ANY, b"\0\0\0\x10\0\x12\0\0\0\0\0\x01\0\x02ab\0\0\0\0", (5, 0x7f)),
    example("amqp", Client, ANY, b"AMQP\0\0\x09\x01", (3, b'Q')),
    example("openwire", Client, ANY, b"\0\0\0\xda\x01ActiveMQ\0\0", (5, b'B')),
    example("gearman", Client, ANY, b"\0REQ\0\0\0\x01\0\0\0\x02wc", (3, b'R')),
    example("nats", Server, ANY, b"INFO {\"server_id\":\"a\"}\r\n", (5, b'[')),
    example("dcerpc", Client, ANY, b"\x05\0\x0b\x03\x10\0\0\0\x48\0\0\0\x01\0\0\0", (5, 1)),
    example(
        "smpp", Client, ANY,
        b"\0\0\0\x20\0\0\0\x02\0\0\0\0\0\0\0\x01ab\0c\0\0\x34\0\0\0",
        (7, 0x77),
    ),
    // Plants, buildings, things.
    example("dnp3", Client, ANY, b"\x05\x64\x05\xc0\x01\0\0\x04\xe9\x21", (4, 2)),
    example("modbus", Client, 502, b"\0\x01\0\0\0\x06\x01\x03\0\0\0\x0a", (2, 1)),
    example("iec104", Client, ANY, b"\x68\x04\x07\0\0\0", (2, 0x0f)),
    example(
        "s7comm", Client, ANY,
        b"\x03\0\0\x19\x02\xf0\x80\x32\x01\0\0\0\0\0\x08\0\0\xf0",
        (7, 0x33),
    ),
    example("mms", Client, ANY, b"\x03\0\0\x20\x02\xf0\x80\x01\0\x01\0\x61\x10", (11, 0x62)),
    example(
        "enip", Client, ANY,
        b"\x65\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0",
        (2, 5),
    ),
    example(
        "cip", Datagram, ANY,
        b"\x02\0\x02\x80\x08\0\x78\x7b\x3a\0\0\0\0\0\xb1\0\x02\0\x01\x02",
        (16, 3),
    ),
    example("opcua", Client, ANY, b"HELF\x20\0\0\0\0\0\0\0\0\0\x01\0", (3, b'G')),
    example(
        "ads", Client, ANY,
        b"\0\0\x20\0\0\0\x05\x0d\x75\x60\x01\x01\x10\x27\xc0\xa8\x01\x63\x01\x01\x03\x80\
            \x04\0\x04\0\0\0\0\0",
        (26, 1),
    ),
    example("hart-ip", Datagram, ANY, b"\x01\0\0\0\0\x02\0\x0d\x01\0\0\x75\x30", (7, 0x0e)),
    example("bacnet", Datagram, ANY, b"\x81\x0b\0\x0c\x01\x20\xff\xff\0\xff\x10\x08", (4, 2)),
    example("knx", Datagram, ANY, b"\x06\x10\x02\x03\0\x0e\x08\x01\0\0\0\0\0\0", (5, 0x0f)),
    example(
        "c1222", Datagram, ANY,
        b"\x60\x12\xa2\x07\x06\x05\x60\x7c\x86\xf7\x54\xa4\x03\x02\x01\x02\xa8\0",
        (5, 4),
    ),
    example("socketcan", Datagram, ANY, b"ISO11898\x01\x02", (7, b'9')),
    example("someip", Datagram, ANY, b"\x01\x01\0\x09\0\0\0\x08\0\0\0\x05\x01\x01\0\0", (12, 2)),
    example("coap", Datagram, 5683, b"\x40\x01\x12\x34\xb4test", (1, 0x1d)),
    example("mqtt", Client, ANY, b"\x10\x11\0\x04MQTT\x04\x02\0\x3c\0\x05abcde", (5, b'R')),
    example(
        "tplink", Datagram, ANY,
        b"\xd0\xf2\x81\xf8\x8b\xff\x9a\xf7\xd5\xef\x94\xb6",
        (1, 0x01),
    ),
    // Management and measurement.
    example(
        "rmcp", Datagram, ANY,
        b"\x06\0\xff\x07\0\0\0\0\0\0\0\0\0\x09\x20\x18\xc8\x81\0\x38\x8e\x04\xb5",
        (13, 8),
    ),
    example(
        "capwap", Datagram, ANY,
        b"\0\x10\x02\0\0\0\0\0\0\0\0\x01\0\0\x0b\0\0\x14\0\x01\0\0\x25\0",
        (14, 9),
    ),
    example("openflow", Client, ANY, b"\x04\0\0\x10\0\0\0\x01\0\x01\0\x08\0\0\0\x10", (9, 2)),
    example("gtp", Datagram, 2123, b"\x32\x01\0\x04\0\0\0\0\0\x01\0\0", (3, 5)),
    example("syslog", Datagram, ANY, b"<34>Oct 11 22:14:15 host su: x", (4, b'X')),
    example(
        "netflow", Datagram, ANY,
        b"\0\x09\0\x01\0\0\0\x01\x60\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0c\x01\0\0\x08\0\x01\0\
            \x04",
        (2, 1),
    ),
    example(
        "sflow", Datagram, ANY,
        b"\0\0\0\x05\0\0\0\x01\xc0\0\x02\x01\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0",
        (7, 3),
    ),
    example("munin", Server, ANY, b"# munin node at a\n", (2, b'M')),
    example("ripe-atlas", Datagram, ANY, b"MGLNDD_192.0.2.1_1", (6, b'-')),
    example(
        "ntp", Datagram, 123,
        &[
            0x23, 0, 6, 0xec, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
        ],
        (1, 99),
    ),
    example(
        "snmp", Datagram, ANY,
        b"\x30\x1a\x02\x01\x01\x04\x06public\xa0\x0d\x02\x01\x01\x02\x01\0\x02\x01\0\x30\
            \x02\x05\0",
        (1, 0x1b),
    ),
    // Routers.
    example(
        "bgp", Client, ANY,
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\x13\x04",
        (15, 0xfe),
    ),
    example("hsrp", Datagram, 1985, b"\0\0\x08\x03\x0a\x64\x01\0cisco\0\0\0\xc0\0\x02\x01", (2, 3)),
    example(
        "cpha", Datagram, 8116,
        b"\x1a\x90\x0c\x31\x27\x85\0\x01\0\x16\x79\x3e\0\x01\xff\xfe",
        (7, 0xff),
    ),
    // Peers, ledgers, games, trade.
    example("bittorrent", Client, ANY, b"\x13BitTorrent protocol\0\0", (1, b'C')),
    example(
        "bittorrent", Datagram, ANY,
        b"d1:ad2:id20:abcdefghijklmnopqrste1:q4:ping1:t2:aa1:y1:qe",
        (4, b'b'),
    ),
    example("gnutella", Client, ANY, b"GNUTELLA CONNECT/0.6\r\n", (0, b'H')),
    example("bitcoin", Client, ANY, b"\xf9\xbe\xb4\xd9version\0\0\0\0\0\x55\0\0\0", (5, b'E')),
    example("stratum", Client, ANY, b"{\"id\":1,\"method\":\"mining.subscribe\"}\n", (19, b'n')),
    example("monero", Client, ANY, b"\x01\x21\x01\x01\x01\x01\x01\x01\x06\x01", (3, 2)),
    example(
        "raknet", Datagram, ANY,
        b"\x05\0\xff\xff\0\xfe\xfe\xfe\xfe\xfd\xfd\xfd\xfd\x12\x34\x56\x78\x06",
        (16, 0x79),
    ),
    example("fix", Client, ANY, b"8=FIX.4.4\x019=62\x0135=A\x01", (10, b'8')),
    example("hl7", Client, ANY, b"\x0bMSH|^~\\&|A|B", (4, b'/')),
    example("tivo", Datagram, ANY, b"tivoconnect=1\nswversion=1", (12, b'7')),
    example(
        "rxrpc", Datagram, 7000,
        b"\xd7\x0f\xb3\x30\x5c\x22\x4f\xb0\0\0\0\x01\0\0\0\x01\0\0\0\x01\x01\x05\0\0\0\0\0\
            \x01",
        (20, 99),
    ),
    example("zug", Datagram, ANY, b"\0\x7a\x55\x47\x10\0\0\0\0\0\0\0\0\0\0\0", (3, 0x48)),
    example("sonos", Datagram, ANY, b"\0\x13\x59\x84\0\0\0\0\xfc", (3, 0x85)),
    example("alicloud", Client, ANY, b"\xce\xfa\xbe\xba\x80\0\0\0", (3, 0xbb)),
    example(
        "uftp", Datagram, ANY,
        b"\x40\x01\0\0\x0a\0\0\x01\x96\xf4\xc3\x04\0\x9d\0\0\x01\x06\0\x14\0\0\0\0\0\0\0\0\
            \0\0\0\0\0\0\0\0\0\0\0\0",
        (16, 2),
    ),
];

const fn example(
    name: &'static str,
    by: By,
    port: u16,
    bytes: &'static [u8],
    miss: (usize, u8),
) -> Example {
    Example {
        name,
        by,
        port,
        bytes,
        miss,
    }
}
