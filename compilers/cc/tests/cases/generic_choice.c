/* What `_Generic` chooses by is not read. */
#include <stdio.h>
static int whole;
static double part;
#define NAME(x) _Generic((x), int: "int", double: "double", default: "other")
#define ADD(x) _Generic((x), int: add_whole, double: add_part)(x)
static int add_whole(int x) { return whole += x; }
static double add_part(double x) { return part += x; }
int main(void)
{
  whole = 2, part = 1.5;
  printf("%s %s %d %.1f\n", NAME(whole), NAME(part), ADD(whole), ADD(part));
  return 0;
}
