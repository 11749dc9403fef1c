//! Starts processes from one thread that lives as long as this process. A worker asks to be told when its parent dies, and
//! the system takes the parent to be the thread that started it: started from a thread of a pool, a worker would end with
//! that thread.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

struct Order {
    command: Command,
    answer: Sender<io::Result<Child>>,
}

/// Starts `command`, waits until it is started.
pub(crate) fn spawn(command: Command) -> io::Result<Child> {
    static ORDERS: OnceLock<Option<Sender<Order>>> = OnceLock::new();
    let orders = ORDERS.get_or_init(starter).as_ref().ok_or_else(|| io::Error::other("no thread to start it from"))?;
    let (answer, child) = channel();
    let ended = || io::Error::other("the thread that starts processes has ended");
    orders.send(Order { command, answer }).map_err(|_| ended())?;
    child.recv().map_err(|_| ended())?
}

fn starter() -> Option<Sender<Order>> {
    let (sender, orders) = channel::<Order>();
    let work = move || {
        for Order { mut command, answer } in orders {
            let _ = answer.send(command.spawn());
        }
    };
    std::thread::Builder::new().name("starts workers".into()).spawn(work).ok().map(|_| sender)
}
