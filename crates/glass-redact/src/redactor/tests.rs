use super::Redactor;
use crate::{Detector, HELD_BYTES_MAX, Known, Rules};
use std::sync::Arc;

const TOKEN: &str = "ghp_FAKEIE5bqsJyJ1VEY10ENenPz0zjIuWSRSFk";

fn builtin() -> Arc<Detector> {
    Arc::new(Detector::builtin())
}

fn knowing(values: &[&str]) -> Arc<Detector> {
    let mut known = Known::new();
    for (number, value) in values.iter().enumerate() {
        assert!(
            known.add(&format!("V{number}"), value.as_bytes()),
            "{value}"
        );
    }
    Arc::new(Detector::new(Rules::builtin(), &known))
}

fn check(detector: &Arc<Detector>, input: &str, expected: &str) {
    let out = Redactor::redact_all(detector, input.as_bytes());
    assert_eq!(String::from_utf8_lossy(&out), expected, "{input:?}");
    let mut redactor = Redactor::new(detector.clone());
    let mut out = Vec::new();
    for byte in input.bytes() {
        redactor.push(&[byte], &mut out);
    }
    redactor.finish(&mut out);
    assert_eq!(
        String::from_utf8_lossy(&out),
        expected,
        "byte by byte {input:?}"
    );
}

/// What the noted cuts leave of a text is what the redactor leaves, also when
/// the text is shown in two parts; and nothing is judged that was held back.
fn check_cuts(detector: &Arc<Detector>, input: &[u8], at: usize) {
    let mut redactor = Redactor::noting(detector.clone());
    let mut out = Vec::new();
    redactor.push(&input[..at], &mut out);
    let mut judged = Vec::new();
    let mut cuts = redactor.take_cuts();
    let till = usize::try_from(redactor.judged_bytes()).expect("it is within the text");
    detector.show(&cuts, 0, &input[..till], &mut judged);
    assert_eq!(judged, out, "{:?} at {at}", String::from_utf8_lossy(input));
    redactor.push(&input[at..], &mut out);
    redactor.finish(&mut out);
    cuts.extend(redactor.take_cuts());
    let mut shown = Vec::new();
    detector.show(&cuts, 0, &input[..at], &mut shown);
    detector.show(&cuts, at as u64, &input[at..], &mut shown);
    let (shown, out) = (
        String::from_utf8_lossy(&shown),
        String::from_utf8_lossy(&out),
    );
    assert_eq!(shown, out, "{:?} at {at}", String::from_utf8_lossy(input));
    assert_eq!(redactor.secrets() > 0, out.contains("[REDACTED"));
}

#[test]
fn cuts_say_what_was_taken_out() {
    let detector = knowing(&["kiwi-Banane-77"]);
    let endless = format!("ghp_{}", "aB3dE6".repeat(2000));
    for text in [
        format!("a {TOKEN} b"),
        "\x1b[1mA \x1b[31mkiwi\x1b[0m-Ban\x1b[Kane-77\x1b[0m B".to_owned(),
        "DB_PASSWORD=hunter2-Z9x\nnext kiwi%2DBanane-77 kiwi-Banane-7".to_owned(),
        "https://me:s3cr3t-Pw9@host/x".to_owned(),
        endless,
    ] {
        let bytes = text.as_bytes();
        let step = (bytes.len() / 200).max(1);
        for at in (0..=bytes.len()).step_by(step) {
            check_cuts(&detector, bytes, at);
        }
    }
}

proptest::proptest! {
    #[test]
    fn cuts_agree_with_the_stream(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "kiwi-Banane-77", "kiwi-Ban", "\x1b[31m", "\x1b[2;1H", "\x1b]0;", "\x1b", "token=", " ",
            "\n", "ghp_FAKEIE5bqsJyJ1VEY10ENenPz0zjIuWSRSFk", "://me:", "s3cr3t-Pw9@h", "\"", "ä",
            "-----BEGIN RSA PRIVATE KEY-----\n", "aB3dE6gH9kLm", "%2D", "password: ", "\x07",
        ]), 0..14),
        at in 0_usize..400,
    ) {
        let text = parts.concat();
        check_cuts(&knowing(&["kiwi-Banane-77"]), text.as_bytes(), at.min(text.len()));
    }
}

#[test]
fn ordinary_output_leaves_at_once() {
    let mut redactor = Redactor::new(knowing(&["@@@@@-hunter-7"]));
    for text in [
        "$ ",
        "me@host:~/src (main) $ ",
        "Password: ",
        "Continue? [y/N]",
        "   Compiling serde v1.0",
        "Enter passphrase for key '/home/me/.ssh/id':",
        "\x1b[32m>\x1b[0m ",
        "https://",
        "token=",
        "progress 45",
        "error: expected token",
        ">>> ",
        "ends with ghp_",
    ] {
        let mut out = Vec::new();
        redactor.push(text.as_bytes(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), text);
        redactor.finish(&mut out);
    }
}

#[test]
fn a_pause_lets_a_possible_beginning_go_and_the_rest_is_still_found() {
    let mut redactor = Redactor::new(knowing(&["hunter22-secret"]));
    let mut out = Vec::new();
    redactor.push(b"press h", &mut out);
    assert_eq!(out, b"press ");
    redactor.pause(&mut out);
    assert_eq!(out, b"press h");
    redactor.push(b"unter22-secret!", &mut out);
    redactor.finish(&mut out);
    assert_eq!(String::from_utf8_lossy(&out), "press h[REDACTED:V0]!");
    out.clear();
    redactor.push(b"press hunte", &mut out);
    redactor.pause(&mut out);
    assert_eq!(out, b"press ");
}

#[test]
fn colours_do_not_hide_a_secret_and_are_kept() {
    let (head, tail) = TOKEN.split_at(20);
    let input = format!("a \x1b[31mgh\x1b[0m{}\x1b[1;32m{tail}\x1b[0m b", &head[2..]);
    check(
        &builtin(),
        &input,
        "a \x1b[31mgh\x1b[0mp_[REDACTED:github-token]\x1b[1;32m\x1b[0m b",
    );
}

#[test]
fn a_link_around_a_secret_stays_a_link() {
    let input = format!("\x1b]8;;https://x.example/\x07{TOKEN}\x1b]8;;\x07 b");
    let expected = "\x1b]8;;https://x.example/\x07ghp_[REDACTED:github-token]\x1b]8;;\x07 b";
    check(&builtin(), &input, expected);
}

#[test]
fn known_values_are_found_in_every_form() {
    let detector = knowing(&["FAKExxAqAAm50x012BZcaxQ8", "p\"w/d&1 x"]);
    for input in [
        "a FAKExxAqAAm50x012BZcaxQ8 b",
        "aFAKExxAqAAm50x012BZcaxQ8b",
        "F%41KExx%41q%41%41m50x012BZcaxQ8",
        "%46AKExxAqAAm50x012BZcaxQ%38",
        "FAKExx\x1b[1mAqAAm50x012BZcaxQ8",
        "{\"x\":\"p\\\"w/d&1 x\"}",
        "p%22w%2Fd%261%20x",
    ] {
        let out = Redactor::redact_all(&detector, input.as_bytes());
        let out = String::from_utf8_lossy(&out);
        assert!(out.contains("[REDACTED:V"), "{input} {out}");
        assert!(
            !out.contains("x012B") && !out.contains("w/d") && !out.contains("w%2F"),
            "{out}"
        );
    }
    for before in ["", "x", "xy"] {
        let text = format!("{before}FAKExxAqAAm50x012BZcaxQ8 and more");
        let encoded = base64(text.as_bytes());
        let out = Redactor::redact_all(&detector, encoded.as_bytes());
        assert!(
            String::from_utf8_lossy(&out).contains("[REDACTED:V0]"),
            "{encoded}"
        );
    }
    check(
        &detector,
        "FAKExxAqAAm50x012BZcaxQ7 100% FAKExxAq",
        "FAKExxAqAAm50x012BZcaxQ7 100% FAKExxAq",
    );
}

#[test]
fn of_values_with_one_beginning_the_longest_goes() {
    let detector = knowing(&["hunter22", "hunter22-and-more", "ter22-and-more-x"]);
    check(&detector, "a hunter22 b", "a [REDACTED:V0] b");
    check(&detector, "a hunter22-and-more b", "a [REDACTED:V1] b");
    check(&detector, "a hunter22-and-more-x b", "a [REDACTED:V2] b");
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number = group
            .iter()
            .fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
        let number = number << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            text.push(char::from(DIGITS[(number >> (18 - 6 * place)) & 63]));
        }
        text.push_str(&"==="[..3 - group.len()]);
    }
    text
}

#[test]
fn a_token_names_itself_before_the_name_that_has_it() {
    let input = format!("GITHUB_TOKEN={TOKEN}\n");
    check(&builtin(), &input, "GITHUB_TOKEN=[REDACTED:github-token]\n");
}

#[test]
fn a_secret_without_an_end_is_dropped_as_it_comes() {
    let detector = builtin();
    let mut redactor = Redactor::new(detector);
    let mut out = Vec::new();
    redactor.push(b"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJmYWtlIn0.", &mut out);
    for round in 0..20_000_u32 {
        redactor.push(format!("aB{round}").as_bytes(), &mut out);
        assert!(redactor.held_bytes() <= HELD_BYTES_MAX);
    }
    redactor.push(b" end", &mut out);
    redactor.finish(&mut out);
    assert_eq!(String::from_utf8_lossy(&out), "x eyJ[REDACTED:jwt] end");
}

#[test]
fn what_is_held_is_bounded_for_input_that_is_made_for_it() {
    let detector = knowing(&["hunter22-secret"]);
    let colour = "\x1b[1m".repeat(100);
    for unit in [
        "password=",
        "://",
        "token: \"",
        "Cookie: a=",
        "-----BEGIN PRIVATE KEY-----",
        "AKIA",
        "%68%75",
        "eyJa.eyJ",
        "https://u:a/",
        "hunter22-secre",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA",
        colour.as_str(),
        "password='a b",
    ] {
        let mut redactor = Redactor::new(detector.clone());
        let mut out = Vec::new();
        for _ in 0..4000 {
            redactor.push(unit.as_bytes(), &mut out);
            out.clear();
            assert!(redactor.held_bytes() <= HELD_BYTES_MAX, "{unit}");
        }
    }
}

#[test]
fn a_block_that_was_cut_off_ends_where_something_else_begins() {
    let line = "uV2iFtMMZMovuVrxJa8JghipiqlnvK8yUY0u8tjOfd/Kxu3rByDAlHXkAPvacopV";
    let input = format!("-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\n$ ls\nsrc\n");
    let expected = "-----BEGIN RSA PRIVATE KEY-----\n[REDACTED:private-key]\n$ ls\nsrc\n";
    check(&builtin(), &input, expected);
    let input = format!(
        "-----BEGIN RSA PRIVATE KEY-----\r\n{line}\r\n{line}\r\nab==\r\n-----END RSA PRIVATE KEY-----\r\nx"
    );
    let expected = "-----BEGIN RSA PRIVATE KEY-----\r\n[REDACTED:private-key]\r\n-----END RSA PRIVATE KEY-----\r\nx";
    check(&builtin(), &input, expected);
}
