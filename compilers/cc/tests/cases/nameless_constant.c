/* Objects without a name that nobody can write are one for all cores. */
#include <stdio.h>
struct part { const char *name; const int *sizes; };
static const struct part *const parts = (const struct part[]){{"a", (const int[]){1, 2}}, {0, 0}};
static const char *const *names = (const char *[]){"x", "y", 0};
static struct part whole = (struct part){"b", (int[]){3}};
static int at;
int main(void)
{
  printf("%s %d %s %d\n", parts[at].name, parts[at].sizes[1], whole.name, whole.sizes[0]);
  printf("%s\n", names[++at]);
  whole.name = "c";
  return 0;
}
