//! Something that can be called with the kernel's arguments.

use std::sync::{Arc, LazyLock};

use camino::Utf8PathBuf;
use kiln_build::{Artifact, Usage, code_hash};
use kiln_core::Config;
use kiln_judge::Geometry;

use crate::building::triton::Ahead;

/// Launches by the name of the workload.
pub type Laid = Arc<Vec<(String, Vec<Geometry>)>>;

/// What is called.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// A built library for the processor.
    Library {
        /// Its path.
        path: Utf8PathBuf,
        /// The build's key.
        key: String,
        /// The configuration it was built with; empty for references and baselines.
        config: Config,
    },
    /// Kernels for a GPU.
    Cubin {
        /// The path of the cubin.
        path: Utf8PathBuf,
        /// The build's key.
        key: String,
        /// The configuration it was built with.
        config: Config,
        /// Each kernel as the file writes it, and its symbol.
        symbols: Vec<(String, String)>,
        /// What the compiler says each kernel takes.
        usage: Vec<Usage>,
        /// Its launches, where another file than the bench's says what they are.
        laid: Option<Laid>,
    },
    /// A library that launches on the GPU by itself.
    Launcher {
        /// Its path.
        path: Utf8PathBuf,
        /// The build's key.
        key: String,
        /// The configuration it was built with; empty for baselines.
        config: Config,
    },
    /// A Python function.
    Python {
        /// The interpreter's command.
        interpreter: String,
        /// The file.
        file: Utf8PathBuf,
        /// The function in it.
        function: String,
        /// Tunables, passed by name; empty for references and baselines.
        config: Config,
        /// Whether it works on the GPU.
        device: bool,
        /// What was compiled ahead of its first call; none where nothing was tried.
        ahead: Option<Arc<Ahead>>,
    },
    /// A function that does nothing, in the worker's own program: it tells what everything around a call costs.
    Empty {
        /// The interpreter's command; none for the worker of libraries.
        interpreter: Option<String>,
        /// Whether it works on the GPU.
        device: bool,
    },
}

impl Subject {
    /// Stands for a subject where nothing is run.
    pub fn nothing() -> Subject {
        Subject::Library { path: Utf8PathBuf::new(), key: String::new(), config: Config::default() }
    }

    /// Its tunables; empty for references and baselines.
    pub(crate) fn config(&self) -> &Config {
        static NONE: LazyLock<Config> = LazyLock::new(Config::default);
        match self {
            Subject::Empty { .. } => &NONE,
            Subject::Library { config, .. }
            | Subject::Cubin { config, .. }
            | Subject::Launcher { config, .. }
            | Subject::Python { config, .. } => config,
        }
    }

    /// The hash of what was built; none where nothing is.
    pub fn key(&self) -> Option<&str> {
        match self {
            Subject::Library { key, .. } | Subject::Cubin { key, .. } | Subject::Launcher { key, .. } => Some(key),
            Subject::Python { ahead, .. } => {
                ahead.as_ref().filter(|ahead| ahead.unable.is_none()).map(|ahead| ahead.key.as_str())
            }
            Subject::Empty { .. } => None,
        }
    }

    /// The hash of its machine code, without what debuggers need; none where it has none of its own, or cannot be read.
    pub fn code(&self) -> Option<String> {
        match self {
            Subject::Library { path, .. } | Subject::Cubin { path, .. } | Subject::Launcher { path, .. } => {
                code_hash(path)
            }
            Subject::Python { .. } | Subject::Empty { .. } => None,
        }
    }

    /// A Python function whose kernels were compiled ahead, as the artifact says.
    pub(crate) fn built_ahead(mut self, artifact: &Artifact) -> Subject {
        if let Subject::Python { ahead, .. } = &mut self {
            *ahead = Ahead::of(artifact).map(Arc::new);
        }
        self
    }

    /// Why nothing could be compiled ahead, where that was tried.
    pub(crate) fn unable(&self) -> Option<&str> {
        let Subject::Python { ahead: Some(ahead), .. } = self else { return None };
        ahead.unable.as_deref()
    }

    /// The hash of the file of a Python function; none for what is built, or where it cannot be read.
    pub(crate) fn source(&self) -> Option<String> {
        let Subject::Python { file, .. } = self else { return None };
        kiln_build::fingerprint(std::slice::from_ref(file), &[]).ok()
    }

    /// The function that does nothing in a worker of the same kind; none for kernels that kiln launches itself.
    pub(crate) fn emptied(&self) -> Option<Subject> {
        let (interpreter, device) = match self {
            Subject::Library { .. } | Subject::Empty { .. } => (None, false),
            Subject::Launcher { .. } => (None, true),
            Subject::Python { interpreter, device, .. } => (Some(interpreter.clone()), *device),
            Subject::Cubin { .. } => return None,
        };
        Some(Subject::Empty { interpreter, device })
    }

    /// Whether it works in a GPU's memory with code of its own on the host: that could reach what its process keeps.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self, Subject::Launcher { .. } | Subject::Python { device: true, .. })
    }

    /// Whether it works in a GPU's memory.
    pub fn on_device(&self) -> bool {
        match self {
            Subject::Library { .. } => false,
            Subject::Cubin { .. } | Subject::Launcher { .. } => true,
            Subject::Python { device, .. } | Subject::Empty { device, .. } => *device,
        }
    }
}
