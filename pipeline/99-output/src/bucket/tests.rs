//! Against a server that speaks S3: with `FLOWPIN_TEST_LONG=1` only, because it has to be fetched.

use super::Place;
use super::store::{Store, Trouble};
use flowpin_testkit::corpus;
use flowpin_testkit::s3::Server;
use object_store::aws::AmazonS3Builder;
use std::fs;

fn store(server: &Server, bucket: &str) -> Store {
    let environment = server.environment().into_iter();
    let builder = environment.fold(AmazonS3Builder::new(), |builder, (name, value)| {
        builder.with_config(name.to_ascii_lowercase().parse().unwrap(), value)
    });
    Store::of(builder, true, bucket).unwrap()
}

/// Objects of one part and of many are what their files are; half an object is never there.
#[test]
fn a_file_of_many_parts_is_one_object() {
    if !corpus::is_long() {
        corpus::skip("S3", "needs FLOWPIN_TEST_LONG=1");
        return;
    }
    let Some(server) = Server::start() else {
        return;
    };
    server.make("parts").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = Place {
        bucket: "parts".to_owned(),
        prefix: "day=1/x".to_owned(),
    };
    let store = store(&server, "parts");
    assert!(store.is_empty("day=1").unwrap());
    let lens = [0, 1, 8 << 20, (8 << 20) + 1, 20 << 20];
    let mut parts = 0;
    for len in lens {
        let file = folder.path().join(format!("{len}.parquet"));
        let bytes: Vec<u8> = (0..len).map(|at: u32| (at % 251) as u8).collect();
        fs::write(&file, bytes).unwrap();
        store.put(&file, &place, &mut || parts += 1).unwrap();
    }
    assert_eq!(parts, 2 + 3);
    assert!(!store.is_empty("day=1").unwrap());
    assert!(store.is_empty("day=").unwrap(), "a prefix ends at a slash");
    let objects = server.objects("parts", &folder.path().join("got"));
    let objects = objects.unwrap();
    assert_eq!(objects.len(), lens.len());
    for len in lens {
        let file = folder.path().join(format!("{len}.parquet"));
        let object = &objects[&format!("day=1/x/{len}.parquet")];
        assert!(*object == fs::read(file).unwrap(), "{len}");
    }
    let none = self::store(&server, "absent").is_empty("");
    assert!(matches!(none, Err(Trouble::Refused(why)) if why == "there is no such bucket"));
    server.cut(true);
    let big = folder.path().join("20971520.parquet");
    let away = store.put(&big, &place, &mut || ());
    assert!(matches!(away, Err(Trouble::Away(_))), "{away:?}");
}

/// A key is what stands in the address, and the file's name.
#[test]
fn objects_have_the_names_of_files_below_the_prefix() {
    for (text, key) in [
        ("s3://flows", "conn.parquet"),
        ("s3://flows/a=1/b@c", "a=1/b@c/conn.parquet"),
    ] {
        let place = Place::of(text).unwrap();
        assert_eq!(place.to_string(), text);
        let got = place.key("run-000001/conn.parquet".as_ref());
        assert_eq!(got.as_ref(), key);
    }
    assert!(Place::of("tcp://h:1").is_none());
}
