/* libpcap as the program on one core sees it: its own share of one capture. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <stdlib.h>
#include <string.h>

int flowpin_pcap_setfilter(pcap_t *capture, struct bpf_program *filter);
int flowpin_pcap_dispatch(pcap_t *capture, int count, pcap_handler handler, unsigned char *user);

/* Workers after the first have no file of their own, only its link type. */
static int first_link_type, first_snap_length;
static char first_error[PCAP_ERRBUF_SIZE];
static int first_failed;

pcap_t *flowpin_pcap_open_offline(const char *path, char *error) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return pcap_open_offline(path, error);
  if (worker->is_in_packets) flowpin_die("a capture is opened while packets of another come");
  worker->source++;
  if (worker->number > 0) {
    if (first_failed) {
      memcpy(error, first_error, sizeof first_error);
      return 0;
    }
    worker->capture = pcap_open_dead(first_link_type, first_snap_length);
    return worker->capture;
  }
  worker->capture = pcap_open_offline(path, error);
  first_failed = !worker->capture;
  if (first_failed) {
    memcpy(first_error, error, sizeof first_error);
    return 0;
  }
  first_link_type = pcap_datalink(worker->capture);
  first_snap_length = pcap_snapshot(worker->capture);
  flowpin_source_opened(worker->capture);
  return worker->capture;
}

/* Each core filters its own packets: the capture is read once, for all. */
int flowpin_pcap_setfilter(pcap_t *capture, struct bpf_program *filter) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return pcap_setfilter(capture, filter);
  size_t size = filter->bf_len * sizeof *filter->bf_insns;
  free(worker->filter.bf_insns);
  worker->filter.bf_len = filter->bf_len;
  worker->filter.bf_insns = malloc(size ? size : 1);
  if (!worker->filter.bf_insns) flowpin_die("no memory for a filter");
  memcpy(worker->filter.bf_insns, filter->bf_insns, size);
  return 0;
}

static void release(struct flowpin_worker *worker) {
  if (worker->held) flowpin_ring_take(&worker->ring, worker->held);
  worker->held = 0;
}

/* The next packet that the filter lets through; null at the end, or if there is none now. */
static struct flowpin_element *next(struct flowpin_worker *worker, int waits, int *is_end) {
  *is_end = 0;
  if (!worker->is_in_packets) flowpin_packets_begin();
  release(worker);
  for (;;) {
    struct flowpin_element *element = flowpin_ring_next(&worker->ring, waits);
    if (!element) return 0;
    switch (element->kind) {
      case FLOWPIN_TICK:
        if (flowpin_program.tick) flowpin_program.tick(worker->core, &element->header.ts);
        break;
      case FLOWPIN_END:
        flowpin_ring_take(&worker->ring, element);
        flowpin_packets_end();
        *is_end = 1;
        return 0;
      default:
        if (!worker->filter.bf_insns ||
            pcap_offline_filter(&worker->filter, &element->header, (unsigned char *)(element + 1))) {
          worker->held = element;
          return element;
        }
    }
    flowpin_ring_take(&worker->ring, element);
  }
}

/* After pcap_breakloop the program asks for no more: what is left of its share goes by. */
static void drain(struct flowpin_worker *worker) {
  int is_end = 0;
  while (!is_end) next(worker, 1, &is_end);
}

int flowpin_pcap_loop(pcap_t *capture, int count, pcap_handler handler, unsigned char *user) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return pcap_loop(capture, count, handler, user);
  if (count > 0)
    flowpin_die("pcap_loop with a count ends at another packet on each core: use FLOWPIN_WAYS=1");
  int is_end;
  struct flowpin_element *element;
  worker->stops = 0;
  while ((element = next(worker, 1, &is_end))) {
    handler(user, &element->header, (unsigned char *)(element + 1));
    if (worker->stops) {
      drain(worker);
      return PCAP_ERROR_BREAK;
    }
  }
  return 0;
}

int flowpin_pcap_dispatch(pcap_t *capture, int count, pcap_handler handler, unsigned char *user) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return pcap_dispatch(capture, count, handler, user);
  int done = 0, is_end = 0;
  struct flowpin_element *element;
  worker->stops = 0;
  while ((count <= 0 || done < count) && (element = next(worker, done == 0, &is_end))) {
    handler(user, &element->header, (unsigned char *)(element + 1));
    done++;
    if (worker->stops) {
      drain(worker);
      return PCAP_ERROR_BREAK;
    }
  }
  return done;
}

const unsigned char *flowpin_pcap_next(pcap_t *capture, struct pcap_pkthdr *header) {
  struct flowpin_worker *worker = flowpin_worker;
  int is_end;
  if (!worker) return pcap_next(capture, header);
  struct flowpin_element *element = next(worker, 1, &is_end);
  if (!element) return 0;
  *header = element->header;
  return (unsigned char *)(element + 1);
}

int flowpin_pcap_next_ex(pcap_t *capture, struct pcap_pkthdr **header, const unsigned char **data) {
  struct flowpin_worker *worker = flowpin_worker;
  int is_end;
  if (!worker) return pcap_next_ex(capture, header, data);
  struct flowpin_element *element = next(worker, 1, &is_end);
  if (!element) return PCAP_ERROR_BREAK;
  *header = &element->header;
  *data = (unsigned char *)(element + 1);
  return 1;
}

void flowpin_pcap_breakloop(pcap_t *capture) {
  if (!flowpin_worker) pcap_breakloop(capture);
  else {
    flowpin_worker->stops = 1;
    atomic_store(&flowpin_stops_input, 1);
  }
}

void flowpin_pcap_close(pcap_t *capture) {
  struct flowpin_worker *worker = flowpin_worker;
  if (worker) {
    if (worker->is_in_packets) drain(worker);
    release(worker);
    if (capture == worker->capture) worker->capture = 0;
    free(worker->filter.bf_insns);
    worker->filter.bf_insns = 0;
  }
  pcap_close(capture);
}
