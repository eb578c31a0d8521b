//! Pages and what they are made of.

mod elasticsearch;
mod fastcgi;
mod haproxy;
mod http;
mod http2;
mod http_connect;
mod http_proxy;
mod lines;
mod soap;
mod websocket;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &elasticsearch::PROTOCOL,
    &fastcgi::PROTOCOL,
    &haproxy::PROTOCOL,
    &http::PROTOCOL,
    &http2::PROTOCOL,
    &http_connect::PROTOCOL,
    &http_proxy::PROTOCOL,
    &soap::PROTOCOL,
    &websocket::PROTOCOL,
];
