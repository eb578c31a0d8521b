/* What the C library says of services, protocols and users is each core's. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <stdio.h>

static int asked;

int main(void) {
  struct servent *service = getservbyport(htons(80), "tcp");
  struct protoent *protocol = getprotobynumber(6);
  struct hostent *host = gethostbyname("127.0.0.1");
  struct passwd *user = getpwuid(0);
  struct ether_addr address = {{1, 2, 3, 4, 5, 6}};
  printf("%s\n", service ? service->s_name : "-");
  printf("%s\n", protocol ? protocol->p_name : "-");
  printf("%s %d\n", host ? host->h_name : "-", h_errno);
  printf("%s %s\n", user ? user->pw_name : "-", ether_ntoa(&address));
  printf("%d\n", getservbyname("no such service", "tcp") == NULL);
  return asked++;
}
