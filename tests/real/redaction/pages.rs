//! Parts of an output that begin and end anywhere.

use super::projections::{KNOWN, TOKEN, read, session};
use shellglass_tests::Daemon;

#[tokio::test]
async fn no_page_shows_a_part_of_a_secret_wherever_it_begins_and_ends() {
    let daemon = Daemon::start_with("", &[("MY_TOKEN", KNOWN)], &[]);
    let session = session(&daemon).await;
    let text = format!("ab {KNOWN} \u{e4}\u{20ac} {TOKEN} cd");
    let id = session.run(&format!("printf '%s' '{text}'")).await.shell_id;
    let expected = "ab [REDACTED:MY_TOKEN] \u{e4}\u{20ac} ghp_[REDACTED:github-token] cd";
    for max in [1, 2, 3, 7, 16, 64] {
        // What is asked for page by page is the whole.
        let (mut at, mut shown) = (0, String::new());
        while at < text.len() as u64 {
            let page = read(&session, id, at, max).await;
            assert!(page.next_offset > at, "nothing at {at}");
            (at, shown) = (page.next_offset, shown + &page.output);
        }
        assert_eq!(shown, expected, "{max} bytes at a time");
        // Pages that overlap give nothing away either.
        for at in 0..text.len() as u64 {
            let shown = read(&session, id, at, max).await.output;
            for secret in [KNOWN, &TOKEN["ghp_".len()..]] {
                for part in secret.as_bytes().windows(3) {
                    let part = String::from_utf8_lossy(part);
                    assert!(!shown.contains(&*part), "{max} at {at}: {shown}");
                }
            }
        }
    }
}

#[tokio::test]
async fn pages_of_two_streams_are_judged_stream_by_stream() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let (one, two) = TOKEN.split_at(20);
    // The error comes between the two halves.
    let line = format!(
        "printf '%s' '{one}'; sleep 0.5; echo between >&2; sleep 0.5; printf '%s\\n' '{two}'"
    );
    let id = session.run(&line).await.shell_id;
    let (mut at, mut shown) = (0, String::new());
    loop {
        let page = read(&session, id, at, 5).await;
        if page.next_offset == at {
            break;
        }
        (at, shown) = (page.next_offset, shown + &page.output);
    }
    assert_eq!(shown, "ghp_[REDACTED:github-token]between\n\n");
    assert_eq!(read(&session, id, 0, 0).await.output, shown);
}

#[tokio::test]
async fn a_secret_is_recognised_from_far_into_a_long_output() {
    let daemon = Daemon::start("");
    let session = session(&daemon).await;
    let line = format!("head -c 300000 /dev/zero | tr '\\0' 'x'; echo; echo {TOKEN}; echo end");
    let id = session.run(&line).await.shell_id;
    let start = 300_001;
    for into in [0, 4, 5, 20, 39] {
        let shown = read(&session, id, start + into, 0).await.output;
        let visible = ["ghp_", "hp_", "p_", "_", ""].get(usize::try_from(into).unwrap());
        let label = if into <= 4 {
            "[REDACTED:github-token]"
        } else {
            ""
        };
        let expected = format!("{}{label}\nend\n", visible.unwrap_or(&""));
        assert_eq!(shown, expected, "{into} into it");
    }
}

#[tokio::test]
async fn a_page_of_many_secrets_fits_a_message() {
    let daemon = Daemon::start_with("", &[("A_RATHER_LONG_NAME_OF_A_TOKEN", "kiwi-77")], &[]);
    let session = session(&daemon).await;
    let lines = 400_000_u64;
    let result = session.run(&format!("yes kiwi-77 | head -n {lines}")).await;
    let shown = "[REDACTED:A_RATHER_LONG_NAME_OF_A_TOKEN]\n";
    assert!(result.stdout.starts_with(shown) && result.stdout.ends_with(shown));
    assert!(!result.stdout.contains("kiwi"));
    let (mut at, mut bytes) = (0, 0);
    while at < lines * 8 {
        let page = read(&session, result.shell_id, at, 0).await;
        assert!(page.next_offset > at, "nothing at {at}");
        assert!(!page.output.contains("kiwi"), "at {at}");
        (at, bytes) = (page.next_offset, bytes + page.output.len());
    }
    assert_eq!(bytes, shown.len() * usize::try_from(lines).unwrap());
    let told = session
        .told(&format!("yes kiwi-77 | head -n {lines}"))
        .await;
    assert_eq!(told.stdout().len(), bytes);
}
