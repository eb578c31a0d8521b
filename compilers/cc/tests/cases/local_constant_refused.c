/* refused: `sizes in next` begins with `COUNT`, which only its function knows: move that to file scope */
#include <stdio.h>
static int next(int step)
{
  enum { COUNT = 4 };
  static int sizes[2] = {COUNT, 1};
  return sizes[0] += step;
}
int main(void)
{
  printf("%d\n", next(1));
  return 0;
}
