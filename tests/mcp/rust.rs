//! rmcp's own client, over a socket in place of pipes: both revisions, every tool listed with its schemas, and long calls as tasks.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientCapabilities, ClientConfig, GetTaskParams,
    Implementation, ProtocolVersion, TaskPayload, TaskStatus,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use serde_json::{Value, json};

use crate::folder::{KILN, project};

type Client = RunningService<RoleClient, ClientConfig>;

/// A server that ends with its client.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn connected(folder: &Path, lifecycle: ClientLifecycleMode, with_tasks: bool) -> (Server, Client) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let other = theirs.try_clone().unwrap();
    let server = Command::new(KILN)
        .arg("mcp")
        .current_dir(folder)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::from(OwnedFd::from(other)))
        .spawn()
        .unwrap();
    ours.set_nonblocking(true).unwrap();
    let stream = tokio::net::UnixStream::from_std(ours).unwrap();
    let capabilities = match with_tasks {
        true => ClientCapabilities::builder().enable_tasks().build(),
        false => ClientCapabilities::default(),
    };
    let about = ClientConfig::new(capabilities, Implementation::new("test", "1"));
    let client = about.serve_with_lifecycle(stream, lifecycle).await.unwrap();
    (Server(server), client)
}

fn asked(name: &'static str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone())
}

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

fn calls_every_tool_that_looks(lifecycle: ClientLifecycleMode, version: ProtocolVersion, name: &str) {
    let folder = project(name);
    run(async {
        let (_server, client) = connected(&folder, lifecycle, false).await;
        assert_eq!(client.peer_info().unwrap().protocol_version, version);
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 19);
        for tool in &tools {
            assert!(tool.output_schema.is_some() && tool.annotations.is_some(), "{}", tool.name);
            // Without what they need they say so; with it they answer.
            let strange = json!({ "no such argument": 1 }).as_object().unwrap().clone();
            let asked = CallToolRequestParams::new(tool.name.clone()).with_arguments(strange);
            let answer = client.call_tool(asked).await.unwrap();
            assert_eq!(answer.is_error, Some(true), "{}", tool.name);
            assert_eq!(answer.structured_content.unwrap()["ending"], "bad_input");
        }
        for (name, arguments) in [
            ("describe", json!({ "path": "sample", "target": "cpu" })),
            ("next", json!({ "kernel": "sample" })),
            ("gate", json!({ "path": "sample", "target": "cpu", "until": "rules" })),
            ("history", json!({})),
            ("lessons_search", json!({})),
        ] {
            let answer = client.call_tool(asked(name, arguments)).await.unwrap();
            assert_ne!(answer.is_error, Some(true), "{name}: {answer:?}");
            assert_eq!(answer.structured_content.unwrap()["ending"], "done");
        }
        client.cancel().await.unwrap();
    });
}

#[test]
fn rmcp_lists_and_calls_tools_with_a_handshake() {
    calls_every_tool_that_looks(ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25, "rust-legacy");
}

#[test]
fn rmcp_lists_and_calls_tools_without_one() {
    calls_every_tool_that_looks(modern(), ProtocolVersion::V_2026_07_28, "rust-modern");
}

async fn ended(client: &Client, id: &str) -> TaskPayload {
    loop {
        let task = client.get_task(GetTaskParams::new(id)).await.unwrap().task;
        if task.status().is_terminal() {
            return task.payload;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn begun(client: &Client, name: &'static str, arguments: Value) -> String {
    match client.call_tool_once(asked(name, arguments)).await.unwrap() {
        CallToolResponse::Task(made) => made.task.task_id,
        other => panic!("no task: {other:?}"),
    }
}

/// A study's task follows it to its end; one that is cancelled leaves what is done.
#[test]
fn long_calls_are_tasks_for_a_client_that_declares_them() {
    let folder = project("rust-tasks");
    run(async {
        let (_server, client) = connected(&folder, modern(), true).await;
        let id = begun(&client, "check", json!({ "path": "sample", "target": "cpu" })).await;
        let TaskPayload::Completed { result } = ended(&client, &id).await else { panic!("not completed") };
        assert_eq!(result["structuredContent"]["evidence"]["verdict"], "passed");
        // What is short is answered at once.
        let short = client.call_tool_once(asked("history", json!({}))).await.unwrap();
        assert!(matches!(short, CallToolResponse::Complete(_)));

        let study = json!({ "path": "sample", "target": "cpu", "trials": 2, "samples": 25, "no_stop": true, "no_ablation": true, "no_prior": true });
        let id = begun(&client, "tune_start", study).await;
        let TaskPayload::Completed { result } = ended(&client, &id).await else { panic!("not completed") };
        assert_eq!(result["structuredContent"]["result"]["state"], "finished", "{result:?}");

        let long = json!({ "path": "sample", "target": "cpu", "trials": 10000, "minutes": 600, "no_stop": true, "strategy": "random", "name": "long" });
        let id = begun(&client, "tune_start", long).await;
        // Once it has tried something.
        loop {
            let task = client.get_task(GetTaskParams::new(&id)).await.unwrap().task;
            assert!(!task.status().is_terminal(), "{task:?}");
            let found = client.call_tool(asked("tune_status", json!({ "study": "long" }))).await.unwrap();
            let tried = found.structured_content.unwrap()["result"]["progress"]["tried"].as_u64();
            if tried.is_some_and(|tried| tried > 1) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        client.cancel_task(CancelTaskParams::new(&id)).await.unwrap();
        assert_eq!(ended(&client, &id).await.status(), TaskStatus::Cancelled);
        let found = client.call_tool(asked("tune_status", json!({ "study": "long" }))).await.unwrap();
        assert_eq!(found.structured_content.unwrap()["result"]["state"], "interrupted");
        client.cancel().await.unwrap();
    });
}
