//! The worker's side of the CUDA backend: loads cubins and libraries of host launchers, keeps mirrors of the shared memory
//! and images on the device, calls and times what it is told to. Runs in a process of its own; whatever a candidate does
//! to the device's context, it does here.
//!
//! In: questions. Out: answers. A failure begins with the driver call that found it. After one that has spoiled the
//! context every later question is answered with the same failure, and only a new process can go on.

mod apart;
mod arguments;
mod buffer;
mod call;
mod constants;
mod context;
mod describe;
mod device;
mod draw;
mod driver;
mod filling;
mod graph;
mod hold;
mod image;
mod kernels;
mod launch;
mod memory;
mod module;
mod recent;
mod replay;
mod stopwatch;
mod tensormap;

use std::io;

use device::Device;
use driver::Trouble;

use crate::processes::pin::pin;
use crate::protocol::{Answer, Ask, Failed};
use crate::serving::serve::{private_stdout, serve};
use crate::serving::stopwatch::Plan;

/// Answers questions on stdin until it is closed.
pub fn serve_cuda() -> io::Result<()> {
    let mut backend = Backend::default();
    serve(private_stdout()?, |ask| backend.answer(ask))
}

#[derive(Default)]
struct Backend {
    /// Opened by the first question that needs it.
    device: Option<Device>,
    /// Why nothing works any more.
    spent: Option<Failed>,
}

impl Backend {
    fn answer(&mut self, ask: Ask) -> Answer {
        if let Ask::Pin { cpus } = ask {
            return pin(&cpus).map_or_else(|words| Answer::Failed(words.into()), |()| Answer::Done);
        }
        if let Some(failed) = &self.spent {
            return Answer::Failed(failed.clone());
        }
        self.act(ask).unwrap_or_else(|trouble| self.fail(trouble))
    }

    fn act(&mut self, ask: Ask) -> Result<Answer, Trouble> {
        let device = match &mut self.device {
            Some(device) => device,
            none => none.insert(Device::open()?),
        };
        device.context.enter()?;
        let done = match ask {
            Ask::Pin { cpus } => pin(&cpus).map_err(Trouble::from),
            // The device is open, which is all that had to come before.
            Ask::Confine(_) => Ok(()),
            Ask::Load { library, symbol, .. } => device.load(&library, &symbol),
            Ask::Map { arena, lent, slots, launches, sets, elsewhere, gone, .. } => {
                device.map((&arena, sets, elsewhere), lent.as_ref(), slots, &launches, &gone)
            }
            Ask::Lend => return device.lend().map(Answer::Lent),
            Ask::Release => device.release(),
            Ask::Adopt { set, offset, bytes, lies } => device.adopt((set, offset, bytes), lies),
            Ask::Scalars { values } => device.set_scalars(&values),
            Ask::Cool => device.cool(),
            Ask::Upload { image } => device.upload(image),
            Ask::Lay { image } => device.lay(image),
            Ask::Draw(drawing) => device.draw(&drawing),
            Ask::Fetch { set, parts } => device.fetch(set, &parts),
            Ask::Call => device.call(),
            Ask::CallApart { blank } => device.call_apart(blank),
            Ask::CallWatched => device.call_watched(),
            Ask::Describe => return device.describe().map(|gpu| Answer::Device(Box::new(gpu))),
            Ask::Compile(_) => return Err(Trouble::from("nothing is compiled here".to_string())),
            Ask::Prepare { .. } | Ask::Go { .. } => {
                return Err(Trouble::from("calls on a device are not made ready".to_string()));
            }
            Ask::Time { batches, calls, flush, draw } => {
                return device.time(&Plan { batches, calls }, flush > 0, draw.as_ref()).map(Answer::Times);
            }
        };
        done.map(|()| Answer::Done)
    }

    /// Tells what went wrong, and finds out whether anything can still be done.
    fn fail(&mut self, mut trouble: Trouble) -> Answer {
        if let (false, Some(device)) = (trouble.sticky, &self.device)
            && let Err(cause) = device.context.enter().and_then(|()| device.context.synchronise())
        {
            trouble = Trouble { sticky: true, ..cause };
        }
        if trouble.sticky {
            self.spent = Some(trouble.failed.clone());
        }
        Answer::Failed(trouble.failed)
    }
}
