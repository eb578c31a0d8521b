/* Names of hosts, services, protocols, users: an answer is the core's until it asks again. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* What an answer points to; it grows until the answer fits. */
struct room {
  char *bytes;
  size_t size;
};

/* One for each function, as the C library has. */
enum {
  HOST_NAME, HOST_NAME_2, HOST_ADDRESS, SERVICE_NAME, SERVICE_PORT, PROTOCOL_NAME, PROTOCOL_NUMBER,
  NETWORK_NAME, NETWORK_ADDRESS, USER_NAME, USER_NUMBER, GROUP_NAME, GROUP_NUMBER, ROOMS
};
static _Thread_local struct room rooms[ROOMS];

#define ROOM_BYTES 1024
#define ROOM_BYTES_MAX (1ul << 20)

static int grow(struct room *room) {
  size_t size = room->size ? 2 * room->size : ROOM_BYTES;
  if (size > ROOM_BYTES_MAX) return 0;
  char *bytes = realloc(room->bytes, size);
  if (!bytes) return 0;
  room->bytes = bytes;
  room->size = size;
  return 1;
}

/* Before a core ends. */
void flowpin_forget_names(void) {
  for (int which = 0; which < ROOMS; which++) {
    free(rooms[which].bytes);
    rooms[which].bytes = 0;
    rooms[which].size = 0;
  }
}

/* CALL answers with an error number, and sets `found`. */
#define ASK(which, type, call)                                       \
  static _Thread_local struct type answer;                           \
  struct type *found = 0;                                            \
  struct room *room = &rooms[which];                                 \
  int error = ERANGE;                                                \
  while (error == ERANGE && (room->size || grow(room))) {            \
    error = call;                                                    \
    if (error == ERANGE && !grow(room)) break;                       \
  }                                                                  \
  if (error) errno = error;                                          \
  return error ? 0 : found

#define GIVEN &answer, room->bytes, room->size, &found

struct hostent *flowpin_gethostbyname(const char *name) {
  ASK(HOST_NAME, hostent, gethostbyname_r(name, GIVEN, &h_errno));
}

struct hostent *flowpin_gethostbyname2(const char *name, int family) {
  ASK(HOST_NAME_2, hostent, gethostbyname2_r(name, family, GIVEN, &h_errno));
}

struct hostent *flowpin_gethostbyaddr(const void *address, socklen_t length, int family) {
  ASK(HOST_ADDRESS, hostent, gethostbyaddr_r(address, length, family, GIVEN, &h_errno));
}

struct servent *flowpin_getservbyname(const char *name, const char *protocol) {
  ASK(SERVICE_NAME, servent, getservbyname_r(name, protocol, GIVEN));
}

struct servent *flowpin_getservbyport(int port, const char *protocol) {
  ASK(SERVICE_PORT, servent, getservbyport_r(port, protocol, GIVEN));
}

struct protoent *flowpin_getprotobyname(const char *name) {
  ASK(PROTOCOL_NAME, protoent, getprotobyname_r(name, GIVEN));
}

struct protoent *flowpin_getprotobynumber(int number) {
  ASK(PROTOCOL_NUMBER, protoent, getprotobynumber_r(number, GIVEN));
}

struct netent *flowpin_getnetbyname(const char *name) {
  ASK(NETWORK_NAME, netent, getnetbyname_r(name, GIVEN, &h_errno));
}

struct netent *flowpin_getnetbyaddr(uint32_t network, int family) {
  ASK(NETWORK_ADDRESS, netent, getnetbyaddr_r(network, family, GIVEN, &h_errno));
}

struct passwd *flowpin_getpwnam(const char *name) {
  ASK(USER_NAME, passwd, getpwnam_r(name, GIVEN));
}

struct passwd *flowpin_getpwuid(uid_t user) {
  ASK(USER_NUMBER, passwd, getpwuid_r(user, GIVEN));
}

struct group *flowpin_getgrnam(const char *name) {
  ASK(GROUP_NAME, group, getgrnam_r(name, GIVEN));
}

struct group *flowpin_getgrgid(gid_t group) {
  ASK(GROUP_NUMBER, group, getgrgid_r(group, GIVEN));
}

char *flowpin_ether_ntoa(const struct ether_addr *address) {
  static _Thread_local char text[18];
  return ether_ntoa_r(address, text);
}

struct ether_addr *flowpin_ether_aton(const char *text) {
  static _Thread_local struct ether_addr address;
  return ether_aton_r(text, &address);
}
