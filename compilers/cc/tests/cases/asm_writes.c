/* Assembler writes what nothing else writes: it is no constant. */
#include <stdio.h>

static int count;

int main(void) {
#if defined(__x86_64__)
  __asm__ volatile("incl %0" : "+m"(count));
#else
  count++;
#endif
  printf("%d\n", count);
  return 0;
}
