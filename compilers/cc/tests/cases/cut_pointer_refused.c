/* refused: `data` of `work` is a pointer, whose target stays on the other core */
#include <pcap.h>

#pragma flowpin stage first
#pragma flowpin stage second
static int connections;

static void expire(void) { connections--; }

static void work(const unsigned char *data)
{
  connections += data[0];
  expire();
}

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)header;

#pragma flowpin cut first->second key(none)
  work(data);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return connections > 0;
}
