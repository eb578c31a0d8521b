/* Counts the hosts that HTTP requests name, on all cores: the busiest twenty.
 *
 *     cc -o hosts hosts.c $(pkg-config --cflags --libs flowpin)
 *     ./hosts [--OPTION VALUE]… day.pcap… */

#include <flowpin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 65536

static struct host {
    char name[256];
    unsigned long requests;
} hosts[SLOTS];

static int count(void *column, const flowpin_record *record)
{
    struct flowpin_text host = flowpin_get_text(record, *(const int *)column);
    size_t at = 5381, used = 0;
    if (host.len == 0 || host.len >= sizeof hosts->name)
        return 0;
    for (size_t i = 0; i < host.len; i++)
        at = at * 33 ^ (unsigned char)host.bytes[i];
    for (; hosts[at %= SLOTS].requests; at++)
        if (strlen(hosts[at].name) == host.len
            && memcmp(hosts[at].name, host.bytes, host.len) == 0)
            break;
        else if (++used == SLOTS - 1)
            return 0;
    memcpy(hosts[at].name, host.bytes, host.len);
    hosts[at].requests++;
    return 0;
}

static int first(void *column, const flowpin_record *record)
{
    if (*(int *)column < 0)
        *(int *)column = flowpin_column(record, "host");
    return count(column, record);
}

static int by_requests(const void *a, const void *b)
{
    const struct host *left = a, *right = b;
    if (left->requests != right->requests)
        return left->requests < right->requests ? 1 : -1;
    return strcmp(left->name, right->name);
}

int main(int argc, char **argv)
{
    flowpin *run = flowpin_new();
    int column = -1, code = run ? FLOWPIN_OK : FLOWPIN_FAILED;
    for (char **word = argv + 1; word < argv + argc && code == FLOWPIN_OK; word++)
        code = strncmp(*word, "--", 2) == 0 && word[1] ? flowpin_set(run, *word + 2, word[1])
                                                       : flowpin_read(run, *word),
        word += strncmp(*word, "--", 2) == 0 && word[1];
    if (code == FLOWPIN_OK)
        code = flowpin_records(run, "http", first, &column);
    if (code != FLOWPIN_OK)
        fprintf(stderr, "hosts: %s\n", run ? flowpin_error(run) : "no memory");
    qsort(hosts, SLOTS, sizeof *hosts, by_requests);
    for (int i = 0; i < 20 && hosts[i].requests; i++)
        printf("%8lu %s\n", hosts[i].requests, hosts[i].name);
    flowpin_free(run);
    return code;
}
