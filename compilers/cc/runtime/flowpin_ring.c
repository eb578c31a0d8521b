#define _GNU_SOURCE
#include "flowpin_ring.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void flowpin_pause(unsigned *tries) {
  if (++*tries < 64) {
    sched_yield();
  } else {
    struct timespec little = {0, 50000};
    nanosleep(&little, 0);
  }
}

int flowpin_ring_make(struct flowpin_ring *ring, unsigned long capacity) {
  memset(ring, 0, sizeof *ring);
  ring->capacity = capacity;
  ring->bytes = aligned_alloc(128, capacity);
  ring->sibling = ring;
#if FLOWPIN_FIFO == 2
  ring->slots = calloc(FLOWPIN_SLOTS, sizeof *ring->slots);
  ring->ends = calloc(FLOWPIN_SLOTS, sizeof *ring->ends);
  if (!ring->slots || !ring->ends) return -1;
#endif
  return ring->bytes ? 0 : -1;
}

static unsigned long size_of(unsigned long length) {
  return (sizeof(struct flowpin_element) + length + 31) & ~31ul;
}

int flowpin_ring_fits(const struct flowpin_ring *ring, unsigned long length) {
  return length < ring->capacity && size_of(length) <= ring->capacity / 2;
}

/* What the consumer has given back. */
static void look_for_room(struct flowpin_ring *ring) {
#if FLOWPIN_FIFO == 2
  while (ring->reclaimed < ring->filled &&
         !atomic_load_explicit(&ring->slots[ring->reclaimed % FLOWPIN_SLOTS], memory_order_acquire)) {
    ring->read_seen = ring->ends[ring->reclaimed % FLOWPIN_SLOTS];
    ring->reclaimed++;
  }
#else
  /* Pairs with the consumer's releases: the bytes are not read any more. */
  ring->read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
#endif
}

static int has_room(const struct flowpin_ring *ring, unsigned long need) {
#if FLOWPIN_FIFO == 2
  /* A wrap takes a slot, too. */
  if (ring->filled - ring->reclaimed + 2 > FLOWPIN_SLOTS) return 0;
#endif
  return ring->pending + need - ring->read_seen <= ring->capacity;
}

/* Waits until `need` bytes are free; 0 if nothing will be read any more. */
static int wait_for(struct flowpin_ring *ring, unsigned long need) {
  unsigned tries = 0;
#if FLOWPIN_FIFO == 1
  look_for_room(ring);
#endif
  while (!has_room(ring, need)) {
    if (atomic_load_explicit(&ring->is_abandoned, memory_order_acquire)) return 0;
    look_for_room(ring);
    if (has_room(ring, need)) break;
    /* Others may wait for this producer before they can go on, and make room. */
    struct flowpin_ring *one = ring;
    do flowpin_ring_flush(one, ring->sequence);
    while ((one = one->sibling) != ring);
    flowpin_pause(&tries);
  }
  return 1;
}

static void put(struct flowpin_ring *ring, struct flowpin_element *element) {
  ring->pending += element->size;
#if FLOWPIN_FIFO == 2
  ring->ends[ring->filled % FLOWPIN_SLOTS] = ring->pending;
  atomic_store_explicit(&ring->slots[ring->filled % FLOWPIN_SLOTS], element, memory_order_release);
  ring->filled++;
#elif FLOWPIN_FIFO == 1
  atomic_store_explicit(&ring->written, ring->pending, memory_order_release);
#else
  /* Shown in runs, so that the two threads' cache lines move seldom. */
  unsigned long shown = atomic_load_explicit(&ring->written, memory_order_relaxed);
  if (ring->pending - shown > 16384)
    atomic_store_explicit(&ring->written, ring->pending, memory_order_release);
#endif
}

struct flowpin_element *flowpin_ring_reserve(struct flowpin_ring *ring, unsigned long sequence,
                                             unsigned long length) {
  ring->sequence = sequence;
  if (!flowpin_ring_fits(ring, length)) return 0;
  unsigned long size = size_of(length);
  unsigned long offset = ring->pending % ring->capacity;
  unsigned long wrap = offset + size > ring->capacity ? ring->capacity - offset : 0;
  if (!wait_for(ring, wrap + size)) return 0;
  if (wrap) {
    struct flowpin_element *element = (void *)(ring->bytes + offset);
    element->kind = FLOWPIN_WRAP;
    element->size = (unsigned)wrap;
    put(ring, element);
    offset = 0;
  }
  struct flowpin_element *element = (void *)(ring->bytes + offset);
  element->size = (unsigned)size;
  element->sequence = sequence;
  return element;
}

void flowpin_ring_commit(struct flowpin_ring *ring, struct flowpin_element *element) {
  put(ring, element);
}

void flowpin_ring_flush(struct flowpin_ring *ring, unsigned long sequence) {
  /* Pairs with the acquire in `flowpin_ring_peek`: the bytes are there. */
  if (FLOWPIN_FIFO == 0)
    atomic_store_explicit(&ring->written, ring->pending, memory_order_release);
  /* After the elements: who sees the promise sees all that came before it. */
  if (sequence > atomic_load_explicit(&ring->promised, memory_order_relaxed))
    atomic_store_explicit(&ring->promised, sequence, memory_order_release);
}

#if FLOWPIN_FIFO == 2

struct flowpin_element *flowpin_ring_peek(struct flowpin_ring *ring) {
  for (;;) {
    struct flowpin_element *element =
        atomic_load_explicit(&ring->slots[ring->emptied % FLOWPIN_SLOTS], memory_order_acquire);
    if (!element || element->kind != FLOWPIN_WRAP) return element;
    flowpin_ring_take(ring, element);
  }
}

void flowpin_ring_take(struct flowpin_ring *ring, struct flowpin_element *element) {
  (void)element;
  atomic_store_explicit(&ring->slots[ring->emptied % FLOWPIN_SLOTS], 0, memory_order_release);
  ring->emptied++;
}

#else

struct flowpin_element *flowpin_ring_peek(struct flowpin_ring *ring) {
  for (;;) {
    if (FLOWPIN_FIFO == 1 || ring->at == ring->written_seen)
      ring->written_seen = atomic_load_explicit(&ring->written, memory_order_acquire);
    if (ring->at == ring->written_seen) {
      if (atomic_load_explicit(&ring->read, memory_order_relaxed) != ring->at)
        atomic_store_explicit(&ring->read, ring->at, memory_order_release);
      return 0;
    }
    struct flowpin_element *element = (void *)(ring->bytes + ring->at % ring->capacity);
    if (element->kind != FLOWPIN_WRAP) return element;
    flowpin_ring_take(ring, element);
  }
}

void flowpin_ring_take(struct flowpin_ring *ring, struct flowpin_element *element) {
  ring->at += element->size;
  /* Given back in runs, for the same reason; all of it before the consumer waits. */
  unsigned long given = atomic_load_explicit(&ring->read, memory_order_relaxed);
  if (FLOWPIN_FIFO == 1 || ring->at - given > 16384)
    atomic_store_explicit(&ring->read, ring->at, memory_order_release);
}

#endif

void flowpin_ring_abandon(struct flowpin_ring *ring) {
  atomic_store_explicit(&ring->is_abandoned, 1, memory_order_release);
}
