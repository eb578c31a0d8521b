/* Standard error, one stream for each core: what a core says of one packet goes out together, when
 * it is done with that packet, and not in the middle of what another core says. Before and after
 * packets only one core runs, and what it says goes out at once. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *flowpin_stderr(void);
void flowpin_perror(const char *what);

/* More than this about one packet goes out in pieces. */
#define SAID_MAX 65536

/* What is kept is not the program's to be told of: an error of standard error has nowhere to go. */
static void write_all(const char *bytes, size_t length) {
  while (length) {
    ssize_t done = write(2, bytes, length);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    bytes += done;
    length -= (size_t)done;
  }
}

void flowpin_show_said(struct flowpin_worker *worker) {
  if (!worker->said_length) return;
  int before = errno;
  write_all(worker->said, worker->said_length);
  worker->said_length = 0;
  errno = before;
}

static ssize_t put(void *cookie, const char *bytes, size_t length) {
  struct flowpin_worker *worker = cookie;
  if (worker->is_in_packets && !worker->said) worker->said = malloc(SAID_MAX);
  if (worker->said_length + length > SAID_MAX) flowpin_show_said(worker);
  if (!worker->is_in_packets || !worker->said || length > SAID_MAX) {
    flowpin_show_said(worker);
    write_all(bytes, length);
  } else {
    memcpy(worker->said + worker->said_length, bytes, length);
    worker->said_length += length;
  }
  return (ssize_t)length;
}

FILE *flowpin_stderr(void) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return stderr;
  if (!worker->err) {
    cookie_io_functions_t functions = {.write = put};
    worker->err = fopencookie(worker, "w", functions);
    if (!worker->err) return stderr;
    setvbuf(worker->err, 0, _IONBF, 0);
  }
  return worker->err;
}

void flowpin_perror(const char *what) {
  char text[128];
  const char *why = strerror_r(errno, text, sizeof text);
  if (!flowpin_worker) perror(what);
  else if (what && *what) fprintf(flowpin_stderr(), "%s: %s\n", what, why);
  else fprintf(flowpin_stderr(), "%s\n", why);
}
