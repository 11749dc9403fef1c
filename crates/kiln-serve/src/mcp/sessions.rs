//! Sessions over HTTP, in the revision that has them: a client that loses its connection may take up the answer again, so a call goes on for a
//! while without anybody who listens. Then it is cancelled, as if the client had said so. In: streams of answers. Out: the same,
//! watched. Where a client comes back in time, nothing happens.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, Notification, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, SessionManager};
use tokio::task::AbortHandle;

/// So long a call goes on for a client that is gone.
const GRACE: Duration = Duration::from_secs(10);

/// Every session.
#[derive(Default)]
pub(super) struct Sessions(Arc<Shared>);

#[derive(Default)]
struct Shared {
    own: LocalSessionManager,
    /// Calls without an answer, by session and number of their stream.
    open: Mutex<HashMap<Key, Open>>,
}

type Key = (SessionId, String);

/// A call without an answer.
struct Open {
    request: RequestId,
    /// Connections that wait for the answer.
    listening: usize,
    /// What cancels it, while there is none.
    cancelling: Option<AbortHandle>,
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, HashMap<Key, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody is back for the answer.
    fn taken_up(&self, key: &Key) {
        if let Some(call) = self.open().get_mut(key) {
            call.listening += 1;
            call.cancelling.take().iter().for_each(AbortHandle::abort);
        }
    }

    /// Somebody is gone. The last one has a while to come back.
    fn left(self: &Arc<Self>, key: &Key) {
        let mut open = self.open();
        let Some(call) = open.get_mut(key) else { return };
        call.listening = call.listening.saturating_sub(1);
        if call.listening == 0 {
            call.cancelling = self.cancel_later(key.clone(), call.request.clone());
        }
    }

    fn cancel_later(self: &Arc<Self>, key: Key, request: RequestId) -> Option<AbortHandle> {
        let shared = self.clone();
        let cancelling = async move {
            tokio::time::sleep(GRACE).await;
            shared.open().remove(&key);
            let why = CancelledNotificationParam::new(Some(request), Some("the client is gone".into()));
            let message = ClientNotification::CancelledNotification(Notification::new(why));
            // A session that is over by now has nothing to cancel.
            let _ = shared.own.accept_message(&key.0, JsonRpcMessage::notification(message)).await;
        };
        Some(tokio::runtime::Handle::try_current().ok()?.spawn(cancelling).abort_handle())
    }
}

/// A stream of an answer.
struct Watched {
    own: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    shared: Arc<Shared>,
    session: SessionId,
    /// Its number in the session, once an event has told it.
    stream: Option<String>,
    /// What it answers; none once that is done, or where it is another stream's.
    request: Option<RequestId>,
}

impl Watched {
    fn key(&self) -> Option<Key> {
        Some((self.session.clone(), self.stream.clone()?))
    }

    fn heard(&mut self, event: &ServerSseMessage) {
        if self.stream.is_none() {
            self.stream = event.event_id.as_deref().and_then(number).map(String::from);
            if let (Some(key), Some(request)) = (self.key(), self.request.take()) {
                self.shared.open().insert(key, Open { request, listening: 1, cancelling: None });
            }
        }
        if matches!(event.message.as_deref(), Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))) {
            self.request = None;
            self.key().iter().for_each(|key| _ = self.shared.open().remove(key));
        }
    }
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let next = self.own.as_mut().poll_next(context);
        if let Poll::Ready(Some(event)) = &next {
            self.heard(event);
        }
        next
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        match (self.key(), self.request.take()) {
            (Some(key), _) => self.shared.left(&key),
            // One that never said its number cannot be taken up again.
            (None, Some(request)) => _ = self.shared.cancel_later((self.session.clone(), String::new()), request),
            (None, None) => {}
        }
    }
}

/// The stream of an event, `INDEX/STREAM`; none of what belongs to no request.
fn number(event: &str) -> Option<&str> {
    event.split_once('/').map(|(_, stream)| stream)
}

impl SessionManager for Sessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.0.own.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.0.own.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.0.own.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.0.own.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let own = Box::pin(self.0.own.create_stream(id, message).await?);
        Ok(Watched { own, shared: self.0.clone(), session: id.clone(), stream: None, request })
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.0.own.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.0.own.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = number(&last_event_id).map(String::from);
        let own = Box::pin(self.0.own.resume(id, last_event_id).await?);
        stream.iter().for_each(|stream| self.0.taken_up(&(id.clone(), stream.clone())));
        Ok(Watched { own, shared: self.0.clone(), session: id.clone(), stream, request: None })
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<Self::Transport>, Self::Error> {
        self.0.own.restore_session(id).await
    }
}
