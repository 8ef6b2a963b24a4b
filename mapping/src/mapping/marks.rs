//! What is known of the values of a version while a point is built. The same memory is used for all
//! points: what was said of values for another one is of another time.

use midflight_ir::ids::ValueId;
use typed_index_collections::TiVec;

/// Marks of values.
#[derive(Default)]
pub struct Marks {
    time: u32,
    of: TiVec<ValueId, Mark>,
}

/// What is known of a value, at a time.
#[derive(Clone, Copy, Default)]
struct Mark {
    time: u32,
    /// The number of its expression, counted from 1
    done: u32,
    /// Bits: in which ways it cannot be reconstructed
    failed: u8,
    /// It is being looked for.
    open: bool,
}

impl Marks {
    /// Forgets all; there are so many values.
    pub fn begin(&mut self, values: usize) {
        self.time += 1;
        if self.of.len() < values {
            self.of.resize(values, Mark::default());
        }
    }

    fn get(&self, value: ValueId) -> Mark {
        Some(self.of[value]).filter(|mark| mark.time == self.time).unwrap_or_default()
    }

    fn change(&mut self, value: ValueId) -> &mut Mark {
        let mark = &mut self.of[value];
        if mark.time != self.time {
            *mark = Mark { time: self.time, ..Mark::default() };
        }
        mark
    }

    /// The expression of a value.
    pub fn done(&self, value: ValueId) -> Option<usize> {
        (self.get(value).done as usize).checked_sub(1)
    }

    /// A value has an expression.
    pub fn set_done(&mut self, value: ValueId, expr: usize) {
        self.change(value).done = expr as u32 + 1;
    }

    /// True if a value cannot be reconstructed in one of eight ways.
    pub fn has_failed(&self, value: ValueId, way: usize) -> bool {
        self.get(value).failed & (1 << way) != 0
    }

    /// A value cannot be reconstructed in one of eight ways.
    pub fn set_failed(&mut self, value: ValueId, way: usize) {
        self.change(value).failed |= 1 << way;
    }

    /// A value is being looked for, or not any more; false if that is no news.
    pub fn set_open(&mut self, value: ValueId, open: bool) -> bool {
        std::mem::replace(&mut self.change(value).open, open) != open
    }
}
