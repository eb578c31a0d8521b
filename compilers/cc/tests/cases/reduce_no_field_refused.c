/* refused: `stats` has no whole number `.octets` */
#include <stdio.h>
#pragma flowpin reduce(max: stats.octets)
static struct { unsigned packets; } stats;
int main(void)
{
  stats.packets++;
#pragma flowpin once
  printf("%u\n", stats.packets);
  return 0;
}
