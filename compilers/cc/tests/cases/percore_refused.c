/* refused: is set by no statement that calls one of fopen, open, creat, pcap_dump_open */
#include <stdio.h>
#pragma flowpin percore out
static FILE *out;
int main(void)
{
  out = stdout;
  fprintf(out, "a\n");
  return 0;
}
