//! The composition root: worker loop, pipeline plans, threads, shutdown.
