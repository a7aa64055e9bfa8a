/// How many slots each node gets: floor or ceiling of table · weight / total, by largest remainder.
/// Of equal remainders the node that stands first gets the slot, so nodes come in the order of names.
/// The targets add up to the table.
///
/// All products fit 64 bits with a table up to 2^31.
///
/// # Panics
/// There are no weights, or all are 0.
#[must_use]
pub fn targets(table: u32, weights: &[u32]) -> Vec<u32> {
    let total: u64 = weights.iter().copied().map(u64::from).sum();
    let wanted = |weight: u32| u128::from(table) * u128::from(weight);
    let mut targets: Vec<u32> = weights
        .iter()
        .map(|&weight| {
            u32::try_from(wanted(weight) / u128::from(total)).unwrap_or_else(|_| unreachable!("a part of the table"))
        })
        .collect();
    let left = table - targets.iter().sum::<u32>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    // A stable sort keeps the earlier of equals first.
    order.sort_by_key(|&i| std::cmp::Reverse(wanted(weights[i]) % u128::from(total)));
    for &i in order.iter().take(left as usize) {
        targets[i] += 1;
    }
    targets
}
