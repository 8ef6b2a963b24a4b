//! Going through the seeds of random programs, some at a time.

use crate::error::Result;
use crate::tally::Tally;
use std::ops::Range;
use std::sync::Mutex;

/// Tries all seeds, until as many programs were used as there are seeds in the range: one whose
/// program cannot be used is replaced by the next seed behind the range.
///
/// `try_one` returns what failed, or none if the program cannot be used.
///
/// # Errors
/// The first of `try_one`.
pub fn each_seed(
    seeds: Range<u64>,
    at_a_time: usize,
    try_one: impl Fn(u64) -> Result<Option<Vec<String>>> + Sync,
) -> Result<Tally> {
    let spare = seeds.end;
    let state = Mutex::new(State { queue: seeds, spare, tally: Tally::default() });
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..at_a_time.max(1)).map(|_| scope.spawn(|| work(&state, &try_one))).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(lock(&state).tally.clone())
}

struct State {
    queue: Range<u64>,
    spare: u64,
    tally: Tally,
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn work(state: &Mutex<State>, try_one: &impl Fn(u64) -> Result<Option<Vec<String>>>) -> Result<()> {
    loop {
        let Some(mut seed) = lock(state).queue.next() else { return Ok(()) };
        loop {
            if let Some(problems) = try_one(seed)? {
                let problem = (!problems.is_empty()).then(|| problems.join("\n"));
                lock(state).tally.check(&format!("seed {seed}"), problem);
                break;
            }
            let mut state = lock(state);
            println!("seed {seed} runs too long; seed {} takes its place", state.spare);
            seed = state.spare;
            state.spare += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unusable_seed_is_replaced_by_one_behind_the_range() {
        let used = Mutex::new(Vec::new());
        let tally = each_seed(3..6, 1, |seed| {
            used.lock().unwrap().push(seed);
            Ok((seed != 4).then(|| if seed == 5 { vec!["wrong".to_string()] } else { vec![] }))
        });
        assert_eq!(*used.lock().unwrap(), [3, 4, 6, 5]);
        assert!(!tally.unwrap().close("test"));
    }
}
