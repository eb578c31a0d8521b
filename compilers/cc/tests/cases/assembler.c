/* Operands of assembler are uses like any others */
#include <stdio.h>

static int ax, sum;

int main(void) {
  ax += 2;
  __asm__("# nothing\n" : "+r"(sum) : "r"(ax));
  printf("%d %d\n", sum, ax);
  return ax != 2;
}
