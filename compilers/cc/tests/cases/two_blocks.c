/* Each block of a function may have a static of the same name. */
#include <stdio.h>
static int next(int which)
{
  if (which) {
    static int count = 5;
    return ++count;
  }
  static char count[4] = "ab";
  return ++count[0];
}
int main(void)
{
  printf("%d %d %d\n", next(1), next(0), next(1));
  return 0;
}
