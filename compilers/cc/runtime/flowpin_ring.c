#define _GNU_SOURCE
#include "flowpin_ring.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Yields first; then sleeps, so that a waiting core leaves the others alone. */
static void pause_a_little(unsigned *tries) {
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
  return ring->bytes ? 0 : -1;
}

/* Waits until `need` bytes are free; 0 if nothing will be read any more. */
static int wait_for(struct flowpin_ring *ring, unsigned long need) {
  unsigned tries = 0;
  while (ring->pending + need - ring->read_seen > ring->capacity) {
    if (atomic_load_explicit(&ring->is_abandoned, memory_order_acquire)) return 0;
    flowpin_ring_flush(ring);
    /* Pairs with the consumer's releases: the bytes are not read any more. */
    ring->read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
    if (ring->pending + need - ring->read_seen > ring->capacity) pause_a_little(&tries);
  }
  return 1;
}

int flowpin_ring_put(struct flowpin_ring *ring, enum flowpin_kind kind,
                     const struct pcap_pkthdr *header, const unsigned char *data) {
  unsigned long length = kind == FLOWPIN_PACKET ? header->caplen : 0;
  unsigned long size = (sizeof(struct flowpin_element) + length + 31) & ~31ul;
  unsigned long offset = ring->pending % ring->capacity;
  unsigned long wrap = offset + size > ring->capacity ? ring->capacity - offset : 0;
  if (size > ring->capacity / 2) return -1;
  if (!wait_for(ring, wrap + size)) return 0;
  if (wrap) {
    struct flowpin_element *element = (void *)(ring->bytes + offset);
    element->kind = FLOWPIN_WRAP;
    element->size = (unsigned)wrap;
    ring->pending += wrap;
    offset = 0;
  }
  struct flowpin_element *element = (void *)(ring->bytes + offset);
  element->kind = kind;
  element->size = (unsigned)size;
  element->header = *header;
  if (length) memcpy(element + 1, data, length);
  ring->pending += size;
  /* Shown in runs, so that the two threads' cache lines move seldom. */
  unsigned long shown = atomic_load_explicit(&ring->written, memory_order_relaxed);
  if (ring->pending - shown > 16384) flowpin_ring_flush(ring);
  return 0;
}

void flowpin_ring_flush(struct flowpin_ring *ring) {
  /* Pairs with the acquire in `flowpin_ring_next`: the bytes are there. */
  atomic_store_explicit(&ring->written, ring->pending, memory_order_release);
}

struct flowpin_element *flowpin_ring_next(struct flowpin_ring *ring, int waits) {
  unsigned tries = 0;
  for (;;) {
    while (ring->at == ring->written_seen) {
      ring->written_seen = atomic_load_explicit(&ring->written, memory_order_acquire);
      if (ring->at != ring->written_seen) break;
      atomic_store_explicit(&ring->read, ring->at, memory_order_release);
      if (!waits) return 0;
      pause_a_little(&tries);
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
  if (ring->at - given > 16384)
    atomic_store_explicit(&ring->read, ring->at, memory_order_release);
}

void flowpin_ring_abandon(struct flowpin_ring *ring) {
  atomic_store_explicit(&ring->is_abandoned, 1, memory_order_release);
}
