//! Cold caches: private memory, walked so that whatever the caches held is pushed out of them.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Memory nobody else uses.
#[derive(Default)]
pub(crate) struct Cold {
    memory: Vec<u8>,
}

impl Cold {
    /// Writes to every line of `bytes` bytes. The memory is kept for the next walk; `Err` when there is not that much.
    pub(crate) fn walk(&mut self, bytes: u64) -> Result<(), String> {
        let wanted = usize::try_from(bytes).map_err(|e| format!("{bytes} bytes to cool caches: {e}"))?;
        if wanted != self.memory.len() {
            self.memory = Vec::new();
            self.memory.try_reserve_exact(wanted).map_err(|e| format!("{bytes} bytes to cool caches: {e}"))?;
            self.memory.resize(wanted, 1);
        }
        for byte in self.memory.iter_mut().step_by(LINE) {
            *byte = byte.wrapping_add(1);
        }
        // The compiler must not see that nobody reads it.
        std::hint::black_box(self.memory.as_mut_ptr());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_written_and_too_much_is_said() {
        let mut cold = Cold::default();
        assert_eq!(cold.walk(0), Ok(()));
        assert_eq!(cold.walk(1000), Ok(()));
        assert_eq!(cold.memory.iter().filter(|b| **b == 2).count(), 16);
        assert_eq!(cold.walk(64), Ok(()));
        assert_eq!(cold.memory.len(), 64);
        assert!(cold.walk(u64::MAX).is_err());
        assert_eq!(cold.walk(128), Ok(()));
    }
}
