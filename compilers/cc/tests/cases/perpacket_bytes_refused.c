/* refused: `bytes` points to bytes, and nothing says how many belong to a packet: add copy(bytes: BYTES) */
#include <pcap.h>

#pragma flowpin stage first
#pragma flowpin stage second
#pragma flowpin perpacket bytes
static const unsigned char *bytes;
static int sum;

static void work(int number) { sum += bytes[0] + number; }

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)header;
  bytes = data;
#pragma flowpin cut first->second key(number)
  work(data[0]);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return sum > 0;
}
