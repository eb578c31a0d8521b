/* Functions of the C library that keep something between calls: one for each core. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local char *cursor;
static _Thread_local struct tm broken_down;
static _Thread_local char text[128];
static _Thread_local struct random_data generator;
static _Thread_local char generator_state[128];
static _Thread_local int is_seeded;

char *flowpin_strtok(char *string, const char *delimiters) {
  return strtok_r(string, delimiters, &cursor);
}

struct tm *flowpin_localtime(const time_t *when) { return localtime_r(when, &broken_down); }
struct tm *flowpin_gmtime(const time_t *when) { return gmtime_r(when, &broken_down); }
char *flowpin_ctime(const time_t *when) { return ctime_r(when, text); }
char *flowpin_asctime(const struct tm *when) { return asctime_r(when, text); }
char *flowpin_strerror(int number) { return strerror_r(number, text, sizeof text); }

char *flowpin_inet_ntoa(struct in_addr address) {
  static _Thread_local char buffer[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &address, buffer, sizeof buffer);
  return buffer;
}

/* The same numbers as glibc's, which starts with seed 1. */
void flowpin_srandom(unsigned seed) {
  memset(&generator, 0, sizeof generator);
  initstate_r(seed, generator_state, sizeof generator_state, &generator);
  is_seeded = 1;
}

long flowpin_random(void) {
  int number;
  if (!is_seeded) flowpin_srandom(1);
  random_r(&generator, &number);
  return number;
}

void flowpin_srand(unsigned seed) { flowpin_srandom(seed); }
int flowpin_rand(void) { return (int)flowpin_random(); }

/* A child would have one core only. */
static int refuse_child(const char *what) {
  fprintf(stderr, "flowpin: %s fails on several cores: start the program in the foreground\n", what);
  errno = ENOSYS;
  return -1;
}

int flowpin_fork(void) { return flowpin_worker ? refuse_child("fork") : (int)fork(); }

int flowpin_daemon(int keeps_directory, int keeps_output) {
  if (flowpin_worker) return refuse_child("daemon");
  return daemon(keeps_directory, keeps_output);
}

void flowpin_exit(int code) {
  if (!flowpin_worker) exit(code);
  flowpin_leave(code);
}

/* What is to be merged is merged: only what streams of the C library hold back is lost. */
void flowpin__exit(int code) {
  if (!flowpin_worker) _exit(code);
  flowpin_finish(code);
}
