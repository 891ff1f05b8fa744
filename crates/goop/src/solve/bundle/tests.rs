use super::*;

/// A body without order: every node with a few near it, and a few far away.
fn pairs(n: u32) -> Vec<[u32; 2]> {
    let near = |i: u32| [1, 2, 7 + i % 5, 31 + i % 3, 300 + (i * i) % 41].map(|off| [i, i + off]);
    (0..n).flat_map(near).filter(|[_, j]| *j < n).collect()
}

/// Catches blocks that are left out or taken twice, nodes of a bundle that touch, and loose slots done before their
/// rows are or after their columns were needed.
#[test]
fn every_block_has_its_turn_once() {
    for n in [3, 200, 15_000] {
        let (pairs, free) = (pairs(n), (0..n).map(|i| i % 11 != 4).collect::<Vec<_>>());
        let pattern = Pattern::new(&free, |visit| {
            pairs.iter().enumerate().for_each(|(block, &ends)| visit(ends, block as u32));
        });
        assert!((pattern.groups.len() > 1) == (n > 10_000) && pattern.groups.len() == 2 * pattern.pieces - 1);
        let mut seen = vec![0; pairs.len()];
        let mut count = |source: u32, from: u32, to: u32| {
            let [a, b] = pairs[source as usize / 2];
            let ends = if source.is_multiple_of(2) { [a, b] } else { [b, a] };
            assert_eq!([from, to].map(|place| pattern.nodes[place as usize]), ends);
            seen[source as usize / 2] += 1;
        };
        for group in &pattern.groups {
            let mut slot = group.slots.start;
            for ends in &pattern.ends[group.across.clone()] {
                for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                    count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                    assert!(!group.bundles.contains(&(ends[1][lane] as usize / WIDEST)));
                }
                slot += 1;
            }
            for k in group.bundles.clone() {
                let row = &pattern.rows[k];
                assert_eq!(row.slot as usize, slot);
                for s in 0..usize::from(row.loose) {
                    let ends = pattern.ends[row.end as usize + s];
                    for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                        let [from, to] = [0, 1].map(|end: usize| ends[end][lane]);
                        count(pattern.sources[slot][lane], from, to);
                        assert!((from as usize) < WIDEST * k && to as usize >= WIDEST * k);
                    }
                    slot += 1;
                }
                let mut targets = row.target as usize;
                for (s, across) in (0..row.across).map(|s| (s, true)).chain((0..row.even).map(|s| (s, false))) {
                    let target = pattern.targets[targets];
                    assert_eq!(group.bundles.contains(&target.bundle()), !across);
                    assert!(!across || pattern.between.contains(&k) != pattern.between.contains(&target.bundle()));
                    assert!(across || target.bundle() > k);
                    let next = target.bundle() == k + 1 && target.on() == 0;
                    assert_eq!(!across && s == 0 && row.next, !across && next);
                    for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                        count(pattern.sources[slot][lane], (WIDEST * k + lane) as u32, target.place(lane));
                    }
                    (slot, targets) = (slot + 1, targets + 1);
                }
            }
            assert_eq!(slot + group.fringe.len(), group.slots.end);
            for ends in &pattern.ends[group.fringe.clone()] {
                for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                    count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                    assert!(pattern.held.bundles.contains(&(ends[1][lane] as usize / WIDEST)));
                }
                slot += 1;
            }
        }
        for (slot, ends) in pattern.held.slots.clone().zip(&pattern.ends[pattern.held.fringe.clone()]) {
            for lane in (0..WIDEST).filter(|&l| pattern.sources[slot][l] != NONE) {
                count(pattern.sources[slot][lane], ends[0][lane], ends[1][lane]);
                assert!(pattern.held.bundles.contains(&(ends[0][lane] as usize / WIDEST)));
            }
        }
        let free = |ends: &[u32; 2]| ends.iter().all(|&i| free[i as usize]);
        for (seen, ends) in seen.iter().zip(&pairs) {
            let group = |i: u32| {
                pattern.groups.iter().position(|g| g.bundles.contains(&(pattern.places[i as usize] as usize / WIDEST)))
            };
            let both = !free(ends) || group(ends[0]) != group(ends[1]);
            assert_eq!(*seen, if both { 2 } else { 1 });
        }
        let blocks: usize = seen.iter().sum();
        assert!(n < 1000 || 2 * blocks > WIDEST * pattern.sources.len(), "{blocks} {}", pattern.sources.len());
    }
}
