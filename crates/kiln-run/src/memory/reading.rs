//! Another process's memory, read while it stands still. In: its number, an address, room. Out: the bytes, or why the system
//! does not give them. What a function returned is read where it lies, so that nobody has to copy it off the clock.

use std::io;

/// Fills `bytes` with what lies there.
pub(crate) fn read_memory(pid: i32, address: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let rest = &mut bytes[done..];
        let own = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let start = usize::try_from(address).ok().and_then(|start| start.checked_add(done));
        let start = start.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let other = libc::iovec { iov_base: start as *mut libc::c_void, iov_len: rest.len() };
        // SAFETY: our room is valid for its length and nobody else's meanwhile; the other address is looked up in the other
        // process by the system, which refuses what is not mapped there.
        let read = unsafe { libc::process_vm_readv(pid, &own, 1, &other, 1, 0) };
        match usize::try_from(read) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            Ok(read) => done += read,
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_what_is_not_mapped_is_refused() {
        let own: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
        let (pid, mut room) = (std::process::id() as i32, vec![0; own.len()]);
        read_memory(pid, own.as_ptr().addr() as u64, &mut room).unwrap();
        assert_eq!(room, own);
        assert!(read_memory(pid, 8, &mut room).is_err());
        assert!(read_memory(pid, u64::MAX - 3, &mut room).is_err());
        read_memory(pid, 8, &mut []).unwrap();
    }
}
