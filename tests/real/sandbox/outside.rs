//! What a sandboxed command must not reach: listeners, sockets and shared
//! memory of the host. Loopback only; all of it ends with the test.

use super::probe::Variables;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, UdpSocket, UnixDatagram, UnixListener};
use tokio::task::JoinSet;

/// What the listeners say to whoever reaches them.
const GREETING: &[u8] = b"SBX-HELLO\n";

/// Makes a segment of shared memory, says its key, and removes it when its
/// standard input ends.
const SHARED_MEMORY: &str = "
import ctypes,os,sys
l=ctypes.CDLL(None); l.shmat.restype=ctypes.c_void_p
key=0x53000000|os.getpid(); i=l.shmget(key,64,0o1666)
ctypes.memmove(l.shmat(i,None,0),b'SBX-SHM',7)
print(key,flush=True); sys.stdin.read(); l.shmctl(i,0,None)
";

/// The host's side, for as long as it lives.
pub struct Outside {
    variables: Variables,
    shared_memory: Child,
    files: Vec<PathBuf>,
    _listeners: JoinSet<()>,
}

impl Outside {
    /// Opens everything that is the same for all cases.
    pub async fn open() -> Outside {
        let mut listeners = JoinSet::new();
        let mut variables = Variables::new();
        let mut set = |name: &str, value: String| variables.insert(name.to_owned(), value);
        set(
            "TCP_PORT",
            tcp(&mut listeners, "127.0.0.1:0").await.unwrap(),
        );
        if let Some(port) = tcp(&mut listeners, "[::1]:0").await {
            set("TCP6_PORT", port);
        }
        set("UDP_PORT", udp(&mut listeners).await);
        set("ABS_SOCK", abstract_socket(&mut listeners));
        for (name, kind) in [("HOST_NETNS", "net"), ("HOST_UTSNS", "uts")] {
            let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
            set(name, link.to_string_lossy().into_owned());
        }
        let pid = std::process::id();
        let files = [("SHM_FOREIGN", "/dev/shm"), ("TMP_FOREIGN", "/tmp")].map(|(name, folder)| {
            let path = PathBuf::from(format!("{folder}/sg-foreign-{pid}-{}", unique()));
            std::fs::write(&path, "x\n").unwrap();
            set(name, path.to_string_lossy().into_owned());
            path
        });
        let (shared_memory, key) = shared_memory();
        set("SHM_NUMBER", key);
        Outside {
            variables,
            shared_memory,
            files: files.to_vec(),
            _listeners: listeners,
        }
    }

    /// Where all of it is.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        drop(self.shared_memory.stdin.take());
        self.shared_memory.wait().unwrap();
        for file in &self.files {
            // A probe that got out may have removed it.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// A number that no other fixture of this process has.
pub fn unique() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

async fn tcp(listeners: &mut JoinSet<()>, address: &str) -> Option<String> {
    let listener = TcpListener::bind(address).await.ok()?;
    let port = listener.local_addr().unwrap().port().to_string();
    listeners.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // Whoever knocked may be gone.
            let _ = stream.write_all(GREETING).await;
        }
    });
    Some(port)
}

async fn udp(listeners: &mut JoinSet<()>) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = socket.local_addr().unwrap().port().to_string();
    listeners.spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((_, from)) = socket.recv_from(&mut buffer).await {
            // Whoever asked may be gone.
            let _ = socket.send_to(GREETING, from).await;
        }
    });
    port
}

fn abstract_socket(listeners: &mut JoinSet<()>) -> String {
    let name = format!("sg-{}-{}", std::process::id(), unique());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    listener.set_nonblocking(true).unwrap();
    greet(listeners, UnixListener::from_std(listener).unwrap());
    name
}

fn greet(listeners: &mut JoinSet<()>, listener: UnixListener) {
    listeners.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // Whoever knocked may be gone.
            let _ = stream.write_all(GREETING).await;
        }
    });
}

fn shared_memory() -> (Child, String) {
    let mut child = Command::new("python3")
        .args(["-c", SHARED_MEMORY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut key = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut key).unwrap();
    assert!(!key.trim().is_empty(), "there is no shared memory");
    (child, key.trim().to_owned())
}

/// Sockets below a directory, for as long as this lives.
pub struct Sockets {
    _listeners: JoinSet<()>,
    _datagrams: UnixDatagram,
}

impl Sockets {
    /// Binds them.
    pub fn bind(run: &Path, variables: &mut Variables) -> Sockets {
        let mut listeners = JoinSet::new();
        let mut path = |name: &str, file: &str| {
            let path = run.join(file);
            variables.insert(name.to_owned(), path.to_string_lossy().into_owned());
            path
        };
        for (name, file) in [
            ("OUT_SOCK", "out.sock"),
            ("FAKE_DOCKER_SOCK", "docker.sock"),
        ] {
            let listener = UnixListener::bind(path(name, file)).unwrap();
            greet(&mut listeners, listener);
        }
        let datagrams = UnixDatagram::bind(path("OUT_DGRAM", "out.dgram")).unwrap();
        Sockets {
            _listeners: listeners,
            _datagrams: datagrams,
        }
    }
}
