//! Compilers that kiln-build does not know: whoever has one makes it a toolchain. In: a request with an order in that
//! compiler's own words. Out: a product of its own kind, cached like any other for as long as the compiler stands by it.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use kiln_core::{Fault, Outcome, Refusal};

use crate::artifact::{LOG, Symbols};
use crate::requests::request::Request;
use crate::toolchains::compile::too_long;
use crate::toolchains::process::Watch;

/// A compiler.
pub trait ForeignCompiler: std::fmt::Debug + Send + Sync {
    /// Its name and its version.
    fn title(&self) -> String;

    /// Its version.
    fn version(&self) -> &str;

    /// Everything about it that decides what comes out.
    fn identity(&self) -> Vec<String>;

    /// Builds within this time, while somebody wants it.
    fn build(&self, request: &Request, time: Duration, wanted: &dyn Fn() -> bool) -> Result<ForeignBuilt, Fault>;

    /// Whether what was built once is still there and still what this compiler would build.
    fn stands_by(&self, product: &[u8]) -> bool;
}

/// What came of a build.
#[derive(Debug, Clone, PartialEq)]
pub enum ForeignBuilt {
    /// The product, and what the compiler said.
    Passed(Vec<u8>, String),
    /// The compiler does not like it.
    Refused(Refusal),
    /// It did not come to an end in time.
    TooLong,
}

/// A compiler as a toolchain. Copies share it.
#[derive(Debug, Clone)]
pub struct Foreign(Arc<dyn ForeignCompiler>);

impl Foreign {
    /// The toolchain of a compiler.
    pub fn of(compiler: Arc<dyn ForeignCompiler>) -> Foreign {
        Foreign(compiler)
    }

    pub(crate) fn compiler(&self) -> &dyn ForeignCompiler {
        self.0.as_ref()
    }

    pub(crate) fn compile(
        &self,
        request: &Request,
        folder: &Utf8Path,
        watch: &Watch<'_>,
    ) -> Result<Outcome<Symbols>, Fault> {
        let wanted = || !watch.stopped.load(std::sync::atomic::Ordering::Relaxed);
        let write = |name: &str, bytes: &[u8]| {
            fs_err::write(folder.join(name), bytes).map_err(|e| Fault::new("writing to the build cache", e))
        };
        Ok(match self.0.build(request, watch.limits.timeout, &wanted)? {
            ForeignBuilt::Passed(product, log) => {
                write(request.product(), &product)?;
                write(LOG, log.as_bytes())?;
                Outcome::Passed(Vec::new())
            }
            ForeignBuilt::Refused(refusal) => Outcome::Refused(refusal),
            ForeignBuilt::TooLong => Outcome::Refused(too_long(watch.limits.timeout)),
        })
    }
}

/// The same compiler, not one like it.
impl PartialEq for Foreign {
    fn eq(&self, other: &Foreign) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Foreign {}
