/* libpcap as the program on one core sees it: its own share of one capture. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <fcntl.h>
#include <stdlib.h>
#include <limits.h>
#include <string.h>

/* The first core opens the capture, for all; the others know of it what a program asks first. */
static int first_link_type, first_snap_length, first_precision, first_failed, first_is_file;
static char first_error[PCAP_ERRBUF_SIZE];

static struct flowpin_worker *opening(void) {
  struct flowpin_worker *worker = flowpin_worker;
  if (worker && worker->is_in_packets) flowpin_die("a capture is opened while packets of another come");
  if (worker) {
    worker->source++;
    worker->is_at_end = 0;
  }
  return worker;
}

static pcap_t *opened(struct flowpin_worker *worker, pcap_t *capture, const char *error) {
  first_failed = !capture;
  worker->capture = capture;
  if (capture) {
    first_link_type = pcap_datalink(capture);
    first_snap_length = pcap_snapshot(capture);
    first_precision = pcap_get_tstamp_precision(capture);
    first_is_file = pcap_file(capture) != 0;
    flowpin_source_opened(capture);
  } else {
    memcpy(first_error, error, sizeof first_error);
  }
  return capture;
}

static pcap_t *dead(void) {
  return pcap_open_dead_with_tstamp_precision(first_link_type, first_snap_length,
                                              (unsigned)first_precision);
}

static pcap_t *opened_by_first(struct flowpin_worker *worker, char *error) {
  if (first_failed) {
    memcpy(error, first_error, sizeof first_error);
    return 0;
  }
  return worker->capture = dead();
}

pcap_t *flowpin_pcap_open_offline(const char *path, char *error) {
  struct flowpin_worker *worker = opening();
  if (!worker) return pcap_open_offline(path, error);
  if (worker->number > 0) return opened_by_first(worker, error);
  return opened(worker, pcap_open_offline(path, error), error);
}

pcap_t *flowpin_pcap_fopen_offline(FILE *file, char *error) {
  struct flowpin_worker *worker = opening();
  if (!worker) return pcap_fopen_offline(file, error);
  if (worker->number > 0) return opened_by_first(worker, error);
  return opened(worker, pcap_fopen_offline(file, error), error);
}

pcap_t *flowpin_pcap_open_offline_with_tstamp_precision(const char *path, unsigned precision,
                                                         char *error) {
  struct flowpin_worker *worker = opening();
  if (!worker) return pcap_open_offline_with_tstamp_precision(path, precision, error);
  if (worker->number > 0) return opened_by_first(worker, error);
  return opened(worker, pcap_open_offline_with_tstamp_precision(path, precision, error), error);
}

pcap_t *flowpin_pcap_fopen_offline_with_tstamp_precision(FILE *file, unsigned precision,
                                                          char *error) {
  struct flowpin_worker *worker = opening();
  if (!worker) return pcap_fopen_offline_with_tstamp_precision(file, precision, error);
  if (worker->number > 0) return opened_by_first(worker, error);
  return opened(worker, pcap_fopen_offline_with_tstamp_precision(file, precision, error), error);
}

pcap_t *flowpin_pcap_open_live(const char *device, int length, int is_promiscuous, int wait_ms,
                               char *error) {
  struct flowpin_worker *worker = opening();
  if (!worker) return pcap_open_live(device, length, is_promiscuous, wait_ms, error);
  if (worker->number > 0) return opened_by_first(worker, error);
  return opened(worker, pcap_open_live(device, length, is_promiscuous, wait_ms, error), error);
}

int flowpin_pcap_activate(pcap_t *capture) {
  struct flowpin_worker *worker = opening();
  static int outcome;
  if (!worker) return pcap_activate(capture);
  if (worker->number == 0) {
    outcome = pcap_activate(capture);
    if (outcome >= 0) opened(worker, capture, "");
  }
  worker->capture = capture;
  return outcome;
}

int flowpin_pcap_datalink(pcap_t *capture) {
  return flowpin_worker && flowpin_worker->number > 0 ? first_link_type : pcap_datalink(capture);
}

int flowpin_pcap_snapshot(pcap_t *capture) {
  return flowpin_worker && flowpin_worker->number > 0 ? first_snap_length : pcap_snapshot(capture);
}

int flowpin_pcap_compile(pcap_t *capture, struct bpf_program *filter, const char *text,
                         int optimizes, bpf_u_int32 mask) {
  if (!flowpin_worker || flowpin_worker->number == 0)
    return pcap_compile(capture, filter, text, optimizes, mask);
  pcap_t *same = dead();
  int outcome = same ? pcap_compile(same, filter, text, optimizes, mask) : -1;
  if (same) pcap_close(same);
  return outcome;
}

/* What the interface received and dropped is the first core's to report. */
int flowpin_pcap_stats(pcap_t *capture, struct pcap_stat *stats) {
  if (!flowpin_worker || flowpin_worker->number == 0) return pcap_stats(capture, stats);
  memset(stats, 0, sizeof *stats);
  return 0;
}

static int only_on_one_core(void) {
  if (flowpin_worker)
    flowpin_die("the program waits for the capture's descriptor: that needs FLOWPIN_WAYS=1");
  return 0;
}

int flowpin_pcap_fileno(pcap_t *capture) { return only_on_one_core() + pcap_fileno(capture); }

/* A file is always ready, and so is what each core gets for it. */
int flowpin_pcap_get_selectable_fd(pcap_t *capture) {
  static _Thread_local int ready = -1;
  if (!flowpin_worker || !first_is_file)
    return only_on_one_core() + pcap_get_selectable_fd(capture);
  if (ready < 0) ready = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return ready;
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
  if (worker->held) flowpin_ring_take(worker->reads, worker->held);
  worker->held = 0;
}

/* What time it is, for a program that asks for it, before something that happened later. */
static void pass_time(struct flowpin_worker *worker, struct flowpin_element *element) {
  if (flowpin_program.tick && flowpin_program.tick_stage == worker->stage)
    flowpin_program.tick(worker->core, &element->header.ts);
}

static void tick(struct flowpin_worker *worker, struct flowpin_element *element) {
  /* It comes from each worker of the stage before. */
  if (worker->ticked == element->sequence) return;
  worker->ticked = element->sequence;
  worker->sequence = element->sequence;
  worker->header = element->header;
  pass_time(worker, element);
  flowpin_hand_all(worker, FLOWPIN_TICK);
}

static void run_call(struct flowpin_worker *worker, struct flowpin_element *element) {
  pass_time(worker, element);
  element->run(worker->core, element + 1);
}

/* The next packet that the filter lets through; null at the end, or if there is none now. */
static struct flowpin_element *next(struct flowpin_worker *worker, int waits, int *is_end) {
  *is_end = 0;
  if (worker->is_at_end) {
    *is_end = 1;
    return 0;
  }
  if (!worker->is_in_packets) flowpin_packets_begin();
  release(worker);
  for (;;) {
    flowpin_show_said(worker);
    struct flowpin_element *element = flowpin_next_input(worker, waits, is_end);
    if (*is_end) {
      worker->is_at_end = 1;
      flowpin_packets_end();
      return 0;
    }
    if (!element) return 0;
    if (element->kind == FLOWPIN_TICK) {
      tick(worker, element);
      flowpin_ring_take(worker->reads, element);
      continue;
    }
    worker->sequence = element->sequence;
    worker->header = element->header;
    worker->worked++;
    if (element->kind == FLOWPIN_CALL) {
      if (!worker->discards) run_call(worker, element);
    } else if (!worker->filter.bf_insns ||
               pcap_offline_filter(&worker->filter, &element->header,
                                   (unsigned char *)(element + 1))) {
      worker->held = element;
      return element;
    }
    flowpin_ring_take(worker->reads, element);
    if (worker->stops) worker->discards = 1;
  }
}

/* After pcap_breakloop the program asks for no more: what is left of its share goes by. */
static void drain(struct flowpin_worker *worker) {
  int is_end = 0;
  worker->discards = 1;
  while (!is_end) next(worker, 1, &is_end);
  worker->discards = 0;
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
  /* Of a file, what is asked for comes at once: all of it, if no count is given. */
  while ((count <= 0 || done < count) &&
         (element = next(worker, done == 0 || first_is_file, &is_end))) {
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

/* Captures that the program writes are outputs like others: the first core's part has the header. */
pcap_dumper_t *flowpin_pcap_dump_fopen(pcap_t *capture, FILE *file) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker || worker->number == 0 || capture != worker->capture)
    return pcap_dump_fopen(capture, file);
  /* What this core has for an interface may not be open. */
  pcap_t *same = dead();
  pcap_dumper_t *dumper = same ? pcap_dump_fopen(same, file) : 0;
  if (same) pcap_close(same);
  return dumper;
}

pcap_dumper_t *flowpin_pcap_dump_open(pcap_t *capture, const char *path) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) {
    char room[PATH_MAX];
    const char *own = flowpin_own_path(path, room, sizeof room);
    return pcap_dump_open(capture, own ? own : "");
  }
  FILE *file = strcmp(path, "-") ? flowpin_fopen(path, "wb") : flowpin_stdout();
  /* It fails again, and leaves its reason with the capture. */
  if (!file) return pcap_dump_open(capture, path);
  pcap_dumper_t *dumper = flowpin_pcap_dump_fopen(capture, file);
  if (!dumper) flowpin_fclose(file);
  return dumper;
}

pcap_dumper_t *flowpin_pcap_dump_open_append(pcap_t *capture, const char *path) {
  if (flowpin_worker) flowpin_die("a capture is added to: that needs FLOWPIN_WAYS=1");
  return pcap_dump_open_append(capture, path);
}

void flowpin_pcap_dump_close(pcap_dumper_t *dumper) {
  if (flowpin_worker) flowpin_fclose(pcap_dump_file(dumper));
  else pcap_dump_close(dumper);
}
