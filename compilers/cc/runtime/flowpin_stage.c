/* What a worker gets from the stage before, in the order of packets, and what it hands on.
 *
 * A stage with several workers that all hand on to one: of what their rings hold, the oldest is
 * taken, once it is known of the empty ones that nothing older follows. That is what promises are
 * for: a producer that is idle, or that waits for room, says how far it is. No ring of a circle of
 * waiting threads can then be the oldest's, so that there is no deadlock. */
#define _GNU_SOURCE
#include "flowpin_core.h"

int flowpin_in_stage(int stage);
void *flowpin_hand_on(int stage, unsigned key, void (*run)(struct flowpin_core *, void *),
                      unsigned long size);
void flowpin_handed_on(void);

#define ALL (~0ul)

/* The oldest element; null if it is not known yet, and then how far all producers are. */
static struct flowpin_element *oldest(struct flowpin_worker *worker, unsigned long *reached) {
  struct flowpin_element *best = 0;
  unsigned long first = ALL, promised = ALL;
  for (int input = 0; input < worker->input_count; input++) {
    struct flowpin_ring *ring = worker->inputs[input];
    if (ring->is_ended) continue;
    struct flowpin_element *element = flowpin_ring_peek(ring);
    if (!element) {
      /* The promise first: what was put before it is seen after it. */
      unsigned long promise = atomic_load_explicit(&ring->promised, memory_order_acquire);
      element = flowpin_ring_peek(ring);
      if (!element && promise < promised) promised = promise;
    }
    if (element && element->sequence < first) {
      best = element;
      first = element->sequence;
      worker->reads = ring;
    }
  }
  if (best && first <= promised) return best;
  *reached = first < promised ? first : promised;
  return 0;
}

static int has_ended(struct flowpin_worker *worker) {
  for (int input = 0; input < worker->input_count; input++)
    if (!worker->inputs[input]->is_ended) return 0;
  return 1;
}

struct flowpin_element *flowpin_next_input(struct flowpin_worker *worker, int waits, int *is_end) {
  unsigned tries = 0;
  for (;;) {
    if (has_ended(worker)) {
      *is_end = 1;
      return 0;
    }
    unsigned long reached = 0;
    struct flowpin_element *element = oldest(worker, &reached);
    if (!element) {
      flowpin_promise(worker, reached);
      if (!waits) return 0;
      flowpin_pause(&tries);
      continue;
    }
    if (element->kind == FLOWPIN_END) {
      worker->reads->is_ended = 1;
      if (element->sequence > worker->sequence) worker->sequence = element->sequence;
      flowpin_ring_take(worker->reads, element);
      continue;
    }
    if (++worker->taken % 64 == 0) flowpin_promise(worker, element->sequence);
    return element;
  }
}

void flowpin_promise(struct flowpin_worker *worker, unsigned long sequence) {
  for (int stage = 1; stage < flowpin_program.stage_count; stage++)
    for (int way = 0; worker->outputs[stage] && way < flowpin_stage_ways[stage]; way++)
      flowpin_ring_flush(worker->outputs[stage][way], sequence);
}

void flowpin_hand_all(struct flowpin_worker *worker, enum flowpin_kind kind) {
  for (int stage = 1; stage < flowpin_program.stage_count; stage++)
    for (int way = 0; worker->outputs[stage] && way < flowpin_stage_ways[stage]; way++) {
      struct flowpin_ring *ring = worker->outputs[stage][way];
      struct flowpin_element *element = flowpin_ring_reserve(ring, worker->sequence, 0);
      if (!element) continue;
      element->kind = kind;
      element->header = worker->header;
      flowpin_ring_commit(ring, element);
    }
  flowpin_promise(worker, worker->sequence);
}

int flowpin_in_stage(int stage) { return !flowpin_worker || flowpin_worker->stage == stage; }

static _Thread_local struct flowpin_ring *handing;
static _Thread_local struct flowpin_element *handed;

void *flowpin_hand_on(int stage, unsigned key, void (*run)(struct flowpin_core *, void *),
                      unsigned long size) {
  struct flowpin_worker *worker = flowpin_worker;
  /* Before packets come all cores do the same. */
  if (!worker || !worker->outputs[stage] || !worker->owes_end) return 0;
  handing = worker->outputs[stage][key % (unsigned)flowpin_stage_ways[stage]];
  if (!flowpin_ring_fits(handing, size))
    flowpin_die("what a cut hands on is larger than half a ring");
  handed = flowpin_ring_reserve(handing, worker->sequence, size);
  /* Who would run it has ended the program. */
  if (!handed) flowpin_finish(worker->code);
  handed->kind = FLOWPIN_CALL;
  handed->run = run;
  handed->header = worker->header;
  return handed + 1;
}

void flowpin_handed_on(void) { flowpin_ring_commit(handing, handed); }
