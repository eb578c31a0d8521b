//! Gives the shared library the name by which programs ask for it: it changes with the interface
//! (`FLOWPIN_ABI` in `flowpin.h`), not with the version.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libflowpin.so.1");
    }
}
