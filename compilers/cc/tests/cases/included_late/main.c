/* A table that comes with a header after the first function with state. */
#include <stdio.h>

static int count;
static int next(void) { return ++count; }

#include "table.h"

static const char *take(const char **from) { return from[next()]; }

int main(void) {
  puts(take(table));
  table[1] = "z";
  puts(table[1]);
  return count - 1;
}
