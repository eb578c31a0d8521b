/* Variables that are aligned to more than their types stay so. */
#include <stdio.h>
static char before;
static int wide __attribute__((aligned(64)));
int outside __attribute__((aligned(32))) = 3;
static _Alignas(16) char bytes[3] = "a";
int main(void)
{
  static int local __attribute__((aligned(64)));
  before++, wide++, outside++, bytes[0]++, local++;
  unsigned long odd = (unsigned long)&wide % 64 + (unsigned long)&outside % 32;
  odd += (unsigned long)bytes % 16 + (unsigned long)&local % 64;
  printf("%lu %d %d %d %s %d\n", odd, before, wide, outside, bytes, local);
  return 0;
}
