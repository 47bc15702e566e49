//! The service of the contract, method by method. Each translates, asks the
//! engine, and translates back.

use crate::answer::{self, Streamed};
use crate::auth::Tokens;
use crate::messages::Messages;
use crate::peer::PeerInfo;
use crate::translate::{
    answer_from_wire, approval_to_wire, check_from_wire, host_to_wire, order_from_wire,
    session_to_wire, spawn_from_wire, spec_from_wire, threshold_of, wait_from_wire, waited_to_wire,
};
use crate::{audit, background, history, recording, search, status, text};
use glass_model::{EventIndex, ShellId};
use glass_proto::agent::v1 as agent;
use glass_proto::shellglass::v1 as wire;
use glass_proto::shellglass::v1::shell_exec_server::ShellExec;
use glass_proto::text_and_raw;
use glass_session::{Caller, Checked, CreateError, Engine, ExecuteError, Reader, Ticket};
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status};

/// Messages of a stream that wait for a slow client.
const STREAM_MESSAGES_MAX: usize = 4;

/// A long poll waits this long at most, in milliseconds.
const WAIT_MS_MAX: u32 = 60_000;

pub(crate) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

pub(crate) struct Service {
    engine: Engine,
    tokens: Tokens,
    /// The page's address; empty where there is none.
    page: String,
}

impl Service {
    pub(crate) fn new(engine: Engine, tokens: Tokens, page: String) -> Service {
        Service {
            engine,
            tokens,
            page,
        }
    }

    fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        self.tokens
            .caller(request.metadata(), request.extensions().get::<PeerInfo>())
    }

    /// Accepts a command; a policy that cannot be enforced is an answer of its
    /// own and not an error of the call.
    async fn accept(
        &self,
        caller: &Caller,
        request: wire::ExecuteRequest,
    ) -> Result<Result<Ticket, agent::ShellPermissionDenied>, Status> {
        let (target, order) = order_from_wire(request)?;
        let (command, directory) = (order.command.clone(), order.working_directory.clone());
        match self.engine.execute(caller, target, order).await {
            Ok(ticket) => Ok(Ok(ticket)),
            Err(ExecuteError::Sandbox(why) | ExecuteError::Create(CreateError::Sandbox(why))) => {
                Ok(Err(answer::no_sandbox(command, directory, &why)))
            }
            Err(error) => Err(status::execute(error)),
        }
    }
}

#[tonic::async_trait]
impl ShellExec for Service {
    type ExecuteStream = Answers<agent::ShellStream>;
    type SubscribeStream = Answers<wire::SessionEvent>;
    type AttachStream = Answers<wire::AttachOutput>;
    type WatchCapabilitiesStream = Answers<wire::Capabilities>;
    type WatchSessionsStream = Answers<wire::Overview>;
    type ReadAuditStream = Answers<wire::AuditRecord>;
    type ExportRecordingStream = Answers<wire::RecordingChunk>;

    async fn create_session(
        &self,
        request: Request<wire::CreateSessionRequest>,
    ) -> Result<Response<wire::Session>, Status> {
        let caller = self.caller(&request)?;
        let spec = spec_from_wire(request.into_inner())?;
        let session = self
            .engine
            .create(&caller, spec)
            .await
            .map_err(status::create)?;
        let view = self
            .engine
            .session(&caller, session.id.as_str())
            .map_err(status::lookup)?;
        Ok(Response::new(session_to_wire(view)))
    }

    async fn list_sessions(
        &self,
        request: Request<wire::ListSessionsRequest>,
    ) -> Result<Response<wire::ListSessionsResponse>, Status> {
        let caller = self.caller(&request)?;
        let include = request.into_inner().include_disposed;
        let views = self
            .engine
            .sessions(&caller, include)
            .map_err(status::lookup)?;
        let sessions = views.into_iter().map(session_to_wire).collect();
        Ok(Response::new(wire::ListSessionsResponse { sessions }))
    }

    async fn get_session(
        &self,
        request: Request<wire::SessionRef>,
    ) -> Result<Response<wire::Session>, Status> {
        let caller = self.caller(&request)?;
        let id = request.into_inner().session_id;
        let view = self.engine.session(&caller, &id).map_err(status::lookup)?;
        Ok(Response::new(session_to_wire(view)))
    }

    async fn dispose_session(
        &self,
        request: Request<wire::SessionRef>,
    ) -> Result<Response<wire::Empty>, Status> {
        let caller = self.caller(&request)?;
        let id = request.into_inner().session_id;
        self.engine
            .dispose(&caller, &id)
            .await
            .map_err(status::lookup)?;
        Ok(Response::new(wire::Empty {}))
    }

    async fn execute(
        &self,
        request: Request<wire::ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteStream>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let threshold = threshold_of(&request);
        let (sender, receiver) = mpsc::channel(STREAM_MESSAGES_MAX);
        let ticket = match self.accept(&caller, request).await? {
            Ok(ticket) => ticket,
            Err(denied) => {
                let event = Some(agent::shell_stream::Event::PermissionDenied(denied));
                // The channel is new and has room.
                let _ = sender.send(Ok(agent::ShellStream { event })).await;
                return Ok(Response::new(Box::pin(ReceiverStream::new(receiver))));
            }
        };
        let streamed = Streamed {
            engine: self.engine.clone(),
            caller,
            threshold,
        };
        tokio::spawn(streamed.run(ticket, sender));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn run(
        &self,
        request: Request<wire::ExecuteRequest>,
    ) -> Result<Response<agent::ShellResult>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let threshold = threshold_of(&request);
        let is_background = request.args.as_ref().is_some_and(|args| args.is_background);
        let result = match self.accept(&caller, request).await? {
            Ok(ticket) if is_background => {
                background::result(&self.engine, &caller, ticket).await?
            }
            Ok(ticket) => answer::gathered(&self.engine, ticket, threshold).await?,
            Err(denied) => answer::denied(denied),
        };
        Ok(Response::new(result))
    }

    async fn cancel(
        &self,
        request: Request<wire::CancelRequest>,
    ) -> Result<Response<wire::CancelResponse>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let shell_id = match request.shell_id {
            Some(id) => Some(ShellId(id)),
            None if request.tool_call_id.is_empty() => None,
            None => {
                let (task, key) = (&request.task_id, &request.tool_call_id);
                Some(
                    self.engine
                        .tool_call(&caller, task, key)
                        .map_err(status::lookup)?,
                )
            }
        };
        let cancelled = self
            .engine
            .cancel(&caller, &request.session_id, shell_id)
            .await
            .map_err(status::lookup)?;
        Ok(Response::new(wire::CancelResponse { cancelled }))
    }

    async fn read_output(
        &self,
        request: Request<wire::ReadOutputRequest>,
    ) -> Result<Response<wire::ReadOutputResponse>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let wait = Duration::from_millis(u64::from(request.wait_ms.min(WAIT_MS_MAX)));
        let id = ShellId(request.shell_id);
        let page = self
            .engine
            .read_output(&caller, id, request.offset, request.max_bytes, wait)
            .await
            .map_err(status::lookup)?;
        let names = page.names.iter().map(|name| wire::SecretName {
            offset: name.offset,
            length: name.bytes,
            shown: name.shown,
        });
        let names = names.collect();
        let (output, raw) = text_and_raw(page.bytes);
        Ok(Response::new(wire::ReadOutputResponse {
            names,
            output,
            raw: raw.map(Into::into),
            next_offset: page.next_offset,
            dropped_bytes: page.dropped,
            running: page.running,
            exit_code: page.code,
            is_hot: page.hot,
            end_offset: page.end,
        }))
    }

    async fn get_session_history(
        &self,
        request: Request<wire::HistoryRequest>,
    ) -> Result<Response<wire::SessionHistory>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let engine = self.engine.clone();
        let read = move || history::read(&engine, &caller, &request);
        let history = tokio::task::spawn_blocking(read)
            .await
            .map_err(|_| Status::internal("reading the history failed"))?;
        history.map(Response::new).map_err(status::lookup)
    }

    async fn subscribe(
        &self,
        request: Request<wire::SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let from = EventIndex(request.from_index);
        let follower = self
            .engine
            .follow(&caller, &request.session_id, from)
            .map_err(status::lookup)?;
        let mut messages = Messages::new(Reader::new(&self.engine, follower, None));
        let (sender, receiver) = mpsc::channel(STREAM_MESSAGES_MAX);
        tokio::spawn(async move {
            loop {
                let next = tokio::select! {
                    next = messages.next() => next,
                    () = sender.closed() => return,
                };
                let message = match next {
                    Ok(Some(message)) => message,
                    Ok(None) => return,
                    Err(error) => return answer::fail(&sender, error).await,
                };
                if sender.send(Ok(message)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn get_capabilities(
        &self,
        request: Request<wire::Empty>,
    ) -> Result<Response<wire::Capabilities>, Status> {
        self.caller(&request)?;
        Ok(Response::new(capabilities(&self.engine, &self.page)))
    }

    async fn watch_capabilities(
        &self,
        request: Request<wire::Empty>,
    ) -> Result<Response<Self::WatchCapabilitiesStream>, Status> {
        self.caller(&request)?;
        let (sender, receiver) = mpsc::channel(1);
        let (engine, page) = (self.engine.clone(), self.page.clone());
        let mut changes = engine.host_changes();
        tokio::spawn(async move {
            loop {
                changes.mark_unchanged();
                let known = capabilities(&engine, &page);
                if sender.send(Ok(known)).await.is_err() {
                    return;
                }
                tokio::select! {
                    // The daemon's end closes the stream.
                    changed = changes.changed() => if changed.is_err() { return },
                    () = sender.closed() => return,
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn watch_sessions(
        &self,
        request: Request<wire::WatchSessionsRequest>,
    ) -> Result<Response<Self::WatchSessionsStream>, Status> {
        let caller = self.caller(&request)?;
        let only = request.into_inner().session_id;
        if !only.is_empty() {
            self.engine
                .session(&caller, &only)
                .map_err(status::lookup)?;
        }
        let answers = crate::watch::watch(self.engine.clone(), caller, only);
        Ok(Response::new(answers))
    }

    async fn spawn_background(
        &self,
        request: Request<wire::SpawnBackgroundRequest>,
    ) -> Result<Response<agent::BackgroundShellSpawnResult>, Status> {
        let caller = self.caller(&request)?;
        let request = spawn_from_wire(request.into_inner());
        let result = match self.accept(&caller, request).await? {
            Ok(ticket) => background::spawned(&self.engine, &caller, ticket).await?,
            Err(denied) => background::denied(denied),
        };
        Ok(Response::new(result))
    }

    async fn write_stdin(
        &self,
        request: Request<agent::WriteShellStdinArgs>,
    ) -> Result<Response<agent::WriteShellStdinResult>, Status> {
        let caller = self.caller(&request)?;
        let args = request.into_inner();
        let result = background::write(&self.engine, &caller, args).await?;
        Ok(Response::new(result))
    }

    async fn wait(
        &self,
        request: Request<wire::WaitRequest>,
    ) -> Result<Response<wire::WaitResponse>, Status> {
        let caller = self.caller(&request)?;
        let (id, spec) = wait_from_wire(request.into_inner());
        let waited = self.engine.wait(&caller, id, spec).await;
        let waited = waited.map_err(status::wait)?;
        Ok(Response::new(waited_to_wire(waited)))
    }

    async fn attach(
        &self,
        request: Request<tonic::Streaming<wire::AttachInput>>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let caller = self.caller(&request)?;
        let answers = crate::attach::attach(&self.engine, &caller, request.into_inner()).await?;
        Ok(Response::new(answers))
    }

    async fn check_command(
        &self,
        request: Request<wire::CheckCommandRequest>,
    ) -> Result<Response<wire::CheckCommandResponse>, Status> {
        let caller = self.caller(&request)?;
        let (session, spec) = check_from_wire(request.into_inner());
        let checked = self.engine.check_command(&caller, &session, spec).await;
        let Checked { reading, decision } = checked.map_err(status::lookup)?;
        Ok(Response::new(glass_proto::check_command(
            &reading, &decision,
        )))
    }

    async fn list_approvals(
        &self,
        request: Request<wire::Empty>,
    ) -> Result<Response<wire::ListApprovalsResponse>, Status> {
        let caller = self.caller(&request)?;
        let waiting = self.engine.approvals(&caller).into_iter();
        let approvals = waiting.map(approval_to_wire).collect();
        Ok(Response::new(wire::ListApprovalsResponse { approvals }))
    }

    async fn resolve_approval(
        &self,
        request: Request<wire::ResolveApprovalRequest>,
    ) -> Result<Response<wire::Empty>, Status> {
        let caller = self.caller(&request)?;
        let (id, answer) = answer_from_wire(request.into_inner())?;
        let resolved = self.engine.resolve(&caller, &id, answer).await;
        resolved.map_err(status::answer)?;
        Ok(Response::new(wire::Empty {}))
    }

    async fn read_audit(
        &self,
        request: Request<wire::ReadAuditRequest>,
    ) -> Result<Response<Self::ReadAuditStream>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let engine = self.engine.clone();
        let (sender, receiver) = mpsc::channel(STREAM_MESSAGES_MAX);
        tokio::task::spawn_blocking(move || audit::send(&engine, &caller, request, &sender));
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }

    async fn verify_audit(
        &self,
        request: Request<wire::VerifyAuditRequest>,
    ) -> Result<Response<wire::VerifyAuditResponse>, Status> {
        let caller = self.caller(&request)?;
        let request = request.into_inner();
        let engine = self.engine.clone();
        let verified =
            tokio::task::spawn_blocking(move || audit::verify(&engine, &caller, &request))
                .await
                .map_err(|_| Status::internal("verifying the audit failed"))?;
        verified.map(Response::new)
    }

    async fn read_text(
        &self,
        request: Request<wire::ReadTextRequest>,
    ) -> Result<Response<wire::ReadTextResponse>, Status> {
        let caller = self.caller(&request)?;
        let read = text::read(&self.engine, caller, request.into_inner()).await;
        read.map(Response::new)
    }

    async fn search(
        &self,
        request: Request<wire::SearchRequest>,
    ) -> Result<Response<wire::SearchResponse>, Status> {
        let caller = self.caller(&request)?;
        let found = search::search(&self.engine, caller, request.into_inner()).await;
        found.map(Response::new)
    }

    async fn export_recording(
        &self,
        request: Request<wire::SessionRef>,
    ) -> Result<Response<Self::ExportRecordingStream>, Status> {
        let caller = self.caller(&request)?;
        let id = request.into_inner().session_id;
        let chunks = recording::open(&self.engine, &caller, &id).map_err(status::lookup)?;
        let answers = ReceiverStream::new(chunks).map(|chunk| {
            let data = chunk.map_err(status::lookup)?;
            Ok(wire::RecordingChunk { data })
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// What can be had here now; `page` is the page's address.
pub(crate) fn capabilities(engine: &Engine, page: &str) -> wire::Capabilities {
    wire::Capabilities {
        raw_sandbox_supported: engine.enforces_all(),
        sandbox_features: engine.sandbox_features(),
        shells: engine.shells().to_vec(),
        hosts: engine.hosts_now(),
        version: glass_proto::WIRE_VERSION.to_owned(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        page: page.to_owned(),
        host_details: engine.hosts().into_iter().map(host_to_wire).collect(),
    }
}
