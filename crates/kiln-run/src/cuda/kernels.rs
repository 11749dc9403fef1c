//! The kernels of a recorded graph. In: a graph. Out: the names of what it launches, each once and in order, as the driver
//! has them; nothing where the driver does not show all of it. What the driver copies and fills by itself is `[memcpy]` and
//! `[memset]`.

use std::collections::HashMap;
use std::ffi::CStr;

use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphNode, CUgraphNodeType, CUresult};

const KERNEL: u32 = CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL as u32;
const COPY: u32 = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY as u32;
const FILL: u32 = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET as u32;
const HOST: u32 = CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST as u32;
const CHILD: u32 = CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH as u32;
const CONDITIONAL: u32 = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL as u32;
/// Graphs in graphs at most.
const DEEPEST: usize = 8;

/// The names of what a graph launches; none where they are not known.
pub(super) fn names(graph: CUgraph) -> Option<Vec<String>> {
    let mut found = Found::default();
    found.walk(graph, 0)?;
    Some(found.names)
}

/// Whether a graph calls a function on the host.
pub(super) fn calls_host(graph: CUgraph) -> bool {
    let mut found = Found::default();
    // What the walk cannot see is not known to.
    let _ = found.walk(graph, 0);
    found.host
}

#[derive(Default)]
struct Found {
    /// Whether a function of the host is among the nodes.
    host: bool,
    names: Vec<String>,
    /// Names by handle: most nodes of a sample are launches of the same few kernels.
    known: HashMap<usize, String>,
}

impl Found {
    fn walk(&mut self, graph: CUgraph, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        for node in nodes(graph)? {
            // As a number: a newer driver may have kinds that the bindings do not know.
            let mut kind = 0_u32;
            // SAFETY: the node is one of a valid graph; one word is filled in, and the bindings' type is as large as that.
            done(unsafe { sys::cuGraphNodeGetType(node, std::ptr::from_mut(&mut kind).cast()) })?;
            match kind {
                KERNEL => self.add_kernel(node)?,
                HOST => self.host = true,
                COPY => self.add("[memcpy]"),
                FILL => self.add("[memset]"),
                CHILD => {
                    let mut child = std::ptr::null_mut();
                    // SAFETY: the node holds a graph, whose handle is filled in; it lives as long as its owner.
                    done(unsafe { sys::cuGraphChildGraphNodeGetGraph(node, &mut child) })?;
                    self.walk(child, depth + 1)?;
                }
                // What a condition launches is not shown.
                CONDITIONAL => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn add_kernel(&mut self, node: CUgraphNode) -> Option<()> {
        // SAFETY: all zeros are parameters of null pointers and numbers.
        let mut launch: CUDA_KERNEL_NODE_PARAMS = unsafe { std::mem::zeroed() };
        // SAFETY: the node is a kernel's; the parameters are filled in, and their pointers are not followed.
        done(unsafe { sys::cuGraphKernelNodeGetParams_v2(node, &mut launch) })?;
        let key = if launch.func.is_null() { launch.kern as usize } else { launch.func as usize };
        if key == 0 {
            return None;
        }
        if let Some(name) = self.known.get(&key).cloned() {
            self.add(&name);
            return Some(());
        }
        let mut text = std::ptr::null();
        done(if launch.func.is_null() {
            // SAFETY: the only handle there is belongs to a kernel that is loaded; a pointer is filled in.
            unsafe { sys::cuKernelGetName(&mut text, launch.kern) }
        } else {
            // SAFETY: the function is loaded; a pointer is filled in.
            unsafe { sys::cuFuncGetName(&mut text, launch.func) }
        })?;
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, ends with a null byte, and stays until the kernel is unloaded, which nobody does meanwhile.
        let name = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        self.add(&name);
        self.known.insert(key, name);
        Some(())
    }

    fn add(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.into());
        }
    }
}

fn nodes(graph: CUgraph) -> Option<Vec<CUgraphNode>> {
    let mut count = 0;
    // SAFETY: the graph is valid; with no list given only the number is filled in.
    done(unsafe { sys::cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count) })?;
    let mut nodes: Vec<CUgraphNode> = vec![std::ptr::null_mut(); count];
    // SAFETY: the list has room for as many as the number says.
    done(unsafe { sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count) })?;
    nodes.truncate(count);
    Some(nodes)
}

fn done(code: CUresult) -> Option<()> {
    (code == CUresult::CUDA_SUCCESS).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_kept_once_and_in_order() {
        let mut found = Found::default();
        ["b", "a", "[memset]", "b", "a"].iter().for_each(|name| found.add(name));
        assert_eq!(found.names, ["b", "a", "[memset]"]);
    }

    #[test]
    fn kinds_of_nodes_are_those_that_the_worker_in_python_knows() {
        assert_eq!([KERNEL, COPY, FILL, CHILD, CONDITIONAL], [0, 1, 2, 4, 13]);
        assert_eq!(std::mem::size_of::<CUgraphNodeType>(), std::mem::size_of::<u32>());
    }

    #[test]
    fn parameters_of_a_launch_are_laid_out_as_the_worker_in_python_takes_them() {
        assert_eq!(std::mem::size_of::<CUDA_KERNEL_NODE_PARAMS>(), 72);
        assert_eq!(std::mem::offset_of!(CUDA_KERNEL_NODE_PARAMS, func), 0);
        assert_eq!(std::mem::offset_of!(CUDA_KERNEL_NODE_PARAMS, kern), 56);
    }
}
