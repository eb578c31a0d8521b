//! Functions of libraries that say the same when they are asked the same, and those that only
//! read what they are given.

/// Whether what it returns, and what it writes behind pointers, is made of what it is given alone,
/// or of what the program was started with.
pub(crate) fn same_for_same(name: &str) -> bool {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    SAME_FOR_SAME.contains(&plain) || only_reads(plain)
}

/// Whether it writes behind no pointer that it is given, and keeps none.
pub(crate) fn only_reads(name: &str) -> bool {
    ONLY_READS.contains(&name) || says(name)
}

/// Whether it shows what it is given to the world outside.
pub(crate) fn says(name: &str) -> bool {
    SAYS.contains(&name)
}

/// Whether it puts what it is given into text.
pub(crate) fn formats(name: &str) -> bool {
    says(name) || matches!(name, "sprintf" | "snprintf" | "asprintf")
}

/// Whether it puts a list of arguments into text.
pub(crate) fn takes_lists(name: &str) -> bool {
    const TAKE_LISTS: &[&str] = &[
        "vprintf",
        "vfprintf",
        "vdprintf",
        "vsprintf",
        "vsnprintf",
        "vasprintf",
        "vsyslog",
        "vwarn",
        "vwarnx",
    ];
    TAKE_LISTS.contains(&name)
}

const SAYS: &[&str] = &[
    "printf", "fprintf", "dprintf", "puts", "fputs", "putchar", "fputc", "putc", "fwrite",
    "perror", "syslog", "warn", "warnx", "write",
];

const ONLY_READS: &[&str] = &[
    "atoi",
    "atol",
    "atoll",
    "atof",
    "strlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strspn",
    "strcspn",
    "memcmp",
    "toupper",
    "tolower",
    "isdigit",
    "isalpha",
    "isalnum",
    "isspace",
    "isupper",
    "islower",
    "isxdigit",
    "isprint",
    "ispunct",
    "htons",
    "htonl",
    "ntohs",
    "ntohl",
    "__bswap_16",
    "__bswap_32",
    "__bswap_64",
    "__uint16_identity",
    "__uint32_identity",
    "bswap16",
    "bswap32",
    "bswap64",
    "expect",
    "abs",
    "labs",
    "inet_addr",
    "inet_network",
    "access",
    "fflush",
];

#[rustfmt::skip]
const SAME_FOR_SAME: &[&str] = &[
    "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strchr", "strrchr", "strstr",
    "strcasestr", "strpbrk", "index", "rindex", "memchr", "memcpy", "memmove", "memset", "bzero",
    "strcpy", "strncpy", "strlcpy", "strcat", "strncat", "snprintf", "sprintf", "sscanf",
    "__isoc99_sscanf", "strdup", "strndup", "strtok", "strtok_r", "strsep", "inet_aton",
    "inet_pton", "inet_ntop", "basename", "getopt", "getopt_long", "getopt_long_only", "getenv",
    "pcap_datalink", "pcap_snapshot", "pcap_datalink_name_to_val", "pcap_datalink_val_to_name",
    "sysconf", "getpagesize", "isatty", "getuid", "geteuid", "getgid", "getegid",
    "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc",
];
