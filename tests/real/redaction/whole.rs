//! Output that is too long for an answer, and the file that has the whole.

use super::projections::{TOKEN, TOKEN_SHOWN, session};
use glass_proto::agent::v1::OutputLocation;
use shellglass_tests::calls::{success, told};
use shellglass_tests::{Daemon, TestSession};

/// Runs a command whose answer is cut above so many bytes.
async fn run(
    session: &TestSession,
    line: &str,
    threshold: u64,
) -> (String, Option<OutputLocation>) {
    let request = session.with_args(line, |args| {
        args.file_output_threshold_bytes = Some(threshold);
    });
    let ok = success(session.result(request.clone()).await);
    let told = told(&session.client, request).await.unwrap();
    let (run, streamed) = (&ok.output_location, &told.exit().output_location);
    let of = |location: &Option<OutputLocation>| {
        let location = location.as_ref();
        location.map(|location| (location.size_bytes, location.line_count))
    };
    assert_eq!(of(run), of(streamed), "{line}");
    if let Some(streamed) = streamed {
        assert!(
            !std::fs::read_to_string(&streamed.file_path)
                .unwrap()
                .contains(TOKEN)
        );
    }
    assert!(!ok.interleaved_output.unwrap().contains("FAKEIE"));
    (ok.stdout, ok.output_location)
}

#[tokio::test]
async fn a_secret_at_the_edge_of_what_is_cut_is_shown_on_neither_side() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let secret = &TOKEN["ghp_".len()..];
    for before in (150..=205).step_by(5) {
        let line = format!(
            "printf '%0{before}d {TOKEN} ' 0; printf '%0300d' 0; printf ' {TOKEN} %0{before}d' 0"
        );
        let (shown, location) = run(&session, &line, 400).await;
        assert!(shown.contains(" bytes cut]\n"), "{shown}");
        for part in secret.as_bytes().windows(4) {
            let part = String::from_utf8_lossy(part);
            assert!(!shown.contains(&*part), "{before}: {shown}");
        }
        let location = location.expect("what was cut is in a file");
        let whole = std::fs::read_to_string(&location.file_path).unwrap();
        assert_eq!(whole.matches(TOKEN_SHOWN).count(), 2, "{whole}");
        assert!(!whole.contains(secret), "{whole}");
        assert_eq!(location.size_bytes, whole.len() as u64);
    }
}

#[tokio::test]
async fn the_file_is_the_recorded_one_where_that_has_no_secret() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let (_, location) = run(&session, "seq 1000", 100).await;
    let location = location.expect("what was cut is in a file");
    assert!(location.file_path.ends_with(".out"), "{location:?}");
    assert_eq!(location.line_count, 1000);
    let line = format!("seq 1000; echo {TOKEN}; seq 500; echo {TOKEN} >&2");
    let (shown, location) = run(&session, &line, 100).await;
    assert!(shown.contains(" bytes cut]\n"), "{shown}");
    let location = location.expect("what was cut is in a file");
    assert!(location.file_path.ends_with(".all"), "{location:?}");
    assert_eq!(location.line_count, 1502);
    let whole = std::fs::read_to_string(&location.file_path).unwrap();
    assert_eq!(whole.matches(TOKEN_SHOWN).count(), 2, "{whole}");
}
