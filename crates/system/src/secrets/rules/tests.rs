//! What the rules find, and what they leave alone.

use super::*;

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Characters in no order, made here so that no file holds what looks like a secret.
fn random(letters: &[u8], count: usize, state: &mut u32) -> String {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        *state ^= *state << 5;
        letters[*state as usize % letters.len()]
    };
    (0..count).map(|_| char::from(next())).collect()
}

const SEED: u32 = 2_463_534_242;

/// What the notation of `examples.txt` stands for.
fn expanded(template: &str) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap().to_owned();
    let mut state = SEED;
    for part in parts {
        let (count, rest) = part.split_once(':').unwrap();
        let (kind, rest) = rest.split_once('}').unwrap();
        let letters: &[u8] = match kind {
            "a" => BASE62,
            "w" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-",
            "s" => b"0123456789abcdefghijklmnopqrstuvwxyz",
            "c" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            "b" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
            "h" => b"0123456789abcdef",
            "d" => b"0123456789",
            "l" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
            "5" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            _ => panic!("{kind}"),
        };
        text += &random(letters, count.parse().unwrap(), &mut state);
        text += rest;
    }
    text
}

struct Example {
    rule: &'static TokenRule,
    found: Vec<String>,
    not_found: String,
}

fn examples() -> Vec<Example> {
    let lines = include_str!("examples.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), RULES.rules.len(), "a line for each rule");
    let examples = lines.into_iter().zip(&RULES.rules).map(|(line, rule)| {
        let (name, examples) = line.split_once(": ").unwrap();
        assert_eq!(name, rule.name, "in the order of the rules");
        let (found, not_found) = examples.split_once(" but not ").unwrap();
        Example {
            rule,
            found: found.split(' ').map(expanded).collect(),
            not_found: expanded(not_found),
        }
    });
    examples.collect()
}

/// Every token of the examples that begins as its kind does, with the name of the kind.
fn tokens() -> Vec<(&'static TokenRule, String)> {
    let examples = examples().into_iter();
    let all =
        examples.flat_map(|example| example.found.into_iter().map(move |it| (example.rule, it)));
    all.filter(|(rule, _)| rule.found_at != FoundAt::Assignment)
        .collect()
}

fn found(text: &str) -> Vec<(&'static str, String)> {
    let hits = hits(text.as_bytes());
    hits.map(|hit| {
        let bytes = String::from_utf8_lossy(hit.bytes).into_owned();
        (hit.name, bytes)
    })
    .collect()
}

#[track_caller]
fn check_found(text: &str, rule: &TokenRule, token: &str) {
    let start = rule.starts.iter().find_map(|start| token.find(start));
    let token = token[start.unwrap_or(0)..].to_owned();
    assert_eq!(found(text), [(rule.name.as_str(), token)], "{text:?}");
}

#[test]
fn every_kind_of_token_is_found_wherever_it_stands() {
    for (rule, token) in tokens() {
        for text in [
            token.clone(),
            format!("key = \"{token}\"\n"),
            format!("https://u:{token}@host/x\n"),
            format!("KEY={token}\r\nOTHER=1\n"),
            format!("\0\u{1}{token}\0"),
            format!("- {token}, and more"),
            format!("{{\"text\":\"a\\n{token}\"}}"),
            format!("{{\"text\":\"a\\\\t{token}\"}}"),
        ] {
            check_found(&text, rule, &token);
        }
    }
    let all: Vec<_> = tokens().into_iter().map(|(_, token)| token).collect();
    assert_eq!(found(&all.join(" ")).len(), all.len());
}

#[test]
fn a_token_without_a_beginning_is_found_by_the_name_it_is_assigned_to() {
    for Example {
        rule,
        found: tokens,
        not_found,
    } in examples()
    {
        for name in rule
            .starts
            .iter()
            .filter(|_| rule.found_at == FoundAt::Assignment)
        {
            let token = &tokens[0];
            for text in [
                format!("export {name}={token}\n"),
                format!("{{\"MY_{name}\": \"{token}\"}}"),
                format!("{name}_2:   '{token}'"),
                format!("env[\"{name}\"] = `{token}`;"),
                format!("'{name}' => '{token}',"),
                format!("\\\"{name}\\\":\\\"{token}\\\""),
            ] {
                check_found(&text, rule, token);
            }
            assert_eq!(found(&format!("{name} is set, {token}")), []);
            assert_eq!(found(&format!("{name}={not_found}")), []);
        }
    }
}

#[test]
fn every_rule_leaves_alone_what_only_looks_like_its_tokens() {
    for Example {
        rule, not_found, ..
    } in examples()
    {
        assert_eq!(found(&not_found), [], "{}: {not_found}", rule.name);
    }
}

#[test]
fn a_token_that_is_part_of_a_word_or_too_short_is_none() {
    for (rule, token) in tokens() {
        if rule.found_at == FoundAt::WordStart {
            assert_eq!(found(&format!("x{token}")), [], "{token}");
        }
        assert_eq!(found(&token[..18]), [], "{token}");
    }
}

#[test]
fn what_stands_for_a_secret_is_none() {
    for (rule, token) in tokens() {
        let start = rule.start_of(token.as_bytes()).unwrap_or_default();
        let letters = token.len() - start.len();
        for placeholder in [
            format!("{start}{}", "x".repeat(letters)),
            format!("{start}{}", "0".repeat(letters)),
            format!("{}EXAMPLE", &token[..token.len() - 7]),
            format!("{start}<token>"),
        ] {
            assert_eq!(found(&placeholder), [], "{}: {placeholder}", rule.name);
        }
    }
}

#[test]
fn logs_hide_what_is_found_in_them_whole_and_wait_for_the_rest() {
    for (rule, example) in tokens() {
        let start = rule.starts.iter().find(|start| example.contains(*start));
        let start = start.unwrap();
        let token = &example.as_bytes()[example.find(start).unwrap()..];
        let judged = [
            candidate(&[token, b"\n"].concat(), b"", false),
            candidate(token, b"", true),
            candidate(token, b"", false),
            candidate(&token[..start.len() + 3], b"", false),
        ];
        let (whole, waiting) = (Candidate::Token(token.len()), Candidate::Unfinished);
        let expected = if rule.is_push_only {
            [Candidate::Nothing; 4]
        } else {
            [whole, whole, waiting, waiting]
        };
        assert_eq!(judged, expected, "{}", rule.name);
    }
}

#[test]
fn names_and_numbers_of_every_day_are_no_secrets() {
    let text = "sk-learn sk-ant-design task-proj-list npm_config_registry npm_lifecycle_event \
                ghp_token github_pat_prefix glpat-is-the-prefix-of-a-token-of-gitlab xoxb-token \
                AKIA sk_live_key AIza pypi- disk-proj-x password = \"hunter2hunter2hunter2\" \
                sk-proj-a-name-of-many-words-that-goes-on-and-on-for-ever-2 \
                sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg== \
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 ------------------------- \
                -----BEGIN CERTIFICATE----- -----BEGIN PUBLIC KEY-----";
    assert_eq!(found(text), []);
}

#[test]
fn a_private_key_is_found_and_talk_about_one_is_not() {
    let line = random(BASE62, 64, &mut { SEED });
    for label in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "] {
        let begin = format!("-----BEGIN {label}PRIVATE {}-----", "KEY");
        let files = [
            format!("{begin}\n{line}\n{line}\n-----END"),
            format!("{begin}\r\n{line}"),
            format!("key: \"{begin}\\n{line}\\n\""),
            format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{line}"),
        ];
        for file in files {
            let kinds: Vec<_> = found(&file).into_iter().map(|hit| hit.0).collect();
            assert_eq!(kinds, ["private key"], "{file}");
        }
        let talk = [
            begin.clone(),
            format!(
                "if text.contains(\"{begin}\") {{ return a_name_that_is_quite_long_for_a_name(); }}"
            ),
            format!("{begin}\n...\n-----END {label}PRIVATE KEY-----\n{line}"),
            format!("{begin}\n{}\n", "A".repeat(64)),
        ];
        for text in talk {
            assert_eq!(found(&text), [], "{text}");
        }
    }
    let block = format!(
        "-----BEGIN PGP PRIVATE {} BLOCK-----\nVersion: 1\n\n{line}",
        "KEY"
    );
    assert_eq!(found(&block).len(), 1);
}

#[test]
fn no_more_than_four_characters_are_repeated() {
    for (_, token) in tokens() {
        let hit = hits(token.as_bytes()).next().unwrap();
        assert!(hit.begin().len() <= 4 && token.contains(&hit.begin()));
    }
}

#[test]
fn the_file_of_rules_says_nothing_that_is_not_understood() {
    let document = Document::parse(include_str!("../rules.toml")).unwrap();
    let known = [
        "name",
        "starts",
        "named",
        "rest",
        "mixed",
        "digits",
        "inside_words",
        "push_only",
    ];
    for table in document["rule"].as_array_of_tables().unwrap() {
        for (key, _) in table {
            assert!(known.contains(&key), "{key}");
        }
        assert!(
            table.contains_key("starts") != table.contains_key("named"),
            "{table}"
        );
    }
}
