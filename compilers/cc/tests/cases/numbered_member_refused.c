/* refused: a number in the variable `input` of its function is counted by all packets, and said here while they come */
#include <pcap.h>
#include <stdio.h>

struct input { pcap_t *capture; unsigned long number; };

static int get(struct input *input, struct pcap_pkthdr **header, const unsigned char **data)
{
  int found = input->capture ? pcap_next_ex(input->capture, header, data) : 0;
  if (found == 1)
    input->number++;
  return found == 1;
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  struct input input = {pcap_open_offline(argv[argc - 1], error), 0};
  struct pcap_pkthdr *header;
  const unsigned char *data;
  while (get(&input, &header, &data))
    printf("#%lu: %u\n", input.number, header->len);
  return 0;
}
