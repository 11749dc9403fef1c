//! What a report consists of.

use super::frame::Frame;
use crate::Tool;
use crate::sanitizer::Direction;

/// One report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Which sanitizer.
    pub tool: Tool,
    /// What it says, without addresses of code.
    pub message: String,
    /// What the access does, and its bytes if they are known.
    pub access: Option<(Direction, u64)>,
    /// Where the access is, seen from the memory it missed or should not use.
    pub region: Option<Region>,
    /// The place that UndefinedBehaviorSanitizer names itself.
    pub at: Option<Frame>,
    /// Who made the access, innermost first.
    pub frames: Vec<Frame>,
    /// The other side of a race: what it does, and who made it.
    pub other: Option<(Direction, Vec<Frame>)>,
    /// The variable or the memory that it is about, where nothing is said about its bounds.
    pub variable: Option<String>,
    /// Bytes of that memory.
    pub block: Option<u64>,
    /// Who allocated the memory.
    pub allocated: Vec<Frame>,
    /// Who freed it.
    pub freed: Vec<Frame>,
    /// Bytes of a leak.
    pub leaked: Option<u64>,
    /// Allocations of a leak.
    pub allocations: Option<u64>,
    /// Its stack came to an end.
    pub(super) closed: bool,
}

/// Memory near an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Where the access is.
    pub place: Where,
    /// How far from it, or into it.
    pub distance: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The variable's name, if it is one, or the argument's.
    pub variable: Option<String>,
    /// Its first byte, where that is said.
    pub start: Option<u64>,
}

/// Where an access is, seen from some memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// Before its start.
    Before,
    /// In it.
    Inside,
    /// After its end.
    After,
}

impl Report {
    pub(super) fn new(tool: Tool, message: &str) -> Report {
        Report {
            tool,
            message: message.trim().trim_end_matches(':').into(),
            access: None,
            region: None,
            at: None,
            frames: Vec::new(),
            other: None,
            variable: None,
            block: None,
            allocated: Vec::new(),
            freed: Vec::new(),
            leaked: None,
            allocations: None,
            closed: false,
        }
    }

    /// The stack that says where it is.
    fn stack(&self) -> &[Frame] {
        match self.leaked {
            Some(_) => &self.allocated,
            None => &self.frames,
        }
    }

    /// The innermost place in the program itself.
    pub fn place(&self) -> Option<&Frame> {
        let stack = self.stack();
        self.at.as_ref().or_else(|| stack.iter().find(|frame| frame.is_own())).or_else(|| stack.first())
    }

    /// Whether nothing is missing that its cause or its place depends on. The rest of a stack adds nothing to a frame of the
    /// program itself, but a stack that ends before one may have had it.
    pub(super) fn is_whole(&self) -> bool {
        let own = |frames: &[Frame]| frames.iter().any(Frame::is_own);
        let directed = self.access.is_some() || !self.needs_direction();
        let raced = self.tool != Tool::Tsan
            || !super::cause::is_race(self)
            || self.other.as_ref().is_some_and(|(_, frames)| self.closed || own(frames));
        self.at.is_some() || directed && raced && (self.closed || own(self.stack()))
    }

    /// Whether a read and a write are two causes.
    fn needs_direction(&self) -> bool {
        let kind = self.message.split_whitespace().next().unwrap_or_default();
        kind.ends_with("-overflow") && kind != "stack-overflow" || kind.ends_with("-underflow")
    }
}
