//! Keywords that are known and not evaluated, by the reason: rules with them are refused.

/// A reason, and the keywords that are refused for it.
#[rustfmt::skip]
pub(crate) static REFUSED: &[(&str, &[&str])] = &[
    ("It runs a script.", &[
        "lua", "luaxform", "luajit",
    ]),
    ("It needs a database of places.", &[
        "geoip",
    ]),
    ("It would change, drop or mark packets.", &[
        "replace", "nfq_set_mark", "config",
    ]),
    ("Variables of packets and connections are not kept.", &[
        "pktvar", "flowvar",
    ]),
    ("Rules do not read DCE/RPC yet.", &[
        "dce_stub_data", "dcerpc.iface", "dcerpc.opnum", "dce_iface", "dcerpc.stub_data",
    ]),
    ("Rules do not read HTTP/2 yet.", &[
        "http2.frametype", "http2.settings", "http2.window", "http2.errorcode",
        "http2.header_name", "http2.priority", "http2.size_update",
    ]),
    ("Rules do not read EtherNet/IP yet.", &[
        "enip_command", "cip_service", "enip.cip_attribute", "enip.cip_class",
        "enip.cip_instance", "enip.cip_status", "enip.device_type", "enip.identity_status",
        "enip.product_code", "enip.product_name", "enip.protocol_version", "enip.revision",
        "enip.serial", "enip.state", "enip.status", "enip.vendor_id", "enip.capabilities",
        "enip.cip_extendedstatus", "enip.service_name",
    ]),
    ("Rules do not read SMB yet.", &[
        "smb_named_pipe", "smb.share", "smb.named_pipe", "smb.ntlmssp_domain", "smb.ntlmssp_user",
        "smb.version",
    ]),
    ("Rules do not read Kerberos yet.", &[
        "krb5_msg_type", "krb5.cname", "krb5.sname", "krb5_err_code", "krb5.ticket_encryption",
    ]),
    ("Rules do not read MQTT yet.", &[
        "mqtt.connect.flags", "mqtt.connect.password", "mqtt.connect.username", "mqtt.flags",
        "mqtt.protocol_version", "mqtt.qos", "mqtt.reason_code", "mqtt.type",
        "mqtt.subscribe.topic", "mqtt.unsubscribe.topic", "mqtt.connack.session_present",
        "mqtt.connect.clientid", "mqtt.connect.protocol_string", "mqtt.connect.willmessage",
        "mqtt.connect.willtopic", "mqtt.publish.message", "mqtt.publish.topic",
    ]),
    ("Rules do not read PostgreSQL yet.", &[
        "pgsql.query",
    ]),
    ("Rules do not read RFB yet.", &[
        "rfb.secresult", "rfb.name", "rfb.sectype",
    ]),
    ("Rules do not read DHCP yet.", &[
        "dhcp.leasetime", "dhcp.rebinding_time", "dhcp.renewal_time",
    ]),
    ("Rules do not read DNP3 yet.", &[
        "dnp3_obj", "dnp3.data", "dnp3_func", "dnp3_ind",
    ]),
    ("Rules do not read MIME yet.", &[
        "email.url",
    ]),
    ("Rules do not read Modbus yet.", &[
        "modbus",
    ]),
    ("Rules do not read NFS yet.", &[
        "nfs_version", "nfs.version", "nfs_procedure",
    ]),
    ("Rules do not read SDP yet.", &[
        "sdp.attribute", "sdp.bandwidth", "sdp.connection_data", "sdp.email",
        "sdp.encryption_key", "sdp.media.connection_data", "sdp.media.encryption_key",
        "sdp.media.media", "sdp.media.media_info", "sdp.origin", "sdp.phone_number",
        "sdp.repeat_time", "sdp.session_info", "sdp.session_name", "sdp.time", "sdp.timezone",
        "sdp.uri",
    ]),
    ("It is an example for developers.", &[
        "template.buffer", "template2",
    ]),
    ("Rules do not read FTP data connections yet.", &[
        "ftpdata_command",
    ]),
    ("Rules do not read IKE yet.", &[
        "ike.chosen_sa_attribute", "ike.exchtype", "ike.init_spi", "ike.key_exchange_payload",
        "ike.key_exchange_payload_length", "ike.nonce_payload", "ike.nonce_payload_length",
        "ike.resp_spi", "ike.vendor",
    ]),
    ("Rules do not read LDAP yet.", &[
        "ldap.request.attribute_type", "ldap.request.dn", "ldap.request.operation",
        "ldap.responses.attribute_type", "ldap.responses.count", "ldap.responses.dn",
        "ldap.responses.message", "ldap.responses.operation", "ldap.responses.result_code",
    ]),
    ("Rules do not read NTP yet.", &[
        "ntp.mode", "ntp.reference_id", "ntp.stratum", "ntp.version",
    ]),
    ("Rules do not read RPC yet.", &[
        "rpc",
    ]),
    ("Rules do not read SNMP yet.", &[
        "snmp.community", "snmp.pdu_type", "snmp.trap_type", "snmp.usm", "snmp.version",
    ]),
    ("Rules do not read WebSocket frames yet.", &[
        "websocket.flags", "websocket.mask", "websocket.opcode", "websocket.payload",
    ]),
    ("It is about how Suricata works inside.", &[
        "app-layer-state", "detect-event",
    ]),
    ("Files have no descriptions for rules yet.", &[
        "file.magic", "filemagic",
    ]),
    ("It is not a transform here yet.", &[
        "domain", "tld",
    ]),
];
