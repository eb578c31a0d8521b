/* refused: `scan` belongs to the stage `first` by its files, but `second` runs it */
#include <pcap.h>
void scan(int number);

#pragma flowpin stage first files(scan.c)
#pragma flowpin stage second

static void work(int number) { scan(number); }

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)header;
#pragma flowpin cut first->second key(number)
  work(data[0]);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return 0;
}
