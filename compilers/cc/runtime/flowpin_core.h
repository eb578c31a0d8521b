/* One core of a running program, as the parts of the run-time see it. */
#ifndef FLOWPIN_CORE_H
#define FLOWPIN_CORE_H

#include "flowpin_ring.h"
#include "flowpin_run.h"

#include <pthread.h>
#include <stdio.h>

/* An output of the program, of which each core has a part. */
struct flowpin_part {
  char *path; /* null: standard output */
  int flags;         /* of open(2) */
  int target;        /* the file itself, which the first core has opened; or -1 */
  int descriptor;    /* of a temporary file, also after the program has closed it */
  int handed;        /* the program's own descriptor of it; -1 if it has none */
  FILE *file;        /* null once the program has closed it */
  long at_packets;   /* how long it was when packets began to come */
  long at_end;       /* how long it was when they ended */
  long at_once;      /* how long it was at the last statement that runs once */
  struct flowpin_part *next;
};

/* Above this, descriptors are not watched. */
#define FLOWPIN_DESCRIPTORS 4096

struct flowpin_worker {
  int number;
  pthread_t thread;
  struct flowpin_core *core;
  int argc;
  char **argv;
  int code;
  /* Its stage, its number there, the rings that it reads, and for each stage those that it fills. */
  int stage;
  int way;
  struct flowpin_ring **inputs;
  int input_count;
  struct flowpin_ring **outputs[FLOWPIN_STAGES_MAX];
  struct flowpin_ring *reads; /* the ring of the element that it has */
  struct pcap_pkthdr header;  /* of the packet that it works on, and its number */
  unsigned long sequence;
  unsigned long ticked; /* the number of the last tick */
  unsigned long taken;  /* elements */
  unsigned long worked; /* of them, packets and calls */
  double seconds;       /* of processor time, once it has ended */
  int owes_end;         /* the stages after it do not know yet that its packets have ended */
  int discards;         /* what comes until the end is not run */
  struct flowpin_part *parts;
  FILE *in;
  off_t in_at; /* how much of standard input it has read */
  FILE *out;
  FILE *err;
  char *said; /* on standard error, about the packet that it works on */
  size_t said_length;
  char is_foreign[FLOWPIN_DESCRIPTORS];
  /* The capture that is being read. */
  pcap_t *capture;
  int source;        /* how many captures it has opened */
  int is_in_packets; /* between the first packet it asked for and the last */
  int is_at_end;     /* of the capture that is open */
  int had_packets;   /* and has seen the end of some capture */
  int had_once;      /* and has come to a statement that runs once after that */
  int stops;         /* pcap_breakloop */
  struct bpf_program filter;
  struct flowpin_element *held; /* what pcap_next has returned */
};

/* The worker of this thread; null on others, and in a program on one core. */
extern _Thread_local struct flowpin_worker *flowpin_worker;
/* How many cores there are. */
extern int flowpin_ways;
extern int flowpin_stage_ways[FLOWPIN_STAGES_MAX];

/* Serial phases: one worker after another runs, from its start or its last packet to its next
 * call for a packet, or its end. Packets come when all have got there. */
void flowpin_packets_begin(void);
void flowpin_packets_end(void);
void flowpin_finish(int code) __attribute__((noreturn));

/* The capture that the first worker has opened, for the thread that reads it. */
void flowpin_source_opened(pcap_t *capture);

/* What ends a sequential program's reading ends it for all cores. */
extern _Atomic int flowpin_stops_input;

/* The next element for a worker, in the order of packets; null at the end, or if there is none. */
struct flowpin_element *flowpin_next_input(struct flowpin_worker *worker, int waits, int *is_end);
/* All that later stages are to know: what was put, and that nothing older follows. */
void flowpin_promise(struct flowpin_worker *worker, unsigned long sequence);
/* A tick, or the end, to all workers of later stages. */
void flowpin_hand_all(struct flowpin_worker *worker, enum flowpin_kind kind);

/* A new output of a core; the last one under a path; a stream that writes to it. */
struct flowpin_part *flowpin_new_part(struct flowpin_worker *worker, const char *path, int flags);
struct flowpin_part *flowpin_find_part(struct flowpin_worker *worker, const char *path);
FILE *flowpin_stream_of(struct flowpin_part *part, const char *mode);
void flowpin_show_output(struct flowpin_worker *worker);

FILE *flowpin_stdout(void);
void flowpin_show_said(struct flowpin_worker *worker);
FILE *flowpin_fopen(const char *path, const char *mode);
/* A file is opened while packets come: it may be one core's alone; see flowpin_opened.c. */
void flowpin_watch(const char *path, int flags);
/* Whether a path names standard output (1) or standard error (2), and what stands for them. */
int flowpin_standard(const char *path);
int flowpin_standard_copy(int number);
FILE *flowpin_standard_stream(int number, const char *mode);
/* The path that is opened, which a core's own file has its number behind; null with errno. */
const char *flowpin_own_path(const char *path, char *room, size_t size);
int flowpin_fclose(FILE *file);
void flowpin_note_descriptors(struct flowpin_worker *worker);
enum flowpin_mark { FLOWPIN_AT_PACKETS, FLOWPIN_AT_END, FLOWPIN_AT_ONCE };
void flowpin_mark(struct flowpin_worker *worker, enum flowpin_mark mark);
int flowpin_merge(struct flowpin_worker *workers, int count);
/* The end of a core by the program's own will: its functions for that run first. */
void flowpin_leave(int code) __attribute__((noreturn));
/* What was read, what an interface dropped, what each thread took; see flowpin_account.c. */
void flowpin_account_packet(void);
void flowpin_account_capture(pcap_t *capture);
void flowpin_account_core(struct flowpin_worker *worker);
void flowpin_account_alone(void);
void flowpin_account_all(const struct flowpin_worker *workers, int count);
/* What a core has asked for, and has been told about hosts and services, goes with it. */
void flowpin_forget_requests(void);
void flowpin_forget_names(void);
void flowpin_die(const char *what) __attribute__((noreturn));

#endif
