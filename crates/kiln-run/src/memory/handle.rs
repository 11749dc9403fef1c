//! Shared memory as part of a question. It travels beside the line, as an open file: a worker needs no path to it, and
//! can be kept away from every other file of its parent.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// An open file that goes with a question; none when a question came without one.
#[derive(Debug, Clone, Default)]
pub struct Handle(Option<Arc<File>>);

impl Handle {
    pub(crate) fn of(file: Arc<File>) -> Handle {
        Handle(Some(file))
    }

    /// The file, or in words that there is none.
    pub(crate) fn file(&self) -> Result<&File, String> {
        self.0.as_deref().ok_or_else(|| "no shared memory came with the question".into())
    }
}

/// The same open file.
impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        let number = |handle: &Handle| handle.0.as_ref().map(|file| file.as_raw_fd());
        number(self) == number(other)
    }
}
