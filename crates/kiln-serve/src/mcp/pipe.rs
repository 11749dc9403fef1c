//! Messages over pipes, one in a line. In: what a client writes. Out: messages for the server; to a line that is no message at all, an answer that
//! says so, with the request's id where that can be read: without one the client would wait until it gives up. A line that is too long is
//! read to its end and never kept.

use std::io;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Bytes of a message at most, without the end of its line.
const LARGEST: usize = 16 << 20;
/// Of a line that is too long, so many bytes are looked through for an id.
const HEAD: usize = 64 << 10;
/// Bytes on their way from one reader to the next.
const BUFFER: usize = 64 << 10;
/// Answers that wait for a client that does not read; after that nothing more is read of it.
const WAITING: usize = 16;

/// An answer on its way.
type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Both pipes of a client.
pub(super) struct Pipes<W: AsyncWrite> {
    messages: AsyncRwTransport<RoleServer, DuplexStream, W>,
    refused: Receiver<TxJsonRpcMessage<RoleServer>>,
    /// Kept here: who waits for a message may stop waiting in the middle of it.
    sending: Option<Sending>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Pipes<W> {
    /// Begins to read.
    pub(super) fn new(from: impl AsyncRead + Send + Unpin + 'static, to: W) -> Pipes<W> {
        let (inside, messages) = duplex(BUFFER);
        let (refuse, refused) = channel(WAITING);
        tokio::spawn(sorted(BufReader::new(from), inside, refuse));
        // What is longer never comes as far.
        let messages = AsyncRwTransport::new(messages, to).with_max_line_length(LARGEST + 2);
        Pipes { messages, refused, sending: None }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Pipes<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.messages.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                // A client that is gone is seen where messages are read.
                let _ = sending.await;
                self.sending = None;
            }
            tokio::select! {
                biased;
                Some(refusal) = self.refused.recv() => self.sending = Some(Box::pin(self.messages.send(refusal))),
                message = self.messages.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.messages.close().await
    }
}

/// A line as it was read.
enum Line {
    Whole(Vec<u8>),
    /// Its beginning.
    TooLong(Vec<u8>),
}

/// Passes messages on, and answers what is none, until the client has nothing more to say.
async fn sorted<R: AsyncBufRead + Unpin>(
    mut from: R,
    mut to: DuplexStream,
    refuse: Sender<TxJsonRpcMessage<RoleServer>>,
) {
    while let Ok(Some(line)) = line(&mut from).await {
        let (id, error) = match line {
            Line::Whole(line) => match judged(&line) {
                Ok(()) => match to.write_all(&line).await {
                    Ok(()) => continue,
                    Err(_) => return,
                },
                Err(why) => {
                    let words = format!("the message cannot be read: {why}; expected JSON in one line");
                    (id(&line), ErrorData::parse_error(words, None))
                }
            },
            Line::TooLong(head) => {
                let words = format!("the message has more than {LARGEST} bytes; send less at once");
                (id(&head), ErrorData::invalid_request(words, None))
            }
        };
        if refuse.send(TxJsonRpcMessage::<RoleServer>::error(error, id)).await.is_err() {
            return;
        }
    }
}

/// The next line with its end; none at the end of everything, where the rest of a line is no message.
async fn line<R: AsyncBufRead + Unpin>(from: &mut R) -> io::Result<Option<Line>> {
    let (mut line, mut long) = (Vec::new(), false);
    loop {
        let there = from.fill_buf().await?;
        if there.is_empty() {
            return Ok(None);
        }
        let end = there.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(there.len(), |end| end + 1);
        if !long && line.len() + taken > LARGEST + 2 {
            long = true;
            line.extend_from_slice(&there[..taken.min(HEAD)]);
            line.truncate(HEAD);
            line.shrink_to_fit();
        } else if !long {
            line.extend_from_slice(&there[..taken]);
        }
        from.consume(taken);
        if end.is_some() {
            return Ok(Some(if long { Line::TooLong(line) } else { Line::Whole(line) }));
        }
    }
}

/// Whether a line is JSON that a message can be read from; a blank one is none, and nothing to answer.
fn judged(line: &[u8]) -> Result<(), serde_json::Error> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    match line.trim_ascii().is_empty() {
        true => Ok(()),
        false => serde_json::from_slice::<Anything>(line).map(drop),
    }
}

/// The id of a request, by its text alone: the rest need not be JSON.
fn id(line: &[u8]) -> Option<RequestId> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let begin = at;
                at += 1;
                while line.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if line[at] == b'\\' { 2 } else { 1 };
                }
                let rest = line.get(at + 1..).unwrap_or_default().trim_ascii_start();
                if let (1, Some(b"\"id\""), Some(value)) = (depth, line.get(begin..=at), rest.strip_prefix(b":")) {
                    return match serde_json::Deserializer::from_slice(value).into_iter().next()?.ok()? {
                        Value::String(text) => Some(RequestId::String(text.into())),
                        Value::Number(number) => number.as_i64().map(RequestId::Number),
                        _ => None,
                    };
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Any JSON, read as messages are and kept nowhere.
struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Anything, D::Error> {
        from.deserialize_any(Anything)
    }
}

impl<'de> Visitor<'de> for Anything {
    type Value = Anything;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_str<E>(self, _: &str) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Anything, A::Error> {
        while all.next_element::<Anything>()?.is_some() {}
        Ok(Anything)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Anything, A::Error> {
        while all.next_entry::<Anything, Anything>()?.is_some() {}
        Ok(Anything)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_where_the_rest_cannot_be_read() {
        let number = |id| Some(RequestId::Number(id));
        for (line, found) in [
            (r#"{"jsonrpc":"2.0","id":7,"params":NaN}"#, number(7)),
            (r#"{"params":{"id":1,"a":[{"id":2}]},"id" : 3, oops"#, number(3)),
            (r#"{"id":"a\"b","x":1e999}"#, Some(RequestId::String("a\"b".into()))),
            (r#"{"a":"\"id\":1","id":-4}"#, number(-4)),
            (r#"{"id":{"a":1}}"#, None),
            (r#"{"id":1.5}"#, None),
            (r#"{"params":{"id":1}}"#, None),
            (r#""id":1"#, None),
            ("not json", None),
            (r#"{"id"#, None),
            (r#"{"id\"#, None),
            (r#"{"id":"#, None),
        ] {
            assert_eq!(id(line.as_bytes()), found, "{line}");
        }
    }

    #[test]
    fn what_messages_are_read_from_passes_and_nothing_else() {
        for line in ["{}", " [1, 2.5, -3, null, true, \"\u{1F600}\"]\r\n", "", " \n", "\u{feff}{}"] {
            assert!(judged(line.as_bytes()).is_ok(), "{line}");
        }
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        for line in [b"nope".as_slice(), b"{", b"{} {}", b"[NaN]", b"[1e999]", b"[\"\xff\"]", deep.as_bytes()] {
            assert!(judged(line).is_err(), "{}", String::from_utf8_lossy(&line[..line.len().min(40)]));
        }
    }
}
