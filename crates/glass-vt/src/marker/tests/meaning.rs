//! What each payload means.

use super::{NONCE, markers_of};
use crate::marker::{Body, Confidence, Trust};

/// Checks the kind, the body and the confidence of `OSC payload BEL`.
fn check(payload: &str, expected: Option<(&str, Body, Confidence)>) {
    for stream in [
        format!("\x1b]{payload}\x07"),
        format!("\x1b]{payload}\x1b\\"),
    ] {
        let markers = markers_of([stream.as_bytes()]);
        let seen: Vec<_> = markers
            .iter()
            .map(|m| (m.kind, m.body.clone(), m.confidence))
            .collect();
        let expected: Vec<_> = expected.clone().into_iter().collect();
        assert_eq!(seen, expected, "{payload}");
        for marker in markers {
            let high = marker.confidence == Confidence::High;
            assert_eq!(marker.trust == Trust::Trusted, high, "{payload}");
        }
    }
}

fn cwd(path: &str, host: Option<&str>) -> Body {
    Body::Cwd {
        path: path.to_owned(),
        host: host.map(str::to_owned),
    }
}

fn started(command: Option<&str>) -> Body {
    let command = command.map(str::to_owned);
    Body::OutputStart { command }
}

fn line(command: &str) -> Body {
    let command = command.to_owned();
    Body::CommandLine { command }
}

fn property(name: &str, value: &str) -> Body {
    Body::Property {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn finished(code: Option<i32>) -> Body {
    Body::Finished { code }
}

#[test]
fn osc_633_is_understood() {
    use Confidence::{High, Low, Medium};
    check("633;A", Some(("A", Body::PromptStart, Medium)));
    check(
        &format!("633;B;{NONCE}"),
        Some(("B", Body::PromptEnd, High)),
    );
    check("633;C", Some(("C", started(None), Medium)));
    check("633;D;-1", Some(("D", finished(Some(-1)), Medium)));
    check("633;D", Some(("D", finished(None), Medium)));
    check(
        &format!("633;D;;{NONCE}"),
        Some(("D", finished(None), High)),
    );
    check("633;D;zero", Some(("D", finished(None), Low)));
    check(
        "633;E;echo \\x3b\\\\;",
        Some(("E", line("echo ;\\"), Medium)),
    );
    check(
        &format!("633;E;a\\x0ab;{NONCE}"),
        Some(("E", line("a\nb"), High)),
    );
    check(
        "633;E;for i in 1;echo;end",
        Some(("E", line("for i in 1"), Low)),
    );
    check(
        &format!("633;P;Cwd=/a b\\x3b;{NONCE}"),
        Some(("P", cwd("/a b;", None), High)),
    );
    check(
        "633;P;HasRichCommandDetection=True",
        Some(("P", property("HasRichCommandDetection", "True"), Medium)),
    );
    check("633;F", Some(("F", Body::Other, Medium)));
    check("633;EnvJson;{};x", Some(("EnvJson", Body::Other, Medium)));
}

#[test]
fn what_only_looks_like_a_marker_is_none() {
    for payload in [
        "633",
        "633;",
        "633;d;0",
        "633;;D;0",
        "633:D:0",
        "+633;D;0",
        "0633;D;0",
        "6033;D;0",
        "633;Dx",
        "633; D;0",
        "633;P;Cwd",
        "633;P;Cwd=",
        "133",
        "133;",
        "133;X",
        "1330;A",
        "7;",
        "7;/etc",
        "7;http://h/etc",
        "9;hello",
        "9;4;1;50",
        "9;9;",
        "1337;CopyToClipboard=x",
        "1337;File=name=x:AAAA",
        "3008;",
        "3008;stop=x",
        "52;c;aGk=",
        "0;title",
        "８;A",
        "",
    ] {
        check(payload, None);
    }
}

#[test]
fn osc_133_is_understood() {
    use Confidence::{High, Low, Medium};
    check("133;A;cl=m;aid=5", Some(("A", Body::PromptStart, Medium)));
    check("133;P;k=i", Some(("P", Body::PromptStart, Medium)));
    check("133;P;k=r", Some(("P", Body::Other, Medium)));
    check("133;B", Some(("B", Body::PromptEnd, Medium)));
    check("133;C", Some(("C", started(None), Medium)));
    check("133;C;aid=3", Some(("C", started(None), Medium)));
    check(
        "133;C;make a;b=c",
        Some(("C", started(Some("make a;b=c")), Low)),
    );
    check(
        "133;C;aid=1;cmdline_url=echo%20a;b%3b",
        Some(("C", started(Some("echo a;b;")), Medium)),
    );
    check(
        "133;C;cmdline=a\\ b",
        Some(("C", started(Some("a\\ b")), Low)),
    );
    check("133;D;1;aid=3", Some(("D", finished(Some(1)), Medium)));
    check("133;D", Some(("D", finished(None), Low)));
    check(
        &format!("133;D;130;nonce={NONCE}"),
        Some(("D", finished(Some(130)), High)),
    );
    check(
        &format!("133;D;130;aid={NONCE}"),
        Some(("D", finished(Some(130)), Medium)),
    );
}

#[test]
fn directories_of_other_protocols_are_understood() {
    use Confidence::{Low, Medium};
    check(
        "7;file:///a%20b",
        Some(("cwd", cwd("/a b", Some("")), Medium)),
    );
    check("7;file://box/a", Some(("cwd", cwd("/a", Some("box")), Low)));
    check(
        "7;kitty-shell-cwd://localhost/a%20b",
        Some(("cwd", cwd("/a%20b", Some("localhost")), Medium)),
    );
    check("9;9;\"C:\\a\"", Some(("cwd", cwd("C:\\a", None), Medium)));
    check("9;9;/tmp", Some(("cwd", cwd("/tmp", None), Medium)));
    check(
        "1337;CurrentDir=/a=b",
        Some(("CurrentDir", cwd("/a=b", None), Medium)),
    );
    check(
        "1337;RemoteHost=me@box",
        Some(("RemoteHost", property("RemoteHost", "me@box"), Medium)),
    );
}

#[test]
fn contexts_of_systemd_are_understood() {
    let start = Body::ContextStart {
        id: "x".to_owned(),
        cwd: Some("/a;b".to_owned()),
        command: None,
    };
    check(
        "3008;start=x;type=command;cwd=/a\\x3bb",
        Some(("start", start, Confidence::Medium)),
    );
    let end = Body::ContextEnd {
        id: "x".to_owned(),
        code: Some(3),
    };
    check(
        "3008;end=x;exit=failure;status=3",
        Some(("end", end, Confidence::Medium)),
    );
}

#[test]
fn a_nonce_counts_only_whole_and_in_its_place() {
    for payload in [
        format!("633;D;{NONCE}"),
        format!("633;D;0;{NONCE};x"),
        format!("633;D;0;{}", &NONCE[..8]),
        format!("633;D;0;{NONCE}0"),
        format!("633;D;0; {NONCE}"),
        "633;D;0;".to_owned(),
        format!("633;E;{NONCE}"),
        format!("133;D;0;{NONCE}"),
    ] {
        let stream = format!("\x1b]{payload}\x07");
        let markers = markers_of([stream.as_bytes()]);
        assert_eq!(markers.len(), 1, "{payload}");
        assert_eq!(markers[0].trust, Trust::Untrusted, "{payload}");
    }
}
