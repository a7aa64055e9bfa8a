//! Moments in which an interruption has to wait.

/// While it lives, the signals by which people end a program are held back; one that came meanwhile ends
/// the program afterwards. For moments alone: whoever wants to end it must not wait.
#[cfg(unix)]
pub(crate) struct Undisturbed(unix::Held);

/// Where signals are another thing nothing is held back.
#[cfg(not(unix))]
pub(crate) struct Undisturbed;

impl Undisturbed {
    #[cfg(unix)]
    pub(crate) fn new() -> Self {
        Self(unix::Held::new())
    }

    #[cfg(not(unix))]
    pub(crate) fn new() -> Self {
        Self
    }
}

#[cfg(unix)]
impl Drop for Undisturbed {
    fn drop(&mut self) {
        self.0.release();
    }
}

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag::{register, register_conditional_default};
    use signal_hook::low_level::emulate_default_handler;

    /// Signals that are held back, each with whether it came.
    pub(super) struct Held {
        signals: Vec<(i32, Arc<AtomicBool>)>,
        /// Whether a signal does at once what it always does.
        is_released: Arc<AtomicBool>,
    }

    impl Held {
        pub(super) fn new() -> Self {
            let is_released = Arc::new(AtomicBool::new(false));
            let hold = |signal: i32| {
                let came = Arc::new(AtomicBool::new(false));
                register(signal, Arc::clone(&came)).ok()?;
                // What is registered first stays for good, so the usual end is registered beside it.
                register_conditional_default(signal, Arc::clone(&is_released)).ok()?;
                Some((signal, came))
            };
            // Where a signal cannot be held back it ends the program as always.
            let signals = [SIGHUP, SIGINT, SIGTERM].into_iter().filter_map(hold).collect();
            Self { signals, is_released }
        }

        pub(super) fn release(&self) {
            self.is_released.store(true, Ordering::SeqCst);
            for (signal, came) in &self.signals {
                if came.load(Ordering::SeqCst) {
                    // It does not return; and if it did, the next signal would end the program.
                    let _ = emulate_default_handler(*signal);
                }
            }
        }
    }
}
