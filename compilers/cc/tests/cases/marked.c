/* Some editors begin a file with a mark of its encoding. */
#include <stdio.h>
static int count;
int main(void)
{
  printf("%d\n", ++count);
  return 0;
}
