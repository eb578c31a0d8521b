/* refused: `seen` is kept by source, but work uses it in the stage `second`, which is divided by ip_pair */
#include <pcap.h>

#pragma flowpin stage first
#pragma flowpin stage second
static const struct pcap_pkthdr *last;
#pragma flowpin keyed(source) seen
static int seen;

static void work(const unsigned char *ip) { seen += (int)last->len + ip[0]; }

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user;
  last = header;
#pragma flowpin cut first->second key(ip_pair) copy(ip: 20, *last) forward(last)
  work(data);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return seen > 0;
}
