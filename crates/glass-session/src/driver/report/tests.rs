use super::{BadReport, REPORT_BYTES_MAX, Report, ReportParser};
use proptest::prelude::*;

fn parse(bytes: &[u8]) -> Result<Vec<Report>, BadReport> {
    ReportParser::new().push(bytes)
}

#[test]
fn every_kind_of_report_is_read() {
    let stream = b"r\0s7\0d7\0ab12\x00130\0/tmp/a b\nc\0n8\0ab13\0t9\0";
    let reports = parse(stream).expect("these are reports");
    assert_eq!(
        reports,
        [
            Report::Ready,
            Report::Started { seq: 7 },
            Report::Done {
                seq: 7,
                nonce: "ab12".to_owned(),
                status: 130,
                cwd: b"/tmp/a b\nc".to_vec(),
            },
            Report::NoCwd {
                seq: 8,
                nonce: "ab13".to_owned()
            },
            Report::State { seq: 9 },
        ]
    );
}

#[test]
fn what_no_driver_writes_is_refused() {
    for bad in [
        &b"x"[..],
        b"\0",
        b"r1\0",
        b"s\0",
        b"s+1\0",
        b"s99999999999999999999\0",
        b"d1\0no nce\x000\0/\0",
        b"d1\0n\0-1\0/\0",
        b"hello",
    ] {
        assert_eq!(parse(bad), Err(BadReport::Malformed), "{bad:?}");
    }
}

#[test]
fn a_broken_stream_stays_broken() {
    let mut parser = ReportParser::new();
    assert_eq!(parser.push(b"r\0x"), Err(BadReport::Malformed));
    assert_eq!(parser.push(b"r\0"), Err(BadReport::Malformed));
}

#[test]
fn a_report_without_end_is_refused() {
    let mut parser = ReportParser::new();
    parser
        .push(b"d1\0n\x000\0/")
        .expect("the beginning is good");
    assert_eq!(
        parser.push(&vec![b'a'; REPORT_BYTES_MAX]),
        Err(BadReport::TooLong)
    );
}

fn report() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"r\0".to_vec()),
        any::<u64>().prop_map(|seq| format!("s{seq}\0").into_bytes()),
        any::<u64>().prop_map(|seq| format!("t{seq}\0").into_bytes()),
        (any::<u64>(), "[a-z0-9]{0,16}")
            .prop_map(|(seq, nonce)| format!("n{seq}\0{nonce}\0").into_bytes()),
        (any::<u64>(), "[a-z0-9]{0,16}", 0..256, "[^\0]{0,40}").prop_map(
            |(seq, nonce, status, cwd)| {
                format!("d{seq}\0{nonce}\0{status}\0{cwd}\0").into_bytes()
            }
        ),
    ]
}

/// Pushes `bytes` in pieces of the given lengths, then the rest.
fn push_in_pieces(bytes: &[u8], lengths: &[usize]) -> Result<Vec<Report>, BadReport> {
    let mut parser = ReportParser::new();
    let mut rest = bytes;
    let mut reports = Vec::new();
    for &length in lengths {
        let (piece, after) = rest.split_at(length.min(rest.len()));
        reports.extend(parser.push(piece)?);
        rest = after;
    }
    reports.extend(parser.push(rest)?);
    Ok(reports)
}

proptest! {
    #[test]
    fn any_split_gives_the_same_reports(
        stream in proptest::collection::vec(report(), 0..8),
        lengths in proptest::collection::vec(0_usize..20, 0..20),
    ) {
        let stream = stream.concat();
        prop_assert_eq!(push_in_pieces(&stream, &lengths), parse(&stream));
    }

    #[test]
    fn garbage_never_panics_and_any_split_agrees(
        stream in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(0_u8), Just(b'd'), Just(b'1')], 0..200),
        lengths in proptest::collection::vec(0_usize..20, 0..20),
    ) {
        let whole = parse(&stream);
        prop_assert_eq!(push_in_pieces(&stream, &lengths), whole);
    }
}
