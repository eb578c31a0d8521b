//! The hand-off on real threads: complete, in order, and never stuck, whoever is slow or gone.
#![allow(clippy::unwrap_used, reason = "tests")]

use flowpin_counters::Loss;
use flowpin_handoff::{
    Batch, HandoffError, HandoffOptions, InputEnd, Received, WorkerEnd, handoff, results,
};
use flowpin_packet::{PacketFlags, PacketMeta, Timestamp};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

fn options(workers: usize, batches_out: usize) -> HandoffOptions {
    HandoffOptions {
        workers,
        batches_out,
        ..HandoffOptions::default()
    }
}

/// Fills and sends a piece of one-byte packets, one for each worker named.
fn send(input: &mut InputEnd, owners: &[usize], first_number: u64, time: u64) {
    let mut parcel = input.take_parcel().unwrap();
    parcel.piece.bytes.clear();
    for (index, (&worker, number)) in owners.iter().zip(first_number..).enumerate() {
        let index = u32::try_from(index).unwrap();
        let mut meta = PacketMeta {
            number,
            captured_len: 1,
            ..PacketMeta::default()
        };
        let batch = &mut parcel.batches[worker];
        if number % 3 == 0 {
            meta.flags = PacketFlags::REASSEMBLED;
            meta.frame_start = u32::try_from(batch.extra.len()).unwrap();
            batch.extra.push(byte_of(number));
            batch.metas.push(meta);
            parcel.piece.bytes.push(0);
        } else {
            meta.frame_start = index;
            batch.metas.push(meta);
            parcel.piece.bytes.push(byte_of(number));
        }
    }
    parcel.piece.len = parcel.piece.bytes.len();
    input.send(parcel, Timestamp(time)).unwrap();
}

fn byte_of(number: u64) -> u8 {
    u8::try_from(number * 7 % 251).unwrap()
}

/// What a worker saw of one piece: its number, the time, its packets' numbers.
type Seen = (u64, u64, Vec<u64>);

fn look_at(batch: &Batch) -> Seen {
    for meta in &batch.metas {
        assert_eq!(batch.bytes().frame(meta), [byte_of(meta.number)]);
    }
    let numbers = batch.metas.iter().map(|meta| meta.number).collect();
    (batch.number, batch.tick.time.0, numbers)
}

fn collect(mut worker: WorkerEnd) -> Vec<Seen> {
    let mut seen = Vec::new();
    while let Some(batch) = worker.recv() {
        seen.push(look_at(&batch));
        worker.give_back(batch);
    }
    seen
}

/// Sends `pieces` (each a list of the packets' workers) and compares what each worker saw.
fn check_run(workers: usize, batches_out: usize, pieces: &[Vec<usize>]) {
    let (mut input, ends) = handoff(options(workers, batches_out));
    let threads: Vec<_> = ends
        .into_iter()
        .map(|end| thread::spawn(|| collect(end)))
        .collect();
    let mut want = vec![Vec::new(); workers];
    let mut number = 1;
    for (piece, time) in pieces.iter().zip(1000..) {
        send(&mut input, piece, number, time);
        for (worker, want) in want.iter_mut().enumerate() {
            let mine = (number..).zip(piece).filter(|&(_, &w)| w == worker);
            want.push((
                time - 1000,
                time,
                mine.map(|(n, _)| n).collect::<Vec<u64>>(),
            ));
        }
        number += piece.len() as u64;
    }
    assert_eq!(input.finish().unwrap().of(Loss::RingFull), 0);
    for (thread, want) in threads.into_iter().zip(want) {
        assert_eq!(thread.join().unwrap(), want);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// However packets are spread over workers: each worker sees every piece in order, with its
    /// packets, their bytes and the time, and nothing else. Most runs have more threads than
    /// this machine may have cores.
    #[test]
    fn every_worker_sees_its_packets_of_every_piece_in_order(
        workers in 1usize..8,
        batches_out in 1usize..5,
        spread in prop::collection::vec(prop::collection::vec(any::<usize>(), 0..20), 0..60),
    ) {
        let pieces: Vec<Vec<usize>> =
            spread.iter().map(|piece| piece.iter().map(|n| n % workers).collect()).collect();
        check_run(workers, batches_out, &pieces);
    }
}

/// Many more threads than cores, and the least room there can be: it must still end.
#[test]
fn many_workers_with_one_batch_each_come_to_the_end() {
    let pieces: Vec<Vec<usize>> = (0..200).map(|n| vec![n % 24, n / 2 % 24]).collect();
    check_run(24, 1, &pieces);
}

/// Files: a slow worker slows the input down, and nothing is lost.
#[test]
fn a_slow_worker_is_waited_for() {
    let (mut input, mut ends) = handoff(options(2, 2));
    let mut slow = ends.pop().unwrap();
    let quick = thread::spawn({
        let end = ends.pop().unwrap();
        || collect(end)
    });
    for number in 0..2 {
        send(&mut input, &[0, 1], 1 + 2 * number, number);
    }
    // Both of its batches are out: there is no piece until it gives one back.
    assert!(input.try_take_parcel().unwrap().is_none());
    let slow = thread::spawn(move || {
        let mut packets = 0;
        while let Some(batch) = slow.recv() {
            for _ in 0..50 {
                thread::yield_now();
            }
            packets += look_at(&batch).2.len();
            slow.give_back(batch);
        }
        packets
    });
    for number in 2..100 {
        send(&mut input, &[0, 1], 1 + 2 * number, number);
    }
    input.finish().unwrap();
    assert_eq!(slow.join().unwrap(), 100);
    assert_eq!(quick.join().unwrap().len(), 100);
}

/// Live: a worker that takes nothing loses packets, counted; the others lose none, the input
/// never waits, and the slow one still learns the last time.
#[test]
fn live_a_slow_worker_loses_packets_but_never_the_time() {
    let (mut input, mut ends) = handoff(HandoffOptions {
        drop_when_full: true,
        ..options(3, 4)
    });
    let slow = ends.remove(1);
    let mut seen = 0;
    for number in 0..100 {
        send(&mut input, &[0, 1, 1, 2], 1 + 4 * number, number);
        for end in &mut ends {
            while let Some(batch) = end.try_recv() {
                seen += look_at(&batch).2.len();
                end.give_back(batch);
            }
        }
    }
    assert_eq!(seen, 200);
    assert_eq!(input.losses().of(Loss::RingFull), 200 - 4 * 2);
    let slow = thread::spawn(|| collect(slow));
    let losses = input.finish().unwrap();
    let seen = slow.join().unwrap();
    let packets: usize = seen.iter().map(|(_, _, numbers)| numbers.len()).sum();
    assert_eq!(packets as u64 + losses.of(Loss::RingFull), 200);
    assert_eq!(seen.last().map(|&(_, time, _)| time), Some(99));
}

/// A tick tells the time without a piece. It never waits: a worker with no batch left learns the
/// latest time with its next one.
#[test]
fn ticks_never_wait() {
    let (mut input, mut ends) = handoff(options(1, 2));
    for time in 0..50 {
        input.send_tick(Timestamp(time)).unwrap();
    }
    let worker = ends.pop().unwrap();
    let thread = thread::spawn(|| collect(worker));
    input.finish().unwrap();
    let times: Vec<u64> = thread
        .join()
        .unwrap()
        .into_iter()
        .map(|(_, time, _)| time)
        .collect();
    assert_eq!(times, [0, 1, 49]);
}

/// A worker that panics must end the run with an error that names it, not hang it: also while
/// the input waits for a batch that the worker holds.
#[test]
fn a_worker_that_panics_is_an_error_at_the_input() {
    let (mut input, mut ends) = handoff(options(3, 2));
    let mut dying = ends.remove(1);
    let others: Vec<_> = ends
        .into_iter()
        .map(|end| thread::spawn(|| collect(end)))
        .collect();
    let (die, told) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        let _held = dying.recv();
        told.recv().unwrap();
        std::panic::resume_unwind(Box::new("as planned"));
    });
    send(&mut input, &[1], 1, 1);
    send(&mut input, &[1], 2, 2);
    let error = input.take_parcel_while(|| _ = die.send(())).unwrap_err();
    assert_eq!(error, HandoffError::WorkerGone { worker: 1 });
    assert!(thread.join().is_err());
    assert_eq!(input.send_tick(Timestamp(3)), Err(error));
    assert_eq!(input.finish().unwrap_err(), error);
    for other in others {
        assert_eq!(other.join().unwrap().len(), 2);
    }
}

/// An input that is gone without a word ends the workers' waiting.
#[test]
fn workers_end_when_the_input_is_dropped() {
    let (mut input, ends) = handoff(options(3, 2));
    let threads: Vec<_> = ends
        .into_iter()
        .map(|end| thread::spawn(|| collect(end)))
        .collect();
    send(&mut input, &[0, 1, 2], 1, 5);
    drop(input);
    for thread in threads {
        assert_eq!(thread.join().unwrap().len(), 1);
    }
}

/// The ends can be dropped in any order while batches are everywhere.
#[test]
fn ends_can_be_dropped_in_any_order() {
    for order in 0..6 {
        let (mut input, mut ends) = handoff(options(2, 3));
        send(&mut input, &[0, 1], 1, 1);
        send(&mut input, &[0, 1], 3, 2);
        let held = ends[0].recv().unwrap();
        let returned = ends[1].recv().unwrap();
        ends[1].give_back(returned);
        let (second, first) = (ends.pop(), ends.pop());
        let mut parts: Vec<Box<dyn FnOnce()>> = vec![
            Box::new(|| drop(input)),
            Box::new(|| drop(first)),
            Box::new(|| drop(second)),
        ];
        parts.swap(0, order % 3);
        parts.swap(1, 1 + order / 3);
        for part in parts {
            part();
        }
        assert_eq!(held.metas.len(), 1);
        assert_eq!(look_at(&held).0, 0);
    }
}

/// Pieces come home and go out again: the bytes' memory of the first pieces serves all.
#[test]
fn pieces_are_used_again() {
    let (mut input, mut ends) = handoff(options(1, 3));
    let mut addresses = std::collections::HashSet::new();
    for number in 0..50 {
        let mut parcel = input.take_parcel().unwrap();
        parcel.piece.bytes.resize(1000, 0);
        parcel.piece.len = 1000;
        addresses.insert(parcel.piece.bytes.as_ptr());
        parcel.batches[0].metas.push(PacketMeta::default());
        input.send(parcel, Timestamp(number)).unwrap();
        let batch = ends[0].recv().unwrap();
        ends[0].give_back(batch);
    }
    assert!(
        addresses.len() <= 3,
        "{} pieces for 3 places",
        addresses.len()
    );
}

/// Results of one worker arrive in order, none is lost, and the end is seen.
#[test]
fn results_arrive_in_order_from_each_worker() {
    let (senders, mut receiver) = results::<Vec<u64>>(3, 2, Arc::default());
    let threads: Vec<_> = senders
        .into_iter()
        .map(|mut sender| {
            thread::spawn(move || {
                for number in 0..500 {
                    let mut buffer = sender.empty();
                    assert!(buffer.is_empty());
                    buffer.push(number);
                    sender.send(buffer).unwrap();
                }
            })
        })
        .collect();
    let mut want = [0; 3];
    while let Some((worker, mut buffer)) = receiver.recv() {
        assert_eq!(buffer, [want[worker]]);
        want[worker] += 1;
        buffer.clear();
        receiver.give_back(worker, buffer);
    }
    assert_eq!(want, [500; 3]);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// What is on its way has a limit in bytes, too: what was received counts until it is done.
#[test]
fn a_sender_waits_until_its_bytes_are_done() {
    let (mut senders, mut receiver) = results::<Vec<u8>>(1, 16, Arc::default());
    let mut sender = senders.remove(0);
    let waits = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&waits);
    let thread = thread::spawn(move || {
        for bytes in [70, 40, 0, 500, 20] {
            let sent = sender.send_within(vec![0; bytes], (bytes, 100), || {
                seen.fetch_add(1, Ordering::SeqCst);
            });
            sent.unwrap();
        }
    });
    // (bytes on their way, most of them at any time)
    let (mut out, mut most) = (0, 0);
    let mut waiting = VecDeque::new();
    let mut received = 0;
    while received < 5 {
        while let Some((_, result)) = receiver.try_recv() {
            received += 1;
            out += result.len();
            most = most.max(out);
            waiting.push_back(result.len());
        }
        if let Some(bytes) = waiting.pop_front() {
            out -= bytes;
            receiver.done(0, bytes);
        }
    }
    thread.join().unwrap();
    assert!(receiver.is_finished());
    // The one that is larger than the limit goes alone, or with an empty one.
    assert_eq!(most, 500);
    assert!(waits.load(Ordering::SeqCst) <= 4);
}

/// A worker that waits for a batch can be called, and gets the batches after that all the same.
#[test]
fn a_waiting_worker_can_be_called() {
    let (mut input, mut ends) = handoff(HandoffOptions::default());
    let mut end = ends.remove(0);
    let bell = end.bell();
    let called = Arc::new(AtomicUsize::new(0));
    let calls = Arc::clone(&called);
    let worker = thread::spawn(move || {
        let mut answered = 0;
        let mut batches = 0;
        loop {
            match end.recv_unless(|| calls.load(Ordering::SeqCst) > answered) {
                Received::Called => answered += 1,
                Received::Batch(batch) => {
                    batches += 1;
                    end.give_back(batch);
                }
                Received::Ended => return (answered, batches),
            }
        }
    });
    for second in 0..3 {
        called.fetch_add(1, Ordering::SeqCst);
        bell.ring();
        thread::sleep(core::time::Duration::from_millis(20));
        input.send_tick(Timestamp::new(second, 0)).unwrap();
    }
    input.finish().unwrap();
    let (answered, batches) = worker.join().unwrap();
    assert!((1..=3).contains(&answered), "{answered}");
    assert_eq!(batches, 3);
}

/// A worker that waits for room learns that nobody will make any, and gets its result back.
#[test]
fn a_sender_learns_that_the_receiver_is_gone() {
    let (mut senders, receiver) = results::<u8>(1, 1, Arc::default());
    let mut sender = senders.pop().unwrap();
    sender.send(1).unwrap();
    let thread = thread::spawn(move || sender.send(2));
    drop(receiver);
    assert_eq!(thread.join().unwrap().unwrap_err().0, 2);
}

/// 2xN: the input's thread also takes the results. With the least room everywhere, it must not
/// come to each waiting for the other.
#[test]
fn one_thread_can_be_input_and_output() {
    let mut handoff_options = options(3, 1);
    let bell = Arc::clone(&handoff_options.bell);
    handoff_options.workers = 3;
    let (mut input, ends) = handoff(handoff_options);
    let (senders, mut receiver) = results::<u64>(3, 1, bell);
    let threads: Vec<_> = ends
        .into_iter()
        .zip(senders)
        .map(|(mut end, mut sender)| {
            thread::spawn(move || {
                while let Some(batch) = end.recv() {
                    for _ in 0..5 {
                        sender.send(batch.number).unwrap();
                    }
                    end.give_back(batch);
                }
            })
        })
        .collect();
    let mut count = 0;
    for number in 0..100 {
        let parcel = input
            .take_parcel_while(|| {
                while receiver.try_recv().is_some() {
                    count += 1
                }
            })
            .unwrap();
        input.send(parcel, Timestamp(number)).unwrap();
    }
    input
        .finish_while(|| {
            while receiver.try_recv().is_some() {
                count += 1
            }
        })
        .unwrap();
    while receiver.recv().is_some() {
        count += 1;
    }
    assert_eq!(count, 3 * 100 * 5);
    for thread in threads {
        thread.join().unwrap();
    }
}
