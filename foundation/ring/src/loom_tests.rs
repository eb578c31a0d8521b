//! Every interleaving of two threads, by loom:
//! `RUSTFLAGS="--cfg loom" cargo test -p flowpin-ring --release --lib`.
//!
//! Tries are bounded on both sides, never a spin: a spin loop has endless interleavings. loom
//! also tracks each slot, so a slot touched by both sides without a hand-over fails the model.

use crate::{Consumer, ring_with_chunk};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};

/// Takes what is there, checking that it continues the count.
fn take_some(consumer: &mut Consumer<u8>, want: &mut u8) {
    if let Some(item) = consumer.pop() {
        assert_eq!(item, *want);
        *want += 1;
    }
}

/// Item by item with a chunk of 2 in 2 slots: wraps, fills, shows parts of chunks.
#[test]
fn items_keep_their_order_in_every_interleaving() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_with_chunk::<u8>(2, 2);
        let sender = loom::thread::spawn(move || {
            let mut sent = 0;
            for _ in 0..4 {
                if producer.push(sent).is_ok() {
                    sent += 1;
                }
            }
            sent
        });
        let mut want = 0;
        for _ in 0..3 {
            take_some(&mut consumer, &mut want);
        }
        let sent = sender.join().unwrap();
        while want < sent {
            take_some(&mut consumer, &mut want);
        }
        assert!(consumer.is_finished());
    });
}

/// Slices on both sides with every item shown at once.
#[test]
fn slices_keep_their_order_in_every_interleaving() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_with_chunk::<u8>(2, 1);
        let sender = loom::thread::spawn(move || {
            let mut sent = 0u8;
            for _ in 0..3 {
                sent += u8::try_from(producer.push_slice(&[sent, sent + 1])).unwrap();
            }
            sent
        });
        let mut want = 0u8;
        let mut buffer = [0; 2];
        let mut take = |consumer: &mut Consumer<u8>| {
            let count = consumer.pop_slice(&mut buffer);
            for &item in &buffer[..count] {
                assert_eq!(item, want);
                want += 1;
            }
            want
        };
        for _ in 0..2 {
            take(&mut consumer);
        }
        let sent = sender.join().unwrap();
        while take(&mut consumer) < sent {}
    });
}

/// The end is never seen before the last item: what the producer pushed and dropped behind
/// must all be there once `is_finished` says so.
#[test]
fn the_end_comes_after_the_last_item() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_with_chunk::<u8>(4, 4);
        let sender = loom::thread::spawn(move || {
            producer.push(0).unwrap();
            producer.flush();
            producer.push(1).unwrap();
        });
        let mut want = 0;
        for _ in 0..3 {
            if consumer.is_finished() {
                assert_eq!(want, 2, "finished before its last item");
            }
            take_some(&mut consumer, &mut want);
        }
        sender.join().unwrap();
        while !consumer.is_finished() {
            take_some(&mut consumer, &mut want);
        }
        assert_eq!(want, 2);
    });
}

/// Both ends dropped at once, items inside: each item is dropped once.
#[test]
fn items_left_behind_are_dropped_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    loom::model(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let (mut producer, mut consumer) = ring_with_chunk(2, 2);
        let counter = Arc::clone(&drops);
        let sender = loom::thread::spawn(move || {
            let mut refused = 0;
            for _ in 0..3 {
                if producer.push(Counted(Arc::clone(&counter))).is_err() {
                    refused += 1;
                }
            }
            refused
        });
        drop(consumer.pop());
        drop(consumer);
        let _refused: usize = sender.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 3);
    });
}

/// Who sees that the consumer is gone sees all slots that it gave back: so what is not free then
/// was never taken.
#[test]
fn a_closed_ring_shows_what_was_taken() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_with_chunk::<u8>(2, 2);
        assert_eq!(producer.push_slice(&[0, 1]), 2);
        let receiver = loom::thread::spawn(move || consumer.pop().is_some());
        if producer.is_closed() {
            assert_eq!(producer.free(), 1);
        }
        assert!(receiver.join().unwrap());
        assert!(producer.is_closed());
    });
}
