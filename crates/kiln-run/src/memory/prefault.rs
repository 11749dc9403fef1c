//! The program's own pages, mapped in one go. In: nothing. Out: nothing but time. A new process reaches its code and its
//! heap page by page, each first touch a trip into the kernel; a command that works for a tenth of a millisecond spends
//! as long on those. One call for a whole range does the same with one trip. Where the system cannot do it, nothing
//! happens.

/// Maps the program's code and constants, which are in the page cache since it was started, and what the allocator has
/// taken from the system so far.
pub fn prefault() {
    #[cfg(target_os = "linux")]
    linux::prefault();
}

/// Maps memory that is about to be written.
pub(crate) fn populate(start: usize, len: usize) {
    #[cfg(target_os = "linux")]
    linux::populate(start, len, libc::MADV_POPULATE_WRITE);
    #[cfg(not(target_os = "linux"))]
    let _ = (start, len);
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{c_int, c_void};
    use std::ptr;

    /// The allocator begins with less; more than this is not worth filling beforehand.
    const LARGEST_HEAP: usize = 256 << 10;

    pub(super) fn prefault() {
        // SAFETY: `first_object` has the signature the call asks for and does not keep what it is given; it reads nothing
        // through the last argument, which may therefore be null.
        unsafe { libc::dl_iterate_phdr(Some(first_object), ptr::null_mut()) };
        heap();
    }

    /// The heap that grows at the program's end, from some small block to where it ends now.
    fn heap() {
        let block = std::hint::black_box(Box::new(0u8));
        let start = (&raw const *block).addr();
        // SAFETY: asks where the heap ends and does not move it.
        let end = unsafe { libc::sbrk(0) }.addr();
        // An allocator that lives elsewhere has its blocks elsewhere.
        if (1..=LARGEST_HEAP).contains(&end.wrapping_sub(start)) {
            populate(start, end - start, libc::MADV_POPULATE_WRITE);
        }
    }

    /// The first object is the program itself. Returns 1, which ends the iteration: libraries are small or already used.
    unsafe extern "C" fn first_object(info: *mut libc::dl_phdr_info, _size: usize, _data: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description that stays so for the duration of this call.
        let info = unsafe { &*info };
        if info.dlpi_phdr.is_null() {
            return 1;
        }
        // SAFETY: these are the program headers of the running program, as many as the loader says.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0 {
                // The fields are 32 bits wide on some machines.
                #[allow(clippy::unnecessary_cast)]
                populate(
                    info.dlpi_addr as usize + header.p_vaddr as usize,
                    header.p_memsz as usize,
                    libc::MADV_POPULATE_READ,
                );
            }
        }
        1
    }

    pub(super) fn populate(start: usize, len: usize, advice: c_int) {
        // SAFETY: asks for the page size, no more.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Some(page) = usize::try_from(page).ok().filter(|p| p.is_power_of_two()) else { return };
        let first = start & !(page - 1);
        // SAFETY: populating maps pages as touching them would, and changes no byte and no permission; a range that is
        // not mapped, or a kernel before 5.14, makes the call fail, and then pages come one by one as they always did.
        unsafe { libc::madvise(ptr::without_provenance_mut(first), start + len - first, advice) };
    }
}
