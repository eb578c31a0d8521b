/* Takes a lock that one process has: only the first core starts. */
#include <pcap.h>
#include <stdio.h>
#include <sys/file.h>
#include <fcntl.h>

static int lock, packets;

static void on_packet(unsigned char *user, const struct pcap_pkthdr *header,
                      const unsigned char *data) {
  packets++;
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  lock = open(argv[2], O_RDONLY | O_CREAT, 0600);
  if (flock(lock, LOCK_EX | LOCK_NB)) {
    printf("another one is running\n");
    return 3;
  }
  pcap_t *capture = pcap_open_offline(argv[1], error);
  pcap_loop(capture, -1, on_packet, 0);
  printf("%d packets\n", packets);
  return 0;
}
