/* What the header promises, besides records of HTTP: errors, streams, packets, stopping. */

#include <flowpin.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    flowpin *run;
    unsigned long calls, bytes, ends, at_most;
    uint64_t last;
};

static int on_packet(void *user, const struct flowpin_packet *packet)
{
    struct sums *sums = user;
    assert(packet->number == sums->last + 1 && packet->len <= packet->wire_len);
    assert(packet->time_ns != 0 && packet->link == 1);
    sums->last = packet->number;
    sums->bytes += packet->len;
    return ++sums->calls == sums->at_most;
}

static int on_data(void *user, const struct flowpin_place *at, const void *bytes, size_t len)
{
    struct sums *sums = user;
    assert(bytes && at->uid[0] == 'C' && at->client[0] && at->server[0] && at->packet_number);
    assert(at->protocol == 6 || at->protocol == 17);
    sums->calls++;
    sums->bytes += len;
    return sums->calls == sums->at_most;
}

static int on_end(void *user, const struct flowpin_place *at, enum flowpin_end how)
{
    struct sums *sums = user;
    assert(how == FLOWPIN_FIN || how == FLOWPIN_RESET || how == FLOWPIN_ENDED);
    assert(at->to_server <= 1);
    sums->ends++;
    return 0;
}

/* Every column of every record can be asked for, whatever it holds, and those that are not there. */
static int on_record(void *user, const flowpin_record *record)
{
    struct sums *sums = user;
    int columns = flowpin_columns(record);
    assert(columns > 5 && flowpin_kind(record)[0]);
    for (int column = -1; column <= columns; column++) {
        const char *name = flowpin_column_name(record, column);
        assert((name != NULL) == (column >= 0 && column < columns));
        assert(!name || flowpin_column(record, name) == column);
        enum flowpin_type type = flowpin_get_type(record, column);
        struct flowpin_text text = flowpin_get_text(record, column);
        assert(type != FLOWPIN_NONE || text.len == 0);
        assert(type != FLOWPIN_LIST || (text.bytes[0] == '[' && text.bytes[text.len - 1] == ']'));
        if (type == FLOWPIN_TIME)
            assert(flowpin_get_int(record, column) > INT64_C(1000000000000000000));
        if (type == FLOWPIN_INT)
            assert(flowpin_get_int(record, column) == (int64_t)flowpin_get_double(record, column)
                   || flowpin_get_int(record, column) > INT64_C(1) << 52);
        sums->bytes += text.len;
    }
    assert(flowpin_column(record, "no such column") == -1 && flowpin_column(record, NULL) == -1);
    return ++sums->calls == sums->at_most;
}

static void fails(int code, int expected, const flowpin *run, const char *says)
{
    if (code != expected || !strstr(flowpin_error(run), says)) {
        fprintf(stderr, "%d, not %d: %s\n", code, expected, flowpin_error(run));
        abort();
    }
    assert(!strchr(flowpin_error(run), '\n'));
}

static flowpin *over(const char *path)
{
    flowpin *run = flowpin_new();
    assert(run && flowpin_read(run, path) == FLOWPIN_OK && flowpin_error(run)[0] == 0);
    return run;
}

static void errors(const char *capture, const char *damaged, const char *other)
{
    struct sums sums = {0};
    flowpin *run = over(capture);
    fails(flowpin_set(run, "pipelin", "1x1"), FLOWPIN_USAGE, run, "no option `pipelin`");
    fails(flowpin_set(run, "pipeline", "5x1"), FLOWPIN_USAGE, run, "pipeline");
    fails(flowpin_set(run, "log-dir", "/tmp"), FLOWPIN_USAGE, run, "callbacks");
    fails(flowpin_set(run, NULL, "1x1"), FLOWPIN_USAGE, run, "NULL");
    fails(flowpin_set(run, "pipeline", NULL), FLOWPIN_USAGE, run, "NULL");
    fails(flowpin_read(run, NULL), FLOWPIN_USAGE, run, "NULL");
    fails(flowpin_records(run, "htp", on_record, &sums), FLOWPIN_USAGE, run, "`htp`");
    fails(flowpin_records(run, "http", NULL, &sums), FLOWPIN_USAGE, run, "function");
    fails(flowpin_packets(run, NULL, &sums), FLOWPIN_USAGE, run, "function");
    fails(flowpin_streams(run, NULL, NULL, &sums), FLOWPIN_USAGE, run, "functions");
    fails(flowpin_streams(run, "nothing", &(struct flowpin_stream_calls){0}, &sums),
          FLOWPIN_USAGE, run, "`nothing`");
    assert(flowpin_records(NULL, NULL, on_record, &sums) == FLOWPIN_USAGE);
    assert(flowpin_error(NULL)[0] && sums.calls == 0);
    flowpin_stop(NULL);
    flowpin_free(run);
    flowpin_free(NULL);

    run = over("no such capture");
    fails(flowpin_packets(run, on_packet, &sums), FLOWPIN_UNREADABLE, run, "no such capture");
    flowpin_free(run);
    run = over(other);
    fails(flowpin_packets(run, on_packet, &sums), FLOWPIN_UNREADABLE, run, other);
    flowpin_free(run);
    run = over(damaged);
    fails(flowpin_records(run, NULL, on_record, &sums), FLOWPIN_DAMAGED, run, damaged);
    assert(sums.calls > 0);
    flowpin_free(run);
    run = over(capture);
    assert(flowpin_set(run, "filter", "no filter at all") == FLOWPIN_OK);
    fails(flowpin_packets(run, on_packet, &sums), FLOWPIN_USAGE, run, "filter");
    flowpin_free(run);
}

int main(int argc, char **argv)
{
    assert(argc == 4 && flowpin_abi_version() == FLOWPIN_ABI && strchr(flowpin_version(), '.'));
    errors(argv[1], argv[2], argv[3]);
    struct flowpin_stream_calls calls = {on_data, NULL, on_end};
    for (int once = 0; once < 2; once++) {
        struct sums packets = {.at_most = once}, streams = {.at_most = once};
        struct sums records = {.at_most = once};
        flowpin *runs[3] = {over(argv[1]), over(argv[1]), over(argv[1])};
        assert(flowpin_packets(runs[0], on_packet, &packets) == FLOWPIN_OK);
        assert(flowpin_streams(runs[1], NULL, &calls, &streams) == FLOWPIN_OK);
        assert(flowpin_records(runs[2], NULL, on_record, &records) == FLOWPIN_OK);
        /* A run that a callback has ended is not the last one. */
        struct sums again = {0};
        assert(flowpin_packets(runs[once], on_packet, &again) == FLOWPIN_OK && again.calls > 1);
        assert(!once || (packets.calls == 1 && streams.calls == 1 && records.calls == 1));
        printf("%lu packets %lu bytes, %lu parts %lu bytes %lu ends, %lu records\n",
               packets.calls, packets.bytes, streams.calls, streams.bytes, streams.ends,
               records.calls);
        for (int i = 0; i < 3; i++)
            flowpin_free(runs[i]);
    }
    return 0;
}
