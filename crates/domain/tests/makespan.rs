//! Whole plans take hardly longer than they must: the quick version of `cargo xtask bench makespan`.

#[path = "../../../benches/src/makespan.rs"]
mod makespan;

#[test]
fn plans_with_estimates_take_hardly_longer_than_they_must() {
    let (lines, mean) = makespan::compare(10);
    for line in &lines {
        let ratios = line.ratios;
        assert!(
            ratios.estimated >= 0.999_999,
            "{} beats the bound",
            line.name
        );
        assert!(ratios.waves >= 0.999_999, "{} beats the bound", line.name);
    }
    let most = makespan::MOST;
    assert!(mean.estimated <= most, "{} is over {most}", mean.estimated);
    assert!(mean.estimated < mean.hops, "estimates help: {}", mean.hops);
    assert!(mean.hops < mean.waves, "barriers cost: {}", mean.waves);
}
