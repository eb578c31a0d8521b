//! Nothing is allocated per piece once pieces and batches have their size.
#![allow(clippy::unwrap_used, reason = "tests")]

use flowpin_handoff::{HandoffOptions, InputEnd, handoff, results};
use flowpin_memory::CountingAllocator;
use flowpin_packet::{PacketMeta, Timestamp};
use std::sync::{Arc, Barrier};
use std::thread;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const WORKERS: usize = 2;
const BATCHES_OUT: usize = 4;

fn send(input: &mut InputEnd, number: u64) {
    let mut parcel = input.take_parcel().unwrap();
    parcel.piece.bytes.resize(4096, 0);
    parcel.piece.len = 4096;
    for worker in 0..WORKERS {
        let batch = &mut parcel.batches[worker];
        for _ in 0..100 {
            batch.metas.push(PacketMeta::default());
        }
        batch.extra.extend_from_slice(&[1; 1000]);
    }
    input.send(parcel, Timestamp(number)).unwrap();
}

/// Promise: no allocation per packet, nor per piece, on either side of the hand-off or of the
/// results' way. Warm-up: all batches are out at once, so that each has grown to its size.
#[test]
fn nothing_is_allocated_per_piece_in_the_steady_state() {
    let (mut input, ends) = handoff(HandoffOptions {
        workers: WORKERS,
        batches_out: BATCHES_OUT,
        ..Default::default()
    });
    let (senders, mut receiver) = results::<Vec<u8>>(WORKERS, 2, Arc::default());
    let all_out = Arc::new(Barrier::new(WORKERS + 1));
    let threads: Vec<_> = ends
        .into_iter()
        .zip(senders)
        .map(|(mut end, mut sender)| {
            let all_out = Arc::clone(&all_out);
            thread::spawn(move || {
                // Results: as many buffers as there can be, all used once.
                let mut buffers = (0..8).map(|_| Vec::with_capacity(100)).collect::<Vec<_>>();
                all_out.wait();
                let mut before = 0;
                while let Some(batch) = end.recv() {
                    if batch.number == 100 {
                        before = CountingAllocator::count_here();
                    }
                    let mut buffer = match sender.empty() {
                        buffer if buffer.capacity() > 0 => buffer,
                        _ => buffers.pop().unwrap(),
                    };
                    buffer.extend_from_slice(&[0; 100]);
                    sender.send(buffer).unwrap();
                    end.give_back(batch);
                }
                CountingAllocator::count_here() - before
            })
        })
        .collect();
    let output = thread::spawn(move || {
        let mut before = 0;
        let mut count = 0;
        while let Some((worker, mut buffer)) = receiver.recv() {
            count += 1;
            if count == 200 {
                before = CountingAllocator::count_here();
            }
            buffer.clear();
            receiver.give_back(worker, buffer);
        }
        CountingAllocator::count_here() - before
    });
    for number in 0..BATCHES_OUT as u64 {
        send(&mut input, number);
    }
    all_out.wait();
    for number in BATCHES_OUT as u64..100 {
        send(&mut input, number);
    }
    let before = CountingAllocator::count_here();
    for number in 100..2000 {
        send(&mut input, number);
    }
    assert_eq!(CountingAllocator::count_here() - before, 0, "at the input");
    input.finish().unwrap();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), 0, "at a worker");
    }
    assert_eq!(output.join().unwrap(), 0, "at the output");
}
