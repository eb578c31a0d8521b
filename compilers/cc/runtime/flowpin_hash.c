/* Which core gets a frame: a hash of its addresses (and ports) that does not depend on direction.
 * `flowpin cc check` divides captures by the same function, in Rust (src/check/key.rs). */
#include "flowpin_run.h"

#include <string.h>

static unsigned be16(const unsigned char *p) { return (unsigned)p[0] << 8 | p[1]; }

static unsigned mix(unsigned hash, unsigned word) {
  hash ^= word;
  hash *= 0x9e3779b1u;
  return hash ^ hash >> 15;
}

/* Both ends in one order, whichever sent the frame. */
static unsigned both(const unsigned char *a, const unsigned char *b, unsigned length, unsigned hash) {
  int is_swapped = memcmp(a, b, length) > 0;
  const unsigned char *ends[2] = {is_swapped ? b : a, is_swapped ? a : b};
  for (int end = 0; end < 2; end++)
    for (unsigned at = 0; at + 2 <= length; at += 2) hash = mix(hash, be16(ends[end] + at));
  return hash;
}

/* Addresses and ports side by side, so that they are compared as one. */
static unsigned of_ends(const unsigned char *source, const unsigned char *target, unsigned length,
                        const unsigned char *ports) {
  unsigned char ends[2][18];
  if (!ports) return both(source, target, length, 1);
  memcpy(ends[0], source, length);
  memcpy(ends[1], target, length);
  memcpy(ends[0] + length, ports, 2);
  memcpy(ends[1] + length, ports + 2, 2);
  return both(ends[0], ends[1], length + 2, 1);
}

static int has_ports(unsigned protocol) {
  return protocol == 6 || protocol == 17 || protocol == 132;
}

static unsigned of_source(const unsigned char *source, unsigned length) {
  unsigned hash = 1;
  for (unsigned at = 0; at + 2 <= length; at += 2) hash = mix(hash, be16(source + at));
  return hash;
}

static unsigned of_ip4(enum flowpin_key key, const unsigned char *ip, unsigned length, int depth) {
  if (length < 20) return 0;
  unsigned header = (ip[0] & 15u) * 4, protocol = ip[9];
  int is_fragment = (be16(ip + 6) & 0x3fff) != 0;
  if (header < 20) return 0;
  if (key == FLOWPIN_SOURCE) return of_source(ip + 12, 4);
  /* RFC 792: an error quotes the packet that it is about, and belongs to its connection. */
  if (protocol == 1 && !is_fragment && depth == 0 && length >= header + 8 + 20) {
    unsigned type = ip[header];
    int is_error = type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
    if (is_error && ip[header + 8] >> 4 == 4)
      return of_ip4(key, ip + header + 8, length - header - 8, 1);
  }
  int by_ports = key == FLOWPIN_FOUR_TUPLE && has_ports(protocol) && !is_fragment;
  if (length < header + 4) by_ports = 0;
  return of_ends(ip + 12, ip + 16, 4, by_ports ? ip + header : 0);
}

static unsigned of_ip6(enum flowpin_key key, const unsigned char *ip, unsigned length) {
  if (length < 40) return 0;
  if (key == FLOWPIN_SOURCE) return of_source(ip + 8, 16);
  int by_ports = key == FLOWPIN_FOUR_TUPLE && has_ports(ip[6]) && length >= 44;
  return of_ends(ip + 8, ip + 24, 16, by_ports ? ip + 40 : 0);
}

static unsigned of_ip(enum flowpin_key key, const unsigned char *ip, unsigned length) {
  if (length == 0) return 0;
  if (ip[0] >> 4 == 4) return of_ip4(key, ip, length, 0);
  if (ip[0] >> 4 == 6) return of_ip6(key, ip, length);
  return 0;
}

/* The bytes before the IP header; more than there are if there is none. */
static unsigned before_ip(int link_type, const unsigned char *frame, unsigned length) {
  unsigned at = 14, type, none = length + 1;
  switch (link_type) {
    case 1: /* Ethernet, with VLAN tags */
      if (length < 14) return none;
      type = be16(frame + 12);
      for (int tags = 0; tags < 4 && (type == 0x8100 || type == 0x88a8 || type == 0x9100); tags++) {
        if (length < at + 4) return none;
        type = be16(frame + at + 2);
        at += 4;
      }
      return type == 0x0800 || type == 0x86dd ? at : none;
    case 0:
    case 108: return 4;   /* BSD loopback */
    case 113: return 16;  /* Linux "any" */
    case 276: return 20;  /* Linux "any", version 2 */
    case 12:
    case 14:
    case 101:
    case 228:
    case 229: return 0;   /* IP itself */
    default: return none;
  }
}

unsigned flowpin_key_of(int kind, const void *packet, unsigned long length);

unsigned flowpin_hash(enum flowpin_key key, int link_type, const unsigned char *frame,
                      unsigned length) {
  unsigned at = before_ip(link_type, frame, length);
  if (at >= length) return 0;
  unsigned hash = of_ip(key, frame + at, length - at);
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  return hash ^ hash >> 13;
}

unsigned flowpin_key_of(int kind, const void *packet, unsigned long length) {
  return packet ? flowpin_hash((enum flowpin_key)kind, 12, packet, (unsigned)length) : 0;
}
