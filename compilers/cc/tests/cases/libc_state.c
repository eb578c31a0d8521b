/* Functions of the C library with state: each core has its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int words;

int main(void) {
  char text[] = "a b c";
  time_t zero = 0;
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) words++;
  printf("%d %d %s\n", words, gmtime(&zero)->tm_year, strerror(2));
  srand(7);
  int first = rand();
  srand(7);
  fprintf(stdout, "%d\n", first == rand());
  putchar('x');
  puts("y");
  return words != 3;
}
