//! CUDA graphs: calls recorded once and replayed without the cost of launching each. In: a stream and calls to record. Out:
//! a [`Graph`] that knows its kernels' names; refuses when the calls do something that cannot be recorded, or nothing at all.

use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUstream, CUstreamCaptureMode};

use super::driver::{Trouble, check};
use super::kernels::{calls_host, names};

/// A recorded sequence, ready to be replayed.
pub(super) struct Graph {
    ready: CUgraphExec,
    /// What it launches, by name; none where that is not known.
    pub(super) kernels: Option<Vec<String>>,
}

impl Graph {
    /// Records what `calls` puts on the stream; nothing of it runs meanwhile.
    pub(super) fn record(stream: CUstream, calls: impl FnOnce() -> Result<(), Trouble>) -> Result<Graph, Trouble> {
        // What would wait or allocate while it runs must not be recorded as if it did not: this mode forbids it.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the stream is ours.
        check("cuStreamBeginCapture", unsafe { sys::cuStreamBeginCapture_v2(stream, mode) })?;
        let called = calls();
        let mut recorded = Recorded { graph: std::ptr::null_mut() };
        // SAFETY: the stream is ours; one handle is filled in, null when recording went wrong.
        let ended = check("cuStreamEndCapture", unsafe { sys::cuStreamEndCapture(stream, &mut recorded.graph) });
        called?;
        ended?;
        if recorded.nodes()? == 0 {
            return Err("cuStreamEndCapture: nothing was recorded".into());
        }
        if calls_host(recorded.graph) {
            // Held back, the device would wait for the host, and the host in the launch for the device.
            return Err("cuStreamEndCapture: a function of the host was recorded".into());
        }
        let mut ready = std::ptr::null_mut();
        // SAFETY: the recorded graph is valid; one handle is filled in.
        let code = unsafe { sys::cuGraphInstantiateWithFlags(&mut ready, recorded.graph, 0) };
        check("cuGraphInstantiate", code)?;
        let graph = Graph { ready, kernels: names(recorded.graph) };
        // SAFETY: the graph was just made; the stream is ours.
        check("cuGraphUpload", unsafe { sys::cuGraphUpload(graph.ready, stream) })?;
        Ok(graph)
    }

    /// Puts all of it on the stream.
    pub(super) fn launch(&self, stream: CUstream) -> Result<(), Trouble> {
        // SAFETY: the graph lives as long as this, and is replayed in one stream only, so never beside itself.
        check("cuGraphLaunch", unsafe { sys::cuGraphLaunch(self.ready, stream) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made by `record` and destroyed only here; the driver lets a running one end first.
        let _ = unsafe { sys::cuGraphExecDestroy(self.ready) };
    }
}

/// What was recorded, until it is made ready.
struct Recorded {
    graph: CUgraph,
}

impl Recorded {
    fn nodes(&self) -> Result<usize, Trouble> {
        if self.graph.is_null() {
            return Ok(0);
        }
        let mut count = 0;
        // SAFETY: the graph is valid; with no list given only the number is filled in.
        let code = unsafe { sys::cuGraphGetNodes(self.graph, std::ptr::null_mut(), &mut count) };
        check("cuGraphGetNodes", code).map(|()| count)
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if !self.graph.is_null() {
            // SAFETY: given out by the end of the recording and destroyed only here.
            let _ = unsafe { sys::cuGraphDestroy(self.graph) };
        }
    }
}
