//! Functions of libraries that keep state between calls, or act on the whole process.

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// The run-time has one for each core, under the same name with `flowpin_` before it.
    PerCore(&'static str),
    /// It is safe to call from several threads; its effect concerns all cores.
    Process(&'static str),
    /// It is safe before packets come, because cores start one after another.
    AtStart(&'static str),
    /// It cannot be called by a program that runs on several cores.
    Refused(&'static str),
}

/// What is known about a library's function; none if it keeps nothing.
#[must_use]
pub fn hidden(name: &str) -> Option<Hidden> {
    let named = |table: &[(&str, &'static str)]| {
        let found = table.iter().find(|(function, _)| *function == name);
        found.map(|(_, why)| *why)
    };
    let per_core = named(PER_CORE).map(Hidden::PerCore);
    per_core
        .or_else(|| named(PROCESS).map(Hidden::Process))
        .or_else(|| named(AT_START).map(Hidden::AtStart))
        .or_else(|| named(REFUSED).map(Hidden::Refused))
}

/// The run-time's sources have each of them (`runtime/`).
const PER_CORE: &[(&str, &str)] = &[
    ("strtok", "a cursor"),
    ("localtime", "a structure"),
    ("gmtime", "a structure"),
    ("ctime", "a buffer"),
    ("asctime", "a buffer"),
    ("inet_ntoa", "a buffer"),
    ("strerror", "a buffer"),
    ("gethostbyname", "an answer"),
    ("gethostbyname2", "an answer"),
    ("gethostbyaddr", "an answer"),
    ("getservbyname", "an answer"),
    ("getservbyport", "an answer"),
    ("getprotobyname", "an answer"),
    ("getprotobynumber", "an answer"),
    ("getnetbyname", "an answer"),
    ("getnetbyaddr", "an answer"),
    ("getpwnam", "an answer"),
    ("getpwuid", "an answer"),
    ("getgrnam", "an answer"),
    ("getgrgid", "an answer"),
    ("ether_ntoa", "an answer"),
    ("ether_aton", "an answer"),
    ("rand", "a generator"),
    ("srand", "a generator"),
    ("random", "a generator"),
    ("srandom", "a generator"),
    ("printf", "the output"),
    ("vprintf", "the output"),
    ("puts", "the output"),
    ("putchar", "the output"),
    ("putchar_unlocked", "the output"),
    ("write", "the output"),
    ("writev", "the output"),
    ("dprintf", "the output"),
    ("vdprintf", "the output"),
    ("getchar", "the input"),
    ("scanf", "the input"),
    ("vscanf", "the input"),
    (
        "popen",
        "a process that takes the output fails on several cores",
    ),
    ("perror", "what is said about a packet"),
    ("fopen", "an output of its own for each core"),
    ("fclose", "an output of its own for each core"),
    ("close", "descriptors of other cores stay open"),
    ("fdopen", "an output of its own for each core"),
    ("freopen", "an output of its own for each core"),
    ("open", "an output of its own for each core"),
    ("creat", "an output of its own for each core"),
    ("dup2", "an output of its own for each core"),
    ("rename", "an output is renamed once"),
    ("unlink", "an output is removed once"),
    ("remove", "an output is removed once"),
    ("exit", "the end of one core"),
    ("_exit", "the end of one core"),
    ("atexit", "the end of one core"),
    ("alarm", "a timer"),
    ("ualarm", "a timer"),
    ("setitimer", "a timer"),
    ("getitimer", "a timer"),
    ("fork", "fails on several cores"),
    ("daemon", "fails on several cores"),
    ("pcap_open_offline", "the capture"),
    ("pcap_fopen_offline", "the capture"),
    ("pcap_open_offline_with_tstamp_precision", "the capture"),
    ("pcap_fopen_offline_with_tstamp_precision", "the capture"),
    ("pcap_open_live", "the capture"),
    ("pcap_activate", "the capture"),
    ("pcap_datalink", "the capture"),
    ("pcap_snapshot", "the capture"),
    ("pcap_compile", "the capture"),
    ("pcap_stats", "the capture"),
    ("pcap_fileno", "the capture"),
    ("pcap_get_selectable_fd", "the capture"),
    ("pcap_setfilter", "the capture"),
    ("pcap_loop", "the capture"),
    ("pcap_dispatch", "the capture"),
    ("pcap_next", "the capture"),
    ("pcap_next_ex", "the capture"),
    ("pcap_breakloop", "the capture"),
    ("pcap_close", "the capture"),
    ("pcap_dump_open", "an output of its own for each core"),
    (
        "pcap_dump_open_append",
        "an output of its own for each core",
    ),
    ("pcap_dump_fopen", "an output of its own for each core"),
    ("pcap_dump_close", "an output of its own for each core"),
];

const PROCESS: &[(&str, &str)] = &[
    ("syslog", "the log's connection"),
    ("openlog", "the log's name"),
    ("closelog", "the log's connection"),
    ("signal", "the process's handlers"),
    ("sigaction", "the process's handlers"),
    ("setlocale", "the locale"),
    ("getenv", "the environment"),
    ("getopt", "optarg and optind: cores start one after another"),
    (
        "getopt_long",
        "optarg and optind: cores start one after another",
    ),
    ("time", "the clock"),
    ("gettimeofday", "the clock"),
    ("clock_gettime", "the clock"),
    ("pcap_lookupdev", "a buffer: cores start one after another"),
    ("mktime", "the time zone"),
    ("chdir", "the working directory"),
    ("umask", "the mask of permissions"),
    ("usleep", "the clock"),
    ("sleep", "the clock"),
];

const AT_START: &[(&str, &str)] = &[
    ("gethostent", "one buffer for all cores"),
    ("getrpcbynumber", "one buffer for all cores"),
    ("getpwent", "one buffer for all cores"),
    ("getgrent", "one buffer for all cores"),
    ("getservent", "one buffer for all cores"),
    ("getprotoent", "one buffer for all cores"),
    ("getnetent", "one buffer for all cores"),
    ("getrpcbyname", "one buffer for all cores"),
    ("getrpcent", "one buffer for all cores"),
    ("getmntent", "one buffer for all cores"),
    ("getspnam", "one buffer for all cores"),
    ("getpass", "one buffer for all cores"),
    ("re_comp", "one expression for all cores"),
    ("re_exec", "one expression for all cores"),
    ("getlogin", "one buffer for all cores"),
    ("crypt", "one buffer for all cores"),
    ("ptsname", "one buffer for all cores"),
    ("l64a", "one buffer for all cores"),
    ("ecvt", "one buffer for all cores"),
    ("fcvt", "one buffer for all cores"),
    ("getdate", "one buffer for all cores"),
    ("hsearch", "one table for all cores"),
    ("hcreate", "one table for all cores"),
    ("tmpnam", "one buffer for all cores"),
    ("ttyname", "one buffer for all cores"),
    ("setenv", "changes the environment of all cores"),
    ("putenv", "changes the environment of all cores"),
];

const REFUSED: &[(&str, &str)] = &[
    (
        "pthread_create",
        "starts a thread that would belong to no core",
    ),
    (
        "thrd_create",
        "starts a thread that would belong to no core",
    ),
    (
        "g_thread_create_full",
        "starts a thread that would belong to no core",
    ),
    (
        "g_thread_new",
        "starts a thread that would belong to no core",
    ),
    ("timer_create", "one timer for all cores"),
    ("on_exit", "is not known to the run-time: atexit is"),
    ("at_quick_exit", "is not known to the run-time: atexit is"),
    ("gets", "is not known to the run-time: fgets is"),
    ("drand48", "one generator for all cores"),
    ("lrand48", "one generator for all cores"),
    ("mrand48", "one generator for all cores"),
    ("initstate", "one generator for all cores"),
    ("setstate", "one generator for all cores"),
    ("pcap_open", "is not known to the run-time: pcap_create is"),
    ("fopen64", "is not known to the run-time: fopen is"),
    ("open64", "is not known to the run-time: open is"),
    ("openat", "is not known to the run-time: open is"),
    (
        "vfork",
        "starts a process that shares the state of one core",
    ),
];
