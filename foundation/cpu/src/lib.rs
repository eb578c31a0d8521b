//! What needs the processor itself: prefetch, wide checksums, pinning, the time stamp counter.
