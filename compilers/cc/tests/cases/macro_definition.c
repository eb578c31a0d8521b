/* A macro that makes whole functions, with names of its own. */
#include <stdio.h>
static int registered[4], count;
static void add(int number) { registered[count++ & 3] = number; }
#define REGISTER(name, number) \
  void name##_init(void) { add(number); } \
  struct name##_is_known
REGISTER(first, 21);
REGISTER(second, 80);
static void (*const all[])(void) = {first_init, second_init};
int main(void)
{
  for (int at = 0; at < 2; at++) all[at]();
  second_init();
  printf("%d %d %d\n", count, registered[0], registered[2]);
  return 0;
}
