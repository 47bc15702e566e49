//! Ordinary work is unharmed inside the read-write sandbox.

use super::desk::{Desk, rw};
use glass_proto::shellglass::v1::SessionMode;
use rustix::process::Signal;
use shellglass_tests::program::{finish, piped, signal, wait_until};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a script in a warm shell and in a new one, in the sandbox.
async fn goes_on(prepare: impl Fn(&Desk), script: &str) {
    for mode in [SessionMode::Pipe, SessionMode::Line] {
        let desk = Desk::open(mode).await;
        prepare(&desk);
        let ended = desk.run(rw(), &super::runner::in_bash(script)).await;
        assert_eq!(ended.code, Some(0), "{mode:?}: {ended:#?}");
        assert_eq!(ended.denials, Vec::<String>::new(), "{mode:?}: {ended:#?}");
    }
}

#[tokio::test]
async fn git_commits_branches_merges_and_rebases() {
    let script = "set -eu
        export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
        echo one >> tracked.txt && git add -A && git commit -qm second
        git checkout -q -b side HEAD~1 && echo side > side.txt && git add side.txt && git commit -qm side
        git rebase -q main && git checkout -q main && git merge -q --no-edit side
        git stash list && git tag v1 && git gc -q && git fsck --no-progress
        [ \"$(git log --format=%s -1)\" = side ] && [ -z \"$(git status --porcelain)\" ]";
    goes_on(|_| (), script).await;
}

#[tokio::test]
async fn cargo_builds_and_tests_a_crate() {
    let script = r#"set -eu
        mkdir -p crate/src && cd crate
        printf '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n' > Cargo.toml
        printf 'pub fn two() -> u8 { 2 }\n#[test]\nfn two_is_two() { assert_eq!(two(), 2); }\n' > src/lib.rs
        cargo build --offline -q && cargo test --offline -q 2>&1 | grep -q '1 passed'"#;
    goes_on(|_| (), script).await;
}

/// Makes a package and puts it into a cache, as an earlier `npm install` has.
fn fill_npm_cache(desk: &Desk) {
    let script = r#"set -eu
        mkdir -p "$0/dep" && cd "$0/dep"
        printf '{"name":"sg-dep","version":"1.0.0","main":"i.js"}' > package.json
        echo 'module.exports = 42;' > i.js
        integrity=$(npm pack --json | node -e 'let t="";process.stdin.on("data",d=>t+=d).on("end",()=>{
            const p=JSON.parse(t);console.log((Array.isArray(p)?p[0]:Object.values(p)[0]).integrity)})')
        npm cache add ./sg-dep-1.0.0.tgz
        cd "$1" && mkdir app && cd app
        printf '{"name":"app","version":"1.0.0","dependencies":{"sg-dep":"1.0.0"}}' > package.json
        printf '{"name":"app","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"app","version":"1.0.0","dependencies":{"sg-dep":"1.0.0"}},"node_modules/sg-dep":{"version":"1.0.0","resolved":"https://registry.npmjs.org/sg-dep/-/sg-dep-1.0.0.tgz","integrity":"%s"}}}' "$integrity" > package-lock.json"#;
    let output = Command::new("bash")
        .args(["-c", script])
        .args([&desk.stage.outside, &desk.stage.workspace])
        .env("npm_config_cache", desk.inside(".npm-cache"))
        .env("npm_config_userconfig", "/dev/null")
        .env("HOME", desk.outside("home"))
        .output()
        .expect("bash is there");
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn npm_installs_from_a_cache() {
    let script = r#"set -eu
        cd app && export npm_config_cache=$WORKSPACE/.npm-cache npm_config_userconfig=/dev/null
        npm ci --offline --no-audit --no-fund && [ "$(node -p 'require("sg-dep")')" = 42 ]"#;
    goes_on(fill_npm_cache, script).await;
}

/// Where `scripts/deps test` keeps what pip installs without a network.
pub fn wheels() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/wheels");
    std::env::var_os("SHELLGLASS_TEST_WHEELS").map_or(beside, PathBuf::from)
}

#[tokio::test]
async fn a_python_environment_is_made_and_its_tests_run() {
    let script = "set -eu
        python3 -m venv venv && . venv/bin/activate
        pip install -q --disable-pip-version-check --no-index --find-links wheels pytest
        echo 'def test_one(tmp_path): (tmp_path / \"f\").write_text(\"x\")' > test_one.py
        pytest -q test_one.py | grep -q '1 passed'";
    let prepare = |desk: &Desk| {
        std::fs::create_dir(desk.inside("wheels")).unwrap();
        let wheels = std::fs::read_dir(wheels()).expect("`scripts/deps test` has been run");
        for wheel in wheels.map(|entry| entry.unwrap()) {
            let to = desk.inside("wheels").join(wheel.file_name());
            std::fs::copy(wheel.path(), to).unwrap();
        }
    };
    goes_on(prepare, script).await;
}

#[tokio::test]
async fn make_runs_jobs_side_by_side() {
    let script = r#"set -eu
        printf 'all: a b c d\n%%:\n\t@sleep 0.05; echo $@ > out.$@\n' > Makefile
        make -s -j2 && [ "$(cat out.a out.b out.c out.d | tr -d '\n')" = abcd ]
        printf 'int main(void) { return 0; }\n' > p.c && cc -o p p.c && ./p"#;
    goes_on(|_| (), script).await;
}

#[tokio::test]
async fn archives_pagers_and_process_lists_work() {
    let script = r#"set -eu
        mkdir -p t/a && seq 200 > t/a/f && tar czf t.tgz t && rm -r t && tar xzf t.tgz
        [ "$(less -F t/a/f | wc -l)" = 200 ] && [ "$(git --paginate log --format=%s)" = one ]
        sleep 30 & for n in $(seq 100); do ps -e -o args= | grep -qx 'sleep 30' && break; sleep .1; done
        [ "$n" -lt 100 ]; kill $!
        ! ps -e -o args= | grep -q 'sg-[v]ictim'"#;
    goes_on(|_| (), script).await;
}

#[tokio::test]
async fn jobs_are_controlled() {
    let script = r#"set -eu
        set -m
        sleep 60 & kill -STOP %1; sleep 0.1; jobs -l | grep -q Stopped
        bg %1 >/dev/null; jobs -l | grep -q Running; kill %1; wait %1 || [ $? = 143 ]
        (sleep 0.1; exit 3) & wait $! || [ $? = 3 ]"#;
    goes_on(|_| (), script).await;
}

#[tokio::test]
async fn a_key_is_made_in_the_workspace() {
    let script = "ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -lf key.pub";
    goes_on(|_| (), script).await;
}

#[tokio::test]
async fn a_server_and_its_client_meet_on_loopback() {
    let script = "set -eu
        python3 -u -m http.server --bind 127.0.0.1 0 > log 2>&1 & server=$!
        until grep -q 'port [0-9]' log; do sleep 0.05; done
        port=$(sed -n 's/.* port \\([0-9]*\\) .*/\\1/p' log)
        python3 -c 'import sys,urllib.request as u;print(u.urlopen(sys.argv[1]).read().decode())' \
            http://127.0.0.1:$port/tracked.txt | grep -q tracked
        kill $server";
    goes_on(|_| (), script).await;
}

#[tokio::test]
async fn a_server_is_there_for_the_next_command_and_nobody_else() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let serve = "python3 -u -m http.server --bind 127.0.0.1 0 > log 2>&1 & \
        until grep -q 'port [0-9]' log; do sleep 0.05; done";
    desk.works(rw(), serve).await;
    let port = "sed -n 's/.* port \\([0-9]*\\) .*/\\1/p' log";
    let port = desk.works(rw(), port).await.trim().to_owned();
    let ask = format!(
        "python3 -c 'import urllib.request as u;print(u.urlopen(\"http://127.0.0.1:{port}/\").status)'"
    );
    assert_eq!(desk.works(rw(), &ask).await, "200\n");
    let address = format!("127.0.0.1:{port}");
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "the host reaches it"
    );
}

#[tokio::test]
async fn control_c_ends_a_command_in_its_walls() {
    let desk = Desk::open(SessionMode::Pipe).await;
    let begun = desk.inside("begun");
    let mut line = desk.field.daemon.line();
    line.current_dir(&desk.stage.workspace)
        .env("PWD", &desk.stage.workspace)
        .args(["run", "--sandbox", "rw", "--"])
        .arg("trap 'echo interrupted; exit 130' INT; touch begun; sleep 60 & wait");
    let child = piped(&mut line);
    wait_until("the command has begun", || begun.exists());
    signal(child.id(), Signal::INT);
    let ran = finish(child);
    assert_eq!(ran.status, 130, "{ran:?}");
}
