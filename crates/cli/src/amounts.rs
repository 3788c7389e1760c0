//! Tokens and money, as people read them.

/// `812`, `12.3k`, `4.5M`; nothing for none.
pub(crate) fn tokens(count: u64) -> Option<String> {
    let tenths = |unit: u64| format!("{}.{}", count / unit, count % unit * 10 / unit);
    match count {
        0 => None,
        1..1_000 => Some(count.to_string()),
        1_000..1_000_000 => Some(format!("{}k", tenths(1_000))),
        _ => Some(format!("{}M", tenths(1_000_000))),
    }
}

/// `$1.20`; nothing for none.
pub(crate) fn cost(micro_usd: u64) -> Option<String> {
    let cents = micro_usd.div_ceil(10_000);
    (cents > 0).then(|| format!("${}.{:02}", cents / 100, cents % 100))
}

/// What something cost, or where nobody says so, how many tokens it took.
pub(crate) fn spent(micro_usd: u64, count: u64) -> Option<String> {
    cost(micro_usd).or_else(|| tokens(count).map(|count| format!("{count} tokens")))
}
