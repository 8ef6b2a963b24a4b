//! What a profile tells of a counter: less than it stands at, where the profile was paused.

use super::bytes::Bytes;
use crate::cursor::Malformed;
use alloc::collections::BTreeMap;
use core::mem::offset_of;
use midflight_abi::memory::{Baseline, BaselineTable, Baselines};

/// What is not to be told of a context's counters.
pub(super) struct Told {
    /// X by owner and label
    numbers: BTreeMap<(u64, u32), u64>,
    is_paused: bool,
}

impl Told {
    /// Reads the baselines of a context.
    pub(super) fn read(
        bytes: &mut Bytes<'_>,
        address: u64,
        is_paused: bool,
    ) -> Result<Self, Malformed> {
        let mut numbers = BTreeMap::new();
        let table = match address {
            0 => 0,
            _ => {
                let baselines = bytes.object(address, size_of::<Baselines>(), "the baselines")?;
                baselines.u64(offset_of!(Baselines, table))
            }
        };
        if table != 0 {
            let head = bytes.object(table, size_of::<BaselineTable>(), "a table of baselines")?;
            let size = head.usize(offset_of!(BaselineTable, size));
            let size = size.saturating_mul(size_of::<Baseline>());
            let entries = table.wrapping_add(size_of::<BaselineTable>() as u64);
            let which =
                offset_of!(Baseline, numbers) + if is_paused { size_of::<u64>() } else { 0 };
            for entry in bytes.object(entries, size, "the baselines")?.items(size_of::<Baseline>())
            {
                let owner = entry.u64(offset_of!(Baseline, owner));
                if owner != 0 && entry.u64(which) != 0 {
                    let label = entry.u32(offset_of!(Baseline, label));
                    numbers.insert((owner, label), entry.u64(which));
                }
            }
        }
        Ok(Self { numbers, is_paused })
    }

    /// What the profile has of a counter that stands at `count`.
    pub(super) fn told(&self, owner: u64, label: u32, count: u64) -> u64 {
        let number = self.numbers.get(&(owner, label)).copied().unwrap_or(0);
        if self.is_paused { number } else { count.wrapping_sub(number) }
    }
}
