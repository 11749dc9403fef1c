//! Images: questions kept on the device under numbers, so that each is sent once. In: shared memory, a number. Out: the
//! image again, for as long as there is room; those unused for longest go first. What a kernel that ran meanwhile has written
//! over is given up, and must be sent again: it is nobody's question any more.

use super::buffer::Buffer;
use super::context::Context;
use super::draw::Generator;
use super::driver::Trouble;
use super::memory::Shared;
use super::recent::Recent;
use crate::protocol::{About, Failed};

#[derive(Default)]
pub(super) struct Images {
    kept: Recent<u64, Image>,
    /// How many candidates were loaded so far.
    loaded: u64,
}

struct Image {
    bytes: Buffer,
    /// What it holds, and since which candidate that was not looked at again.
    sum: u64,
    seen: u64,
}

impl Images {
    /// Another candidate comes: what the one before may have done is looked for.
    pub(super) fn doubt(&mut self) {
        self.loaded += 1;
    }

    /// Keeps the shared memory's present bytes under a number.
    pub(super) fn upload(
        &mut self,
        number: u64,
        shared: &Shared,
        generator: &Generator,
        context: &Context,
    ) -> Result<(), Trouble> {
        let length = shared.len();
        let room = match self.kept.remove(&number) {
            Some((_, earlier)) if earlier.bytes.len() == length => earlier.bytes,
            _ => self.room(length, context.memory / 5 * 2)?,
        };
        shared.send(&room, context)?;
        let sum = generator.sum(&room, context)?;
        self.kept.insert(number, Image { bytes: room, sum, seen: self.loaded });
        Ok(())
    }

    /// An image that is what was sent, as far as earlier candidates could have changed it.
    pub(super) fn verified(
        &mut self,
        number: u64,
        length: usize,
        generator: &Generator,
        context: &Context,
    ) -> Result<&Buffer, Trouble> {
        self.get(number, length)?;
        let loaded = self.loaded;
        let changed = match self.kept.latest().filter(|image| image.seen != loaded) {
            Some(image) => {
                image.seen = loaded;
                generator.sum(&image.bytes, context)? != image.sum
            }
            None => false,
        };
        if changed {
            self.kept.remove(&number);
        }
        self.get(number, length)
    }

    /// An image of the length that is wanted.
    pub(super) fn get(&mut self, number: u64, length: usize) -> Result<&Buffer, Trouble> {
        let missing = || Failed { about: About::Image, words: format!("no image {number}") };
        let image = self.kept.touch(&number).ok_or_else(missing)?;
        if image.bytes.len() != length {
            let held = image.bytes.len();
            return Err(format!("image {number} holds {held} bytes, the shared memory {length}").into());
        }
        Ok(&image.bytes)
    }

    /// Memory for one more. All of them together stay within `most`, but for a single one that is larger alone.
    fn room(&mut self, length: usize, most: usize) -> Result<Buffer, Trouble> {
        while exceeds(self.kept.values().map(|image| image.bytes.len()), length, most) {
            self.kept.drop_oldest();
        }
        loop {
            match Buffer::new(length) {
                Err(trouble) if trouble.full && self.kept.drop_oldest() => {}
                other => return other,
            }
        }
    }
}

/// Whether those that are kept must make room for one more.
fn exceeds(kept: impl Iterator<Item = usize>, more: usize, most: usize) -> bool {
    let held: usize = kept.sum();
    held > 0 && held.saturating_add(more) > most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_make_room_only_as_far_as_there_are_any() {
        assert!(!exceeds([40, 40].into_iter(), 20, 100));
        assert!(exceeds([40, 40].into_iter(), 21, 100));
        assert!(!exceeds([].into_iter(), 1000, 100));
        assert!(exceeds([1].into_iter(), usize::MAX, 100));
    }

    #[test]
    fn an_image_that_was_never_sent_is_missing_by_its_number() {
        let failed = Images::default().get(7, 64).err().map(|trouble| trouble.failed);
        assert_eq!(failed, Some(Failed { about: About::Image, words: "no image 7".into() }));
    }
}
