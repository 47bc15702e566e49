//! tmux as somebody else's terminal: what it has in its cells is what our bytes
//! mean to a terminal that is not ours.

use shellglass_tests::{Daemon, PATIENCE};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A tmux server of our own, with one window for each command line.
pub struct Tmux<'a> {
    daemon: &'a Daemon,
}

impl Tmux<'_> {
    pub fn new(daemon: &Daemon) -> Tmux<'_> {
        Tmux { daemon }
    }

    fn call(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        command.args(["-f", "/dev/null", "-S"]);
        command.arg(self.daemon.home().join("tmux.sock"));
        command.args(arguments).env_remove("TMUX");
        command.env("SHELLGLASS_HOME", self.daemon.home());
        command.output().unwrap()
    }

    /// Opens a window of 80 by 30 with `shellglass attach` in it.
    pub fn attach(&self, name: &str, session: &str, more: &str) {
        let program = self.daemon.command();
        let program = program.get_program().to_string_lossy().into_owned();
        let line = format!("exec {program} attach --no-status {more} {session}");
        let made = self.call(&[
            "new-session",
            "-d",
            "-s",
            name,
            "-x",
            "80",
            "-y",
            "30",
            &line,
            ";",
            "set-option",
            "-g",
            "status",
            "off",
        ]);
        assert!(made.status.success(), "{made:?}");
        self.call(&["resize-window", "-t", name, "-x", "80", "-y", "30"]);
    }

    /// Types into a window.
    pub fn keys(&self, name: &str, keys: &[&str]) {
        let mut arguments = vec!["send-keys", "-t", name];
        arguments.extend(keys);
        let sent = self.call(&arguments);
        assert!(sent.status.success(), "{sent:?}");
    }

    /// Everything that a window shows: cells with their colours, the cursor, and
    /// the modes.
    pub fn state(&self, name: &str) -> String {
        let cells = self.call(&["capture-pane", "-p", "-e", "-N", "-t", name]);
        let flags = "#{cursor_x} #{cursor_y} #{alternate_on} #{cursor_flag} #{keypad_flag} \
            #{keypad_cursor_flag} #{mouse_any_flag} #{mouse_sgr_flag} #{wrap_flag} \
            #{insert_flag} #{origin_flag} #{scroll_region_upper} #{scroll_region_lower}";
        let about = self.call(&["display-message", "-p", "-t", name, flags]);
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        text(&cells) + &text(&about)
    }

    /// Waits until a window shows this.
    pub fn until(&self, name: &str, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.state(name).contains(text) {
            assert!(
                Instant::now() < deadline,
                "no '{text}' in {}",
                self.state(name)
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What a window shows once it does not change any more.
    pub fn settled(&self, name: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let (mut last, mut since) = (self.state(name), Instant::now());
        while since.elapsed() < Duration::from_millis(400) {
            assert!(Instant::now() < deadline, "it does not rest: {last}");
            std::thread::sleep(Duration::from_millis(40));
            let now = self.state(name);
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
        last
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.call(&["kill-server"]);
    }
}
