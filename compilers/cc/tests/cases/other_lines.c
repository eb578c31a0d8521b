#include <stdio.h>
/* Lines that end as on other systems, also where a macro goes on. */
#define ADD(value) \
  do { \
    total += (value); \
    last = total; \
  } while (0)

static int total, last;

static void \
add(int value)
{
  ADD(value);
  static int rounds = 0; /* of this function */
  rounds++;
}

int main(void)
{
  add(3);
  ADD(4);
  printf("%d %d\n", total, last);
  return 0;
}
