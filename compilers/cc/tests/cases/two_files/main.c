/* External variables: their types are known where they are declared, not everywhere. */
#include "state.h"
#include <stdio.h>

extern char text[];
int late_in_main = 4;

int main(void) {
  bump();
  bump();
  state.numbers[1] += inline_one();
  printf("%d %d %s %d\n", state.count, state.numbers[1], text, late_in_main);
  return state.count != 2;
}
