//! The channel of questions: a pair of stream sockets, so that open files can travel with a question. In: bytes and a few
//! files, of which workers take one. Out: the same at the other end, the file under a number of its own, closed in whatever is started.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// Sends what the socket takes, the file with the first byte.
pub(crate) fn send(socket: &UnixStream, bytes: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    send_files(socket, bytes, file.as_slice())
}

/// The same with up to three files.
pub(crate) fn send_files(socket: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(3))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        beside.push(SendAncillaryMessage::ScmRights(files));
    }
    Ok(sendmsg(socket, &[IoSlice::new(bytes)], &mut beside, SendFlags::NOSIGNAL)?)
}

/// Takes what is there, and files that came with it.
pub(crate) fn receive(socket: impl AsFd, bytes: &mut [u8], files: &mut Vec<File>) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    const FLAGS: RecvFlags = RecvFlags::empty();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut beside, FLAGS)?;
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received.map(File::from));
        }
    }
    Ok(received.bytes)
}

/// The worker's end: bytes to read, and files that came with them.
#[derive(Debug)]
pub(crate) struct Questions {
    pub(crate) socket: UnixStream,
    pub(crate) files: Vec<File>,
}

impl Read for Questions {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        receive(&self.socket, bytes, &mut self.files)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    #[test]
    fn a_file_arrives_with_its_bytes() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"contents").unwrap();
        file.rewind().unwrap();
        assert_eq!(send(&here, b"plain", None).unwrap(), 5);
        assert_eq!(send(&here, b"with", Some(file.as_fd())).unwrap(), 4);
        let mut questions = Questions { socket: there, files: Vec::new() };
        let mut bytes = [0; 9];
        questions.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"plainwith");
        let mut text = String::new();
        questions.files.pop().unwrap().read_to_string(&mut text).unwrap();
        assert!(text == "contents" && questions.files.is_empty());
    }
}
