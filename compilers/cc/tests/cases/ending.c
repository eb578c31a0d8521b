/* exit ends one core only; main without a result. */
#include <stdio.h>
#include <stdlib.h>

static int count;

static void leave(void) {
  if (count) exit(0);
}

int main(int argc, char *argv[]) {
  printf("%d\n", argc > 0 && argv[0] != 0);
  count++;
  leave();
  return 3;
}
