use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `count` pieces of work on several threads and returns their results in order.
///
/// # Errors
/// That of the first piece that fails, by its number.
pub(crate) fn in_parallel<T: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                return;
            }
            let result = work(piece);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((piece, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(piece, _)| *piece);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_order_whatever_the_number_of_threads() {
        for threads in [1, 3] {
            let squares: Result<Vec<usize>, ()> = in_parallel(50, threads, |piece| Ok(piece * piece));
            assert_eq!(squares, Ok((0..50).map(|piece| piece * piece).collect()));
            let failed = in_parallel(50, threads, |piece| if piece < 30 { Ok(piece) } else { Err(piece) });
            assert_eq!(failed, Err(30));
        }
    }
}
