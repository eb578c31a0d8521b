//! The papers' way of handing over, as programs that measure it have it (`--cfg flowpin_bench`):
//! one queue for all tests, so a process of its own.
#![cfg(flowpin_bench)]
#![allow(clippy::unwrap_used, reason = "tests")]

use flowpin_handoff::{
    HandoffOptions, Pair, Ticket, TicketReceiver, TicketSender, hand_over_one_by_one, handoff,
};
use flowpin_packet::{PacketMeta, Timestamp};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const PLACES: usize = 4;
/// Ticket numbers that the queue loses from here on.
static LOST: AtomicU64 = AtomicU64::new(u64::MAX);
static PUSHED: AtomicU64 = AtomicU64::new(0);

struct End(Arc<Mutex<VecDeque<Ticket>>>);

impl TicketSender for End {
    fn push(&mut self, ticket: Ticket) -> bool {
        let mut items = self.0.lock().unwrap();
        if items.len() == PLACES {
            return false;
        }
        PUSHED.fetch_add(1, Ordering::Relaxed);
        if ticket[0] != LOST.load(Ordering::Relaxed) {
            items.push_back(ticket);
        }
        true
    }

    fn flush(&mut self) {}
}

impl TicketReceiver for End {
    fn pop(&mut self) -> Option<Ticket> {
        self.0.lock().unwrap().pop_front()
    }

    fn release(&mut self) {}
}

fn queue() -> Pair {
    let items = Arc::<Mutex<VecDeque<Ticket>>>::default();
    (Box::new(End(Arc::clone(&items))), Box::new(End(items)))
}

/// Sends `pieces` pieces of `each` packets to two workers in turn; what each worker got, or none
/// if it gave up.
fn sent(pieces: u64, each: u64) -> Vec<Option<u64>> {
    let options = HandoffOptions {
        workers: 2,
        batches_out: 3,
        ..HandoffOptions::default()
    };
    let (mut input, ends) = handoff(options);
    let threads: Vec<_> = ends
        .into_iter()
        .map(|mut end| {
            std::thread::spawn(move || {
                let mut packets = 0;
                while let Some(batch) = end.recv() {
                    packets += batch.metas.len() as u64;
                    end.give_back(batch);
                }
                packets
            })
        })
        .collect();
    let feed = || {
        for nth in 0..pieces {
            let mut parcel = input.take_parcel()?;
            parcel.piece.len = 0;
            for number in nth * each + 1..=(nth + 1) * each {
                let meta = PacketMeta {
                    number,
                    ..PacketMeta::default()
                };
                let worker = usize::from(number % 2 == 0);
                input.announce(worker, number);
                parcel.batches[worker].metas.push(meta);
            }
            input.send(parcel, Timestamp(nth))?;
        }
        input.finish()
    };
    let _may_fail = feed();
    let ended = threads.into_iter().map(|thread| thread.join().ok());
    ended.collect()
}

/// Pieces have far more packets than the queue has places, and nobody waits for ever; and a queue
/// that loses a ticket is found out.
#[test]
fn every_packet_goes_through_the_queue_and_is_missed_where_it_does_not() {
    hand_over_one_by_one(Box::new(queue));
    assert_eq!(sent(20, 101), [Some(1010), Some(1010)]);
    assert_eq!(PUSHED.load(Ordering::Relaxed), 2020);
    // The last of its worker: those before it would be taken for it otherwise.
    LOST.store(11, Ordering::Relaxed);
    assert_eq!(sent(3, 20)[0], None);
}
