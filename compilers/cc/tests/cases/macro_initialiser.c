/* Initialisers in which macros name private variables: as an argument, in a body, pasted. */
#include <stdio.h>
#include <sys/queue.h>

struct item { int value; STAILQ_ENTRY(item) next; };
static STAILQ_HEAD(items, item) queue = STAILQ_HEAD_INITIALIZER(queue);

static int in_bytes = 1, out_bytes = 2, other;
#define FIELD(direction) { #direction, &direction##_bytes, sizeof(direction##_bytes) / sizeof(int) }
#define OTHER { "other", &other, 1 }
static const struct field { const char *name; int *value; unsigned count; } fields[] = {
  FIELD(in),
  FIELD(out), OTHER,
};

int main(void) {
  struct item one = {.value = 5}, *item;
  STAILQ_INSERT_TAIL(&queue, &one, next);
  for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
    printf("%s %d %u\n", fields[i].name, ++*fields[i].value, fields[i].count);
  STAILQ_FOREACH(item, &queue, next) printf("%d\n", item->value + in_bytes);
  return in_bytes + out_bytes + other - 6;
}
