/* A list that is given the macro which is to take each of its entries, with names pasted together. */
#include <stdio.h>
#define PROTOCOLS(ENTRY) ENTRY(tcp, 6) ENTRY(udp, 17)
#define ENTRY(name, number) static unsigned long seen_##name; static int last_##name = number;
PROTOCOLS(ENTRY)
#undef ENTRY
#define ENTRY(name, number) \
  case number: \
    seen_##name += length; \
    last_##name = length; \
    return #name;
static const char *note(int protocol, int length)
{
  switch (protocol) { PROTOCOLS(ENTRY) }
  return "other";
}
int main(void)
{
  printf("%s %s %s\n", note(6, 3), note(17, 4), note(1, 5));
  printf("%lu %d\n", seen_tcp, last_udp);
  return 0;
}
