//! Searches told as stories: strands are letters in weaving order, `-` is the base, `!` a red run.

use pleach_domain::bisect::{BisectStep, Bisection, LeftOut, LeftOutReason, TestResult};

fn letters(set: &[usize]) -> String {
    let letter = |place: &usize| char::from(b'a' + u8::try_from(*place).unwrap());
    let text: String = set.iter().map(letter).collect();
    if text.is_empty() {
        "-".to_owned()
    } else {
        text
    }
}

fn places(letters: &str) -> Vec<usize> {
    let letters = letters.bytes().filter(|letter| *letter != b'-');
    letters.map(|letter| usize::from(letter - b'a')).collect()
}

/// A search over strands, one a word: its letter, then the letters of those that it needs.
fn strands(words: &str) -> Bisection {
    Bisection::new(words.split(' ').map(|word| places(&word[1..])).collect())
}

fn independent(count: usize) -> Bisection {
    Bisection::new(vec![Vec::new(); count])
}

/// Goes on to the end in rounds (`|`), where a set is red if it holds all letters of one of these words.
fn tale(search: &mut Bisection, probers: usize, guilty: &str) -> String {
    let guilty: Vec<Vec<usize>> = guilty.split(' ').map(places).collect();
    let is_red = |set: &[usize]| {
        let holds = |word: &&Vec<usize>| word.iter().all(|place| set.contains(place));
        guilty.iter().any(|word| holds(&word) && !word.is_empty())
    };
    let mut rounds = Vec::new();
    loop {
        match search.next(probers, &[]) {
            BisectStep::Run(sets) => {
                let mut round = Vec::new();
                for set in sets {
                    let is_red = is_red(&set);
                    let mark = if is_red { "!" } else { "" };
                    round.push(format!("{}{mark}", letters(&set)));
                    search.ran(
                        &set,
                        if is_red {
                            TestResult::Failed
                        } else {
                            TestResult::Passed
                        },
                    );
                }
                rounds.push(round.join(" "));
            }
            end => {
                rounds.push(format!("{end:?} {}", letters(search.kept())));
                return rounds.join(" | ");
            }
        }
    }
}

/// Tells runs, red ones marked.
fn tell(search: &mut Bisection, runs: &str) {
    for word in runs.split(' ') {
        let run = if word.ends_with('!') {
            TestResult::Failed
        } else {
            TestResult::Passed
        };
        search.ran(&places(word.trim_end_matches('!')), run);
    }
}

/// What is to be run besides what is under way, or how it ended.
fn next(search: &Bisection, probers: usize, under_way: &str) -> String {
    let under_way: Vec<Vec<usize>> = under_way.split_whitespace().map(places).collect();
    match search.next(probers, &under_way) {
        BisectStep::Run(sets) => {
            let sets: Vec<String> = sets.iter().map(|set| letters(set)).collect();
            sets.join(" ")
        }
        end => format!("{end:?}"),
    }
}

fn guilty(place: &str, first_red: &str) -> LeftOut {
    LeftOut {
        place: places(place)[0],
        why: LeftOutReason::Guilty {
            first_red: places(first_red),
        },
    }
}

fn needing(place: &str, need: &str) -> LeftOut {
    LeftOut {
        place: places(place)[0],
        why: LeftOutReason::Needs(places(need)[0]),
    }
}

#[test]
fn a_green_result_is_proved_by_one_run() {
    for probers in [1, 9] {
        assert_eq!(
            tale(&mut independent(8), probers, ""),
            "abcdefgh | Proved abcdefgh"
        );
    }
}

#[test]
fn a_red_result_is_repeated_then_the_base_is_tried_then_prefixes() {
    let mut search = independent(8);
    assert_eq!(
        tale(&mut search, 1, "e"),
        "abcdefgh! | abcdefgh! | - | abcd | abcdef! | abcdef! | abcde! | abcde! | abcde! | abcdfgh | Proved abcdfgh"
    );
    assert_eq!(search.left_out(), [guilty("e", "abcde")]);
}

#[test]
fn spare_probers_try_the_base_and_prefixes_at_once() {
    assert_eq!(
        tale(&mut independent(16), 3, "f"),
        "abcdefghijklmnop! | abcdefghijklmnop! | - abcde abcdefghij! | abcdefghij! | \
         abcdef! abcdefg! abcdefgh! | abcdef! | abcdef! | abcdeghijklmnop | Proved abcdeghijklmnop"
    );
}

#[test]
fn probes_cut_what_is_unknown_into_equal_parts() {
    let mut search = independent(16);
    tell(&mut search, "abcdefghijklmnop! abcdefghijklmnop! -");
    assert_eq!(next(&search, 3, ""), "abcd abcdefgh abcdefghijkl");
    assert_eq!(next(&search, 3, "abcdefgh"), "abcd abcdefghijkl");
    assert_eq!(next(&search, 3, "abcd abcdefgh"), "abcdefghijkl");
    assert_eq!(next(&search, 3, "abcd abcdefgh abcdefghijkl"), "");
    tell(&mut search, "abcd! abcd!");
    assert_eq!(next(&search, 2, ""), "a ab");
    assert_eq!(next(&search, 9, ""), "a ab abc");
}

#[test]
fn what_was_red_is_tried_again_alone() {
    let mut search = independent(16);
    tell(&mut search, "abcdefghijklmnop!");
    assert_eq!(next(&search, 3, ""), "abcdefghijklmnop");
    assert_eq!(next(&search, 3, "abcdefghijklmnop"), "");
    tell(&mut search, "abcdefghijklmnop! - abcd!");
    assert_eq!(next(&search, 3, "abcdefgh"), "", "it waits for the others");
    assert_eq!(next(&search, 3, ""), "abcd", "and the others wait for it");
    assert_eq!(next(&search, 3, "abcd"), "");
}

#[test]
fn a_run_that_is_under_way_is_waited_for() {
    let mut search = independent(4);
    assert_eq!(next(&search, 5, "abcd"), "");
    tell(&mut search, "abcd!");
    assert_eq!(next(&search, 1, ""), "abcd");
    assert_eq!(next(&search, 1, "abcd"), "");
    tell(&mut search, "abcd!");
    assert_eq!(next(&search, 3, "- ab"), "a");
}

#[test]
fn of_a_guilty_pair_the_later_one_goes() {
    let mut search = independent(8);
    assert!(tale(&mut search, 1, "bg").ends_with("Proved abcdefh"));
    assert_eq!(search.left_out(), [guilty("g", "abcdefg")]);
}

#[test]
fn a_guilty_one_takes_along_who_needs_it_also_by_way_of_others() {
    let mut search = strands("a b cb d ec f");
    assert!(tale(&mut search, 1, "b f").ends_with("Proved ad"));
    let expected = [
        guilty("b", "ab"),
        needing("c", "b"),
        needing("e", "c"),
        guilty("f", "adf"),
    ];
    assert_eq!(search.left_out(), expected);
}

#[test]
fn when_all_are_guilty_the_base_is_what_was_proved() {
    let mut search = independent(2);
    assert!(tale(&mut search, 1, "a b").ends_with("Proved -"));
    assert_eq!(search.left_out(), [guilty("a", "a"), guilty("b", "b")]);
}

#[test]
fn a_red_base_blames_nobody() {
    for probers in 1..5 {
        let mut search = independent(8);
        let mut rounds = 0;
        while let BisectStep::Run(sets) = search.next(probers, &[]) {
            for set in sets {
                search.ran(&set, TestResult::Failed);
            }
            rounds += 1;
        }
        assert_eq!(next(&search, probers, ""), "BaseRed");
        assert_eq!(search.left_out(), []);
        assert!(rounds <= 4, "{rounds}");
    }
}

#[test]
fn a_base_that_failed_once_is_tried_again_before_anything_else() {
    let mut search = independent(4);
    tell(&mut search, "abcd! abcd! -!");
    assert_eq!(next(&search, 5, ""), "-");
    tell(&mut search, "-");
    assert_eq!(next(&search, 1, ""), "ab");
}

#[test]
fn a_green_whole_is_proved_even_if_the_base_is_red() {
    let mut search = independent(4);
    tell(&mut search, "abcd! -! -!");
    assert_eq!(next(&search, 5, ""), "abcd");
    tell(&mut search, "abcd");
    assert_eq!(next(&search, 5, ""), "Proved");
}

#[test]
fn a_set_that_fails_and_then_passes_is_flaky_and_blames_nobody() {
    let mut search = independent(4);
    tell(&mut search, "abcd! abcd");
    assert_eq!(next(&search, 1, ""), "Proved");
    assert_eq!(search.flaky().collect::<Vec<_>>(), [places("abcd")]);
    tell(&mut search, "- ab! ab! ab! a");
    assert_eq!(search.left_out(), []);
}

#[test]
fn a_culprit_goes_when_its_prefix_has_failed_three_times() {
    let mut search = independent(4);
    tell(&mut search, "abcd! abcd! - ab abc! abc!");
    assert_eq!(search.left_out(), []);
    assert_eq!(next(&search, 9, ""), "abc");
    let mut lucky = search.clone();
    tell(&mut search, "abc!");
    assert_eq!(search.left_out(), [guilty("c", "abc")]);
    assert_eq!(next(&search, 9, ""), "abd");
    tell(&mut lucky, "abc");
    assert_eq!(lucky.left_out(), []);
    assert_eq!(next(&lucky, 9, ""), "abcd");
}

#[test]
fn nobody_goes_while_the_whole_may_yet_be_green() {
    let mut search = independent(4);
    tell(&mut search, "abcd! - a ab! ab! ab!");
    assert_eq!(search.left_out(), []);
    assert_eq!(next(&search, 9, ""), "abcd");
    tell(&mut search, "abcd!");
    assert_eq!(search.left_out(), [guilty("b", "ab")]);
}

#[test]
fn a_longer_green_prefix_moves_the_search_behind_it() {
    let mut search = independent(8);
    tell(&mut search, "abcdefgh! abcdefgh! - ab! ab! abcdef");
    assert_eq!(next(&search, 1, ""), "abcdefg");
    tell(&mut search, "abcdefg abcdefgh!");
    assert_eq!(search.left_out(), [guilty("h", "abcdefgh")]);
}

#[test]
fn what_is_known_of_prefixes_before_a_culprit_is_not_asked_again() {
    let mut search = independent(8);
    tell(&mut search, "abcdefgh! abcdefgh! - abcd abcdef abcdefg!");
    tell(&mut search, "abcdefg! abcdefg! abcdefh! abcdefh!");
    assert_eq!(search.left_out(), [guilty("g", "abcdefg")]);
    assert_eq!(next(&search, 9, ""), "abcdefh");
}

#[test]
fn a_strand_that_no_longer_merges_goes_with_who_needs_it() {
    let mut search = strands("a b c d ed f");
    tell(&mut search, "abcdef! abcdef! - abc! ab! ab! ab! a");
    tell(&mut search, "acdef!");
    search.conflicted(3);
    search.conflicted(3);
    let conflicting = LeftOut {
        place: 3,
        why: LeftOutReason::Conflicts,
    };
    let expected = [guilty("b", "ab"), conflicting, needing("e", "d")];
    assert_eq!(search.left_out(), expected);
    assert_eq!(next(&search, 9, ""), "acf");
}

#[test]
fn a_run_on_a_set_that_nobody_asked_for_changes_nothing() {
    let mut search = independent(4);
    tell(&mut search, "abcd! abcd! - ab! ab! ab! a acd");
    let (kept, left_out) = (search.kept().to_vec(), search.left_out().to_vec());
    tell(&mut search, "abc! abc! abcd bd! cd");
    assert_eq!(search.kept(), kept);
    assert_eq!(search.left_out(), left_out);
    assert_eq!(next(&search, 9, ""), "Proved");
}

#[test]
fn only_runs_that_can_still_tell_something_are_wanted() {
    let mut search = independent(8);
    tell(&mut search, "abcdefgh! abcdefgh! - ab abcd! abcd!");
    let wanted = |search: &Bisection| {
        let all = "- a ab abc abcd abcde abcdefgh bc";
        let wanted = all.split(' ').filter(|set| search.wants(&places(set)));
        wanted.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(wanted(&search), "abc abcd");
    tell(&mut search, "abcdefgh");
    assert_eq!(wanted(&search), "");
    assert_eq!(wanted(&independent(8)), "- a ab abc abcd abcde abcdefgh");
}

#[test]
fn without_strands_the_base_is_judged() {
    assert_eq!(tale(&mut independent(0), 3, ""), "- | Proved -");
    let mut search = independent(0);
    tell(&mut search, "-!");
    assert_eq!(next(&search, 3, ""), "-");
    tell(&mut search, "-!");
    assert_eq!(next(&search, 3, ""), "BaseRed");
}
