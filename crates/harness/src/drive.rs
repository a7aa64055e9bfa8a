use std::sync::{Mutex, PoisonError};

use shardlab_core::{RawBatch, RawChunk};
use shardlab_keys::{Documents, Progress, ReadError};

/// Takes all documents through several threads, each with a state of its own, and returns the states.
///
/// Threads take turns to read a chunk and work on it alone; `step` gets the number of the chunk with
/// it. Whoever adds up the states by sums that do not depend on order has a result that does not
/// depend on the number of threads. Memory is a state and a chunk for each thread.
///
/// # Errors
/// The first error of reading or of a step, in the order of the documents as far as reading goes.
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
    let source = Mutex::new(Source { documents, chunks: 0, done: false });
    let work = || {
        let mut state = start();
        let mut chunk = RawChunk::default();
        loop {
            let Some(number) = take(&source, &mut chunk, progress)? else { return Ok(state) };
            if let Err(error) = step(&mut state, number, &chunk.as_batch()) {
                source.lock().unwrap_or_else(PoisonError::into_inner).done = true;
                return Err(error);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

struct Source<'a> {
    documents: &'a mut dyn Documents,
    chunks: u64,
    done: bool,
}

/// Reads the next chunk and its number, unless all are read or somebody met an error.
fn take(
    source: &Mutex<Source<'_>>,
    chunk: &mut RawChunk,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<u64>, ReadError> {
    let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
    if source.done {
        return Ok(None);
    }
    // Stays set if reading fails or ends, so that the other threads stop too.
    source.done = true;
    if !source.documents.next_chunk(chunk)? {
        return Ok(None);
    }
    source.done = false;
    progress(source.documents.progress());
    source.chunks += 1;
    Ok(Some(source.chunks - 1))
}
