use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use shardlab_core::RawBatch;
use shardlab_keys::{Documents, Part, Progress, ReadError};

/// Takes all documents through several threads, each with a state of its own, and returns the states.
///
/// Threads take turns to cut a part off the stream, read it and work on it alone, and take turns in the
/// order of the parts to have it counted in between; `step` gets the number of the part with documents
/// with it. Whoever adds up the states by sums that do not depend on order has a result that does not
/// depend on the number of threads. Memory is a state and a part for each thread.
///
/// # Errors
/// The first error of reading or of a step, in the order of the documents.
///
/// # Panics
/// A step panics.
pub fn drive<S, E>(
    documents: &mut dyn Documents,
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, u64, &RawBatch<'_>) -> Result<(), E> + Sync,
) -> Result<Vec<S>, E>
where
    S: Send,
    E: From<ReadError> + Send,
{
    let source = Source {
        stream: Mutex::new(Stream { documents, cut: 0, joined: 0, given: 0, stopped: false }),
        turn: Condvar::new(),
    };
    let work = || {
        let mut state = start();
        let mut part = Part::default();
        // Whoever panics must not keep the others waiting for its turn.
        let _guard = StopOnPanic(&source);
        while let Some(number) = source.cut(&mut part, progress) {
            part.read();
            let Some(given) = source.join(number, &mut part) else { break };
            let batch = part.documents();
            let stepped = if batch.is_empty() { Ok(()) } else { step(&mut state, given, &batch) };
            if let Err(error) = stepped.and_then(|()| part.take_error().map_or(Ok(()), |error| Err(error.into()))) {
                source.stop();
                return Err((number, error));
            }
        }
        Ok(state)
    };
    let ended: Vec<Result<S, (u64, E)>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    // Whatever precedes an error in the stream has been counted before it, and so has been worked on too.
    let mut first: Option<(u64, E)> = None;
    let mut states = Vec::with_capacity(ended.len());
    for result in ended {
        match result {
            Ok(state) => states.push(state),
            Err(error) if first.as_ref().is_none_or(|first| error.0 < first.0) => first = Some(error),
            Err(_) => {}
        }
    }
    first.map_or(Ok(states), |(_, error)| Err(error))
}

/// The stream that threads share, and where they wait for their turn.
struct Source<'a> {
    stream: Mutex<Stream<'a>>,
    turn: Condvar,
}

struct Stream<'a> {
    documents: &'a mut dyn Documents,
    /// How many parts were cut off.
    cut: u64,
    /// How many of them were counted.
    joined: u64,
    /// How many of those have documents.
    given: u64,
    /// Whether somebody met an error, behind which nothing is to be counted.
    stopped: bool,
}

impl<'a> Source<'a> {
    fn stream(&self) -> MutexGuard<'_, Stream<'a>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts off the next part and numbers it; none at the end.
    fn cut(&self, part: &mut Part, progress: &(dyn Fn(Progress) + Sync)) -> Option<u64> {
        let mut stream = self.stream();
        if stream.stopped || !stream.documents.cut(part) {
            return None;
        }
        progress(stream.documents.progress());
        stream.cut += 1;
        Some(stream.cut - 1)
    }

    /// Counts a part when all before it were counted. How many parts before it have documents comes back;
    /// nothing where an error stands before it.
    fn join(&self, number: u64, part: &mut Part) -> Option<u64> {
        let mut stream = self.stream();
        while !stream.stopped && stream.joined < number {
            stream = self.turn.wait(stream).unwrap_or_else(PoisonError::into_inner);
        }
        if stream.stopped {
            return None;
        }
        stream.documents.join(part);
        stream.joined += 1;
        stream.stopped = part.has_error();
        let given = stream.given;
        stream.given += u64::from(!part.documents().is_empty());
        self.turn.notify_all();
        Some(given)
    }

    fn stop(&self) {
        self.stream().stopped = true;
        self.turn.notify_all();
    }
}

struct StopOnPanic<'a, 'b>(&'a Source<'b>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::{AtomicU64, Ordering};

    use shardlab_keys::ReadOptions;

    use super::*;

    #[derive(Debug, PartialEq, Eq)]
    struct Ended(String);

    impl From<ReadError> for Ended {
        fn from(error: ReadError) -> Self {
            Self(error.to_string().rsplit('/').next().unwrap_or_default().to_owned())
        }
    }

    /// Reads lines with several threads; a step that meets the id "stop" fails, "panic" panics. The number
    /// of bytes of all ids comes back, and the smallest number that a step had with the largest.
    fn sum(text: &str, threads: usize) -> Result<(usize, u64, u64), Ended> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("room");
        let mut documents = shardlab_keys::open(file.path(), &ReadOptions::default()).expect("lines");
        let (least, most) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        let step = |bytes: &mut usize, number, batch: &RawBatch<'_>| {
            least.fetch_min(number, Ordering::Relaxed);
            most.fetch_max(number, Ordering::Relaxed);
            for key in batch.iter() {
                assert_ne!(key.id, b"panic", "as it was told");
                if key.id.starts_with(b"stop") {
                    return Err(Ended(String::from_utf8_lossy(key.id).into_owned()));
                }
                *bytes += key.id.len();
            }
            Ok(())
        };
        let states = drive(&mut *documents, threads, &|_| {}, || 0, step)?;
        Ok((states.into_iter().sum(), least.into_inner(), most.into_inner()))
    }

    /// Some blocks of lines of eight letters.
    fn lines(count: usize) -> String {
        (0..count).map(|i| format!("{i:08}\n")).collect()
    }

    #[test]
    fn any_number_of_threads_sees_each_document_once_and_numbers_without_a_gap() {
        let text = lines(400_000);
        let expected = sum(&text, 1).expect("good lines");
        assert_eq!((expected.0, expected.1), (3_200_000, 0));
        for threads in [2, 3, 7] {
            assert_eq!(sum(&text, threads).as_ref(), Ok(&expected), "{threads} threads");
        }
    }

    #[test]
    fn the_first_error_of_the_stream_is_told_whoever_meets_it() {
        let (few, many) = (lines(70_000), lines(200_000));
        for threads in [1, 2, 5] {
            let told = |text: String| sum(&text, threads).expect_err("an error").0;
            // Lines are counted from 1 wherever they are read.
            assert!(told(format!("{many}\n{few}\n")).contains(":200001: the line is empty"), "{threads} threads");
            assert_eq!(told(format!("{few}stop-1\n{few}\n{few}stop-2\n{few}")), "stop-1", "{threads} threads");
            assert!(told(format!("{few}\nstop-1\n{few}stop-2\n{few}")).contains(":70001: "), "{threads} threads");
        }
    }

    #[test]
    fn a_step_that_panics_leaves_nobody_waiting() {
        let text = format!("{}panic\n{}", lines(100_000), lines(400_000));
        assert!(std::panic::catch_unwind(|| sum(&text, 3)).is_err());
    }
}
