//! Reports to a client that wants to know how a call goes.

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use std::time::Duration;

/// Between two reports.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// Says how a call goes. Its progress is the time that it has taken, which is
/// all that is known.
pub(super) async fn report(
    context: &RequestContext<RoleServer>,
    elapsed: Duration,
    message: String,
) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let progress = ProgressNotificationParam::new(token, elapsed.as_secs_f64());
    // A client that has gone needs no report.
    drop(
        context
            .peer
            .notify_progress(progress.with_message(message))
            .await,
    );
}
