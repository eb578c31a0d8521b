//! Copying a packet: ICS'09, section 3.5 and Table 3.

use super::{ICS09, ICS09_MACHINE};
use crate::lab::Lab;
use crate::table::{Cell, Figure, Table};
use anyhow::Result;
use flowpin_cpu::{TscRate, prefetch, thread_cpu_time};
use std::hint::black_box;

/// Bytes of a packet: the smallest, File-1's, the parser paper's File-1's, the largest.
const LENS: [usize; 4] = [64, 186, 764, 1500];

/// A source that no cache holds, and one that the first holds.
const PLACES: [(&str, usize); 2] = [("from memory", 64 << 20), ("from cache", 16 << 10)];

/// What their packet of 186 bytes cost, optimised (Table 3).
const THEIRS: (usize, f64) = (186, 440.0);

/// A copy of one packet; the third argument is what comes next.
type Copy = fn(&[u8], &mut [u8], &[u8]);

const WAYS: [(&str, Copy); 3] = [
    ("library", |from, to, _| to.copy_from_slice(from)),
    ("unrolled, prefetched", unrolled),
    ("handed over", |from, to, _| {
        // A descriptor instead of the bytes: where they are and how many.
        if let Some((place, _)) = to.split_first_chunk_mut() {
            *place = (from.as_ptr() as usize ^ from.len()).to_le_bytes();
        }
    }),
];

/// The paper's: wide loads and stores, four at a time, and the next packet asked for.
fn unrolled(from: &[u8], to: &mut [u8], next: &[u8]) {
    prefetch::read_at(next, 0);
    prefetch::read_at(next, 64);
    let (from, rest) = from.as_chunks::<64>();
    let (to, end) = to.as_chunks_mut::<64>();
    for (from, to) in from.iter().zip(to) {
        *to = *from;
    }
    end.copy_from_slice(rest);
}

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "memcpy",
        "Copying a packet, or not",
        &format!(
            "{ICS09}, section 3.5 and Table 3 ({ICS09_MACHINE}): 440 cycles for a packet of \
             File-1. Flowpin copies no packet: threads hand over where it lies."
        ),
        "bytes, where from",
    )
    .theirs("SSE, unrolled", "cycles");
    for (way, _) in WAYS {
        table = table.ours(way, "cycles");
    }
    let mut table = table.draw(&[0, 1, 2, 3]);
    let rate = TscRate::measure().per_second();
    let (packets, rounds) = if lab.extent.quick {
        (500, 1)
    } else {
        (200_000, lab.extent.rounds)
    };
    for (place, bytes) in PLACES {
        let source = vec![1_u8; bytes];
        for len in LENS {
            let mut cells: Vec<Cell> = vec![
                Some(THEIRS.1)
                    .filter(|_| len == THEIRS.0 && bytes > 1 << 20)
                    .into(),
            ];
            for (_, copy) in WAYS {
                let seconds = lab.watched(|| {
                    let rounds = 0..rounds;
                    Ok(rounds
                        .map(|_| seconds_each(copy, &source, len, packets))
                        .collect())
                })?;
                cells.push(Figure::of(seconds).map(|figure| figure.times(rate)).into());
            }
            table.row(&format!("{len}, {place}"), cells);
        }
    }
    table.note(
        "A cycle of ours is a tick of the time stamp counter. The compiler makes the unrolled loop \
         of the widest loads that every x86-64 processor has.",
    );
    Ok(table)
}

/// Seconds for one packet of `len` bytes, in order through the source.
fn seconds_each(copy: Copy, source: &[u8], len: usize, packets: u32) -> f64 {
    let mut to = vec![0_u8; 2048];
    let start = thread_cpu_time();
    let mut at = 0;
    for _ in 0..packets {
        let next = if at + 2 * len <= source.len() {
            at + len
        } else {
            0
        };
        if let (Some(from), Some(then), Some(to)) = (
            source.get(at..at + len),
            source.get(next..next + len),
            to.get_mut(..len),
        ) {
            copy(black_box(from), to, then);
            black_box(to);
        }
        at = next;
    }
    (thread_cpu_time() - start).as_secs_f64() / f64::from(packets)
}
