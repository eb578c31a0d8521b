/* Functions for the end, the last first: each core runs its own, on its own state. */
#include <stdio.h>
#include <stdlib.h>

static int count = 5;

static void first(void) { printf("%d\n", count * 10); }
static void last(void) { printf("%d\n", ++count); }

int main(void) {
  if (atexit(first) || atexit(last)) return 1;
  count = 7;
  exit(count - 7);
}
