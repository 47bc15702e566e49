//! A daemon with its page, and clients that say exactly what they are told to.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use shellglass_tests::calls::token;
use shellglass_tests::program::free_port;
use shellglass_tests::{Daemon, PATIENCE};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// A daemon that listens over TCP.
pub(super) struct Glass {
    pub(super) daemon: Daemon,
    pub(super) address: SocketAddr,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A header of the answer, by its name in small letters.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Glass {
    pub(super) fn start(config: &str) -> Glass {
        // The daemon must find the same port again when it is restarted, so it
        // cannot choose one itself.
        let address = ([127, 0, 0, 1], free_port()).into();
        let listen = SocketAddr::to_string(&address);
        let daemon = Daemon::start_with(config, &[], &["--listen", &listen]);
        let glass = Glass { daemon, address };
        glass.wait();
        glass
    }

    fn wait(&self) {
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(self.address).is_err() {
            assert!(Instant::now() < deadline, "nobody listens");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn restart(&mut self) {
        self.daemon.crash_and_restart();
        self.wait();
    }

    pub(super) fn bearer(&self, role: &str) -> String {
        format!("Authorization: Bearer {}", token(self.daemon.home(), role))
    }

    /// Sends exactly these bytes and reads until the server closes.
    pub(super) fn raw(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        // A server that has refused need not read the rest.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// A request with these headers and, unless they have one, our own Host.
    pub(super) fn ask(&self, verb: &str, path: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut head = format!("{verb} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|line| line.starts_with("Host:")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for line in headers {
            head.push_str(&format!("{line}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let answer = self.raw(&[head.as_bytes(), body].concat());
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no answer to {verb} {path}: {answer:?}"));
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer {
            status,
            head,
            body: answer[end + 4..].to_vec(),
        }
    }

    /// A call of the API by a role.
    pub(super) fn call(&self, role: &str, method: &str, request: &Value) -> Answer {
        let path = format!("/api/v1/{method}");
        let body = request.to_string();
        self.ask("POST", &path, &[&self.bearer(role)], body.as_bytes())
    }

    /// The same, which must work.
    pub(super) fn done(&self, role: &str, method: &str, request: &Value) -> Value {
        let answer = self.call(role, method, request);
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        answer.json()
    }

    pub(super) fn session(&self, role: &str) -> String {
        let home = self.daemon.home().to_string_lossy().into_owned();
        let request = json!({ "shell": "bash", "startup": "none", "workingDirectory": home });
        let made = self.done(role, "CreateSession", &request);
        made["sessionId"].as_str().unwrap().to_owned()
    }

    pub(super) fn run(&self, session: &str, command: &str) -> Value {
        let request = json!({ "sessionId": session, "args": { "command": command } });
        self.done("person", "Run", &request)
    }

    /// A WebSocket with these headers, or the status that it was refused with.
    pub(super) async fn socket(&self, path: &str, headers: &[(&str, &str)]) -> Result<Socket, u16> {
        let mut request = self.upgrade(path);
        for (name, value) in headers {
            let name: tokio_tungstenite::tungstenite::http::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        match timeout(PATIENCE, client_async(request, stream))
            .await
            .unwrap()
        {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    fn upgrade(&self, path: &str) -> Request {
        format!("ws://{}{path}", self.address)
            .into_client_request()
            .unwrap()
    }

    /// A WebSocket of a person.
    pub(super) async fn open(&self, path: &str) -> Socket {
        let token = format!("Bearer {}", token(self.daemon.home(), "person"));
        let opened = self.socket(path, &[("authorization", &token)]).await;
        opened.expect("a person may")
    }

    /// A mirror of a session, up to and with `ready`, and what it has shown.
    pub(super) async fn mirror(&self, session: &str) -> (Socket, Vec<Value>, Vec<u8>) {
        let mut socket = self.open("/ws/terminal").await;
        let init = json!({ "type": "init", "sessionId": session, "cols": 80, "rows": 30 });
        socket.tell(&init).await;
        let (told, shown) = socket.until("ready").await;
        (socket, told, shown)
    }
}

/// The client's end of a WebSocket.
pub(super) struct Socket(WebSocketStream<tokio::net::TcpStream>);

impl Socket {
    pub(super) async fn tell(&mut self, value: &Value) {
        self.send(Message::text(value.to_string())).await;
    }

    pub(super) async fn send(&mut self, message: Message) {
        timeout(PATIENCE, self.0.send(message))
            .await
            .unwrap()
            .unwrap();
    }

    /// Sends what the server may refuse before it has read all of it.
    pub(super) async fn try_send(&mut self, message: Message) {
        let _ = timeout(PATIENCE, self.0.send(message)).await.unwrap();
    }

    /// The next text or bytes; none when the server has closed.
    pub(super) async fn next(&mut self) -> Option<Message> {
        loop {
            match timeout(PATIENCE, self.0.next()).await.expect("in time")? {
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(message) => return Some(message),
            }
        }
    }

    /// Everything up to a message of this type: the messages, and all bytes.
    pub(super) async fn until(&mut self, kind: &str) -> (Vec<Value>, Vec<u8>) {
        let (mut told, mut shown) = (Vec::new(), Vec::new());
        loop {
            match self.next().await {
                Some(Message::Binary(bytes)) => shown.extend_from_slice(&bytes),
                Some(Message::Text(text)) => {
                    let message: Value = serde_json::from_str(&text).unwrap();
                    let is_it = message["type"] == kind;
                    told.push(message);
                    if is_it {
                        return (told, shown);
                    }
                }
                other => panic!("no {kind}, but {other:?} after {told:?}"),
            }
        }
    }

    /// The next message of this type, whatever comes before it.
    pub(super) async fn message(&mut self, kind: &str) -> Value {
        self.until(kind).await.0.pop().unwrap()
    }

    /// Bytes until they end like this.
    pub(super) async fn shown_until(&mut self, end: &str) -> String {
        let mut shown = Vec::new();
        while !shown.ends_with(end.as_bytes()) {
            match self.next().await {
                Some(Message::Binary(bytes)) => shown.extend_from_slice(&bytes),
                Some(Message::Text(_)) => {}
                other => panic!("{other:?} after {}", String::from_utf8_lossy(&shown)),
            }
        }
        String::from_utf8(shown).unwrap()
    }

    /// Whether the server closes without another word.
    pub(super) async fn is_closed(&mut self) -> bool {
        self.next().await.is_none()
    }
}
