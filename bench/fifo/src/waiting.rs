//! How long an item waits that is alone in its chunk.

use flowpin_cpu::{TscRate, tsc};
use std::hint::spin_loop;

/// Median nanoseconds until the other side sees an item that nothing follows, where the producer
/// asks in each turn of its loop for what is older than `age_ns`. One of `count` at a time.
pub fn shown_after(age_ns: f64, count: usize) -> f64 {
    let per_ns = TscRate::measure().per_second() / 1e9;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some thousand ticks"
    )]
    let age = (age_ns * per_ns) as u64;
    let (mut there, mut arrived) = flowpin_ring::ring::<u64>(1024);
    let (mut back, mut seen) = flowpin_ring::ring::<u64>(1024);
    let mut waits = std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..count {
                let sent = wait_for(&mut arrived, || {});
                // The ring has room for all that can be under way: one item.
                let _always = back.push(tsc().wrapping_sub(sent));
                back.flush();
            }
        });
        let mut waits = Vec::with_capacity(count);
        for _ in 0..count {
            let _always = there.push(tsc());
            waits.push(wait_for(&mut seen, || {
                there.flush_if_older_than(age, tsc())
            }));
        }
        waits
    });
    waits.sort_unstable();
    let median = waits.get(count / 2).copied().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "some thousand ticks")]
    let median = median as f64;
    median / per_ns
}

fn wait_for(ring: &mut flowpin_ring::Consumer<u64>, mut meanwhile: impl FnMut()) -> u64 {
    let mut turns = 0_u32;
    loop {
        if let Some(item) = ring.pop() {
            return item;
        }
        meanwhile();
        turns += 1;
        if turns.is_multiple_of(2000) {
            std::thread::yield_now();
        }
        spin_loop();
    }
}
