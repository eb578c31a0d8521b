/* Text that is not compiled stays as it is, and is reported. */
#include <stdio.h>

static int count;
#define UNUSED_MACRO() (count = 5)

int main(void) {
#if 0
  count = 9;
#elif defined(OTHER)
  count--;
#else
  count++; /* count */
#endif
  printf("%d // count\n", count);
  return count != 1;
}
