//! What is to be called. In: a path. Out: a cubin's kernels, by name, or the one function of a library of host launchers.
//! Refuses what the driver or the loader refuses.

use std::ffi::{CString, c_int, c_void};

use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUmodule, CUstream};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};

use super::driver::{Trouble, check};
use crate::serving::cpu::unloadable;

/// The generated function of a library of host launchers: pointers and a stream, 0 or the number of an error.
type Entry = unsafe extern "C" fn(*mut *mut c_void, *mut c_void) -> c_int;

/// A loaded candidate.
pub(super) enum Module {
    Cubin(Cubin),
    Launcher(Launcher),
    /// As good as nothing, done on the device: what is around it costs what it costs.
    Nothing,
}

impl Module {
    pub(super) fn load(path: &str, symbol: &str) -> Result<Module, Trouble> {
        if path.is_empty() {
            return Ok(Module::Nothing);
        }
        if path.ends_with(".cubin") || path.ends_with(".ptx") {
            return Cubin::load(path).map(Module::Cubin);
        }
        Launcher::load(path, symbol).map(Module::Launcher)
    }
}

/// Kernels, launched by this process.
pub(super) struct Cubin {
    module: CUmodule,
}

impl Cubin {
    fn load(path: &str) -> Result<Cubin, Trouble> {
        let mut image = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
        // Were it text, the driver would look for its end.
        image.push(0);
        let mut module = std::ptr::null_mut();
        // SAFETY: the driver reads as much as the image's own header says, and keeps a copy. An image that lies about its
        // length is what this process exists to bear.
        check("cuModuleLoadData", unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) })?;
        Ok(Cubin { module })
    }

    /// A kernel by its symbol.
    pub(super) fn function(&self, symbol: &str) -> Result<CUfunction, Trouble> {
        let name = CString::new(symbol).map_err(|e| format!("cuModuleGetFunction: `{symbol}`: {e}"))?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a null byte, one handle is filled in.
        let code = unsafe { sys::cuModuleGetFunction(&mut function, self.module, name.as_ptr()) };
        check("cuModuleGetFunction", code).map_err(|mut trouble| {
            trouble.failed.words = format!("{}: `{symbol}`", trouble.failed.words);
            trouble
        })?;
        Ok(function)
    }

    /// Where a variable lies, and its bytes.
    pub(super) fn variable(&self, symbol: &str) -> Result<(CUdeviceptr, usize), Trouble> {
        let name = CString::new(symbol).map_err(|e| format!("cuModuleGetGlobal: `{symbol}`: {e}"))?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends with a null byte, an address and a number are filled in.
        let code = unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.module, name.as_ptr()) };
        check("cuModuleGetGlobal", code).map_err(|mut trouble| {
            trouble.failed.words = format!("{}: `{symbol}`", trouble.failed.words);
            trouble
        })?;
        Ok((address, bytes))
    }
}

/// Its kernels must have ended.
impl Drop for Cubin {
    fn drop(&mut self) {
        // SAFETY: loaded by `load` and unloaded only here; functions found in it are forgotten before.
        let _ = unsafe { sys::cuModuleUnload(self.module) };
    }
}

/// A function that launches kernels itself.
pub(super) struct Launcher {
    entry: Entry,
    symbol: String,
}

impl Launcher {
    fn load(path: &str, symbol: &str) -> Result<Launcher, Trouble> {
        // SAFETY: loading runs the library's initialisers, foreign code that may do anything. That is the purpose of this
        // process, which holds nothing of value and is thrown away when it misbehaves.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| unloadable(path, &e))?;
        // SAFETY: the library was built with the generated function of exactly this type; the pointer stays good, since
        // the library is never closed.
        let found: Result<Symbol<Entry>, _> = unsafe { library.get(symbol.as_bytes()) };
        let entry = *found.map_err(|e| unloadable(path, &e))?;
        // The CUDA runtime inside it and threads it started may run until the process ends.
        std::mem::forget(library);
        Ok(Launcher { entry, symbol: symbol.into() })
    }

    /// Calls it. The pointers are a copy, for it may write to the array.
    pub(super) fn call(&self, mut pointers: Vec<*mut c_void>, stream: CUstream) -> Result<(), Trouble> {
        // SAFETY: the generated function reads as many pointers as the kernel has arguments, and was given that many.
        // What it then does is the very thing under test: this process exists to bear it.
        match unsafe { (self.entry)(pointers.as_mut_ptr(), stream.cast()) } {
            0 => Ok(()),
            code => Err(format!("host launcher: `{}` returned {code}", self.symbol).into()),
        }
    }
}
