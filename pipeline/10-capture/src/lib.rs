//! Frames in: capture files, compressed or not, merged by time.
