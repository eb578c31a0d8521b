/* Standard input and standard output by number, by name, and by functions that name neither.
 *
 * Each core reads all of standard input for itself, before packets come: it is read to its end when
 * the first core reads of it, and kept. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

FILE *flowpin_stdin(void);

static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;
static int kept = -1;

static void keep_input(void) {
  char buffer[65536];
  size_t count;
  FILE *copy = tmpfile();
  if (!copy) flowpin_die("no temporary file for standard input");
  while ((count = fread(buffer, 1, sizeof buffer, stdin)) > 0)
    if (fwrite(buffer, 1, count, copy) != count) flowpin_die("no room for standard input");
  if (fflush(copy)) flowpin_die("no room for standard input");
  kept = dup(fileno(copy));
  fclose(copy);
  if (kept < 0) flowpin_die("no descriptor for standard input");
}

static ssize_t take(void *cookie, char *bytes, size_t length) {
  struct flowpin_worker *worker = cookie;
  pthread_mutex_lock(&keeping);
  if (kept < 0) keep_input();
  pthread_mutex_unlock(&keeping);
  ssize_t count = pread(kept, bytes, length, worker->in_at);
  if (count > 0) worker->in_at += count;
  return count;
}

FILE *flowpin_stdin(void) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return stdin;
  if (!worker->in) {
    cookie_io_functions_t functions = {.read = take};
    worker->in = fopencookie(worker, "r", functions);
    if (!worker->in) flowpin_die("standard input cannot be read by each core");
  }
  return worker->in;
}

int flowpin_getchar(void) { return fgetc(flowpin_stdin()); }

int flowpin_vscanf(const char *format, va_list list) {
  return vfscanf(flowpin_stdin(), format, list);
}

int flowpin_scanf(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int count = vfscanf(flowpin_stdin(), format, list);
  va_end(list);
  return count;
}

/* Whether a number means this core's part of standard output. */
static int own(int number) {
  return flowpin_worker && number == 1 ? fileno(flowpin_stdout()) : number;
}

ssize_t flowpin_write(int number, const void *bytes, size_t count) {
  return write(own(number), bytes, count);
}

ssize_t flowpin_writev(int number, const struct iovec *pieces, int count) {
  return writev(own(number), pieces, count);
}

int flowpin_vdprintf(int number, const char *format, va_list list) {
  return vdprintf(own(number), format, list);
}

int flowpin_dprintf(int number, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int count = vdprintf(own(number), format, list);
  va_end(list);
  return count;
}

int flowpin_putchar_unlocked(int c) { return fputc(c, flowpin_stdout()); }

/* A process that takes what the program writes is one for all cores, which none of them is. */
FILE *flowpin_popen(const char *command, const char *mode) {
  struct flowpin_worker *worker = flowpin_worker;
  if (worker && mode[0] == 'w' && !worker->is_in_packets) {
    fprintf(stderr, "flowpin: popen(\"%s\", \"%s\"): ", command, mode);
    flowpin_die("each core would start a process for its output: that needs FLOWPIN_WAYS=1");
  }
  return popen(command, mode);
}
