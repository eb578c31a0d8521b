/* refused: points to an object without a name, which would be one for all cores: give it a name */
#include <stdio.h>
struct state { int number; char text[16]; };
static struct state *current = &(struct state){1, "a"};
int main(void)
{
  current->number++;
  printf("%d %s\n", current->number, current->text);
  return 0;
}
