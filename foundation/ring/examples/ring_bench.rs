//! Nanoseconds per 32-byte item between two cores: this ring, and two well-known ones beside it.
//!
//! `cargo run --release -p flowpin-ring --example ring_bench`
//!
//! Each way runs many short rounds in turn with the others; the least of a way's rounds is what it
//! costs when nothing disturbs it, the median what it cost here and now.
#![allow(clippy::unwrap_used, reason = "a bench may stop")]

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use std::{env, thread};

type Item = [u64; 4];

const ITEMS: u64 = 48_000;
const SLOTS: usize = 1024;
const BATCH: usize = 16;

/// Sends or receives that many items.
type Side = Box<dyn FnMut(u64) + Send>;
type Way = (&'static str, fn() -> (Side, Side));

const WAYS: &[Way] = &[
    ("flowpin chunk-wise", flowpin_chunks),
    ("flowpin, slices copied", flowpin_slices),
    ("flowpin item by item", flowpin_items),
    ("flowpin, chunk of 1", flowpin_unaggregated),
    ("rtrb chunk-wise", rtrb_chunks),
    ("rtrb item by item", rtrb_items),
    ("crossbeam ArrayQueue", crossbeam),
];

fn main() {
    let rounds = env::args().nth(1).map_or(300, |n| n.parse().unwrap());
    let cpus = flowpin_cpu::choose_cpus(2);
    println!("{ITEMS} items of 32 bytes a round, {SLOTS} slots, {rounds} rounds, cpus {cpus:?}");
    let mut times = vec![Vec::new(); WAYS.len()];
    for _ in 0..rounds {
        for ((_, make), times) in WAYS.iter().zip(&mut times) {
            times.push(round(make(), &cpus));
        }
    }
    let median_of = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2])
    };
    println!("{:24}{:>10}{:>10}", "ns per item", "least", "median");
    for ((name, _), times) in WAYS.iter().zip(&mut times) {
        let (least, median) = median_of(times);
        println!("{name:24}{least:>10.2}{median:>10.2}");
    }
    flush_latency(&cpus);
}

/// One round of one way: nanoseconds per item from the first push to the last pop.
fn round((mut send, mut receive): (Side, Side), cpus: &[usize]) -> f64 {
    let ready = Arc::new(AtomicU64::new(0));
    let receiver = {
        let (ready, cpu) = (Arc::clone(&ready), cpus.get(1).copied());
        thread::spawn(move || {
            pin(cpu);
            receive(SLOTS as u64); // warm
            ready.store(1, Ordering::Release);
            receive(ITEMS);
            Instant::now()
        })
    };
    let cpu = cpus.first().copied();
    let sender = thread::spawn(move || {
        pin(cpu);
        send(SLOTS as u64);
        while ready.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        let start = Instant::now();
        send(ITEMS);
        start
    });
    let start = sender.join().unwrap();
    let end = receiver.join().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    {
        end.duration_since(start).as_nanos() as f64 / ITEMS as f64
    }
}

fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        let _unpinned = flowpin_cpu::pin_current_thread(cpu);
    }
}

/// Waits a moment for the other side; gives the core away if it takes long.
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        if self.0.is_multiple_of(1 << 10) {
            thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

fn flowpin_chunks() -> (Side, Side) {
    let (mut producer, mut consumer) = flowpin_ring::ring::<Item>(SLOTS);
    let send = move |count| {
        let mut patience = Patience(0);
        let mut sent = 0;
        while sent < count {
            match producer.reserve(BATCH) {
                Some(mut room) => {
                    while room.put([sent; 4]).is_ok() {
                        sent += 1;
                    }
                    room.commit();
                }
                None => patience.wait(),
            }
        }
    };
    let receive = move |count| {
        let mut patience = Patience(0);
        let mut received = 0;
        while received < count {
            let before = received;
            for item in consumer.pop_chunk(BATCH) {
                black_box(&item);
                received += 1;
            }
            if received == before {
                patience.wait();
            }
        }
    };
    (Box::new(send), Box::new(receive))
}

fn flowpin_slices() -> (Side, Side) {
    let (mut producer, mut consumer) = flowpin_ring::ring::<Item>(SLOTS);
    let send = move |count| {
        let mut patience = Patience(0);
        let mut items = [[0; 4]; BATCH];
        let mut sent = 0;
        while sent < count {
            items
                .iter_mut()
                .zip(sent..)
                .for_each(|(item, n)| *item = [n; 4]);
            let mut left = &items[..];
            while !left.is_empty() {
                let pushed = producer.push_slice(left);
                left = &left[pushed..];
                if pushed == 0 {
                    patience.wait();
                }
            }
            sent += BATCH as u64;
        }
    };
    let receive = move |count| {
        let mut patience = Patience(0);
        let mut items = [[0; 4]; BATCH];
        let mut received = 0;
        while received < count {
            let taken = consumer.pop_slice(&mut items);
            if taken == 0 {
                patience.wait();
            }
            received += taken as u64;
            items
                .iter()
                .take(taken)
                .for_each(|item| _ = black_box(item));
        }
    };
    (Box::new(send), Box::new(receive))
}

/// Item by item through any pair of calls.
fn item_by_item(
    mut push: impl FnMut(Item) -> Result<(), Item> + Send + 'static,
    mut flush: impl FnMut() + Send + 'static,
    mut pop: impl FnMut() -> Option<Item> + Send + 'static,
) -> (Side, Side) {
    let send = move |count| {
        let mut patience = Patience(0);
        for n in 0..count {
            let mut item = [n; 4];
            while let Err(back) = push(item) {
                item = back;
                patience.wait();
            }
        }
        flush();
    };
    let receive = move |count| {
        let mut patience = Patience(0);
        for _ in 0..count {
            loop {
                match pop() {
                    Some(item) => {
                        black_box(&item);
                        break;
                    }
                    None => patience.wait(),
                }
            }
        }
    };
    (Box::new(send), Box::new(receive))
}

fn flowpin_items() -> (Side, Side) {
    // All rounds send whole chunks, so nothing waits for a flush.
    let (mut producer, mut consumer) = flowpin_ring::ring::<Item>(SLOTS);
    item_by_item(
        move |item| producer.push(item),
        || {},
        move || consumer.pop(),
    )
}

fn flowpin_unaggregated() -> (Side, Side) {
    let (mut producer, mut consumer) = flowpin_ring::ring_with_chunk::<Item>(SLOTS, 1);
    item_by_item(
        move |item| producer.push(item),
        || {},
        move || consumer.pop(),
    )
}

fn rtrb_items() -> (Side, Side) {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<Item>::new(SLOTS);
    let push = move |item| {
        producer
            .push(item)
            .map_err(|rtrb::PushError::Full(item)| item)
    };
    item_by_item(push, || {}, move || consumer.pop().ok())
}

fn crossbeam() -> (Side, Side) {
    let queue = Arc::new(crossbeam_queue::ArrayQueue::<Item>::new(SLOTS));
    let other = Arc::clone(&queue);
    item_by_item(move |item| queue.push(item), || {}, move || other.pop())
}

fn rtrb_chunks() -> (Side, Side) {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<Item>::new(SLOTS);
    let send = move |count| {
        let mut patience = Patience(0);
        let mut sent = 0;
        while sent < count {
            match producer.write_chunk_uninit(BATCH) {
                Ok(chunk) => {
                    sent += chunk.fill_from_iter((sent..).map(|n| [n; 4])) as u64;
                }
                Err(_) => patience.wait(),
            }
        }
    };
    let receive = move |count| {
        let mut patience = Patience(0);
        let mut received = 0;
        while received < count {
            let ready = consumer.slots().min(BATCH);
            match consumer.read_chunk(ready) {
                Ok(chunk) if ready > 0 => {
                    for item in chunk {
                        black_box(&item);
                        received += 1;
                    }
                }
                _ => patience.wait(),
            }
        }
    };
    (Box::new(send), Box::new(receive))
}

/// How long an item alone in its chunk takes to be seen, with the flush by age at 5 µs.
fn flush_latency(cpus: &[usize]) {
    let rate = flowpin_cpu::TscRate::measure();
    let age = rate.ticks_in(std::time::Duration::from_micros(5));
    let (mut producer, mut consumer) = flowpin_ring::ring::<Item>(SLOTS);
    let seen = Arc::new(AtomicU64::new(0));
    let receiver = {
        let (seen, cpu) = (Arc::clone(&seen), cpus.get(1).copied());
        thread::spawn(move || {
            pin(cpu);
            let mut waits = Vec::new();
            while !consumer.is_finished() {
                match consumer.pop() {
                    Some(item) => {
                        waits.push(flowpin_cpu::tsc().wrapping_sub(item[0]));
                        seen.fetch_add(1, Ordering::Release);
                    }
                    None => std::hint::spin_loop(),
                }
            }
            waits
        })
    };
    pin(cpus.first().copied());
    for n in 0..2000 {
        producer.push([flowpin_cpu::tsc(); 4]).unwrap();
        while seen.load(Ordering::Acquire) <= n {
            producer.flush_if_older_than(age, flowpin_cpu::tsc());
        }
    }
    drop(producer);
    let mut waits = receiver.join().unwrap();
    waits.sort_unstable();
    println!(
        "an item alone in its chunk, shown by age (5 µs): least {:.2} µs, median {:.2} µs",
        rate.nanos(waits[0]) / 1e3,
        rate.nanos(waits[waits.len() / 2]) / 1e3,
    );
}
