use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use shardlab_keys::{Progress, Unit};

/// A bar on stderr for work over a second, on a terminal only.
pub(crate) struct Bar {
    bar: ProgressBar,
    start: std::time::Instant,
}

impl Bar {
    pub(crate) fn new() -> Self {
        // Hidden until the first second is over, so that short work shows nothing.
        Self { bar: ProgressBar::hidden(), start: std::time::Instant::now() }
    }

    /// Shows how far the reading has come; safe to call from any thread.
    pub(crate) fn show(&self, progress: Progress) {
        if self.start.elapsed() < Duration::from_secs(1) {
            return;
        }
        if self.bar.is_hidden() {
            let total = progress.total.map_or("", |_| "/{total_unit} {wide_bar} {percent} % ETA {eta}");
            let amount = match progress.unit {
                Unit::Documents => "{human_pos} documents".to_owned(),
                Unit::Bytes => "{bytes}".to_owned(),
            };
            let total = match progress.unit {
                Unit::Documents => total.replace("{total_unit}", "{human_len}"),
                Unit::Bytes => total.replace("{total_unit}", "{total_bytes}"),
            };
            if let Ok(style) = ProgressStyle::with_template(&format!("{amount}{total} [{{elapsed}}]")) {
                self.bar.set_style(style);
            }
            // A draw target on something that is no terminal stays hidden by itself.
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(4));
            if let Some(total) = progress.total {
                self.bar.set_length(total);
            }
        }
        self.bar.set_position(progress.done);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
