/* Macros that make a text of their argument show what the program's author wrote. */
#include <stdio.h>

#define SHOW(value) printf("%s = %d\n", #value, (int)(value))
#define TEXT(value) #value
#define NAMED(value) TEXT(value) ":" TEXT( x  y )
#define LOG(format, value, ...) printf(#value " " format "\n", ##__VA_ARGS__)
#define TELL(...) printf("%s" __VA_OPT__(": " TEXT(__VA_ARGS__)) "\n", "told")
#define PLAIN(value) printf("%d\n", value)

static int count;
static struct { int a, b[2]; } pair;

static int next(int step) { return count += step; }

int main(void)
{
  for (int round = 0; round < 3; round++) {
    SHOW(++count);
    SHOW(pair.b[round & 1] += 2);
    SHOW(next(2) +
         count);
    printf("%s %d\n", NAMED(count), count);
    LOG("%d %d", count, count, pair.a);
    LOG("none", pair.a);
    TELL(count);
    TELL();
    PLAIN(count);
  }
  return 0;
}
