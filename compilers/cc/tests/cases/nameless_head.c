/* Heads of lists without a name of their type, which macros begin. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
struct entry { int number; TAILQ_ENTRY(entry) next; };
static TAILQ_HEAD(, entry) all = TAILQ_HEAD_INITIALIZER(all);
static struct { int *first; int count; } pair = {&pair.count, 3};
int main(void)
{
  for (int number = 0; number < 3; number++) {
    struct entry *one = calloc(1, sizeof *one);
    one->number = number;
    TAILQ_INSERT_TAIL(&all, one, next);
  }
  struct entry *one;
  TAILQ_FOREACH(one, &all, next) printf("%d\n", one->number);
  printf("%d\n", ++*pair.first + pair.count);
  return 0;
}
