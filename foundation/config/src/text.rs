//! Settings that are written as text: how serde reads and writes them.

use crate::{
    Address, ByteSize, CaptureMethod, Checksums, CpuList, Cut, Format, FragmentOverlap, FullRing,
    Interface, Named, NetworkText, ParquetTime, PeerAddress, PipelineShape, RecordIf,
    SegmentOverlap, Span, System, TimeText, Timeouts, Xff, XffHop,
};
use core::fmt::{self, Display};
use core::marker::PhantomData;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A value that a configuration file holds as a string.
pub(crate) trait Text: Sized + 'static {
    /// The expected value, for error messages.
    const EXPECTED: &'static str;

    /// The possible words, each with its meaning; if empty, any text that can be parsed.
    const CHOICES: &'static [(Self, &'static str, &'static str)];

    fn read(text: &str) -> Result<Self, String>;
    fn write(&self) -> String;
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: Text> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::read(text).map_err(E::custom)
    }
}

fn parsed<T>(text: &str) -> Result<T, String>
where
    T: core::str::FromStr,
    T::Err: Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn named<T: Named>(word: &str) -> Result<T, String> {
    T::from_name(word).map_err(|error| error.to_string())
}

macro_rules! by_text {
    ($($ty:ty, $expected:literal, $read:path, $write:expr, $choices:expr;)*) => { $(
        impl Text for $ty {
            const EXPECTED: &'static str = $expected;
            const CHOICES: &'static [(Self, &'static str, &'static str)] = $choices;

            fn read(text: &str) -> Result<Self, String> {
                $read(text)
            }

            fn write(&self) -> String {
                let write: fn(&Self) -> String = $write;
                write(self)
            }
        }

        impl<'de> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor(PhantomData))
            }
        }

        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.write())
            }
        }
    )* };
}

by_text! {
    ByteSize, "a size with its unit, such as \"64 MiB\"", parsed, ByteSize::to_string, &[];
    Span, "a time with its unit, such as \"30 s\"", parsed, Span::to_string, &[];
    CpuList, "a list of processors, such as \"0,2-5\"", parsed, CpuList::to_string, &[];
    PipelineShape, "\"auto\", \"1xN\", \"2xN\" or \"3xN\"", parsed, PipelineShape::to_string, &[];
    TimeText, "a quoted time, such as \"2026-11-23T08:35:00Z\"", parsed, TimeText::to_string, &[];
    Address, "an address with its port", parsed, Address::to_string, &[];
    PeerAddress, "unix:/PATH, tcp://HOST:PORT, kafka://… or s3://…", parsed,
        PeerAddress::to_string, &[];
    Interface, "the name of an interface, such as \"eth0\"", parsed, Interface::to_string, &[];
    RecordIf, "a condition, such as \"alert or app:dns\"", parsed, RecordIf::to_string, &[];
    NetworkText, "a network, such as \"10.0.0.0/8\"", parsed, NetworkText::to_string, &[];
}

macro_rules! by_name {
    ($($ty:ident, $expected:literal;)*) => {
        by_text! { $($ty, $expected, named, |value| value.name().to_owned(), $ty::ALL;)* }
    };
}

by_name! {
    FragmentOverlap, "the name of a policy";
    SegmentOverlap, "the name of a policy";
    System, "the name of a system";
    Format, "the name of a format";
    Cut, "\"auto\", \"capture\", \"l2\" or \"l3\"";
    Checksums, "\"all\" or \"none\"";
    CaptureMethod, "\"af-packet\" or \"af-xdp\"";
    FullRing, "\"wait\" or \"drop\"";
    ParquetTime, "\"us\" or \"ns\"";
    Timeouts, "\"zeek\", \"suricata\" or \"none\"";
    Xff, "\"extra-data\" or \"overwrite\"";
    XffHop, "\"first\" or \"last\"";
}
