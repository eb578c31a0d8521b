/* refused: `room` has no value yet when memory is taken: write a constant */
#include <stdlib.h>
struct entry { int number; };
static int room;
#pragma flowpin pool(struct entry, room + 1)
int main(int argc, char **argv)
{
  (void)argv;
  room = argc;
  free(malloc(sizeof(struct entry) * (unsigned)room));
  return 0;
}
