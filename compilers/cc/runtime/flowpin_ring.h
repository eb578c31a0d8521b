/* A ring of bytes from one thread to one other: packets, ticks, the end. */
#ifndef FLOWPIN_RING_H
#define FLOWPIN_RING_H

#include <pcap.h>
#include <stdatomic.h>

enum flowpin_kind { FLOWPIN_PACKET, FLOWPIN_TICK, FLOWPIN_END, FLOWPIN_WRAP };

/* One element; a packet's bytes follow it. */
struct flowpin_element {
  unsigned size; /* with its bytes, a multiple of 32 */
  enum flowpin_kind kind;
  struct pcap_pkthdr header;
};

struct flowpin_ring {
  char *bytes;
  unsigned long capacity;
  _Alignas(128) _Atomic unsigned long written; /* by the producer */
  unsigned long pending;                       /* the producer's own: filled, not yet shown */
  unsigned long read_seen;
  _Alignas(128) _Atomic unsigned long read; /* by the consumer */
  unsigned long at;                         /* the consumer's own */
  unsigned long written_seen;
  _Atomic int is_abandoned; /* the consumer takes no more */
};

int flowpin_ring_make(struct flowpin_ring *ring, unsigned long capacity);
/* Copies an element in, and waits while the ring is full; -1 if it never fits. */
int flowpin_ring_put(struct flowpin_ring *ring, enum flowpin_kind kind,
                     const struct pcap_pkthdr *header, const unsigned char *data);
/* Shows what was put. */
void flowpin_ring_flush(struct flowpin_ring *ring);
/* The next element, valid until `flowpin_ring_take`; waits for one if `waits`, or returns null. */
struct flowpin_element *flowpin_ring_next(struct flowpin_ring *ring, int waits);
void flowpin_ring_take(struct flowpin_ring *ring, struct flowpin_element *element);
/* The consumer takes no more: the producer is not to wait for it. */
void flowpin_ring_abandon(struct flowpin_ring *ring);

#endif
