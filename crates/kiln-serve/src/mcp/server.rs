//! The server: what a client may ask, and how a call runs. In: requests of either revision of the protocol, as rmcp reads them. Out: answers. An
//! operation blocks, so it runs on a thread of its own; a panic in it is an error of that call. What a client is told on the way are
//! events; when it gives up, the operation is asked to stop.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kiln_app::{Event, Failure, Fault, Project, Report, Stop, What};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CreateTaskResult,
    CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool as Listed, ToolAnnotations, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::answer::{Said, envelope, output_schema};
use super::arguments::{Given, schema};
use super::measuring::{self, Hold};
use super::place::Place;
use super::tool::{ALL, Call, Effect, Tool};
use super::{progress, prompts, resources, tasks};

/// How long lists stay fresh: they change with the server alone.
const FRESH_MS: u64 = 3_600_000;

/// Requests with what they take.
const TAKING: &[(&str, &str)] = &[
    ("tools/call", "`name`, a string, and `arguments`, an object"),
    ("resources/read", "`uri`, a string"),
    ("prompts/get", "`name`, a string, and `arguments`, an object of strings"),
    ("tools/list", "an object, or no parameters"),
    ("resources/list", "an object, or no parameters"),
    ("resources/templates/list", "an object, or no parameters"),
    ("prompts/list", "an object, or no parameters"),
    ("tasks/get", "`taskId`, a string"),
    ("tasks/update", "`taskId`, a string, and `inputResponses`, an object"),
    ("tasks/cancel", "`taskId`, a string"),
];

/// What a client is told first.
const INSTRUCTIONS: &str = "kiln makes GPU kernels fast and proves it. Work in its loop: call `next`, do that one thing, call `next` again. Correctness comes before speed: \
    gate, check, fuzz, then bench or tune. Report a figure only with its interval, verdict, baseline, device and workload, and list what `evidence.not_checked` \
    names; `evidence.may_claim` is the most that a result supports. `too_noisy`, `inconclusive`, `not_run` and a refusal are results: report them as they are. Never \
    edit a reference, a tolerance, a baseline or a workload to make a kernel pass or look fast. One measurement runs at a time in a project; a busy answer means wait.";

/// What calls share.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) shared: Arc<Shared>,
}

/// The project a server works on.
pub(super) struct Shared {
    pub(super) project: Project,
    pub(super) place: Place,
    /// How kiln is called so that it finds the same store.
    pub(super) kiln: String,
    pub(super) read_only: bool,
    pub(super) tasks: TaskManager,
}

/// One call, from whoever it comes.
pub(super) struct Asked {
    pub(super) tool: &'static Tool,
    pub(super) sent: JsonObject,
    /// Where progress goes; none for nobody.
    pub(super) progress: Option<UnboundedSender<String>>,
}

impl Server {
    /// A server for the folder the process is in.
    pub(super) fn new(project: Project, kiln: String, read_only: bool) -> std::io::Result<Server> {
        let project = if read_only { project.unrecorded() } else { project };
        let place = Place::here()?;
        Ok(Server { shared: Arc::new(Shared { project, place, kiln, read_only, tasks: TaskManager::new() }) })
    }

    /// The tools that this server offers, in a stable order.
    fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        let read_only = self.shared.read_only;
        ALL.iter().copied().filter(move |tool| !read_only || tool.effect == Effect::Looks)
    }

    fn tool(&self, name: &str) -> Result<&'static Tool, ErrorData> {
        self.tools().find(|tool| tool.name == name).ok_or_else(|| {
            let known = ALL.iter().any(|tool| tool.name == name);
            let why = if known { "left out: this server was started with --read-only" } else { "unknown tool" };
            let name: String = name.chars().take(60).collect();
            ErrorData::invalid_params(format!("{name}: {why}"), None)
        })
    }
}

/// Runs a call on a thread of its own. Dropping what is given back does not end it; `cancelled` does.
pub(super) async fn perform(
    shared: Arc<Shared>,
    asked: Asked,
    cancelled: impl Future<Output = ()> + Send + 'static,
) -> CallToolResult {
    let given_up = Arc::new(AtomicBool::new(false));
    let number: Arc<Mutex<Option<(u64, f64)>>> = Arc::default();
    let (held, mut holds) = tokio::sync::mpsc::channel::<()>(1);
    let watch = {
        let (given_up, number) = (given_up.clone(), number.clone());
        tokio::spawn(async move {
            let limit = async {
                // Before it holds the lock there is nothing to bound.
                if holds.recv().await.is_none() {
                    std::future::pending::<()>().await;
                }
                let minutes =
                    number.lock().unwrap_or_else(PoisonError::into_inner).map_or(f64::MAX, |(_, minutes)| minutes);
                let seconds = Duration::try_from_secs_f64(60.0 * minutes).unwrap_or(Duration::MAX);
                tokio::time::sleep(seconds).await;
            };
            tokio::select! {
                () = cancelled => given_up.store(true, Ordering::Relaxed),
                () = limit => {}
            }
            if let Some((number, _)) = *number.lock().unwrap_or_else(PoisonError::into_inner) {
                measuring::stop_holder(number);
            }
        })
    };
    // A thread that is not used again: measuring may leave it bound to processors.
    let (tell, told) = tokio::sync::oneshot::channel();
    let work = move || {
        let hold = |minutes: f64, what: &str| {
            let taken = Hold::take(shared.project.folder(), what)?;
            *number.lock().unwrap_or_else(PoisonError::into_inner) = Some((taken.number(), minutes));
            let _ = held.try_send(());
            // Who gave up before there was anything to stop.
            if given_up.load(Ordering::Relaxed) {
                measuring::stop_holder(taken.number());
            }
            Ok(taken)
        };
        let _ = tell.send(called(&shared, &asked, &given_up, hold));
    };
    let begun = std::thread::Builder::new().name("call".into()).spawn(work);
    let result = told.await;
    watch.abort();
    result.unwrap_or_else(|_| {
        let why = begun.err().map_or("it panicked; standard error says where".into(), |e| e.to_string());
        let fault = Fault::new("calling the tool", why).hint("if it panicked, this is a bug in kiln: please report it");
        envelope(Err(fault.into()), Said::default())
    })
}

/// What happens on that thread.
fn called(
    shared: &Shared,
    asked: &Asked,
    cancelled: &AtomicBool,
    hold: impl FnOnce(f64, &str) -> Result<Hold, Failure>,
) -> CallToolResult {
    let said = Mutex::new(Said::default());
    let tell = |words: String| {
        if let Some(out) = &asked.progress {
            let _ = out.send(words);
        }
    };
    let hear = |event: &Event| {
        said.lock().unwrap_or_else(PoisonError::into_inner).hear(event);
        progress::words(event).into_iter().for_each(tell);
    };
    let run = || {
        let given = Given::read(asked.tool.arguments, &asked.sent, &shared.place)?;
        let minutes = (asked.tool.measures)(&given);
        let what = format!("{} of {}", asked.tool.name, given.path("path").unwrap_or_else(|| ".".into()));
        // Held to the end of the call.
        let holding = minutes.map(|minutes| hold(minutes, &what)).transpose()?;
        let stop = if holding.is_some() { measuring::stop() } else { Stop::never() };
        let limit = given.real("build_limit_s");
        let project = shared.project.clone().stopped_by(stop).limited(limit)?;
        let call = Call { given, project: &project, listener: &hear, tell: &tell, kiln: &shared.kiln, cancelled };
        (asked.tool.run)(&call)
    };
    let answered = run();
    if let (true, Err(_)) = (cancelled.load(Ordering::Relaxed), &answered) {
        let stopped = Event { at_ms: 0, study: None, what: What::Note { text: "cancelled by the client".into() } };
        hear(&stopped);
    }
    envelope(answered, said.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// A tool as a client sees it: all four annotations are stated.
fn listed(tool: &Tool) -> Listed {
    let looks = tool.effect == Effect::Looks;
    let annotations = ToolAnnotations::with_title(tool.title)
        .read_only(looks)
        .destructive(tool.effect == Effect::Stops)
        .idempotent(tool.repeatable)
        .open_world(false);
    Listed::new(tool.name, tool.about, Arc::new(schema(tool.arguments)))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(output_schema(tool.answers, tool.own.map(|own| own()))))
        .with_annotations(annotations)
}

/// Sends what happens to a client that gave a token, in order; every number is greater than the last.
fn telling(context: &RequestContext<RoleServer>) -> (Option<UnboundedSender<String>>, tokio::task::JoinHandle<()>) {
    let Some(token) = context.meta.get_progress_token() else { return (None, tokio::spawn(async {})) };
    let (out, mut all) = unbounded_channel::<String>();
    let peer = context.peer.clone();
    let sending = tokio::spawn(async move {
        let mut count = 0.0;
        while let Some(words) = all.recv().await {
            count += 1.0;
            let told = ProgressNotificationParam::new(token.clone(), count).with_message(words);
            if peer.notify_progress(told).await.is_err() {
                break;
            }
        }
    });
    (Some(out), sending)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().enable_tasks().build();
        let mut about = Implementation::new("kiln", env!("CARGO_PKG_VERSION"));
        about.title = Some("kiln".into());
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = self.tools().map(listed).collect();
        Ok(ListToolsResult::with_all_items(all).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Listed> {
        self.tool(name).ok().map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name)?;
        let sent = request.arguments.unwrap_or_default();
        if tasks::is_long(tool) && context.client_capabilities().is_some_and(|client| client.supports_tasks()) {
            return Ok(CallToolResponse::Task(CreateTaskResult::new(tasks::begin(&self.shared, tool, sent))));
        }
        let (progress, sending) = telling(&context);
        let asked = Asked { tool, sent, progress };
        let cancelled = context.ct.clone().cancelled_owned();
        let result = perform(self.shared.clone(), asked, cancelled).await;
        // Nothing is told after the answer.
        let _ = sending.await;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let shared = self.shared.clone();
        let all = blocking(move || Ok(resources::list(&shared))).await?;
        Ok(ListResourcesResult::with_all_items(all).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all = resources::templates();
        Ok(ListResourceTemplatesResult::with_all_items(all).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let shared = self.shared.clone();
        Ok(blocking(move || resources::read(&shared, &request.uri)).await?.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list())
            .with_ttl_ms(FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let shared = self.shared.clone();
        let given = request.arguments.unwrap_or_default();
        Ok(blocking(move || prompts::get(&shared, &request.name, &given)).await?.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.shared.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.update_task(&request.task_id, request.input_responses)
    }

    /// What has the name of a request and not its form, and what has neither.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let known = TAKING.iter().find(|(method, _)| *method == request.method);
        Err(match known {
            Some((method, expected)) => ErrorData::invalid_params(format!("{method}: expected {expected}"), None),
            None => {
                let method: String = request.method.chars().take(60).collect();
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
            }
        })
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.cancel_task(&request.task_id)
    }
}

/// Reads the store on a thread where that may block.
async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ErrorData> + Send + 'static,
) -> Result<T, ErrorData> {
    let done = tokio::task::spawn_blocking(read).await;
    done.unwrap_or_else(|panic| Err(ErrorData::internal_error(panic.to_string(), None)))
}

/// A failure where the protocol has no result that could say so.
pub(super) fn refused(failure: &Failure) -> ErrorData {
    let data = serde_json::json!({ "errors": failure.reports() });
    let words: Vec<String> = failure.reports().iter().map(Report::to_string).collect();
    ErrorData::invalid_params(words.join("\n"), Some(data))
}
