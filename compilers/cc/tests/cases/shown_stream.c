/* What is written out of a macro has the same outputs as what stays in it. */
#include <stdio.h>
static int used = 5;
#define CHECK(is_true, ...) \
  do { \
    if (!(is_true)) { \
      fprintf(stdout, "%s fails: ", #is_true); \
      fprintf(stdout, __VA_ARGS__); \
      putchar('\n'); \
    } \
  } while (0)
int main(void)
{
  CHECK(used == 5, "%d", used);
  CHECK(used++ > 5, "%d", used);
  return 0;
}
