//! No events, however odd, make observers or merger panic or outgrow their caps.

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The fuzz target's own checks: order, watermark, caps.
    #[test]
    fn any_events_are_survived(data in prop::collection::vec(any::<u8>(), 0..600)) {
        flowpin_portscan::fuzz_portscan(&data);
    }
}
