//! An `sshd` of our own: its keys, its port, its configuration, in a directory that
//! goes with it.

use glass_proto::shellglass::v1::CreateSessionRequest;
use shellglass_tests::program::{ran, wait_until};
use shellglass_tests::{Daemon, PATIENCE, TestSession};
use std::io::Read as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Debian's, and where others have it.
const SSHD: [&str; 2] = ["/usr/sbin/sshd", "/usr/bin/sshd"];

/// How the names of our directories on the host begin.
const OURS: &[u8] = b".shellglass-";

/// How many ports are tried.
const PORTS_TRIED_MAX: u32 = 50;

/// A host that can be reached as `ssh://USER@127.0.0.1:PORT`.
pub struct Server {
    place: TempDir,
    port: u16,
    child: Option<Child>,
    /// Whether it has accounts of its own, with passwords.
    has_accounts: bool,
}

impl Server {
    /// A server whose key is known to `ssh`, and that knows ours.
    pub fn start() -> Server {
        Server::begin(None)
    }

    /// A server that knows no key, and an account `ann` with this password: our own
    /// under another name, in files that it alone sees in the place of the system's.
    /// Only root can have those seen.
    pub fn with_password(password: &str) -> Server {
        Server::begin(Some(password))
    }

    fn begin(password: Option<&str>) -> Server {
        let mut place = tempfile::Builder::new();
        let place = place.prefix("sgh-").tempdir_in("/tmp").unwrap();
        let mut server = Server {
            place,
            port: 0,
            child: None,
            has_accounts: password.is_some(),
        };
        if let Some(password) = password {
            server.make_accounts(password);
        }
        server.make_key("host");
        server.make_key("user");
        for _ in 0..PORTS_TRIED_MAX {
            server.port = port();
            server.know_host("host");
            server.configure();
            if server.answers() {
                return server;
            }
        }
        panic!("no port is free");
    }

    fn make_accounts(&self, password: &str) {
        let mut hash = Command::new("openssl");
        let hash = ran(hash.args(["passwd", "-6", password])).quiet();
        let place = self.place.path().display();
        let accounts = std::fs::read_to_string("/etc/passwd").unwrap();
        let accounts = format!("{accounts}ann:x:0:0::{place}:/bin/bash\n");
        std::fs::write(self.file("passwd"), accounts).unwrap();
        let secrets = format!("ann:{}:20000:0:99999:7:::\n", hash.trim());
        std::fs::write(self.file("shadow"), secrets).unwrap();
    }

    fn make_key(&self, name: &str) {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        ran(keygen.arg(self.file(name))).quiet();
    }

    /// Makes `ssh` believe that this is the host's key.
    pub fn know_host(&self, name: &str) {
        let key = std::fs::read_to_string(self.file(&format!("{name}.pub"))).unwrap();
        let line = format!("[127.0.0.1]:{} {key}", self.port);
        std::fs::write(self.file("known_hosts"), line).unwrap();
    }

    /// Makes another key for the host, which it does not have.
    pub fn know_another_host(&self) {
        self.make_key("other");
        self.know_host("other");
    }

    /// Makes `ssh` know no host.
    pub fn know_nobody(&self) {
        std::fs::write(self.file("known_hosts"), "").unwrap();
    }

    /// Locks our key with these words.
    pub fn lock_key(&self, words: &str) {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-p", "-P", "", "-N", words, "-f"]);
        let done = ran(keygen.arg(self.file("user")));
        assert_eq!(done.status, 0, "{done:?}");
    }

    /// Lets nobody in.
    pub fn forget_user(&self) {
        std::fs::write(self.file("authorized"), "").unwrap();
    }

    fn configure(&self) {
        std::fs::copy(self.file("user.pub"), self.file("authorized")).unwrap();
        if self.has_accounts {
            self.forget_user();
        }
        let (passwords, root) = match self.has_accounts {
            true => ("yes", "yes"),
            false => ("no", "prohibit-password"),
        };
        let place = self.place.path().display();
        let server = format!(
            "ListenAddress 127.0.0.1\nPort {}\nHostKey {place}/host\nPidFile none\n\
             AuthorizedKeysFile {place}/authorized\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication {passwords}\nKbdInteractiveAuthentication no\n\
             PermitRootLogin {root}\nPrintMotd no\nMaxStartups 100\nSetEnv HOME={place}\n",
            self.port
        );
        std::fs::write(self.file("sshd_config"), server).unwrap();
        // What start files print on the way is nobody's output.
        let noise = "echo noise; echo noise >&2; printf '\\036'\n";
        std::fs::write(self.file(".bashrc"), noise).unwrap();
        let client = format!(
            "Host *\nIdentityFile {place}/user\nIdentitiesOnly yes\nIdentityAgent none\n\
             UserKnownHostsFile {place}/known_hosts\nGlobalKnownHostsFile /dev/null\n"
        );
        std::fs::write(self.file("ssh_config"), client).unwrap();
    }

    /// Has `ssh` find nobody at every second connection.
    pub fn refuse_every_second(&self) {
        let mark = self.file("refused").display().to_string();
        let start = std::fs::read_to_string(self.file(".bashrc")).unwrap();
        std::fs::write(self.file(".bashrc"), format!("{start}touch {mark}\n")).unwrap();
        let config = std::fs::read_to_string(self.file("ssh_config")).unwrap();
        let first = format!("Match exec \"test -e {mark} && rm {mark}\"\nHostName 127.0.0.99\n");
        std::fs::write(self.file("ssh_config"), first + &config).unwrap();
    }

    /// Keeps whoever is on the way waiting, until it is let go.
    pub fn hold(&self) {
        let (port, held, go) = (self.port, self.file("held"), self.file("go"));
        let way = format!(
            "touch {}; for i in $(seq 3000); do [ -e {} ] && break; sleep 0.02; done; \
             exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & exec cat >&3",
            held.display(),
            go.display()
        );
        let config = std::fs::read_to_string(self.file("ssh_config")).unwrap();
        let config = format!("{config}ProxyCommand bash -c '{way}'\n");
        std::fs::write(self.file("ssh_config"), config).unwrap();
    }

    /// Whether somebody is on the way, and waits.
    pub fn is_held(&self) -> bool {
        self.file("held").exists()
    }

    /// Lets them go, and whoever comes next.
    pub fn let_go(&self) {
        std::fs::write(self.file("go"), "").unwrap();
    }

    /// Has it run this, whatever is asked for.
    pub fn force(&mut self, command: &str) {
        self.stop();
        let config = std::fs::read_to_string(self.file("sshd_config")).unwrap();
        let config = format!("{config}ForceCommand {command}\n");
        std::fs::write(self.file("sshd_config"), config).unwrap();
        self.run();
    }

    /// Runs it again where it was.
    pub fn run(&mut self) {
        assert!(self.answers(), "its port is taken");
    }

    /// Runs it until it answers; says whether it does, and does not end because its
    /// port is somebody else's.
    fn answers(&mut self) -> bool {
        if rustix::process::geteuid().is_root() {
            // Where it has its empty root; its package makes this at boot.
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let program = SSHD.iter().find(|path| Path::new(path).exists());
        let program = program.expect("there is an sshd; `scripts/deps test` installs it");
        let mut command = match self.has_accounts {
            false => Command::new(program),
            true => self.with_accounts(program),
        };
        command.arg("-D").arg("-f").arg(self.file("sshd_config"));
        command.arg("-E").arg(self.file("sshd.log"));
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        self.child = Some(command.stderr(Stdio::null()).spawn().unwrap());
        let mut is_over = false;
        wait_until("sshd answers", || {
            let child = self.child.as_mut().unwrap();
            is_over = child.try_wait().unwrap().is_some();
            is_over || is_greeted(self.port)
        });
        !is_over
    }

    /// A command line that executes the server where its accounts are the system's.
    fn with_accounts(&self, program: &str) -> Command {
        let place = self.place.path().display();
        let shown = format!(
            "mount --bind {place}/passwd /etc/passwd && \
             mount --bind {place}/shadow /etc/shadow && exec {program} \"$@\""
        );
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-c", &shown, "sh"]);
        command
    }

    /// Ends it with everybody's connections, as the failure of a machine would.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        child.kill().unwrap();
        child.wait().unwrap();
        self.cut();
    }

    /// Cuts every connection; what runs stays, as far as the server is concerned.
    pub fn cut(&self) {
        let needle = format!("{:04X}", self.port);
        for pid in servers_of(&needle) {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    /// A file of the server's.
    pub fn file(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Where it is.
    pub fn address(&self) -> String {
        if self.has_accounts {
            return format!("ssh://ann@127.0.0.1:{}", self.port);
        }
        let name = ran(Command::new("id").arg("-un")).quiet();
        format!("ssh://{}@127.0.0.1:{}", name.trim(), self.port)
    }

    /// A configuration with this host as `box`, and these settings of it.
    pub fn configuration(&self, more: &str) -> String {
        format!(
            "[hosts]\nssh_config = \"{}\"\n[[hosts.host]]\nname = \"box\"\naddress = \"{}\"\n{more}\n",
            self.file("ssh_config").display(),
            self.address()
        )
    }

    /// A daemon that knows it as `box`.
    pub fn daemon(&self, more: &str) -> Daemon {
        Daemon::start(&self.configuration(more))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.file("sshd.log"));
            eprintln!("--- the log of sshd ---\n{}", log.unwrap_or_default());
        }
        self.stop();
    }
}

/// A port that the kernel gives to nobody by itself.
fn port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let turn = NEXT.fetch_add(1, Ordering::Relaxed);
    let odd = std::process::id()
        .wrapping_mul(31)
        .wrapping_add(turn.wrapping_mul(997));
    20_000 + u16::try_from(odd % 12_000).unwrap()
}

/// Whether an sshd speaks there.
fn is_greeted(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let mut said = [0; 4];
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.read_exact(&mut said).is_ok() && said == *b"SSH-"
}

/// The processes that hold a connection which came in at this port (in hexadecimal):
/// the server's ends, not the clients'.
fn servers_of(port: &str) -> Vec<i32> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let sockets: Vec<String> = table
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let is_its = fields.get(1)?.ends_with(&format!(":{port}"));
            is_its.then(|| format!("socket:[{}]", fields[9]))
        })
        .collect();
    let mut found = Vec::new();
    for (pid, _) in shellglass_tests::processes() {
        let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
            continue;
        };
        let mut links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        if links.any(|link| {
            sockets
                .iter()
                .any(|socket| link.as_os_str() == socket.as_str())
        }) {
            found.push(i32::try_from(pid).unwrap());
        }
    }
    found
}

/// The request for a session on `box`.
pub fn on_box() -> CreateSessionRequest {
    CreateSessionRequest {
        host: "box".to_owned(),
        ..CreateSessionRequest::default()
    }
}

/// A session on `box`.
pub async fn session(daemon: &Daemon) -> TestSession {
    TestSession::create(daemon, on_box()).await
}

/// Whether nothing is left of a command on the host: no process with this in its
/// command line, and no file of ours that has it.
pub fn is_gone(mark: &str) -> bool {
    let lines = shellglass_tests::processes();
    !lines.iter().any(|(_, line)| line.contains(mark)) && !is_written(mark)
}

/// Whether a directory of ours on the host has a file with this in it.
fn is_written(mark: &str) -> bool {
    let all = std::fs::read_dir("/tmp").unwrap().flatten();
    let ours = all.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(OURS));
    // Those of other tests come and go.
    let mut files = ours.filter_map(|entry| std::fs::read_dir(entry.path()).ok());
    files.any(|files| {
        let mut texts = files.filter_map(|file| std::fs::read(file.ok()?.path()).ok());
        texts.any(|text| String::from_utf8_lossy(&text).contains(mark))
    })
}
