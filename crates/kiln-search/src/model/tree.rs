//! One random tree. In: columns of features, a target for each row, a stream of draws. Out: cuts and leaves. Of a few random
//! features each gets one random cut, and the cut that leaves the least variance is taken: many such trees together
//! interpolate, and where they disagree little is known.

/// A cut; the children stand next to each other, the smaller side first. A leaf is its own child.
#[derive(Debug, Clone, Copy)]
struct Node {
    next: u32,
    feature: u16,
    /// Codes at or below go to the first child.
    cut: u8,
}

/// What a leaf knows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Leaf {
    pub(crate) mean: f32,
    /// The share of its rows that failed.
    pub(crate) failed: f32,
}

/// What the trees of a forest learn from.
pub(crate) struct Lesson<'a> {
    /// Column by column: the value of feature f in row r is at `f * rows + r`.
    pub(crate) columns: &'a [u8],
    pub(crate) features: usize,
    /// In parts of [`UNIT`]: whole numbers add up faster, and alike on every machine.
    pub(crate) targets: &'a [i32],
    pub(crate) failed: &'a [bool],
    /// So few rows are not cut again.
    pub(crate) leaf: usize,
    /// Features tried for a cut.
    pub(crate) tries: usize,
}

/// What a target of 1 is in the sums of a lesson.
pub(crate) const UNIT: f32 = 65536.0;

/// Features looked at for each that counts as tried: those that do not differ in a node's rows do not.
const LOOKS: usize = 3;

/// A fast stream for cuts, whose seed comes from the study's (O'Neill's PCG, 2014).
pub(crate) struct Stream(pub(crate) u64);

impl Stream {
    pub(crate) fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = ((state >> 18) ^ state) >> 27;
        (mixed as u32).rotate_right((state >> 59) as u32)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.next()) * bound as u64) >> 32) as usize
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// By node; of cuts too, though nobody asks.
    leaves: Vec<Leaf>,
    depth: usize,
}

impl Tree {
    pub(crate) fn grow(lesson: &Lesson<'_>, rows: &mut [u32], stream: &mut Stream) -> Tree {
        let mut tree = Tree { nodes: Vec::with_capacity(rows.len()), leaves: Vec::with_capacity(rows.len()), depth: 0 };
        let end = Node { next: 0, feature: 0, cut: u8::MAX };
        tree.nodes.push(end);
        tree.leaves.push(Leaf::default());
        let mut open = vec![(0usize, 0usize, rows.len(), 0usize)];
        while let Some((node, start, stop, depth)) = open.pop() {
            let here = &mut rows[start..stop];
            let chosen = if here.len() > lesson.leaf { choose(lesson, here, stream) } else { None };
            let Some((feature, cut)) = chosen else {
                tree.depth = tree.depth.max(depth);
                tree.nodes[node].next = node as u32;
                tree.leaves[node] = leaf(lesson, here);
                continue;
            };
            let column = &lesson.columns[feature * lesson.targets.len()..][..lesson.targets.len()];
            let middle = start + partition(here, |row| column[row as usize] <= cut);
            let next = tree.nodes.len();
            tree.nodes[node] = Node { next: next as u32, feature: feature as u16, cut };
            tree.nodes.extend([end; 2]);
            tree.leaves.extend([Leaf::default(); 2]);
            open.push((next, start, middle, depth + 1));
            open.push((next + 1, middle, stop, depth + 1));
        }
        tree
    }

    /// The leaves that rows of `width` features fall into, several at a time: each step waits for the one before it, and
    /// the steps of different rows do not.
    pub(crate) fn leaves(&self, rows: &[u8], width: usize, mut take: impl FnMut(usize, Leaf)) {
        const AT_ONCE: usize = 8;
        for (block, rows) in rows.chunks(AT_ONCE * width).enumerate() {
            let mut places = [0usize; AT_ONCE];
            for _ in 0..self.depth {
                for (place, row) in places.iter_mut().zip(rows.chunks_exact(width)) {
                    let node = self.nodes[*place];
                    *place = node.next as usize + usize::from(row[node.feature as usize] > node.cut);
                }
            }
            let found = rows.len() / width;
            places[..found].iter().enumerate().for_each(|(at, place)| take(block * AT_ONCE + at, self.leaves[*place]));
        }
    }
}

/// The best of a few random cuts; none where no feature looked at differs.
fn choose(lesson: &Lesson<'_>, rows: &[u32], stream: &mut Stream) -> Option<(usize, u8)> {
    let count = lesson.targets.len();
    let total = rows.iter().map(|row| i64::from(lesson.targets[*row as usize])).sum::<i64>();
    let mut best: Option<(f32, usize, u8)> = None;
    let mut tried = 0;
    for _ in 0..LOOKS * lesson.tries {
        let feature = stream.below(lesson.features);
        let column = &lesson.columns[feature * count..][..count];
        let (mut low, mut high) = (u8::MAX, u8::MIN);
        for row in rows {
            let value = column[*row as usize];
            low = low.min(value);
            high = high.max(value);
        }
        if low >= high {
            continue;
        }
        let cut = low + stream.below(usize::from(high - low)) as u8;
        let (mut sum, mut left) = (0i64, 0u32);
        for row in rows {
            // A mask of ones or zeros: a branch would be guessed wrong half of the time.
            let below = u32::from(column[*row as usize] <= cut);
            sum += i64::from(lesson.targets[*row as usize]) & -i64::from(below);
            left += below;
        }
        let (sum, other) = (sum as f32, (total - sum) as f32);
        // The larger the sum of squared means, the less variance is left.
        let gain = sum * sum / left as f32 + other * other / (rows.len() as u32 - left) as f32;
        if best.is_none_or(|(most, _, _)| gain > most) {
            best = Some((gain, feature, cut));
        }
        tried += 1;
        if tried == lesson.tries {
            break;
        }
    }
    best.map(|(_, feature, cut)| (feature, cut))
}

/// Moves the rows that are to come first there; how many they are.
fn partition(rows: &mut [u32], first: impl Fn(u32) -> bool) -> usize {
    let mut end = 0;
    for at in 0..rows.len() {
        let row = rows[at];
        // Always, so that there is nothing to guess wrong.
        rows.swap(at, end);
        end += usize::from(first(row));
    }
    end
}

fn leaf(lesson: &Lesson<'_>, rows: &[u32]) -> Leaf {
    let count = rows.len().max(1) as f32;
    let mean = rows.iter().map(|row| i64::from(lesson.targets[*row as usize])).sum::<i64>() as f32 / UNIT / count;
    let failed = rows.iter().filter(|row| lesson.failed[**row as usize]).count() as f32 / count;
    Leaf { mean, failed }
}
