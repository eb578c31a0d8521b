/* refused: `one` goes to the stage with the pointer `end.next` in it */
#include <pcap.h>

#pragma flowpin stage first
#pragma flowpin stage second
struct pair { int packets; struct { struct pair *next; } end; };
static int sum;
static struct pair *pairs;

static void work(const struct pair *one)
{
  for (; one; one = one->end.next) sum += one->packets;
}

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)header;
  if (pairs) pairs->packets += data[0];
#pragma flowpin cut first->second key(none) copy(*one)
  work(pairs);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return sum > 0;
}
