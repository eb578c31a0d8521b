/* Made by `flowpin cc scanner`: the scanner in push mode. */
#ifndef @GUARD@
#define @GUARD@

/* What the scanner knows of one stream. */
struct @PREFIX@flow;

/* A new stream's state; null if memory is short. `@PREFIX@flow_free` gives it back. */
struct @PREFIX@flow *@PREFIX@flow_new(void);
void @PREFIX@flow_free(struct @PREFIX@flow *flow);

/* Scans a piece of a stream, the last one if `is_last`; calls `token` for each token.
 * Returns 0, or -1 if the stream is not scanned any more. */
int @PREFIX@flow_scan(struct @PREFIX@flow *flow, const char *bytes, int count, int is_last,
                      void (*token)(int token, void *user), void *user);

#endif
