//! `Attach`: one view of a session, from its first message to its end.

use crate::service::Answers;
use crate::status;
use glass_model::EventIndex;
use glass_proto::shellglass::v1 as wire;
use glass_proto::shellglass::v1::attach_input::Input;
use glass_proto::shellglass::v1::attach_output::Output;
use glass_session::{
    Access, AttachError, Caller, Clipboard, ConsoleWish, Engine, Shown, ViewKind, ViewReader,
    ViewSpec, ViewWriter,
};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

/// Time for a client to say what it wants to see.
const OPEN_WAIT: Duration = Duration::from_secs(30);

/// Messages that wait for a slow client. What it does not take is not queued:
/// it gets what is new when it reads on.
const MESSAGES_MAX: usize = 4;

/// Opens the view that the first message asks for.
pub(crate) async fn attach(
    engine: &Engine,
    caller: &Caller,
    mut input: Streaming<wire::AttachInput>,
) -> Result<Answers<wire::AttachOutput>, Status> {
    let first = tokio::time::timeout(OPEN_WAIT, input.message()).await;
    let first = first.map_err(|_| no_open("nothing came"))??;
    let Some(Input::Open(open)) = first.and_then(|message| message.input) else {
        return Err(no_open("the first message is not 'open'"));
    };
    let spec = spec(&open)?;
    let (reader, writer) = engine
        .open_view(caller, &open.session_id, spec)
        .await
        .map_err(refuse)?;
    let (sender, receiver) = mpsc::channel(MESSAGES_MAX);
    let typing = tokio::spawn(take(writer, input, sender.clone()));
    tokio::spawn(async move {
        show(reader, sender).await;
        // Nobody sees any more what would be typed.
        typing.abort();
    });
    Ok(Box::pin(ReceiverStream::new(receiver)))
}

fn no_open(why: &str) -> Status {
    let message = format!("the view was not opened: {why}");
    let hint = "send 'open' with the session's id first";
    status::with_hint(Code::InvalidArgument, message, hint)
}

fn spec(open: &wire::AttachOpen) -> Result<ViewSpec, Status> {
    let kind = match wire::View::try_from(open.view) {
        Ok(wire::View::Unspecified) => None,
        Ok(wire::View::Mirror) => Some(ViewKind::Mirror),
        Ok(wire::View::Terminal) => Some(ViewKind::Terminal),
        Ok(wire::View::Console) => Some(ViewKind::Console),
        Err(_) => {
            let message = format!("{} is no view", open.view);
            let hint = "use VIEW_MIRROR, VIEW_CONSOLE or VIEW_TERMINAL";
            return Err(status::with_hint(Code::InvalidArgument, message, hint));
        }
    };
    Ok(ViewSpec {
        kind,
        access: match open.read_only {
            true => Access::ReadOnly,
            false => Access::Interactive,
        },
        columns: open.cols,
        rows: open.rows,
        from: EventIndex::default(),
        console: ConsoleWish::default(),
        clipboard: match open.clipboard {
            true => Clipboard::Offered,
            false => Clipboard::Guarded,
        },
    })
}

/// Why there is no view, as the wire has it.
pub(crate) fn refuse(error: AttachError) -> Status {
    let message = error.to_string();
    match error {
        AttachError::Lookup(error) => status::lookup(error),
        AttachError::Unjudged(_) => status::with_hint(
            Code::PermissionDenied,
            message,
            "open it with read_only, or let a person set policy.agent to \"off\"",
        ),
        AttachError::NoSuchView { .. } => status::with_hint(
            Code::FailedPrecondition,
            message,
            "leave the view out to get the one that suits the session",
        ),
    }
}

/// Hands on what is typed until the client leaves.
async fn take(
    mut writer: ViewWriter,
    mut input: Streaming<wire::AttachInput>,
    sender: mpsc::Sender<Result<wire::AttachOutput, Status>>,
) {
    while let Ok(Some(message)) = input.message().await {
        match message.input {
            Some(Input::Data(bytes)) => writer.input(bytes).await,
            Some(Input::Resize(size)) => writer.resize(size.cols, size.rows).await,
            Some(Input::Binary(bytes)) => writer.binary(bytes).await,
            Some(Input::Announce(command)) => writer.announce(command),
            Some(Input::RefreshProperty(name)) => {
                let answer = to_wire(writer.refresh(&name));
                if sender.send(Ok(answer)).await.is_err() {
                    return;
                }
            }
            // A view is opened once, and has no use for the others.
            Some(Input::Open(_) | Input::Note(_)) | None => {}
        }
    }
}

/// Shows until the view is over or nobody looks.
async fn show(mut reader: ViewReader, sender: mpsc::Sender<Result<wire::AttachOutput, Status>>) {
    loop {
        let shown = tokio::select! {
            shown = reader.next() => shown,
            () = sender.closed() => return,
        };
        let message = match shown {
            Ok(Some(shown)) => Ok(to_wire(shown)),
            Ok(None) => return,
            Err(error) => Err(status::lookup(error)),
        };
        let is_last = message.is_err();
        if sender.send(message).await.is_err() || is_last {
            return;
        }
    }
}

fn to_wire(shown: Shown) -> wire::AttachOutput {
    let output = match shown {
        Shown::Opened {
            pid,
            cwd,
            name,
            icon,
        } => Output::Opened(wire::Opened {
            pid,
            cwd,
            name,
            icon: icon.to_owned(),
        }),
        Shown::Unsupported { name } => Output::Unsupported(wire::Unsupported { name }),
        Shown::Property { name, value } => Output::Property(wire::Property {
            name: name.to_owned(),
            value,
        }),
        Shown::Bytes { bytes, .. } => Output::Data(bytes),
        Shown::Ready { .. } => Output::Ready(wire::Ready {}),
        Shown::ReadOnlyInput => Output::ReadOnlyInput(wire::ReadOnlyInput {}),
        Shown::Exited { code } => Output::Exited(wire::Exited { code }),
    };
    wire::AttachOutput {
        output: Some(output),
    }
}
