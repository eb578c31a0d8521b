/* refused: the result of `work` is used, and stays in its stage */
#include <pcap.h>

#pragma flowpin stage first
#pragma flowpin stage second
static const struct pcap_pkthdr *last;
static int seen;

static int work(int number) { return seen += number; }

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user;
  last = header;
#pragma flowpin cut first->second key(number)
  work(data[0]) == 1 ? (void)seen : (void)0;
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return seen > 0;
}
