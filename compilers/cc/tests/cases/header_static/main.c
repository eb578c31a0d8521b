/* A static variable of a header: each unit has its own. */
#include "counter.h"

#include <stdio.h>

int other(void);

int main(void) {
  counter += 2;
  printf("%d %d\n", counter, other());
  return counter != 2;
}
