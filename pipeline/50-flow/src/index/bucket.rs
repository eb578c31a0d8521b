//! A bucket of the index: one cache line, compared as a whole.

use crate::entry::Handle;

/// Hashes, followed by handles plus one.
pub(super) type Bucket = [u32; 2 * SLOTS];

/// Slots per bucket.
pub(super) const SLOTS: usize = 8;
const _: () = assert!(size_of::<Bucket>() == 64);

/// The handle with a hash in a bucket, or [`NIL`](crate::entry::NIL), and whether a slot is empty.
/// If two handles have the same hash, the result is one of them or neither.
#[inline]
pub(super) fn look(bucket: &Bucket, hash: u32) -> (Handle, bool) {
    let (hashes, handles) = bucket.split_at(SLOTS);
    let (mut found, mut room) = (0, 0);
    for (&held, &value) in hashes.iter().zip(handles) {
        found |= value & u32::from(held == hash).wrapping_neg();
        room |= u32::from(value == 0);
    }
    // A slot holds the handle plus one, and `NIL` plus one is 0.
    (found.wrapping_sub(1), room != 0)
}

#[inline]
pub(super) fn has_room(bucket: &Bucket) -> bool {
    let (_, handles) = bucket.split_at(SLOTS);
    handles.contains(&0)
}

/// The hashes and handles in a bucket.
pub(super) fn slots_of(bucket: &Bucket) -> impl Iterator<Item = (u32, Handle)> + '_ {
    let (hashes, handles) = bucket.split_at(SLOTS);
    let slots = hashes.iter().zip(handles);
    slots.filter_map(|(&hash, &value)| Some((hash, value.checked_sub(1)?)))
}
