/* refused: `stats.bytes` is reduced by no line, though other fields are */
#include <stdio.h>
#pragma flowpin reduce(+: stats.packets)
static struct { unsigned packets, bytes; } stats;
int main(void)
{
  stats.packets++;
  stats.bytes += 9;
#pragma flowpin once
  printf("%u %u\n", stats.packets, stats.bytes);
  return 0;
}
