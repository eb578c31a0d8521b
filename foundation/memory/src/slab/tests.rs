//! A slab is a map from handles to values, and gives out the last freed handle first.

use super::Slab;
use proptest::prelude::*;
use std::collections::HashMap;

/// What was truncated is not there any more, and grows again from its end.
#[test]
fn a_truncated_slab_ends_there() {
    let mut slab = Slab::with_capacity(5000).unwrap();
    for nth in 0..5000u64 {
        slab.insert(nth).unwrap();
    }
    slab.remove(4000);
    slab.truncate(10);
    assert_eq!((slab.high_water(), slab.len()), (10, 10));
    assert_eq!((slab.get(9), slab.get(10)), (Some(&9), None));
    assert_eq!(slab.insert(7), Some(10));
}

/// The last freed slot is the one still in the cache.
#[test]
fn freed_slots_are_reused_last_first_before_new_ones() {
    let mut slab = Slab::with_capacity(10).unwrap();
    let handles: Vec<u32> = (0..4).map(|n| slab.insert(n).unwrap()).collect();
    assert_eq!(handles, [0, 1, 2, 3]);
    slab.remove(1);
    slab.remove(3);
    assert_eq!(slab.insert(10), Some(3));
    assert_eq!(slab.insert(11), Some(1));
    assert_eq!(slab.insert(12), Some(4));
    assert_eq!(slab.high_water(), 5);
}

/// A full slab refuses; it never grows.
#[test]
fn a_full_slab_refuses() {
    let mut slab = Slab::with_capacity(2).unwrap();
    assert_eq!(slab.insert(1u8), Some(0));
    assert_eq!(slab.insert(2), Some(1));
    assert_eq!(slab.insert(3), None);
    slab.remove(0);
    assert_eq!(slab.insert(3), Some(0));
    let mut none = Slab::<u8>::with_capacity(0).unwrap();
    assert_eq!(none.insert(1), None);
}

/// Handles that were never given out have no value, whatever they are.
#[test]
fn wild_handles_have_no_value() {
    let mut slab = Slab::with_capacity(100).unwrap();
    slab.insert([1u64; 16]).unwrap();
    assert_eq!(slab.get(1), None);
    assert_eq!(slab.get_mut(u32::MAX), None);
    slab.prefetch(0);
    slab.prefetch(u32::MAX);
}

/// Buffers need not be written before they are used.
#[test]
fn a_taken_buffer_holds_zeros_or_what_was_there() {
    let mut slab = Slab::<[u8; 3]>::with_capacity(2).unwrap();
    let first = slab.take().unwrap();
    assert_eq!(slab[first], [0; 3]);
    slab[first] = [1, 2, 3];
    slab.remove(first);
    assert_eq!(slab.take(), Some(first));
    assert_eq!(slab[first], [1, 2, 3]);
    assert_eq!((slab.take(), slab.take()), (Some(1), None));
}

/// Room for the most values there can be is not even address space until they come.
#[test]
fn the_largest_slab_is_not_resident() {
    let mut slab = Slab::<[u64; 16]>::with_capacity(u32::MAX).unwrap();
    assert_eq!(slab.insert([3; 16]), Some(0));
    assert_eq!(slab[0], [3; 16]);
    slab.clear().unwrap();
    assert_eq!(slab.len(), 0);
    assert_eq!(slab.get(0), None);
}

/// Removing twice is a mistake of the caller's, refused where that costs nothing to anyone.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "not in use")]
fn removing_twice_is_refused_in_debug_builds() {
    let mut slab = Slab::with_capacity(2).unwrap();
    slab.insert(1u8).unwrap();
    slab.remove(0);
    slab.remove(0);
}

/// In release builds it is a logic error, but memory stays safe: counts and handles stay in
/// their bounds.
#[test]
#[cfg(not(debug_assertions))]
fn removing_twice_stays_inside_the_slab() {
    let mut slab = Slab::with_capacity(2).unwrap();
    slab.insert(1u8).unwrap();
    for _ in 0..10 {
        slab.remove(0);
        slab.remove(7);
    }
    assert_eq!(slab.len(), 0);
    for _ in 0..10 {
        if let Some(handle) = slab.insert(2) {
            assert!(handle < 2);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whatever is inserted and removed in whatever order: a slab is a map from handles to
    /// values, and never uses more slots than were in use at once.
    #[test]
    fn a_slab_is_a_map_from_handles_to_values(
        steps in prop::collection::vec((any::<bool>(), any::<u64>()), 0..300),
    ) {
        let mut slab = Slab::with_capacity(64).unwrap();
        let mut model = HashMap::new();
        let mut most = 0;
        for (insert, value) in steps {
            if insert {
                let next = slab.next_handle();
                prop_assert!(slab.len() == 64 || !model.contains_key(&next));
                match slab.insert(value) {
                    Some(handle) => {
                        prop_assert_eq!(handle, next);
                        prop_assert_eq!(model.insert(handle, value), None);
                    }
                    None => prop_assert_eq!(model.len(), 64),
                }
            } else if let Some(&handle) = model.keys().min_by_key(|&&h| u64::from(h) ^ value) {
                model.remove(&handle);
                slab.remove(handle);
            }
            most = most.max(model.len());
            prop_assert_eq!(slab.len() as usize, model.len());
            prop_assert_eq!(slab.high_water() as usize, most);
            for (&handle, value) in &model {
                prop_assert_eq!(&slab[handle], value);
            }
        }
    }
}
