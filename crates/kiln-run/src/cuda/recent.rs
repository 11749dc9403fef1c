//! Things kept under keys, in the order of their last use, so that the one unused for longest can be let go first.

/// The oldest comes first.
pub(super) struct Recent<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent { entries: Vec::new() }
    }
}

impl<K: PartialEq, V> Recent<K, V> {
    /// Looks without using.
    pub(super) fn peek(&self, key: &K) -> Option<&V> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, value)| value)
    }

    /// Uses what is there.
    pub(super) fn touch(&mut self, key: &K) -> Option<&V> {
        let entry = self.remove(key)?;
        self.entries.push(entry);
        self.entries.last().map(|(_, value)| value)
    }

    /// The one used last.
    pub(super) fn latest(&mut self) -> Option<&mut V> {
        self.entries.last_mut().map(|(_, value)| value)
    }

    /// Keeps a value, in place of what had its key.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        self.entries.push((key, value));
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<(K, V)> {
        let at = self.entries.iter().position(|(k, _)| k == key)?;
        Some(self.entries.remove(at))
    }

    /// Lets the one unused for longest go; false when there is none.
    pub(super) fn drop_oldest(&mut self) -> bool {
        !self.entries.is_empty() && {
            self.entries.remove(0);
            true
        }
    }

    /// Keeps those whose key is wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&K) -> bool) {
        self.entries.retain(|(key, _)| wanted(key));
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_unused_for_longest_goes_first() {
        let mut recent = Recent::default();
        for (key, value) in [(1, "a"), (2, "b"), (3, "c")] {
            recent.insert(key, value);
        }
        assert_eq!(recent.touch(&1), Some(&"a"));
        assert_eq!(recent.latest(), Some(&mut "a"));
        // Looking is no use.
        assert_eq!(recent.peek(&2), Some(&"b"));
        assert!(recent.drop_oldest());
        assert_eq!((recent.peek(&2), recent.len()), (None, 2));
        recent.insert(3, "d");
        assert_eq!(recent.values().copied().collect::<Vec<_>>(), ["a", "d"]);
        recent.retain(|key| *key != 1);
        assert_eq!(recent.values().copied().collect::<Vec<_>>(), ["d"]);
        assert!(recent.drop_oldest() && !recent.drop_oldest());
        assert_eq!(recent.touch(&3), None);
    }
}
