/* Standard input as flex's scanners have it, which nobody may ever read. */
#include <stdio.h>
static FILE *in;
static int has_input(void)
{
  if (!in)
    in = stdin;
  return in != NULL && in != stderr;
}
int main(void)
{
  printf("%d %d\n", has_input(), fileno(stdin));
  return 0;
}
