/* refused: #pragma flowpin pool: invalid application of 'sizeof' to an incomplete type 'struct nope' */
#include <stdlib.h>
static int *number;
#pragma flowpin pool(struct nope, 100)
int main(void)
{
  number = malloc(sizeof *number);
  free(number);
  return 0;
}
