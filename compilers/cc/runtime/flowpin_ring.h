/* A ring of bytes from one thread to one other: packets, calls that another stage runs, ticks, the
 * end. FLOWPIN_FIFO chooses how the two threads tell each other of elements:
 *
 *   0  flowpin: counters of bytes, shown in runs, remembered by the other side
 *   1  Lamport (1983): counters of bytes, shown and looked up with each element
 *   2  FastForward (Giacomoni, Moseley, Vachharajani, PPoPP 2008): no counters; a slot that is
 *      null is free, one that is not holds an element */
#ifndef FLOWPIN_RING_H
#define FLOWPIN_RING_H

#include <pcap.h>
#include <stdatomic.h>

#ifndef FLOWPIN_FIFO
#define FLOWPIN_FIFO 0
#endif

struct flowpin_core;

enum flowpin_kind { FLOWPIN_PACKET, FLOWPIN_CALL, FLOWPIN_TICK, FLOWPIN_END, FLOWPIN_WRAP };

/* One element; its bytes follow it. */
struct flowpin_element {
  _Alignas(16) unsigned size; /* with its bytes, a multiple of 32 */
  enum flowpin_kind kind;
  unsigned long sequence; /* the number of the packet that it comes from */
  struct pcap_pkthdr header;
  void (*run)(struct flowpin_core *, void *); /* of a call */
};

#define FLOWPIN_SLOTS 4096

struct flowpin_ring {
  char *bytes;
  unsigned long capacity;
  struct flowpin_ring *sibling; /* another ring of the same producer, in a circle */
  _Alignas(128) _Atomic unsigned long written; /* by the producer */
  _Atomic unsigned long promised; /* the producer will put nothing with a lower sequence */
  unsigned long pending;          /* the producer's own: filled, not yet shown */
  unsigned long read_seen;
  unsigned long sequence; /* of what is being put */
  _Alignas(128) _Atomic unsigned long read; /* by the consumer */
  unsigned long at;                         /* the consumer's own */
  unsigned long written_seen;
  int is_ended;             /* the consumer's own: it has seen the end */
  _Atomic int is_abandoned; /* the consumer takes no more */
#if FLOWPIN_FIFO == 2
  _Atomic(struct flowpin_element *) *slots;
  unsigned long *ends;                     /* the producer's own: where each slot's bytes end */
  unsigned long filled, reclaimed, emptied; /* numbers of slots: the producer's two, the consumer's */
#endif
};

int flowpin_ring_make(struct flowpin_ring *ring, unsigned long capacity);
/* Room for an element of the packet `sequence` with this many bytes, once there is some; null if
 * nothing is read any more, or if it never fits. */
struct flowpin_element *flowpin_ring_reserve(struct flowpin_ring *ring, unsigned long sequence,
                                             unsigned long length);
/* Puts the element for which room was made last. */
void flowpin_ring_commit(struct flowpin_ring *ring, struct flowpin_element *element);
/* Whether an element with this many bytes fits at all. */
int flowpin_ring_fits(const struct flowpin_ring *ring, unsigned long length);
/* Shows what was put, and promises that nothing below `sequence` will be. */
void flowpin_ring_flush(struct flowpin_ring *ring, unsigned long sequence);
/* The next element, valid until `flowpin_ring_take`; null if there is none now. */
struct flowpin_element *flowpin_ring_peek(struct flowpin_ring *ring);
void flowpin_ring_take(struct flowpin_ring *ring, struct flowpin_element *element);
/* The consumer takes no more: the producer is not to wait for it. */
void flowpin_ring_abandon(struct flowpin_ring *ring);
/* Yields first; then sleeps, so that a waiting thread leaves the others alone. */
void flowpin_pause(unsigned *tries);

#endif
