/* refused: the stages `first` and `second` use `connections`, which both write */
#include <pcap.h>

#pragma flowpin stage first
#pragma flowpin stage second
static int connections;

static void expire(void) { connections--; }

static void work(int length)
{
  connections += length;
  expire();
}

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)data;
  if (header->len == 7) expire();
#pragma flowpin cut first->second key(length)
  work((int)header->len);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return connections > 0;
}
