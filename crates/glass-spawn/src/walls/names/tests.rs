use super::*;
use proptest::prelude::*;

fn check(path: &str, expected: Option<(&str, &str)>) {
    let found = split(path.as_bytes());
    let expected = expected.map(|(above, name)| (above.as_bytes(), name.as_bytes()));
    assert_eq!(found, expected, "{path}");
}

#[test]
fn a_path_is_a_directory_and_a_name() {
    check("HEAD", Some(("", "HEAD")));
    check("a/HEAD", Some(("a/", "HEAD")));
    check("/a/b//.git//", Some(("/a/b//", ".git")));
    check("/HEAD", Some(("/", "HEAD")));
    for nothing in ["", "/", "//", ".", "..", "a/.", "a/../", "/.."] {
        check(nothing, None);
    }
}

proptest! {
    #[test]
    fn a_name_has_no_slash_and_nothing_is_lost(path in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Some((above, name)) = split(&path) {
            prop_assert!(!name.is_empty() && !name.contains(&b'/'));
            let whole = [above, name].concat();
            prop_assert!(path.starts_with(&whole));
            prop_assert!(path[whole.len()..].iter().all(|byte| *byte == b'/'));
        }
    }
}

#[test]
fn what_makes_a_repository_is_forbidden_where_it_is_not() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = std::fs::File::open(place.path()).expect("it is there");
    let forbidden = |name: &str| is_forbidden(directory.as_fd(), name.as_bytes());
    for name in ["HEAD", ".git", ".GIT"] {
        assert!(forbidden(name), "{name}");
    }
    for name in ["head", "objects", "refs", "commondir", "config", "git"] {
        assert!(!forbidden(name), "{name}");
    }
    std::fs::write(place.path().join("HEAD"), "").expect("a file");
    assert!(!forbidden("HEAD"), "it is there");
    for name in ["objects", "refs", "commondir"] {
        assert!(forbidden(name), "{name}");
    }
}

#[test]
fn only_the_hosts_own_writable_places_count() {
    let names = Names {
        root: None,
        places: vec![
            (b"/w".to_vec(), true),
            (b"/w/tmp".to_vec(), false),
            (b"/w/tmp/back".to_vec(), true),
        ],
    };
    for (path, expected) in [
        ("/w", true),
        ("/w/a", true),
        ("/w/tmp", false),
        ("/w/tmp/x", false),
        ("/w/tmpx", true),
        ("/w/tmp/back/y", true),
        ("/elsewhere", true),
    ] {
        assert_eq!(names.is_of_the_host(path.as_bytes()), expected, "{path}");
    }
}

fn asked(call: libc::c_long, arguments: [u64; 6]) -> Asked {
    let mut asked = Asked::default();
    asked.call = i32::try_from(call).expect("numbers of calls are small");
    asked.arguments = arguments;
    asked
}

#[test]
fn every_name_that_a_call_makes_is_looked_at() {
    let here = 0xffff_ff9c;
    let target = |directory, path, follows| Target {
        directory,
        path,
        follows,
    };
    let check = |call, arguments, expected: &[Target]| {
        assert_eq!(targets(&asked(call, arguments)), expected, "{call}");
    };
    let created = u64::from(libc::O_CREAT.cast_unsigned());
    let alone = created | u64::from(libc::O_EXCL.cast_unsigned());
    let there = libc::AT_FDCWD;
    check(
        libc::SYS_openat,
        [here, 5, created, 0, 0, 0],
        &[target(there, 5, true)],
    );
    check(
        libc::SYS_openat,
        [7, 5, alone, 0, 0, 0],
        &[target(7, 5, false)],
    );
    check(
        libc::SYS_mkdirat,
        [7, 5, 0, 0, 0, 0],
        &[target(7, 5, false)],
    );
    check(
        libc::SYS_symlinkat,
        [1, 7, 5, 0, 0, 0],
        &[target(7, 5, false)],
    );
    check(libc::SYS_linkat, [1, 2, 7, 5, 0, 0], &[target(7, 5, false)]);
    let both = [target(7, 5, false), target(1, 2, false)];
    check(libc::SYS_renameat2, [1, 2, 7, 5, 0, 0], &both[..1]);
    check(libc::SYS_renameat2, [1, 2, 7, 5, EXCHANGE, 0], &both);
}
