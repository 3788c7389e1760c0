//! What is hidden, and what is left as it is, wherever a stream is cut.

use proptest::prelude::*;

use super::*;
use pleach_driver::Entry;

/// Made here, so that no file holds what looks like a token.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

fn secrets() -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add("API_KEY", "hunter2-hunter2");
    secrets.add("OTHER", "2-hunter2-and-more");
    secrets.add("", "p@ss/w0rd");
    secrets
}

fn hidden(text: &str) -> String {
    secrets().hider().hide(text).into_owned()
}

fn in_pieces(text: &[u8], cuts: &[usize]) -> String {
    let mut stream = HidingStream::new(secrets().hider());
    let mut clean = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().chain([&text.len()]) {
        let until = (*cut).clamp(from, text.len());
        stream.feed(&text[from..until], |part| clean.extend_from_slice(part));
        from = until;
    }
    stream.finish(|part| clean.extend_from_slice(part));
    String::from_utf8(clean).unwrap()
}

#[test]
fn values_are_hidden_by_their_names_and_nothing_else_is() {
    assert_eq!(hidden("x=hunter2-hunter2;"), "x=[hidden:API_KEY];");
    assert_eq!(hidden("p@ss/w0rd p%40ss%2Fw0rd"), "[hidden] [hidden]");
    let basic = "Basic YW5uOmh1bnRlcjItaHVudGVyMg==";
    assert_eq!(hidden(basic), "Basic YW5uOm[hidden:API_KEY]g==");
    for same in ["", "hunter2-hunter", "hunter2", "an ordinary line"] {
        assert_eq!(hidden(same), same);
    }
}

#[test]
fn a_value_is_hidden_whatever_colours_stand_in_it() {
    let text = "a \x1b[1mhunter2\x1b[0m-hunter2 b\n\x1b[32mok\x1b[0m\n";
    let expected = "a [hidden:API_KEY] b\n\x1b[32mok\x1b[0m\n";
    for cut in 0..text.len() {
        assert_eq!(in_pieces(text.as_bytes(), &[cut]), expected, "cut at {cut}");
    }
    let token = token();
    let (red, half) = (format!("\x1b[31m{token}\x1b[0m\n"), token.split_at(9));
    assert_eq!(hidden(&red), "[hidden]\n");
    assert_eq!(
        hidden(&format!("{}\x1b[1m{}\n", half.0, half.1)),
        "[hidden]\n"
    );
    let entry = r#"{"text":"hunter2\u001b[31m-hunter2"}"#;
    assert_eq!(hidden(entry), r#"{"text":"[hidden:API_KEY]"}"#);
    for same in ["\x1b[1mhunter2\x1b[0m", "\x1b", "100 %\r\x1b[K"] {
        assert_eq!(hidden(same), same);
    }
}

#[test]
fn what_would_be_pushed_is_searched_for_values_but_not_for_words() {
    let mut secrets = secrets();
    for word in ["postgres", "production", "localhost", "development"] {
        secrets.add("DB_PASSWORD", word);
    }
    secrets.add("APP_PASSWORD", "xkqzvbnmwrtplghj");
    secrets.add("PIN_CODE", "xkqzvbnmwrt");
    let hider = secrets.hider();
    let found = |text: &str| -> Vec<String> {
        let known = hider.known_in(text.as_bytes());
        known
            .map(|(name, at)| format!("{name}@{}", at.start))
            .collect()
    };
    assert_eq!(found("x hunter2-hunter2"), ["API_KEY@2"]);
    assert_eq!(found("68756e746572322d68756e7465723200"), ["API_KEY@0"]);
    assert_eq!(found("image: postgres ghp_ https://a:b@c"), [""; 0]);
    assert_eq!(found("localhost in production and development"), [""; 0]);
    let small = "login xkqzvbnmwrtplghj xkqzvbnmwrt";
    assert_eq!(found(small), ["APP_PASSWORD@6", "PIN_CODE@23"]);
}

#[test]
fn of_two_values_that_overlap_nothing_is_left() {
    assert_eq!(hidden("hunter2-hunter2-and-more!"), "[hidden:API_KEY]!");
}

#[test]
fn tokens_are_known_by_their_shape() {
    let token = token();
    assert_eq!(hidden(&format!("got {token}.")), "got [hidden].");
    assert_eq!(hidden(&token), "[hidden]");
    let name = format!("x{token}");
    assert_eq!(hidden(&name), name);
    assert_eq!(in_pieces(name.as_bytes(), &[1]), name, "a word may be cut");
    assert_eq!(hidden("ghp_short sk-learn"), "ghp_short sk-learn");
}

#[test]
fn a_token_at_the_beginning_of_a_line_within_json_is_known() {
    let token = token();
    let text = format!(r#"{{"text":"{token}\n{token}","raw":"{{\"a\":\"\\t{token}\"}}"}}"#);
    let expected = text.replace(&token, "[hidden]");
    for cut in 0..text.len() {
        assert_eq!(in_pieces(text.as_bytes(), &[cut]), expected, "cut at {cut}");
    }
    let bytes: Vec<usize> = (0..text.len()).collect();
    assert_eq!(in_pieces(text.as_bytes(), &bytes), expected);
}

#[test]
fn addresses_lose_their_logins() {
    for (text, clean) in [
        ("https://ann:s3cret@host/x", "https://[hidden]@host/x"),
        ("'https://ann:a@b@host'", "'https://[hidden]@host'"),
        ("ssh://git@host/x", "ssh://git@host/x"),
        ("https://host/a:b@c", "https://host/a:b@c"),
        ("https://0123456789abcdefghij@host", "https://[hidden]@host"),
        ("https://ann:@host a://", "https://ann:@host a://"),
    ] {
        assert_eq!(hidden(text), clean);
    }
}

#[test]
fn keys_are_hidden_line_by_line_and_talk_about_them_is_not() {
    let begin = format!("-----BEGIN RSA PRIVATE {}-----", "KEY");
    let line = "MIIEpAIBAAKCAQEAx9".repeat(3);
    let end = format!("-----END RSA PRIVATE {}-----", "KEY");
    let key = format!("{begin}\n{line}\n{line}\nab==\n{end}\nnot a secret\n");
    let clean = format!("{begin}\n[hidden]\n[hidden]\n[hidden]\n{end}\nnot a secret\n");
    assert_eq!(hidden(&key), clean);
    let in_json = key.replace('\n', "\\n");
    assert_eq!(hidden(&in_json), clean.replace('\n', "\\n"));
    let twice = key.replace('\n', "\\\\n");
    assert_eq!(hidden(&twice), clean.replace('\n', "\\\\n"));
    let talk = format!("looks for {begin} in files, hunter2-hunter2");
    assert_eq!(
        hidden(&talk),
        talk.replace("hunter2-hunter2", "[hidden:API_KEY]")
    );
}

#[test]
fn what_ends_in_a_line_break_is_never_held_back() {
    let token = token();
    for line in [
        "hunter2-hunter\n".to_owned(),
        "ghp_\n".to_owned(),
        format!("{}\n", &token[..20]),
        "https://ann:s3cret\n".to_owned(),
        "-----BEGIN PRIVATE\n".to_owned(),
    ] {
        let mut stream = HidingStream::new(secrets().hider());
        let mut given = Vec::new();
        stream.feed(line.as_bytes(), |part| given.extend_from_slice(part));
        assert_eq!(given, line.as_bytes());
    }
}

/// Pieces that are secrets, beginnings of secrets, or neither.
fn text() -> impl Strategy<Value = String> {
    let begin = format!("-----BEGIN PRIVATE {}-----\n", "KEY");
    let piece = prop_oneof![
        Just("hunter2-hunter2".to_owned()),
        Just("aHVudGVyMi1odW50ZXIy".to_owned()),
        Just("2-hunter2-and-more".to_owned()),
        Just("hunter2-".to_owned()),
        Just(token()),
        Just("https://ann:s3cr3t@host/".to_owned()),
        Just("sk-".to_owned()),
        Just(format!("{begin}{}\n", "MIIEpAIBAAKCAQEAx9".repeat(3))),
        Just("\n".to_owned()),
        Just(" ".to_owned()),
        "[ -~]{0,12}",
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_stream_is_hidden_the_same_wherever_it_is_cut(
        text in text(),
        mut cuts in prop::collection::vec(0..200_usize, 0..12),
    ) {
        cuts.sort_unstable();
        let whole = in_pieces(text.as_bytes(), &[]);
        prop_assert_eq!(&in_pieces(text.as_bytes(), &cuts), &whole);
        let bytes: Vec<usize> = (0..text.len()).collect();
        prop_assert_eq!(&in_pieces(text.as_bytes(), &bytes), &whole);
        for secret in ["hunter2-hunter2", "aHVudGVyMi1odW50ZXIy", "s3cr3t"] {
            prop_assert!(!whole.contains(secret), "{}", whole);
        }
    }
}

#[test]
fn what_an_agent_told_is_still_told_without_the_secrets() {
    let mut secrets = secrets();
    secrets.add("QUOTED", "say \"hunter\" \\ tünü");
    let hider = secrets.hider();
    let begin = format!("-----BEGIN PRIVATE {}-----", "KEY");
    for secret in [
        "say \"hunter\" \\ tünü",
        "hunter2-hunter2",
        &token(),
        "https://ann:s3cret@",
        &format!("{begin}\n{}", "MIIEpAIBAAKCAQEAx9".repeat(3)),
    ] {
        let native = serde_json::json!({"type": "new", "text": secret}).to_string();
        for text in [secret.to_owned(), native] {
            let line = Entry::Raw { text: text.clone() }.to_line();
            let clean = hider.hide(&line);
            let Some(Entry::Raw { text: told }) = Entry::from_line(clean.as_bytes()) else {
                panic!("{clean}");
            };
            assert!(told.contains("[hidden") && !told.contains(&text), "{told}");
        }
    }
}
