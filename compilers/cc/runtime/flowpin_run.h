/* What the generated program tells the run-time about itself. */
#ifndef FLOWPIN_RUN_H
#define FLOWPIN_RUN_H

#include <stddef.h>
#include <sys/time.h>

struct flowpin_core;

/* By what packets are given to cores; both directions of a connection have the same key. */
enum flowpin_key { FLOWPIN_IP_PAIR, FLOWPIN_FOUR_TUPLE, FLOWPIN_SOURCE };

/* Where the program is divided. */
#define FLOWPIN_STAGES_MAX 8
struct flowpin_stage {
  const char *name;
  int ways; /* as below */
  unsigned from; /* a bit for each stage that hands calls on to this one */
};

struct flowpin_program {
  size_t core_size;                                      /* bytes of a core's state */
  void (*init)(struct flowpin_core *);                   /* gives it its initial values */
  int (*start)(struct flowpin_core *, int, char **);     /* the program's main function */
  void (*reduce)(struct flowpin_core *, int);            /* 0: adds to the sums; 1: takes them */
  const char *(*set_once)(int);                          /* 0 keeps first values, 1 sets them, 2
                                                            keeps what is set, 3: what differs */
  void (*tick)(struct flowpin_core *, struct timeval *); /* packet time has passed; may be null */
  long tick_us;                                          /* how often */
  int tick_stage;                                        /* which stage it is for */
  const struct flowpin_stage *stages;                    /* packets come to the first */
  int stage_count;
  enum flowpin_key key;
  int ways; /* cores, unless FLOWPIN_WAYS says it; 0: as many as there are */
};

extern const struct flowpin_program flowpin_program;

/* The key of a frame, the same for both directions; 0 for what has no addresses. */
unsigned flowpin_hash(enum flowpin_key key, int link_type, const unsigned char *frame,
                      unsigned length);

#endif
