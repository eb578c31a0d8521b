/* What the program writes: each core its part, put in one order at the end.
 *
 * First what the first core wrote before packets came (the others wrote the same); then what each
 * core wrote while they came; then what each wrote after them, and last what comes after the last
 * statement that runs once. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct flowpin_part *flowpin_new_part(struct flowpin_worker *worker, const char *path, int flags) {
  struct flowpin_part *part = calloc(1, sizeof *part);
  FILE *file = tmpfile();
  if (part && file) part->descriptor = dup(fileno(file));
  if (file) fclose(file);
  if (!part || !file || part->descriptor < 0) {
    free(part);
    errno = ENOMEM;
    return 0;
  }
  part->path = path ? strdup(path) : 0;
  part->flags = flags;
  part->target = part->handed = -1;
  part->at_packets = part->at_end = part->at_once = -1;
  /* Opened after packets have begun, or have ended, it has nothing from before. */
  if (worker->is_in_packets || worker->had_packets) part->at_packets = 0;
  if (!worker->is_in_packets && worker->had_packets) part->at_end = 0;
  if (worker->had_once) part->at_once = 0;
  struct flowpin_part **last = &worker->parts;
  while (*last) last = &(*last)->next;
  *last = part;
  return part;
}

FILE *flowpin_stdout(void) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return stdout;
  if (!worker->out) {
    struct flowpin_part *part = flowpin_new_part(worker, 0, O_WRONLY);
    worker->out = part ? flowpin_stream_of(part, "w") : 0;
  }
  if (!worker->out) flowpin_die("no temporary file for a core's output");
  return worker->out;
}

int flowpin_printf(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int count = vfprintf(flowpin_stdout(), format, list);
  va_end(list);
  return count;
}

int flowpin_vprintf(const char *format, va_list list) {
  return vfprintf(flowpin_stdout(), format, list);
}

int flowpin_puts(const char *text) {
  FILE *out = flowpin_stdout();
  return fputs(text, out) < 0 ? EOF : fputc('\n', out);
}

int flowpin_putchar(int c) { return fputc(c, flowpin_stdout()); }

static long length_of(struct flowpin_part *part) {
  struct stat status;
  if (part->file) fflush(part->file);
  return fstat(part->descriptor, &status) ? 0 : (long)status.st_size;
}

void flowpin_mark(struct flowpin_worker *worker, enum flowpin_mark mark) {
  for (struct flowpin_part *part = worker->parts; part; part = part->next) {
    if (mark == FLOWPIN_AT_END) part->at_end = length_of(part);
    else if (mark == FLOWPIN_AT_ONCE) part->at_once = length_of(part);
    else if (part->at_packets < 0) part->at_packets = length_of(part);
  }
}

static int copy(struct flowpin_part *part, long from, long to, int target) {
  char buffer[65536];
  while (from < to) {
    size_t want = (size_t)(to - from) < sizeof buffer ? (size_t)(to - from) : sizeof buffer;
    ssize_t got = pread(part->descriptor, buffer, want, from);
    if (got <= 0) return -1;
    for (ssize_t done = 0; done < got;) {
      ssize_t put = write(target, buffer + done, (size_t)(got - done));
      if (put <= 0) return -1;
      done += put;
    }
    from += got;
  }
  return 0;
}

struct flowpin_part *flowpin_find_part(struct flowpin_worker *worker, const char *path) {
  struct flowpin_part *found = 0;
  for (struct flowpin_part *part = worker->parts; part; part = part->next) {
    int is_same = path && part->path ? !strcmp(path, part->path) : path == part->path;
    if (is_same) found = part; /* opened twice: the last one counts */
  }
  return found;
}

/* All cores' parts of one output. */
static int merge_one(struct flowpin_worker *workers, int count, struct flowpin_part *first) {
  int target = first->path ? first->target : 1, failed = 0;
  if (target < 0) target = open(first->path, first->flags | O_CREAT, 0666);
  if (target < 0) {
    perror(first->path);
    return -1;
  }
  for (int phase = 0; phase < 4; phase++)
    for (int number = 0; number < count; number++) {
      struct flowpin_part *part = flowpin_find_part(&workers[number], first->path);
      if (!part) continue;
      long length = length_of(part);
      long packets = part->at_packets < 0 ? (part->at_end < 0 ? length : 0) : part->at_packets;
      long end = part->at_end < 0 ? packets : part->at_end;
      if (part->at_end < 0 && part->at_packets >= 0) end = length;
      if (phase == 0 && number == 0) failed |= copy(part, 0, packets, target);
      if (phase == 1) failed |= copy(part, packets, end, target);
      long once = part->at_once < 0 ? length : part->at_once;
      if (phase == 2) failed |= copy(part, end, once, target);
      if (phase == 3) failed |= copy(part, once, length, target);
    }
  if (first->path) failed |= close(target);
  if (failed) perror(first->path ? first->path : "standard output");
  return failed;
}

int flowpin_merge(struct flowpin_worker *workers, int count) {
  int failed = 0;
  fflush(stdout);
  for (int number = 0; number < count; number++)
    for (struct flowpin_part *part = workers[number].parts; part; part = part->next) {
      int is_known = flowpin_find_part(&workers[number], part->path) != part;
      for (int before = 0; before < number; before++)
        is_known |= flowpin_find_part(&workers[before], part->path) != 0;
      if (!is_known) failed |= merge_one(workers, count, part);
    }
  return failed;
}

/* Why a core did not start, if it said so on its standard output. */
void flowpin_show_output(struct flowpin_worker *worker) {
  struct flowpin_part *part = flowpin_find_part(worker, 0);
  if (part) copy(part, 0, length_of(part), 2);
}
