/* refused: ends with an array whose length its initialiser alone says: give it a length */
#include <stdio.h>
struct ports { int count; unsigned short port[]; };
static struct ports watched = {3, {80, 443, 53}};
int main(void)
{
  watched.port[0]++;
  printf("%d %d\n", watched.count, watched.port[0]);
  return 0;
}
