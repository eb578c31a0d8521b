/* What a run took and lost, for the standard error.
 *
 * FLOWPIN_ACCOUNT=1 has it told how many packets were read and taken, and each thread's processor
 * time:
 *
 *   flowpin: 1000 packets read, 0 lost; reader 0.003 s
 *   flowpin: ip: 1000 taken in 0.004 s
 *   flowpin: ap: 480 taken in 0.006 s, 520 taken in 0.007 s
 *
 * What an interface dropped before anybody could read it is told without being asked for. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned long read_count;

/* Processor time of this thread, or of all. */
static double seconds(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) ? 0 : (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int is_wanted(void) {
  const char *wish = getenv("FLOWPIN_ACCOUNT");
  return wish && *wish && strcmp(wish, "0") != 0;
}

void flowpin_account_packet(void) { read_count++; }

/* A live capture has ended. */
void flowpin_account_capture(pcap_t *capture) {
  struct pcap_stat stats;
  if (pcap_stats(capture, &stats)) return;
  unsigned long dropped = (unsigned long)stats.ps_drop + stats.ps_ifdrop;
  if (dropped)
    fprintf(stderr, "flowpin: the interface dropped %lu packets: no core has seen them\n", dropped);
}

void flowpin_account_core(struct flowpin_worker *worker) {
  worker->seconds = seconds(CLOCK_THREAD_CPUTIME_ID);
}

static void tell_alone(void) {
  fprintf(stderr, "flowpin: one core, which reads itself; %.6f s\n",
          seconds(CLOCK_PROCESS_CPUTIME_ID));
}

/* A program on one core ends as it likes. */
void flowpin_account_alone(void) {
  if (is_wanted()) atexit(tell_alone);
}

/* What all threads took; by the thread that has read. */
void flowpin_account_all(const struct flowpin_worker *workers, int count) {
  if (!is_wanted()) return;
  unsigned long taken = 0;
  for (int number = 0; number < count; number++)
    if (workers[number].stage == 0) taken += workers[number].worked;
  fprintf(stderr, "flowpin: %lu packets read, %lu lost%s; reader %.6f s\n", read_count,
          read_count > taken ? read_count - taken : 0,
          atomic_load(&flowpin_stops_input) ? " as the program stopped reading" : "",
          seconds(CLOCK_THREAD_CPUTIME_ID));
  for (int stage = 0, number = 0; number < count; stage++) {
    fprintf(stderr, "flowpin: %s:", flowpin_program.stages[stage].name);
    for (const char *between = ""; number < count && workers[number].stage == stage; number++) {
      fprintf(stderr, "%s %lu taken in %.6f s", between, workers[number].worked,
              workers[number].seconds);
      between = ",";
    }
    fputc('\n', stderr);
  }
}
