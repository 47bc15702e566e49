//! Follows one execution on a task of its own, from the request to its end. A
//! daemon that goes away is found again: the same key asks for the same
//! execution, whose stream begins anew.

use super::daemon::{Connection, Daemon};
use crate::commands::run::resume::{RECONNECTS_MAX, is_lost};
use glass_proto::agent::v1::shell_stream::Event;
use glass_proto::agent::v1::{SandboxPolicy, ShellApprovalPending, ShellStreamExit};
use glass_proto::shellglass::v1::{CancelRequest, ExecuteRequest};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::Status;

/// Output that is kept here, in bytes, unless asked otherwise. Beyond, it is read
/// from the journal when it is shown.
const HEARD_BYTES_MAX: usize = 64 << 10;

/// How a command began.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Begun {
    pub session_id: String,
    pub shell_id: u32,
    pub sandbox: Option<SandboxPolicy>,
    pub at: Instant,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub(in crate::commands) enum Ending {
    Exit(Box<ShellStreamExit>, Instant),
    Rejected(String),
    PermissionDenied(String),
    SpawnError(String),
    /// The call itself failed.
    Failed(Status),
}

/// How the name of a secret goes on.
const NAME_START: &[u8] = b"[REDACTED:";

/// Output as the stream brought it.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Heard {
    /// All of it, unless `is_partial`: then at least the last `bytes_max`, and at
    /// most twice as many.
    pub bytes: Vec<u8>,
    /// How much there was.
    pub total: u64,
    /// Whether the journal has to be read.
    pub is_partial: bool,
    /// Whether some of it is gone, and a notice stands in its place.
    has_gaps: bool,
    bytes_max: usize,
}

impl Heard {
    fn new(bytes_max: usize) -> Heard {
        Heard {
            bytes: Vec::new(),
            total: 0,
            is_partial: false,
            has_gaps: false,
            bytes_max,
        }
    }

    /// The last of it, as far as it is kept.
    #[cfg(any(test, feature = "acp"))]
    pub(in crate::commands) fn tail(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.bytes_max)..]
    }

    /// Whether that is all of what was written.
    #[cfg(any(test, feature = "acp"))]
    pub(in crate::commands) fn is_whole(&self) -> bool {
        self.tail().len() as u64 == self.total && !self.has_gaps
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        // The name of a secret has another length than the secret: only the journal
        // knows where what follows it stands.
        let is_exact = || {
            !bytes
                .windows(NAME_START.len())
                .any(|part| part == NAME_START)
        };
        let fits = self.bytes.len() + bytes.len() <= self.bytes_max;
        self.is_partial = self.is_partial || !fits || !is_exact();
        let kept = bytes.len().min(self.bytes_max);
        self.bytes.extend_from_slice(&bytes[bytes.len() - kept..]);
        // Not each time, so that a byte is moved once at most.
        if self.bytes.len() > self.bytes_max.saturating_mul(2) {
            self.bytes.drain(..self.bytes.len() - self.bytes_max);
        }
    }
}

/// How far a call came.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Course {
    /// What a person is asked, until the command begins.
    pub approval: Option<ShellApprovalPending>,
    pub begun: Option<Begun>,
    pub ending: Option<Ending>,
    pub heard: Heard,
}

/// An execution that is being followed. Nobody follows it once this is dropped;
/// a command that has begun goes on.
pub(in crate::commands) struct Execution {
    course: watch::Receiver<Course>,
    task: JoinHandle<()>,
    key: String,
    task_id: String,
}

impl Drop for Execution {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Execution {
    /// Sends the request and follows what comes of it.
    pub(super) fn start(daemon: Arc<Daemon>, request: ExecuteRequest) -> Execution {
        Execution::start_keeping(daemon, request, HEARD_BYTES_MAX)
    }

    /// The same for whoever wants so many of the last bytes.
    pub(in crate::commands) fn start_keeping(
        daemon: Arc<Daemon>,
        request: ExecuteRequest,
        bytes_max: usize,
    ) -> Execution {
        let (sender, course) = watch::channel(Course {
            approval: None,
            begun: None,
            ending: None,
            heard: Heard::new(bytes_max),
        });
        let args = request.args.as_ref();
        Execution {
            key: args
                .map(|args| args.tool_call_id.clone())
                .unwrap_or_default(),
            task_id: request.task_id.clone(),
            course,
            task: tokio::spawn(async move { follow(&daemon, &request, &sender).await }),
        }
    }

    /// What names it from its first moment on.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// What cancels it.
    pub(in crate::commands) fn cancel_request(&self) -> CancelRequest {
        match &self.course.borrow().begun {
            Some(begun) => CancelRequest {
                shell_id: Some(begun.shell_id),
                ..CancelRequest::default()
            },
            None => CancelRequest {
                tool_call_id: self.key.clone(),
                task_id: self.task_id.clone(),
                ..CancelRequest::default()
            },
        }
    }

    /// How far it came.
    pub(super) fn course(&self) -> Course {
        self.course.borrow().clone()
    }

    /// Looks at it without a copy.
    pub(in crate::commands) fn look<T>(&self, look: impl FnOnce(&Course) -> T) -> T {
        look(&self.course.borrow())
    }

    /// Until it has begun, or ended without.
    pub(super) async fn begun(&mut self) {
        let has = |course: &Course| course.begun.is_some() || course.ending.is_some();
        drop(self.course.wait_for(has).await);
    }

    /// Until it has ended; or until a person is asked about it, where that matters.
    pub(super) async fn ended_or_asked(&mut self, matters: bool) -> Option<ShellApprovalPending> {
        let has =
            |course: &Course| course.ending.is_some() || (matters && course.approval.is_some());
        let course = self.course.wait_for(has).await.ok()?;
        match course.ending {
            Some(_) => None,
            None => course.approval.clone(),
        }
    }

    /// Until it has begun or ended, or a person is asked about it.
    pub(in crate::commands) fn begun_or_asked(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut course = self.course.clone();
        async move {
            let has = |course: &Course| {
                course.begun.is_some() || course.ending.is_some() || course.approval.is_some()
            };
            drop(course.wait_for(has).await);
        }
    }

    /// Until nobody needs to be asked any more, by whatever way.
    pub(in crate::commands) fn settled(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut course = self.course.clone();
        async move {
            let has = |course: &Course| course.begun.is_some() || course.ending.is_some();
            // An error means that nobody follows it any more.
            drop(course.wait_for(has).await);
        }
    }
}

#[cfg(feature = "acp")]
impl Execution {
    /// Until it has ended.
    pub(in crate::commands) fn over(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut course = self.course.clone();
        async move { drop(course.wait_for(|course| course.ending.is_some()).await) }
    }
}

async fn follow(daemon: &Daemon, request: &ExecuteRequest, course: &watch::Sender<Course>) {
    let mut lost = 0;
    for _ in 0..=RECONNECTS_MAX {
        let connection = match daemon.connection(lost).await {
            Ok(connection) => connection,
            Err(status) => return end(course, Ending::Failed(status)),
        };
        match once(&connection, request, course).await {
            Ok(ending) => return end(course, ending),
            Err(status) if is_lost(&status) => lost = connection.number,
            Err(status) => return end(course, Ending::Failed(status)),
        }
    }
    let status = Status::unavailable("the daemon was lost again and again");
    end(course, Ending::Failed(status));
}

fn end(course: &watch::Sender<Course>, ending: Ending) {
    course.send_modify(|course| course.ending = Some(ending));
}

/// One connection, from the stream's beginning to its end.
async fn once(
    connection: &Connection,
    request: &ExecuteRequest,
    course: &watch::Sender<Course>,
) -> Result<Ending, Status> {
    let mut client = connection.client.clone();
    let asked = connection.request(request.clone());
    let mut stream = client.execute(asked).await?.into_inner();
    course.send_modify(|course| course.heard = Heard::new(course.heard.bytes_max));
    while let Some(message) = stream.message().await? {
        let ending = match message.event {
            Some(Event::Exit(exit)) => Ending::Exit(Box::new(exit), Instant::now()),
            Some(Event::Rejected(rejected)) => Ending::Rejected(rejected.reason),
            Some(Event::PermissionDenied(denied)) => Ending::PermissionDenied(denied.error),
            Some(Event::SpawnError(error)) => Ending::SpawnError(error.error),
            Some(event) => {
                course.send_modify(|course| take(course, event));
                continue;
            }
            None => continue,
        };
        return Ok(ending);
    }
    Err(Status::unavailable("the stream ended too early"))
}

fn take(course: &mut Course, event: Event) {
    match event {
        Event::Start(start) => {
            let at = course
                .begun
                .as_ref()
                .map_or_else(Instant::now, |begun| begun.at);
            course.approval = None;
            course.begun = Some(Begun {
                session_id: start.session_id,
                shell_id: start.shell_id,
                sandbox: start.sandbox_policy,
                at,
            });
        }
        Event::Stdout(output) => {
            let bytes = output.raw.as_deref().unwrap_or(output.data.as_bytes());
            course.heard.take(bytes);
        }
        Event::Stderr(output) => {
            let bytes = output.raw.as_deref().unwrap_or(output.data.as_bytes());
            course.heard.take(bytes);
            // Such a notice stands for bytes that are gone. The journal knows
            // their offsets; a command that prints the same costs a look there.
            if output.data.starts_with("\n[") && output.data.contains(" bytes dropped: ") {
                course.heard.is_partial = true;
                course.heard.has_gaps = true;
            }
        }
        Event::ApprovalPending(pending) => course.approval = Some(pending),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Course, Event, HEARD_BYTES_MAX, Heard, take};
    use glass_proto::agent::v1::ShellStreamStderr;

    #[test]
    fn what_is_heard_is_bounded_and_knows_it() {
        let mut heard = Heard::new(HEARD_BYTES_MAX);
        heard.take(b"whole");
        assert_eq!(
            (heard.bytes.as_slice(), heard.is_partial),
            (&b"whole"[..], false)
        );
        heard.take(&vec![b'x'; HEARD_BYTES_MAX]);
        heard.take(&vec![b'y'; 3 * HEARD_BYTES_MAX]);
        assert!(heard.is_partial && heard.bytes.len() <= 2 * HEARD_BYTES_MAX);
        assert_eq!(heard.total, 5 + 4 * HEARD_BYTES_MAX as u64);
    }

    #[test]
    fn what_the_daemon_dropped_is_missed() {
        let mut course = Course {
            approval: None,
            begun: None,
            ending: None,
            heard: Heard::new(HEARD_BYTES_MAX),
        };
        let said = |data: &str| {
            Event::Stderr(ShellStreamStderr {
                data: data.to_owned(),
                ..ShellStreamStderr::default()
            })
        };
        take(&mut course, said("a word"));
        assert!(course.heard.is_whole());
        take(&mut course, said("\n[70 bytes dropped: a limit]\n"));
        assert!(!course.heard.is_whole() && course.heard.is_partial);
        take(&mut course, said("more"));
        assert!(!course.heard.is_whole());
        let mut heard = Heard::new(2);
        heard.take(b"abc");
        assert!(!heard.is_whole());
    }

    proptest::proptest! {
        #[test]
        fn the_last_bytes_are_kept_whatever_came_before(
            parts in proptest::collection::vec(proptest::collection::vec(0u8..255, 0..40), 0..20),
            most in 0usize..50,
        ) {
            let (mut heard, whole) = (Heard::new(most), parts.concat());
            for part in &parts {
                heard.take(part);
                proptest::prop_assert!(heard.bytes.len() <= 2 * most);
            }
            let kept = whole.len().min(most);
            proptest::prop_assert_eq!(heard.tail(), &whole[whole.len() - kept..]);
            proptest::prop_assert_eq!(heard.total, whole.len() as u64);
        }
    }
}
