/* Files that are opened to be written while packets come, under a name that no output has.
 *
 * Such a file belongs to one connection, so to one core, and is opened as it is. If two cores open
 * one name, each would erase, or write over, what the other has written: that ends the
 * run with the name.
 * What is only added to may be every core's, line by line. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After so many names no more are watched, which is told. */
#define WATCHED_MAX (1ul << 22)

/* A name's hash, and the core that has opened it; a hash of 0 is a free place. */
struct watched {
  uint64_t name;
  int core;
};

static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;
static struct watched *all;
static size_t places, count;
static int is_full;

static uint64_t hash_of(const char *text) {
  uint64_t hash = 14695981039346656037ul;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211ul;
  hash ^= hash >> 32;
  return hash ? hash : 1;
}

static struct watched *place_of(struct watched *table, size_t size, uint64_t name) {
  size_t at = name & (size - 1);
  while (table[at].name && table[at].name != name) at = (at + 1) & (size - 1);
  return &table[at];
}

static int grow(void) {
  size_t wanted = places ? places * 2 : 1024;
  struct watched *table = wanted > WATCHED_MAX * 2 ? 0 : calloc(wanted, sizeof *table);
  if (!table) return -1;
  for (size_t at = 0; at < places; at++)
    if (all[at].name) *place_of(table, wanted, all[at].name) = all[at];
  free(all);
  all = table;
  places = wanted;
  return 0;
}

/* The core that has opened a name before; this one, if none has. */
static int first_core(const char *path, int core) {
  uint64_t name = hash_of(path);
  int first = core;
  pthread_mutex_lock(&watching);
  if (!is_full && count * 2 >= places && grow()) {
    is_full = 1;
    fprintf(stderr, "flowpin: more than %zu files were opened: that two cores open the same one is "
                    "not noticed any more\n", count);
  }
  struct watched *found = places ? place_of(all, places, name) : 0;
  if (found && found->name) first = found->core;
  else if (found && !is_full) {
    *found = (struct watched){name, core};
    count++;
  }
  pthread_mutex_unlock(&watching);
  return first;
}

void flowpin_watch(const char *path, int flags) {
  struct flowpin_worker *worker = flowpin_worker;
  int is_written = (flags & O_ACCMODE) != O_RDONLY;
  if (!worker || !worker->is_in_packets || !is_written || !strncmp(path, "/dev/", 5)) return;
  if ((flags & O_APPEND) && !(flags & O_TRUNC)) return;
  if (first_core(path, worker->number) == worker->number) return;
  fprintf(stderr, "flowpin: %s: two cores write it, and each would erase what the other has "
                  "written: ", path);
  flowpin_die("open it before packets come, or set FLOWPIN_WAYS=1");
}

/* 1 and 2 for names of standard output and standard error. */
int flowpin_standard(const char *path) {
  static const char *const folders[] = {"/dev/std", "/dev/fd/", "/proc/self/fd/"};
  for (int at = 0; at < 3; at++) {
    size_t length = strlen(folders[at]);
    const char *rest = path + length;
    if (strncmp(path, folders[at], length)) continue;
    if (!strcmp(rest, at ? "1" : "out")) return 1;
    if (!strcmp(rest, at ? "2" : "err")) return 2;
  }
  return 0;
}

/* A descriptor of this core's part of standard output, or of standard error; the program's own. */
int flowpin_standard_copy(int number) {
  return dup(number == 1 ? fileno(flowpin_stdout()) : 2);
}

/* A second stream on standard output: whole lines go out at once, in their order. */
FILE *flowpin_standard_stream(int number, const char *mode) {
  int copy = flowpin_standard_copy(number);
  FILE *file = copy < 0 ? 0 : fdopen(copy, mode);
  if (file) setvbuf(file, 0, _IOLBF, BUFSIZ);
  else if (copy >= 0) close(copy);
  return file;
}
