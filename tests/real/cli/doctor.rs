//! `doctor`, on a machine where everything works.

use shellglass_tests::program::Home;

#[test]
fn doctor_tries_everything_and_leaves_nothing() {
    let home = Home::default();
    let text = home.cli(&["doctor", "--json"]).quiet();
    let checks: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let checks = checks.as_array().expect("a list");
    for (group, name) in [
        ("shells", "bash (warm)"),
        ("shells", "zsh (line)"),
        ("commands", "signals"),
        ("sandbox parts", "user namespaces"),
        ("sandbox parts", "Landlock"),
        ("sandbox", "writable workspace"),
        ("sandbox", "read-only workspace"),
        ("sandbox", "network on request"),
    ] {
        let check = checks
            .iter()
            .find(|check| check["group"] == group && check["name"] == name);
        assert_eq!(check.expect(name)["verdict"], "ok", "{text}");
    }
    // A report can be pasted: it has no paths of ours in it.
    assert!(!text.contains("shellglass-doctor"), "{text}");
    assert_eq!(home.daemons(), Vec::<u32>::new());
    let doctors = shellglass_tests::processes();
    let left = doctors
        .iter()
        .filter(|(_, line)| line.contains(" serve") && line.contains("shellglass-doctor"));
    assert_eq!(left.count(), 0, "{doctors:?}");
}

#[test]
fn doctor_says_what_is_wrong_with_the_configuration() {
    let home = Home::default();
    home.configure("[sandbox]\ndefault = \"everything\"\n");
    let ran = home.cli(&["doctor"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(text.contains("BROKEN"), "{text}");
    assert!(text.contains("sandbox.default"), "{text}");
}
