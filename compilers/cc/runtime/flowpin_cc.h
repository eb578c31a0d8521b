/* The state of the core that this thread runs; whether it runs what is to run once; its number. */
struct flowpin_core *flowpin_self(void);
int flowpin_once(void);
int flowpin_core_number(void);
/* What this thread opens next is a file of its core's own, with the core's number in its name. */
void flowpin_each_core(void);
/* Memory for so many records of this size, in the core's pool. */
void flowpin_reserve(unsigned long size, unsigned long count);

/* Whether this thread belongs to a stage; all stages are one if the program is not divided. */
int flowpin_in_stage(int stage);
/* Room for a call that the stage is to run, with this many bytes; null if it is to be made here. */
void *flowpin_hand_on(int stage, unsigned key, void (*run)(struct flowpin_core *, void *),
                      unsigned long size);
void flowpin_handed_on(void);
/* The key of an IP packet: 0 by the pair of addresses, 1 with ports, 2 by the source. */
unsigned flowpin_key_of(int kind, const void *packet, unsigned long length);

/* Functions of libraries that keep state, one for each core. */
struct _IO_FILE;
struct tm;
struct in_addr;
struct pcap;
struct pcap_dumper;
struct pcap_pkthdr;
struct bpf_program;
struct pcap_stat;
struct timeval;
struct itimerval;
struct hostent;
struct servent;
struct protoent;
struct netent;
struct passwd;
struct group;
struct ether_addr;

struct iovec;
struct _IO_FILE *flowpin_stdin(void);
struct _IO_FILE *flowpin_stdout(void);
struct _IO_FILE *flowpin_stderr(void);
void flowpin_perror(const char *what);
struct _IO_FILE *flowpin_fopen(const char *path, const char *mode);
int flowpin_fclose(struct _IO_FILE *file);
struct _IO_FILE *flowpin_fdopen(int number, const char *mode);
struct _IO_FILE *flowpin_freopen(const char *path, const char *mode, struct _IO_FILE *file);
int flowpin_open(const char *path, int flags, ...);
int flowpin_creat(const char *path, unsigned permissions);
int flowpin_dup2(int from, int to);
int flowpin_rename(const char *from, const char *to);
int flowpin_unlink(const char *path);
int flowpin_remove(const char *path);
int flowpin_close(int number);
int flowpin_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int flowpin_vprintf(const char *format, __builtin_va_list list);
int flowpin_puts(const char *text);
int flowpin_putchar(int c);
int flowpin_putchar_unlocked(int c);
int flowpin_getchar(void);
int flowpin_scanf(const char *format, ...) __attribute__((format(scanf, 1, 2)));
int flowpin_vscanf(const char *format, __builtin_va_list list);
long flowpin_write(int number, const void *bytes, unsigned long count);
long flowpin_writev(int number, const struct iovec *pieces, int count);
int flowpin_dprintf(int number, const char *format, ...) __attribute__((format(printf, 2, 3)));
int flowpin_vdprintf(int number, const char *format, __builtin_va_list list);
struct _IO_FILE *flowpin_popen(const char *command, const char *mode);
char *flowpin_strtok(char *string, const char *delimiters);
struct tm *flowpin_localtime(const long *when);
struct tm *flowpin_gmtime(const long *when);
char *flowpin_ctime(const long *when);
char *flowpin_asctime(const struct tm *when);
char *flowpin_strerror(int number);
char *flowpin_inet_ntoa(struct in_addr address);
struct hostent *flowpin_gethostbyname(const char *name);
struct hostent *flowpin_gethostbyname2(const char *name, int family);
struct hostent *flowpin_gethostbyaddr(const void *address, unsigned length, int family);
struct servent *flowpin_getservbyname(const char *name, const char *protocol);
struct servent *flowpin_getservbyport(int port, const char *protocol);
struct protoent *flowpin_getprotobyname(const char *name);
struct protoent *flowpin_getprotobynumber(int number);
struct netent *flowpin_getnetbyname(const char *name);
struct netent *flowpin_getnetbyaddr(unsigned network, int family);
struct passwd *flowpin_getpwnam(const char *name);
struct passwd *flowpin_getpwuid(unsigned user);
struct group *flowpin_getgrnam(const char *name);
struct group *flowpin_getgrgid(unsigned group);
char *flowpin_ether_ntoa(const struct ether_addr *address);
struct ether_addr *flowpin_ether_aton(const char *text);
int flowpin_rand(void);
void flowpin_srand(unsigned seed);
long flowpin_random(void);
void flowpin_srandom(unsigned seed);
void *flowpin_malloc(unsigned long size);
void *flowpin_calloc(unsigned long count, unsigned long size);
void *flowpin_realloc(void *memory, unsigned long size);
void flowpin_free(void *memory);
char *flowpin_strdup(const char *text);
int flowpin_atexit(void (*function)(void));
unsigned flowpin_alarm(unsigned seconds);
unsigned flowpin_ualarm(unsigned wait_us, unsigned interval_us);
int flowpin_setitimer(int which, const struct itimerval *wanted, struct itimerval *before);
int flowpin_getitimer(int which, struct itimerval *now);
int flowpin_fork(void);
int flowpin_daemon(int keeps_directory, int keeps_output);
void flowpin_exit(int code) __attribute__((noreturn));
void flowpin__exit(int code) __attribute__((noreturn));
struct pcap *flowpin_pcap_open_offline(const char *path, char *error);
struct pcap *flowpin_pcap_fopen_offline(struct _IO_FILE *file, char *error);
struct pcap *flowpin_pcap_open_offline_with_tstamp_precision(const char *path, unsigned precision,
                                                              char *error);
struct pcap *flowpin_pcap_fopen_offline_with_tstamp_precision(struct _IO_FILE *file,
                                                               unsigned precision, char *error);
struct pcap *flowpin_pcap_open_live(const char *device, int length, int is_promiscuous, int wait_ms,
                                    char *error);
int flowpin_pcap_activate(struct pcap *capture);
int flowpin_pcap_datalink(struct pcap *capture);
int flowpin_pcap_snapshot(struct pcap *capture);
int flowpin_pcap_compile(struct pcap *capture, struct bpf_program *filter, const char *text,
                         int optimizes, unsigned mask);
int flowpin_pcap_stats(struct pcap *capture, struct pcap_stat *stats);
int flowpin_pcap_fileno(struct pcap *capture);
int flowpin_pcap_get_selectable_fd(struct pcap *capture);
int flowpin_pcap_setfilter(struct pcap *capture, struct bpf_program *filter);
int flowpin_pcap_loop(struct pcap *capture, int count,
                      void (*handler)(unsigned char *, const struct pcap_pkthdr *,
                                      const unsigned char *),
                      unsigned char *user);
int flowpin_pcap_dispatch(struct pcap *capture, int count,
                          void (*handler)(unsigned char *, const struct pcap_pkthdr *,
                                          const unsigned char *),
                          unsigned char *user);
const unsigned char *flowpin_pcap_next(struct pcap *capture, struct pcap_pkthdr *header);
int flowpin_pcap_next_ex(struct pcap *capture, struct pcap_pkthdr **header,
                         const unsigned char **data);
void flowpin_pcap_breakloop(struct pcap *capture);
void flowpin_pcap_close(struct pcap *capture);
struct pcap_dumper *flowpin_pcap_dump_fopen(struct pcap *capture, struct _IO_FILE *file);
struct pcap_dumper *flowpin_pcap_dump_open(struct pcap *capture, const char *path);
struct pcap_dumper *flowpin_pcap_dump_open_append(struct pcap *capture, const char *path);
void flowpin_pcap_dump_close(struct pcap_dumper *dumper);
