/* Flowpin as a library: packets in, records, streams or packets out.
 *
 *     flowpin *run = flowpin_new();
 *     flowpin_read(run, "day.pcap");
 *     flowpin_set(run, "pipeline", "1x4");
 *     if (flowpin_records(run, "http", on_record, &counts) != FLOWPIN_OK)
 *         fprintf(stderr, "%s\n", flowpin_error(run));
 *     flowpin_free(run);
 *
 * Who owns what: a `flowpin` is the program's until flowpin_free(). Whatever a function of the
 * library is called with stays the caller's. What a callback gets, and all text that is returned
 * about it, is the library's and lasts until the callback returns. flowpin_error() lasts until the
 * next call with the same `flowpin`.
 *
 * Threads: a `flowpin` belongs to one thread at a time, but for flowpin_stop(). Several of them may
 * run at once. Callbacks are called one at a time and in order, by a thread of the run that need
 * not be the caller's, and always before the function that they were given to returns.
 *
 * Errors: FLOWPIN_OK, or why not, with one line of text (flowpin_error). No call ends the program;
 * a defect of the library ends in FLOWPIN_FAILED. */

#ifndef FLOWPIN_H
#define FLOWPIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface that this file describes. A library of the same number has at least its functions,
 * with the same meaning; the shared library's name ends in it. */
#define FLOWPIN_ABI 1

/* The number of the library that is there. */
uint32_t flowpin_abi_version(void);

/* Its version, such as "0.1.0". */
const char *flowpin_version(void);

/* What functions return: the exit codes of the command. */
enum {
    FLOWPIN_OK = 0,
    /* Out of memory, a defect, a system call that failed. */
    FLOWPIN_FAILED = 1,
    /* An option, a name, a filter is wrong. */
    FLOWPIN_USAGE = 2,
    /* Nothing could be read. */
    FLOWPIN_UNREADABLE = 3,
    /* A capture is cut off or damaged: everything before that place was delivered. */
    FLOWPIN_DAMAGED = 4
};

/* A run: its options, then what went wrong with it. */
typedef struct flowpin flowpin;

/* A run without input. NULL: no memory. */
flowpin *flowpin_new(void);

/* Ends it; NULL is fine. Not within a callback of its own. */
void flowpin_free(flowpin *run);

/* Reads a capture: any file that the command reads, "-" for standard input. May be called several
 * times: captures are merged by time. */
int flowpin_read(flowpin *run, const char *path);

/* Sets an option of `flowpin run`, by its long name without dashes: "pipeline", "interface",
 * "memory", "signatures". An option that is a switch takes "on" or "off". One that may be repeated
 * takes a further value with each call. Those about files of records have no meaning here. */
int flowpin_set(flowpin *run, const char *option, const char *value);

/* What went wrong last, in one line; "" if nothing did. */
const char *flowpin_error(const flowpin *run);

/* Ends the run that goes on, as if its input ended here, and all later ones of this `flowpin` at
 * once. May be called by any thread, by callbacks and by signal handlers. */
void flowpin_stop(const flowpin *run);

/* A text of `len` bytes, which may hold any, and is not ended by a zero. */
struct flowpin_text {
    const char *bytes;
    size_t len;
};

/* ---- Records: all cores ---- */

/* A record. */
typedef struct flowpin_record flowpin_record;

/* What a column holds in a record. */
enum flowpin_type {
    /* Nothing: the record does not have it. */
    FLOWPIN_NONE,
    FLOWPIN_BOOL,
    FLOWPIN_INT,
    FLOWPIN_DOUBLE,
    /* A time, in nanoseconds since 1970. */
    FLOWPIN_TIME,
    FLOWPIN_TEXT,
    /* Several values; flowpin_get_text() gives them as a JSON array. */
    FLOWPIN_LIST
};

/* Takes a record; anything but 0 ends the run. */
typedef int flowpin_on_record(void *user, const flowpin_record *record);

/* Runs all stages on all cores and calls `on_record` for each record. `kinds` names those that are
 * wanted, separated by commas ("conn,http"), as the command names its Parquet files; NULL: all.
 * Records of one kind come in the order of the command's, which is the same for every number of
 * cores; several hundred of a kind come together. */
int flowpin_records(flowpin *run, const char *kinds, flowpin_on_record *on_record, void *user);

/* What kind of record it is. */
const char *flowpin_kind(const flowpin_record *record);

/* How many columns its kind has. */
int flowpin_columns(const flowpin_record *record);

/* A column's name; NULL if there is no such column. */
const char *flowpin_column_name(const flowpin_record *record, int column);

/* The number of a column, from 0, by its name; -1: this kind has none of that name. The same for
 * all records of a kind. */
int flowpin_column(const flowpin_record *record, const char *name);

/* What the column holds. Any number of a column may be asked for. */
enum flowpin_type flowpin_get_type(const flowpin_record *record, int column);

/* Its value as a number: 0 or 1 for FLOWPIN_BOOL, nanoseconds for FLOWPIN_TIME, 0 where it is
 * none. */
int64_t flowpin_get_int(const flowpin_record *record, int column);
double flowpin_get_double(const flowpin_record *record, int column);

/* Its value as text; empty for FLOWPIN_NONE. */
struct flowpin_text flowpin_get_text(const flowpin_record *record, int column);

/* ---- Streams and packets: in the order of packets ---- */

/* A place in a stream of a conversation. */
struct flowpin_place {
    /* The conversation, as in records. */
    const char *uid;
    /* IP protocol number: 6 TCP, 17 UDP. */
    uint8_t protocol;
    /* Whether the bytes go from the client to the server. */
    uint8_t to_server;
    uint16_t client_port;
    uint16_t server_port;
    /* A small number of the conversation, unique among those that are open: for tables of one's
     * own. */
    uint32_t handle;
    /* Addresses as text. */
    const char *client;
    const char *server;
    /* Bytes of the stream before this place, gaps included. */
    uint64_t offset;
    /* Time of the packet in nanoseconds since 1970, and its number, from 1. */
    uint64_t time_ns;
    uint64_t packet_number;
};

/* How a stream ended. */
enum flowpin_end { FLOWPIN_FIN, FLOWPIN_RESET, FLOWPIN_ENDED };

/* What is called for streams; each may be NULL, and ends the run by anything but 0. */
struct flowpin_stream_calls {
    /* The next bytes; for UDP one datagram. */
    int (*data)(void *user, const struct flowpin_place *at, const void *bytes, size_t len);
    /* Bytes that the capture does not have. */
    int (*gap)(void *user, const struct flowpin_place *at, uint64_t len);
    /* Nothing more comes in this direction. */
    int (*end)(void *user, const struct flowpin_place *at, enum flowpin_end how);
};

/* Reassembles streams on the caller's thread. `connection` names the one that is wanted, by its
 * uid, Community ID or addresses, as `flowpin streams` takes it; NULL: all. */
int flowpin_streams(flowpin *run, const char *connection,
                    const struct flowpin_stream_calls *calls, void *user);

/* A packet as it was captured. */
struct flowpin_packet {
    /* Its number, from 1, as in records, and its time in nanoseconds since 1970. */
    uint64_t number;
    uint64_t time_ns;
    /* From the link layer on. */
    const void *bytes;
    uint32_t len;
    /* Its length on the wire. */
    uint32_t wire_len;
    /* The number of its link type (LINKTYPE_…); -1: not known. */
    int32_t link;
};

/* Takes a packet; anything but 0 ends the run. */
typedef int flowpin_on_packet(void *user, const struct flowpin_packet *packet);

/* Reads packets on the caller's thread, those that the option "filter" lets through. */
int flowpin_packets(flowpin *run, flowpin_on_packet *on_packet, void *user);

#ifdef __cplusplus
}
#endif

#endif
