/* Control blocks that are there from the start; more than that come from the same pool. */
#include <stdio.h>
#include <stdlib.h>

struct entry { struct entry *next; int number; };
#pragma flowpin pool(struct entry, 4 * 25)
static struct entry *all;

int main(void)
{
  int sum = 0;
  for (int round = 0; round < 3; round++) {
    for (int number = 0; number < 300; number++) {
      struct entry *one = malloc(sizeof *one);
      one->next = all;
      one->number = number;
      all = one;
    }
    while (all) {
      struct entry *one = all;
      sum += one->number;
      all = one->next;
      free(one);
    }
  }
  printf("%d\n", sum);
  return 0;
}
