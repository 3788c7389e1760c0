//! Numbers and texts that look random and are the same for the same seed on every machine.
//!
//! Knows nothing of repositories.

/// A stream of numbers (splitmix64).
#[derive(Clone)]
pub(crate) struct SeededRng(u64);

impl SeededRng {
    pub(crate) fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// The stream of one of many things that share a seed.
    pub(crate) fn of_one(seed: u64, index: usize) -> Self {
        let mut chance = Self(seed ^ (index as u64).wrapping_mul(0xA24B_AED4_963E_E407));
        Self(chance.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from zero to one less than the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit.max(1)).expect("a usize has at most 64 bits");
        usize::try_from(self.next() % limit).expect("it is below a usize")
    }

    /// Happens so many times in a hundred.
    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    pub(crate) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }

    pub(crate) fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut ticket = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if ticket < *weight {
                return index;
            }
            ticket -= weight;
        }
        weights.len() - 1
    }

    pub(crate) fn id(&mut self) -> String {
        let [a, b, c] = [self.next(), self.next(), self.next()];
        format!("{a:016x}{b:016x}{:08x}", c >> 32)
    }

    /// Appends one line that no other file has, all but surely.
    pub(crate) fn line(&mut self, out: &mut Vec<u8>) {
        let mut bits = self.next();
        let mut draw = |count: u64| {
            let drawn = bits % count;
            bits /= count;
            usize::try_from(drawn).expect("it is small")
        };
        out.extend_from_slice(&b"            "[..4 * draw(4)]);
        for _ in 0..2 + draw(3) {
            out.extend_from_slice(PHRASES[draw(64)].as_bytes());
        }
        out.extend_from_slice(format!("{:x};\n", bits & 0xFFFF).as_bytes());
    }

    /// Lines of about so many bytes together, at least one.
    pub(crate) fn text(&mut self, bytes: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes + 64);
        self.line(&mut out);
        while out.len() < bytes {
            self.line(&mut out);
        }
        out
    }

    /// The size of a source file: lognormal with sigma 1.24, in sixteen steps and some jitter.
    ///
    /// A table, because `exp` may round differently on another machine and ids must not.
    pub(crate) fn size(&mut self, median: usize) -> usize {
        const HUNDREDTHS: [usize; 16] = [
            10, 20, 29, 38, 49, 61, 75, 91, 110, 134, 165, 205, 262, 350, 513, 1008,
        ];
        let step = HUNDREDTHS[self.below(HUNDREDTHS.len())];
        median * step * (80 + self.below(41)) / 10_000
    }
}

/// Pieces that lines are made of, so that they compress about as well as code does.
const PHRASES: [&str; 64] = [
    "let mut value = ",
    "self.branches.iter()",
    ".map(|branch| ",
    "return Err(Error::",
    "if let Some(found) ",
    "fn resolve_path(",
    "pub(crate) struct ",
    "match self.state ",
    "assert_eq!(left, ",
    "impl Display for ",
    "for entry in self.",
    "collect::<Vec<_>>()",
    ".unwrap_or_default()",
    "std::path::PathBuf ",
    "#[derive(Clone)] ",
    "where T: Iterator ",
    "const DEFAULT_SIZE ",
    "type Output = Self ",
    "else if remaining ",
    "while let Some(next) ",
    ".filter(|line| ",
    "String::from_utf8(",
    "format!(\"{name}\") ",
    "Ok(Response::new(",
    "write!(formatter, ",
    "self.index.insert(",
    "use crate::config::",
    "// the caller keeps ",
    "/// Returns whether ",
    "None => continue ",
    "Some(value) => ",
    "let (first, rest) ",
    "buffer.extend_from(",
    "&mut self.cache ",
    "async move { client ",
    ".await.map_err(",
    "tokio::spawn(async ",
    "channel.send(event)",
    "struct Options<'a> ",
    "enum Command { Run ",
    "fn default() -> Self ",
    "let count = items.",
    "path.join(\"target\") ",
    "fs::read_to_string(",
    "Duration::from_secs(",
    ".sort_by_key(|item| ",
    "HashMap::with_size(",
    "loop { match input ",
    "break Ok(result) ",
    "debug!(\"started\") ",
    "test_case(expected ",
    "u64::try_from(len) ",
    "Box::new(handler) ",
    "Arc::clone(&shared) ",
    "mutex.lock().take() ",
    "iter.next().is_some() ",
    "trait Observer: Send ",
    "mod generated_parts ",
    "#[test] fn checks_",
    "static VERSION: &str ",
    "unreachable!(state) ",
    "vec![initial; size] ",
    "options.verbose = ",
    "let Ok(parsed) = text ",
];

pub(crate) const WORDS: [&str; 64] = [
    "amber", "anchor", "apple", "arrow", "basin", "birch", "blade", "bough", "branch", "bridge",
    "cable", "candle", "cedar", "chain", "cloud", "coral", "crown", "delta", "drift", "ember",
    "fable", "fence", "fern", "field", "flint", "forge", "frost", "garden", "glade", "grain",
    "grove", "harbor", "hazel", "hedge", "heron", "hollow", "iron", "island", "ivy", "jade",
    "juniper", "kettle", "lantern", "larch", "ledge", "lilac", "linden", "maple", "marsh",
    "meadow", "moss", "needle", "oak", "orchard", "pebble", "pine", "quarry", "reed", "ridge",
    "rowan", "sage", "thorn", "twig", "willow",
];
