//! Where a compilation prints and where it puts temporary files. In: its log, its folder and the work. Out: what the work gives.
//! Whatever the compiler itself prints, also while it crashes, lies in that log and in no other.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::serving::serve::{flush_c_streams, replace};

/// Does some work with both outputs in `log` and `TMPDIR` set to `temporary`. Between two compilations nothing is printed.
pub(super) fn into<T>(log: &Path, temporary: &Path, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let log = File::options().append(true).open(log)?;
    print_to(&log)?;
    let folder = CString::new(temporary.as_os_str().as_bytes())?;
    // SAFETY: both texts end with a zero and are copied. The one other thread of this process reads lines and asks for no
    // variable.
    unsafe { libc::setenv(c"TMPDIR".as_ptr(), folder.as_ptr(), 1) };
    let done = work();
    flush_c_streams();
    print_to(&File::options().write(true).open("/dev/null")?)?;
    done
}

fn print_to(file: &File) -> io::Result<()> {
    replace(1, file.as_raw_fd())?;
    replace(2, file.as_raw_fd())
}
