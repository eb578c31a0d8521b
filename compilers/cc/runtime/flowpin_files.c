/* Files that the program opens to write: each core gets a part, a temporary file, whether it opens
 * them as streams or as descriptors. flowpin_output.c puts the parts together.
 *
 * The first core opens the file itself as well, so that the program hears at once if it cannot be
 * written, and keeps it open: a name that is changed, or a folder or user that is left, does no
 * harm.
 * What is opened while packets come, under a name that no output has, belongs to one connection, so
 * to one core, and is opened as it is. So is what each core is to keep (`percore`), with its number
 * behind the name. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static int is_device(const char *path) {
  return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6);
}

static int is_written(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

/* What a core reads of its own output is its part. */
static int open_to_read(struct flowpin_part *part, int flags) {
  char name[64];
  if (part->file) fflush(part->file);
  snprintf(name, sizeof name, "/proc/self/fd/%d", part->descriptor);
  return open(name, flags & ~(O_NOFOLLOW | O_CREAT | O_EXCL));
}

/* The part for a path, made if need be; null with errno if the file cannot be opened. */
static struct flowpin_part *part_for(struct flowpin_worker *worker, const char *path, int flags,
                                     unsigned permissions) {
  struct flowpin_part *part = flowpin_find_part(worker, path);
  if (part && (flags & O_EXCL)) {
    errno = EEXIST;
    return 0;
  }
  if (part && (flags & O_APPEND)) return part;
  if (!(flags & (O_TRUNC | O_APPEND | O_EXCL)) && (flags & O_ACCMODE) == O_RDWR) {
    fprintf(stderr, "flowpin: %s: ", path);
    flowpin_die("a file that all cores read and change needs FLOWPIN_WAYS=1");
  }
  int target = -1;
  if (worker->number == 0) {
    target = open(path, flags | O_CLOEXEC, permissions);
    if (target < 0) return 0;
  }
  part = flowpin_new_part(worker, path, flags & ~O_EXCL);
  if (part) part->target = target;
  else if (target >= 0) close(target);
  return part;
}

/* Whether a core is to have a part of what it opens under this path. */
static int is_output(struct flowpin_worker *worker, const char *path, int flags) {
  if (!worker || is_device(path)) return 0;
  if (flowpin_find_part(worker, path)) return 1;
  return is_written(flags) && !worker->is_in_packets && !(flags & O_DIRECTORY);
}

static int open_output(struct flowpin_worker *worker, const char *path, int flags,
                       unsigned permissions) {
  if (!is_written(flags)) return open_to_read(flowpin_find_part(worker, path), flags);
  struct flowpin_part *part = part_for(worker, path, flags, permissions);
  if (!part) return -1;
  if (part->file) fflush(part->file);
  /* Of a log that is closed and opened again, the last one is watched. */
  return part->handed = dup(part->descriptor);
}

static _Thread_local int is_for_each;

void flowpin_each_core(void) { is_for_each = 1; }

const char *flowpin_own_path(const char *path, char *room, size_t size) {
  if (!is_for_each) return path;
  is_for_each = 0;
  int number = flowpin_worker ? flowpin_worker->number : 0;
  if ((size_t)snprintf(room, size, "%s.%d", path, number) < size) return room;
  errno = ENAMETOOLONG;
  return 0;
}

int flowpin_open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  unsigned permissions = creates ? va_arg(list, unsigned) : 0;
  va_end(list);
  struct flowpin_worker *worker = flowpin_worker;
  char room[PATH_MAX];
  const char *own = flowpin_own_path(path, room, sizeof room);
  if (!own) return -1;
  int standard = worker ? flowpin_standard(own) : 0;
  if (standard) return flowpin_standard_copy(standard);
  if (own != path || !is_output(worker, path, flags)) {
    flowpin_watch(own, flags);
    return open(own, flags, permissions);
  }
  return open_output(worker, path, flags, permissions);
}

int flowpin_creat(const char *path, unsigned permissions) {
  return flowpin_open(path, O_WRONLY | O_CREAT | O_TRUNC, permissions);
}

/* The flags of open(2) for a mode of fopen(3). */
static int flags_of(const char *mode) {
  int also_other = strchr(mode, '+') != 0;
  int flags = mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
  if (strchr(mode, 'x')) flags |= O_EXCL;
  return flags | (also_other ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY);
}

/* A stream of the part; the file is at its end, because all descriptors of it share one place. */
FILE *flowpin_stream_of(struct flowpin_part *part, const char *mode) {
  int number = dup(part->descriptor);
  FILE *file = number < 0 ? 0 : fdopen(number, mode);
  if (!file && number >= 0) close(number);
  if (file) part->file = file;
  return file;
}

FILE *flowpin_fopen(const char *path, const char *mode) {
  struct flowpin_worker *worker = flowpin_worker;
  int flags = flags_of(mode);
  char room[PATH_MAX];
  const char *own = flowpin_own_path(path, room, sizeof room);
  if (!own) return 0;
  int standard = worker && is_written(flags) ? flowpin_standard(own) : 0;
  if (standard) return flowpin_standard_stream(standard, mode);
  if (own != path || !is_output(worker, path, flags)) {
    flowpin_watch(own, flags);
    FILE *file = fopen(own, mode);
    /* What all cores add to gets whole lines. */
    if (file && worker && (flags & O_APPEND)) setvbuf(file, 0, _IOLBF, BUFSIZ);
    return file;
  }
  if (!is_written(flags)) {
    int number = open_to_read(flowpin_find_part(worker, path), flags);
    return number < 0 ? 0 : fdopen(number, mode);
  }
  struct flowpin_part *part = part_for(worker, path, flags, 0666);
  if (!part) return 0;
  if (part->file) fflush(part->file);
  return flowpin_stream_of(part, mode);
}

/* A descriptor of a part becomes a stream: what it holds back is part of the output, too. */
FILE *flowpin_fdopen(int number, const char *mode) {
  struct flowpin_worker *worker = flowpin_worker;
  if (worker && number == 1) return flowpin_standard_stream(1, mode);
  FILE *file = fdopen(number, mode);
  for (struct flowpin_part *part = worker ? worker->parts : 0; part; part = part->next)
    if (file && part->handed == number) part->file = file;
  return file;
}

/* Another file for standard output is another part for each core; the first core alone gives standard
 * error another file, because it is one for the process. */
FILE *flowpin_freopen(const char *path, const char *mode, FILE *file) {
  struct flowpin_worker *worker = flowpin_worker;
  if (worker && file == stderr && worker->number > 0) return file;
  if (!worker || !path || !worker->out || file != worker->out) {
    if (worker && path) flowpin_watch(path, flags_of(mode));
    return freopen(path, mode, file);
  }
  fflush(worker->out);
  FILE *other = is_device(path) ? fopen(path, mode) : flowpin_fopen(path, mode);
  if (other) worker->out = other;
  return other;
}

/* The same for a program that says it by numbers. */
int flowpin_dup2(int from, int to) {
  struct flowpin_worker *worker = flowpin_worker;
  for (struct flowpin_part *part = worker ? worker->parts : 0; part && to == 1; part = part->next)
    if (part->handed == from && from >= 0) {
      fflush(flowpin_stdout());
      FILE *file = flowpin_stream_of(part, "a");
      if (!file) return -1;
      worker->out = file;
      return to;
    }
  return dup2(from, to);
}

int flowpin_fclose(FILE *file) {
  struct flowpin_worker *worker = flowpin_worker;
  int number = fileno(file);
  for (struct flowpin_part *part = worker ? worker->parts : 0; part; part = part->next) {
    if (part->file == file) part->file = 0;
    if (part->handed == number) part->handed = -1;
  }
  if (worker && worker->out == file) worker->out = 0;
  return fclose(file);
}

/* Descriptors that others have when a core starts: programs close all that they do not know. */
void flowpin_note_descriptors(struct flowpin_worker *worker) {
  for (int number = 3; number < FLOWPIN_DESCRIPTORS; number++)
    worker->is_foreign[number] = fcntl(number, F_GETFD) >= 0;
}

int flowpin_close(int number) {
  struct flowpin_worker *worker = flowpin_worker;
  if (worker && number >= 3) {
    int is_ours = number < FLOWPIN_DESCRIPTORS && worker->is_foreign[number];
    if (worker->out && fileno(worker->out) == number) is_ours = 1;
    for (struct flowpin_part *part = worker->parts; part; part = part->next) {
      is_ours |= part->descriptor == number || part->target == number;
      if (part->handed == number) part->handed = -1;
    }
    if (is_ours) {
      errno = EBADF;
      return -1;
    }
  }
  return close(number);
}

/* An output is renamed or removed once; the first core has the file itself. */
static int is_done_by_first(const char *path) {
  struct flowpin_worker *worker = flowpin_worker;
  return worker && worker->number > 0 && flowpin_find_part(worker, path);
}

int flowpin_rename(const char *from, const char *to) {
  return is_done_by_first(from) ? 0 : rename(from, to);
}

int flowpin_unlink(const char *path) { return is_done_by_first(path) ? 0 : unlink(path); }
int flowpin_remove(const char *path) { return is_done_by_first(path) ? 0 : remove(path); }
