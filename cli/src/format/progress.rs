//! A progress bar, if it takes over a second; `indicatif` draws it on terminals only.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Progress of one step of a command.
pub struct Progress {
    begun: Instant,
    total: u64,
    what: &'static str,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// A step of `total` parts.
    pub fn new(what: &'static str, total: u64) -> Self {
        Progress { begun: Instant::now(), total, what, bar: OnceLock::new() }
    }

    /// So many parts are done.
    pub fn done(&self, parts: u64) {
        if self.begun.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::new(self.total);
            let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} {eta}");
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(self.what);
            bar
        });
        bar.set_position(parts);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
