/* A library calls back: qsort and bsearch. */
#include <stdio.h>
#include <stdlib.h>

static int compared, is_descending;

static int compare(const void *a, const void *b) {
  int left = *(const int *)a, right = *(const int *)b;
  compared++;
  return is_descending ? right - left : left - right;
}

int main(void) {
  int numbers[] = {3, 1, 2}, wanted = 2;
  is_descending = 1;
  qsort(numbers, 3, sizeof *numbers, compare);
  int *found = bsearch(&wanted, numbers, 3, sizeof *numbers, &compare);
  printf("%d %d %d at %td\n", numbers[0], numbers[1], numbers[2], found - numbers);
  return compared == 0;
}
