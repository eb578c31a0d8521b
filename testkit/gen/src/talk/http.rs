//! HTTP/1.1 (RFC 9112): requests without a body, answers with a length or in chunks.

use super::{Dialogue, Piece, Step};
use crate::options::{Options, Service};

/// Several browsers and sites; header length as asked.
pub(super) fn dialogues(options: &Options) -> Vec<Dialogue> {
    let ways = SITES.iter().zip(BROWSERS.iter().cycle());
    let ways = ways.map(|(site, browser)| dialogue(site, browser, options.header_len));
    ways.collect()
}

const SITES: [(&str, &str); 7] = [
    ("www.example.com", "/index.html"),
    ("static.example.com", "/lib/4.1/site.js"),
    ("news.example.org", "/world/2024/01/17/ports"),
    ("img.example.net", "/thumb/a8/22/harbour.bin?w=320"),
    ("api.example.org", "/v2/items?offset=40&limit=20"),
    ("mirror.example.edu", "/pub/release/12.4/list.txt"),
    ("forum.example.net", "/t/81733/page-3"),
];

const BROWSERS: [&str; 3] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36",
    "curl/8.5.0",
];

fn dialogue(site: &(&str, &str), browser: &str, header_len: Option<u32>) -> Dialogue {
    let (host, path) = site;
    let request = header(
        &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {browser}\r\nAccept: */*\r\n"),
        "",
        header_len,
    );
    let (identity, length_len) = ("Content-Length: ", 4);
    let answer = "HTTP/1.1 200 OK\r\nServer: web\r\nContent-Type: application/octet-stream\r\n";
    let with_length = header(answer, identity, shorter(header_len, length_len));
    let chunked = header(answer, "Transfer-Encoding: chunked\r\n\r\n", header_len);
    let mut request = request;
    request.push_str("\r\n");
    let steps = vec![
        Step::client(vec![Piece::text(request)]).with_header(1),
        Step::server(vec![
            Piece::text(with_length),
            Piece::BodyLen,
            Piece::text("\r\n\r\n"),
            Piece::Body,
        ])
        .with_header(3),
    ];
    let mut dialogue = Dialogue::new(Service::Http, 80, Vec::new(), steps, Vec::new());
    let alternative = Step::server(vec![
        Piece::text(chunked),
        Piece::WholeChunks,
        Piece::LastChunkSize,
        Piece::LastChunk,
        Piece::text("0\r\n\r\n"),
    ])
    .with_header(1);
    let at = u16::try_from(dialogue.steps.len()).ok();
    if let Some(answer) = dialogue.steps.last_mut() {
        answer.chunked = at;
    }
    dialogue.steps.push(alternative);
    dialogue.turn_segments = 8;
    dialogue
}

fn shorter(header_len: Option<u32>, by: usize) -> Option<u32> {
    header_len.map(|len| len.saturating_sub(u32::try_from(by).unwrap_or(0)))
}

/// Header lines of about the wanted length: one more line fills up what is lacking.
fn header(start: &str, end: &str, wanted: Option<u32>) -> String {
    let mut text = start.to_owned();
    let is_len = text.len() + end.len() + 2;
    let lacking = (wanted.unwrap_or(0) as usize).saturating_sub(is_len + FILLER.len() + 2);
    if lacking > 0 {
        text.push_str(FILLER);
        text.extend(COOKIE.chars().cycle().take(lacking));
        text.push_str("\r\n");
    }
    text.push_str(end);
    text
}

const FILLER: &str = "X-Trace: ";
const COOKIE: &str = "sid=7f3a9c2e41d8; theme=plain; path=north.gate; seen=0412; ";
