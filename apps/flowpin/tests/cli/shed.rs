//! `--shed`: work that is left out under overload is told, counted, and never a packet.

use crate::live::{json, read, with_a_cable};

/// A run that could not read for a while sheds work when it goes on, says so, and counts what; one
/// without the option does not.
#[test]
fn work_is_shed_under_overload_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
        echo 'alert http any any -> any any (http.method; content:"GET"; sid:1;)' >one.rules
        for option in --shed=on --shed=off; do
            rm -rf out truth
            capture -i b $option --json --format none --ring '64 MiB' -S one.rules --extract out
            kill -STOP $pid
            $F gen http --packets 40000 --packet-len 1000 -i a --topspeed --truth truth >/dev/null
            kill -CONT $pid; stop
            for name in told summary code; do mv $name $name$option; done
        done"#;
    if with_a_cable(script, folder).is_none() {
        return;
    }
    let sent = json(folder, "truth")["totals"]["packets"].as_u64().unwrap();
    let shed = |option: &str| {
        let summary = json(folder, &format!("summary{option}"));
        assert_eq!(read(folder, &format!("code{option}")), "0\n");
        let packets = summary["traffic"]["packets"].as_u64().unwrap();
        let dropped = summary["quality"]["dropped"].as_u64().unwrap();
        assert_eq!(packets + dropped, sent);
        assert_eq!(summary["conservation"]["missing"], 0);
        let names = ["shed_bodies", "shed_parsing", "shed_connections"];
        names.map(|name| summary["losses"][name].as_u64().unwrap())
    };
    let counts = shed("--shed=on");
    assert!(counts.iter().sum::<u64>() > 0, "{counts:?}");
    let told = read(folder, "told--shed=on");
    assert!(told.contains("overload: sheds bodies (--shed)"), "{told}");
    assert!(told.contains("records depend on the load"), "{told}");
    assert_eq!(shed("--shed=off"), [0; 3]);
    assert!(!read(folder, "told--shed=off").contains("shed"));
}
