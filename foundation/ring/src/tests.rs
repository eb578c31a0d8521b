//! The ring on real threads: order, ends, drops.

use crate::{ring, ring_with_chunk};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Counts its drops, to find items dropped twice or never.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Both ends on their own threads, whatever the chunk: each item arrives once, in order, and the
/// end is seen. Terminates only if each side's progress is seen by the other.
#[test]
fn every_item_crosses_threads_once_and_in_order() {
    for (capacity, chunk) in [(1, 1), (2, 2), (8, 8), (64, 16), (1024, 64)] {
        let (mut producer, mut consumer) = ring_with_chunk::<[u64; 4]>(capacity, chunk);
        let count = 50_000;
        let sender = thread::spawn(move || {
            for number in 0..count {
                let mut item = [number; 4];
                while let Err(back) = producer.push(item) {
                    item = back;
                    thread::yield_now();
                }
            }
        });
        let mut want = 0;
        while !consumer.is_finished() {
            match consumer.pop() {
                Some(item) => {
                    assert_eq!(item, [want; 4]);
                    want += 1;
                }
                None => thread::yield_now(),
            }
        }
        sender.join().unwrap();
        assert_eq!(want, count, "capacity {capacity}, chunk {chunk}");
    }
}

/// The chunk-wise calls carry the same items as the item-wise ones.
#[test]
fn slices_and_chunks_cross_threads_in_order() {
    let (mut producer, mut consumer) = ring::<u64>(256);
    let count = 200_000u64;
    let sender = thread::spawn(move || {
        let mut next = 0;
        while next < count {
            let items: Vec<u64> = (next..count.min(next + 13)).collect();
            let pushed = producer.push_slice(&items);
            next += pushed as u64;
            if let Some(mut room) = producer.reserve(3) {
                while next < count && room.put(next).is_ok() {
                    next += 1;
                }
                room.commit();
            }
            if pushed == 0 {
                thread::yield_now();
            }
        }
    });
    let mut want = 0;
    let mut buffer = [0; 17];
    while !consumer.is_finished() {
        let taken = consumer.pop_slice(&mut buffer);
        for &item in &buffer[..taken] {
            assert_eq!(item, want);
            want += 1;
        }
        for item in consumer.pop_chunk(5) {
            assert_eq!(item, want);
            want += 1;
        }
        if taken == 0 {
            thread::yield_now();
        }
    }
    sender.join().unwrap();
    assert_eq!(want, count);
}

/// What waits in a part of a chunk is shown by a flush, by age, by a full ring, by the end.
#[test]
fn a_part_of_a_chunk_is_shown_when_asked() {
    let (mut producer, mut consumer) = ring_with_chunk(8, 4);
    producer.push(1).unwrap();
    assert_eq!((producer.pending(), consumer.pop()), (1, None));
    producer.flush();
    assert_eq!(consumer.pop(), Some(1));

    producer.push(2).unwrap();
    producer.flush_if_older_than(10, 100);
    producer.flush_if_older_than(10, 109);
    assert_eq!(consumer.pop(), None);
    producer.flush_if_older_than(10, 110);
    assert_eq!(consumer.pop(), Some(2));

    // The age is that of what waits now, not of what was shown before.
    producer.push(3).unwrap();
    producer.flush_if_older_than(10, 200);
    assert_eq!(consumer.pop(), None);
    producer.push(4).unwrap(); // fills the chunk
    assert_eq!((consumer.pop(), consumer.pop()), (Some(3), Some(4)));

    let mut accepted = 0;
    while producer.push(accepted).is_ok() {
        accepted += 1;
    }
    assert_eq!((accepted, consumer.ready()), (8, 8));
    assert_eq!(consumer.pop_chunk(9).count(), 8);

    producer.push(5).unwrap();
    drop(producer);
    assert!(consumer.is_closed() && !consumer.is_finished());
    assert_eq!(consumer.pop(), Some(5));
    assert!(consumer.is_finished());
}

/// With a chunk of 1 a slot is free again as soon as its item was taken: who holds as many
/// places as items relies on it.
#[test]
fn with_a_chunk_of_one_every_slot_comes_back_at_once() {
    let (mut producer, mut consumer) = ring_with_chunk(4, 1);
    for item in 0..4 {
        producer.push(item).unwrap();
    }
    assert_eq!(producer.push(9), Err(9));
    for item in 0..100 {
        assert_eq!(consumer.pop(), Some(item));
        producer.push(item + 4).unwrap();
    }
}

/// Whoever is dropped first, each item is dropped exactly once, and the other end learns of it.
#[test]
fn each_item_is_dropped_once_whoever_goes_first() {
    for producer_first in [true, false] {
        let drops = Arc::new(AtomicUsize::new(0));
        let (mut producer, mut consumer) = ring_with_chunk(8, 8);
        for _ in 0..6 {
            assert!(producer.push(Counted(Arc::clone(&drops))).is_ok());
        }
        producer.flush();
        drop(consumer.pop());
        drop(consumer.pop_chunk(3).next());
        assert_eq!(drops.load(Ordering::Relaxed), 2);
        assert!(producer.push(Counted(Arc::clone(&drops))).is_ok()); // not shown
        if producer_first {
            drop(producer);
            assert!(consumer.is_closed());
            drop(consumer);
        } else {
            drop(consumer);
            assert!(producer.is_closed());
            drop(producer);
        }
        assert_eq!(drops.load(Ordering::Relaxed), 7);
    }
}

/// A forgotten iterator must not let an item be taken twice.
#[test]
fn forgetting_a_chunk_takes_no_item_twice() {
    let drops = Arc::new(AtomicUsize::new(0));
    let (mut producer, mut consumer) = ring_with_chunk(4, 1);
    for _ in 0..3 {
        assert!(producer.push(Counted(Arc::clone(&drops))).is_ok());
    }
    let mut chunk = consumer.pop_chunk(3);
    drop(chunk.next());
    core::mem::forget(chunk);
    drop((producer, consumer));
    assert_eq!(drops.load(Ordering::Relaxed), 3);
}

/// Slots must fit what is put in them, also where one slot is several lines.
#[test]
fn items_of_any_size_and_alignment_work() {
    #[repr(align(256))]
    #[derive(Debug, PartialEq, Clone, Copy)]
    struct Wide([u8; 300]);
    let (mut producer, mut consumer) = ring::<Wide>(3);
    assert_eq!(producer.capacity(), 4);
    producer.push(Wide([7; 300])).unwrap();
    producer.flush();
    assert_eq!(consumer.pop(), Some(Wide([7; 300])));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any sequence of calls: the ring is a queue whose items show late, never lost, never twice.
    #[test]
    fn a_ring_is_a_queue(
        log2 in 0u32..5,
        chunk in 1usize..20,
        steps in prop::collection::vec((0u8..8, 0usize..12), 0..200),
    ) {
        let (mut producer, mut consumer) = ring_with_chunk::<u32>(1 << log2, chunk);
        let mut model = VecDeque::new();
        let mut next = 0;
        let mut buffer = [0; 12];
        for (call, count) in steps {
            match call {
                0..=2 => if producer.push(next).is_ok() {
                    model.push_back(next);
                    next += 1;
                },
                3 => {
                    let items: Vec<u32> = (next..).take(count).collect();
                    let pushed = producer.push_slice(&items);
                    model.extend(&items[..pushed]);
                    next += u32::try_from(pushed).unwrap();
                }
                4 => producer.flush(),
                5 => if let Some(item) = consumer.pop() {
                    prop_assert_eq!(Some(item), model.pop_front());
                },
                6 => {
                    let taken = consumer.pop_slice(&mut buffer[..count]);
                    for &item in &buffer[..taken] {
                        prop_assert_eq!(Some(item), model.pop_front());
                    }
                }
                _ => for item in consumer.pop_chunk(count) {
                    prop_assert_eq!(Some(item), model.pop_front());
                },
            }
            prop_assert!(model.len() <= producer.capacity());
        }
        drop(producer);
        while let Some(item) = consumer.pop() {
            prop_assert_eq!(Some(item), model.pop_front());
        }
        prop_assert!(consumer.is_finished() && model.is_empty());
    }
}
