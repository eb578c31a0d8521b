//! Wire formats of layers 2 to 4: zero-copy views, every length checked.
