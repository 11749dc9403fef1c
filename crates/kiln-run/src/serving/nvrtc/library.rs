//! NVRTC's functions, looked up in the library at run time. In: a path. Out: programs to compile. Every code it returns is
//! looked at; an error names the call and what NVRTC says of it.

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

type Code = c_int;
/// NVRTC's `nvrtcProgram`, a pointer of its own.
type Handle = *mut std::ffi::c_void;

/// Codes of nvrtcCompileProgram that the source or its flags are to blame for: an option it does not know, and an error in the
/// source.
const BLAMED: [Code; 2] = [5, 6];
/// An error of the compiler itself on this source.
const BROKEN: Code = 11;

/// What became of a program.
pub(super) enum Compiled {
    Whole,
    /// The source or its flags are refused; the log says why.
    Refused,
    /// The compiler found itself at fault.
    Broken,
}

/// The library, loaded.
pub(super) struct Nvrtc {
    /// Kept open as long as anything of it is called.
    library: Library,
    /// Found by NVRTC by name when it is loaded already.
    _builtins: Vec<Library>,
}

impl Nvrtc {
    pub(super) fn open(path: &Path) -> io::Result<Nvrtc> {
        let mut builtins = Vec::new();
        let folder = path.parent().filter(|folder| folder.is_absolute());
        for file in folder.map(std::fs::read_dir).transpose()?.into_iter().flatten() {
            let file = file?;
            if file.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so.") {
                builtins.push(load(&file.path(), RTLD_GLOBAL)?);
            }
        }
        Ok(Nvrtc { library: load(path, RTLD_LOCAL)?, _builtins: builtins })
    }

    /// Major and minor.
    pub(super) fn version(&self) -> io::Result<(c_int, c_int)> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the function has this signature in every NVRTC; both pointers are to live integers.
        let code = unsafe {
            let call = self.function::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code>(c"nvrtcVersion")?;
            call(&mut major, &mut minor)
        };
        self.checked(c"nvrtcVersion", code)?;
        Ok((major, minor))
    }

    /// A program of this text, which messages call `name`.
    pub(super) fn program(&self, source: &[u8], name: &str) -> io::Result<Program<'_>> {
        type Create = unsafe extern "C" fn(
            *mut Handle,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> Code;
        let (source, name) = (CString::new(source)?, CString::new(name)?);
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the function has this signature in every NVRTC; both texts end with a zero and outlive the call, and no
        // headers are handed over, for which null is the value.
        let code = unsafe {
            let call = self.function::<Create>(c"nvrtcCreateProgram")?;
            call(&mut handle, source.as_ptr(), name.as_ptr(), 0, std::ptr::null(), std::ptr::null())
        };
        self.checked(c"nvrtcCreateProgram", code)?;
        Ok(Program { nvrtc: self, handle })
    }

    /// # Safety
    ///
    /// `F` must be the type of the function pointer of that name.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> io::Result<F> {
        // SAFETY: the type is the caller's promise; the pointer is used while the library is open.
        let symbol = unsafe { self.library.get::<F>(name.to_bytes_with_nul()) };
        symbol.map(|symbol| *symbol).map_err(io::Error::other)
    }

    fn checked(&self, call: &CStr, code: Code) -> io::Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function has this signature in every NVRTC, and gives a text that is never freed, for any code.
        let text = unsafe {
            let name = self.function::<unsafe extern "C" fn(Code) -> *const c_char>(c"nvrtcGetErrorString")?;
            let text = name(code);
            if text.is_null() { "an unknown error".into() } else { CStr::from_ptr(text).to_string_lossy() }
        };
        Err(io::Error::other(format!("{} failed: {text} ({code})", call.to_string_lossy())))
    }
}

/// A program in NVRTC's hands.
pub(super) struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: Handle,
}

impl Program<'_> {
    /// Asks for an entry to be emitted and named.
    pub(super) fn name(&self, entry: &str) -> io::Result<()> {
        let text = CString::new(entry)?;
        // SAFETY: the function has this signature in every NVRTC; the program is alive, the text ends with a zero.
        let code = unsafe {
            let name = c"nvrtcAddNameExpression";
            self.nvrtc.function::<unsafe extern "C" fn(Handle, *const c_char) -> Code>(name)?(
                self.handle,
                text.as_ptr(),
            )
        };
        self.nvrtc.checked(c"nvrtcAddNameExpression", code)
    }

    pub(super) fn compile(&self, options: &[String]) -> io::Result<Compiled> {
        type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Code;
        let options: Vec<CString> = options.iter().map(|o| CString::new(o.as_str())).collect::<Result<_, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).map_err(io::Error::other)?;
        // SAFETY: the function has this signature in every NVRTC; the program is alive, and as many texts as are counted
        // outlive the call.
        let code =
            unsafe { self.nvrtc.function::<Compile>(c"nvrtcCompileProgram")?(self.handle, count, pointers.as_ptr()) };
        match code {
            BROKEN => Ok(Compiled::Broken),
            code if BLAMED.contains(&code) => Ok(Compiled::Refused),
            code => self.nvrtc.checked(c"nvrtcCompileProgram", code).map(|()| Compiled::Whole),
        }
    }

    /// What the compiler said.
    pub(super) fn log(&self) -> io::Result<Vec<u8>> {
        let mut log = self.bytes(c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")?;
        // A zero ends the assembler's remarks; its errors come behind it.
        log.retain(|byte| *byte != 0);
        Ok(log)
    }

    pub(super) fn cubin(&self) -> io::Result<Vec<u8>> {
        let cubin = self.bytes(c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN")?;
        if cubin.is_empty() {
            return Err(io::Error::other("nvrtcGetCUBINSize gives 0: the options name no exact architecture"));
        }
        Ok(cubin)
    }

    /// The symbol of an entry.
    pub(super) fn lowered(&self, entry: &str) -> io::Result<String> {
        type Lowered = unsafe extern "C" fn(Handle, *const c_char, *mut *const c_char) -> Code;
        let text = CString::new(entry)?;
        let mut symbol: *const c_char = std::ptr::null();
        // SAFETY: the function has this signature in every NVRTC; the program is alive, the text ends with a zero.
        let code =
            unsafe { self.nvrtc.function::<Lowered>(c"nvrtcGetLoweredName")?(self.handle, text.as_ptr(), &mut symbol) };
        self.nvrtc.checked(c"nvrtcGetLoweredName", code)?;
        if symbol.is_null() {
            return Err(io::Error::other(format!("nvrtcGetLoweredName gives nothing for {entry}")));
        }
        // SAFETY: on success it points to a text of the program's, which is alive and not changed meanwhile.
        Ok(unsafe { CStr::from_ptr(symbol) }.to_string_lossy().into_owned())
    }

    fn bytes(&self, size: &CStr, content: &CStr) -> io::Result<Vec<u8>> {
        let mut length: usize = 0;
        // SAFETY: both size functions have this signature in every NVRTC; the program is alive.
        let code = unsafe {
            self.nvrtc.function::<unsafe extern "C" fn(Handle, *mut usize) -> Code>(size)?(self.handle, &mut length)
        };
        self.nvrtc.checked(size, code)?;
        let mut bytes = vec![0u8; length];
        // SAFETY: both content functions have this signature in every NVRTC, and write as many bytes as were told.
        let code = unsafe {
            self.nvrtc.function::<unsafe extern "C" fn(Handle, *mut c_char) -> Code>(content)?(
                self.handle,
                bytes.as_mut_ptr().cast(),
            )
        };
        self.nvrtc.checked(content, code)?;
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the function has this signature in every NVRTC; the program is not used again.
        unsafe {
            if let Ok(destroy) =
                self.nvrtc.function::<unsafe extern "C" fn(*mut Handle) -> Code>(c"nvrtcDestroyProgram")
            {
                destroy(&mut self.handle);
            }
        }
    }
}

fn load(path: &Path, scope: c_int) -> io::Result<Library> {
    // SAFETY: loading runs the library's initialisers; it is NVIDIA's, named by the user's own environment.
    unsafe { Library::open(Some(path), RTLD_NOW | scope) }
        .map_err(|e| io::Error::other(format!("loading {}: {e}", path.display())))
}
