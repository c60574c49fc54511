//! Chance that can be had again.

use warren_env::Env;

/// Numbers that nobody chose. Prints its seed, which a failing test shows; `WARREN_SEED` gives the same numbers again.
pub struct Seed(u64);

impl Seed {
    /// From `WARREN_SEED`, or a new one.
    #[expect(
        clippy::disallowed_methods,
        clippy::print_stdout,
        reason = "a test is told its seed, and tells it"
    )]
    #[must_use]
    pub fn new() -> Self {
        let given = std::env::var("WARREN_SEED").ok();
        let seed = given.map_or_else(
            || u64::from_le_bytes(Env::system().random().expect("there is chance")),
            |seed| seed.parse().expect("`WARREN_SEED` is a number"),
        );
        println!("to see the same again: WARREN_SEED={seed}");
        Self(seed)
    }

    /// A seed of its own for a part of the test that runs beside others.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self(self.below(u64::MAX))
    }

    /// The next number, from 0 to just before `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self::new()
    }
}
