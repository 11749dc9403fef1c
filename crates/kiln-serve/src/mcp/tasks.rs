//! Long calls as tasks, for clients that declare the Tasks extension: a handle at once, the result by asking for it. In: a call. Out: a task. A
//! study's task follows the study to its end; cancelling a task stops what it does, and leaves what is done recorded.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResult, JsonObject, Task};
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use serde_json::{Value, json};

use super::arguments::Given;
use super::server::{Asked, Shared, perform};
use super::tool::{Effect, Tool};
use super::tools::tune;

/// A task that is not over by then is ended: longer than any tool's bound.
const LONGEST: Duration = Duration::from_secs(26 * 3600);
/// Between one question of a client and the next.
const POLL: Duration = Duration::from_secs(2);

/// Whether a tool takes longer than a client waits.
pub(super) fn is_long(tool: &Tool) -> bool {
    let runs = tool.effect == Effect::Runs;
    runs && ((tool.measures)(&Given::default()).is_some()
        || tool.arguments.iter().flat_map(|own| own.iter()).any(|own| own.name == "minutes"))
}

/// Begins one.
pub(super) fn begin(shared: &Arc<Shared>, tool: &'static Tool, sent: JsonObject) -> Task {
    let options = TaskOptions::new()
        .with_ttl_ms(LONGEST.as_millis() as u64)
        .with_poll_interval_ms(POLL.as_millis() as u64)
        .with_status_message(format!("{} begins", tool.name));
    let shared = shared.clone();
    let tasks = shared.tasks.clone();
    tasks.spawn(options, move |context| {
        Box::pin(async move {
            let (progress, telling) = telling(&context);
            let asked = Asked { tool, sent, progress };
            let result = perform(shared.clone(), asked, until_cancelled(context.clone())).await;
            let _ = telling.await;
            let launch = result.structured_content.as_ref().and_then(|found| found["result"]["launch"].as_str());
            match (tool.name == tune::START.name, launch.map(String::from)) {
                (true, Some(launch)) => followed(shared, &launch, &context).await,
                _ if context.is_cancel_requested() => Err(TaskExit::Cancelled),
                _ => Ok(result),
            }
        })
    })
}

async fn until_cancelled(context: TaskContext) {
    context.cancelled().await;
}

/// A study to its end.
async fn followed(shared: Arc<Shared>, launch: &str, context: &TaskContext) -> Result<CallToolResult, TaskExit> {
    let call = |tool: &'static Tool, sent: Value| {
        let (progress, telling) = telling(context);
        let sent = sent.as_object().cloned().unwrap_or_default();
        let shared = shared.clone();
        async move {
            let result = perform(shared, Asked { tool, sent, progress }, std::future::pending()).await;
            let _ = telling.await;
            result
        }
    };
    let mut asked_to_stop = false;
    loop {
        if context.is_cancel_requested() && !asked_to_stop {
            asked_to_stop = true;
            // One that is over by now needs no stop.
            call(&tune::STOP, json!({ "study": launch })).await;
        }
        let found = call(&tune::STATUS, json!({ "study": launch, "wait_s": POLL.as_secs() })).await;
        let state = found.structured_content.as_ref().map(|found| found["result"]["state"].clone());
        match state.as_ref().and_then(Value::as_str) {
            Some("starting" | "running") => {}
            _ if asked_to_stop => return Err(TaskExit::Cancelled),
            _ => return Ok(found),
        }
    }
}

/// The last thing that happened is the task's status.
fn telling(context: &TaskContext) -> (Option<tokio::sync::mpsc::UnboundedSender<String>>, tokio::task::JoinHandle<()>) {
    let (out, mut all) = tokio::sync::mpsc::unbounded_channel::<String>();
    let context = context.clone();
    let task = tokio::spawn(async move {
        while let Some(words) = all.recv().await {
            context.set_status_message(words);
        }
    });
    (Some(out), task)
}
