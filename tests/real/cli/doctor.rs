//! `doctor`, on a machine where everything works, and where not everything does.

use serde_json::Value;
use shellglass_tests::Daemon;
use shellglass_tests::program::{Home, Ran, finish, piped, ran};
use std::path::Path;

/// What must work wherever the tests run.
const WORKING: [(&str, &str); 24] = [
    ("program", "version"),
    ("configuration", "settings"),
    ("directories", "data"),
    ("directories", "runtime"),
    ("disk", "free"),
    ("daemon", "running"),
    ("daemon", "starts"),
    ("keeper", "starts"),
    ("shells", "bash (warm)"),
    ("shells", "bash (terminal, integration, line ends)"),
    ("shells", "zsh (line)"),
    ("shells", "fish (terminal, integration, line ends)"),
    ("commands", "exit codes"),
    ("commands", "signals"),
    ("sandbox parts", "user namespaces"),
    ("sandbox parts", "Landlock"),
    ("sandbox", "writable workspace"),
    ("sandbox", "read-only workspace"),
    ("sandbox", "network on request"),
    ("rules", "policy"),
    ("rules", "redaction"),
    ("page", "refuses strangers"),
    ("page", "knows its token"),
    ("agents", "mcp"),
];

fn checks(ran: &Ran) -> Vec<Value> {
    let text = ran.out();
    let checks: Value = serde_json::from_str(&text).expect("JSON");
    checks.as_array().expect("a list").clone()
}

fn find<'a>(checks: &'a [Value], group: &str, name: &str) -> &'a Value {
    let is_it = |check: &&Value| check["group"] == group && check["name"] == name;
    let found = checks.iter().find(is_it);
    found.unwrap_or_else(|| panic!("no {group}: {name} in {checks:?}"))
}

/// Everything below a directory.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(files(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn doctor_tries_everything_and_leaves_nothing() {
    let home = Home::default();
    let doctor = piped(home.line().args(["doctor", "--json"]));
    let own = format!("shellglass-doctor-{}", doctor.id());
    let ran = finish(doctor);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let checks = checks(&ran);
    for (group, name) in WORKING {
        let check = find(&checks, group, name);
        assert_eq!(check["verdict"], "ok", "{check}");
    }
    assert!(
        find(&checks, "daemon", "running")["detail"]
            .as_str()
            .is_some_and(|detail| detail.starts_with("none"))
    );
    // Nothing was made in the directories of whoever asked, and nothing runs.
    assert_eq!(files(home.path()), Vec::<String>::new());
    assert_eq!(home.daemons(), Vec::<u32>::new());
    assert!(!std::env::temp_dir().join(&own).exists(), "{own}");
    let mut left = shellglass_tests::processes();
    left.retain(|(_, line)| line.contains(" serve") && line.contains(&own));
    assert_eq!(left, []);
}

#[test]
fn a_report_beside_a_daemon_names_nobody_and_tells_no_secret() {
    let daemon = Daemon::start("");
    let before = daemon.cli(&["session", "list", "--all", "--json"]).quiet();
    let secret = "hunter2-correct-horse-battery";
    // A hook's program, whose name is the secret, is one that the report speaks of.
    let config = daemon.home().join("config/config.toml");
    let mut text = std::fs::read_to_string(&config).expect("a configuration");
    text.push_str(&format!(
        "\n[hooks]\nbeforeShellExecution = [\"/home/zacharias/{secret} --password {secret}\"]\n"
    ));
    std::fs::write(&config, text).expect("a configuration");
    let mut line = daemon.line();
    line.args(["doctor"])
        .env("USER", "zacharias")
        .env("MY_PASSWORD", secret);
    let ran = ran(&mut line);
    let report = ran.out();
    // The hook would refuse every command: the configuration needs it.
    assert_eq!(ran.status, 1, "{report}");
    assert!(report.contains("BROKEN  before 1"), "{report}");
    assert!(
        report.contains("running: answers at ~/run/daemon.sock"),
        "{report}"
    );
    for private in [secret, "zacharias", &daemon.home().display().to_string()] {
        assert!(!report.contains(private), "{private} in {report}");
    }
    assert!(!report.contains('\u{1b}'), "{report}");
    let token = std::fs::read_to_string(daemon.home().join("data/person.token"));
    assert!(!report.contains(token.expect("a token").trim()), "{report}");
    // The daemon that people use has run nothing for it.
    let after = daemon.cli(&["session", "list", "--all", "--json"]).quiet();
    assert_eq!(before, after);
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

#[test]
fn doctor_says_what_keeps_a_daemon_from_starting() {
    let home = Home::default();
    // Others could use this one, and a rule does what its example denies.
    home.configure(
        "[daemon]\nlisten = \"192.0.2.1:7583\"\n[[policy.rule]]\nprefix = [\"ls\"]\n\
         decision = \"deny\"\nnot_match = [\"ls -l\"]\n[limits]\ndisk_free_bytes_min = 9000000000000000000\n",
    );
    std::fs::create_dir(home.path().join("run")).expect("a directory");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(home.path().join("run"), open).expect("chmod");
    let ran = home.cli(&["doctor", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let checks = checks(&ran);
    for (group, name) in [
        ("directories", "runtime"),
        ("disk", "free"),
        ("rules", "policy"),
        ("page", "certificate"),
    ] {
        let check = find(&checks, group, name);
        assert_eq!(check["verdict"], "broken", "{check}");
        assert!(
            check["fix"].as_str().is_some_and(|fix| !fix.is_empty()),
            "{check}"
        );
    }
}

#[test]
fn colours_are_there_where_they_are_asked_for() {
    let home = Home::default();
    home.configure("[sandbox]\ndefault = \"everything\"\n");
    let always = home.cli(&["--color", "always", "doctor"]).out();
    assert!(always.contains("\u{1b}[1;31mBROKEN"), "{always}");
    let never = home.cli(&["doctor", "--color=never"]).out();
    assert!(!never.contains('\u{1b}'), "{never}");
    let error = home.cli(&["session", "list", "--color=always"]).stderr;
    assert!(error.starts_with("\u{1b}[1;31merror:\u{1b}[0m "), "{error}");
}
