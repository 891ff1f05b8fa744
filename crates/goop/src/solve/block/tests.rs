use super::*;

fn chain(n: usize) -> BlockMatrix {
    BlockMatrix::new(n, |visit| {
        for i in 1..n as u32 {
            visit(&[i - 1, i]);
            if i > 1 {
                visit(&[i - 2, i - 1, i]);
            }
        }
    })
}

/// Catches lost or repeated entries in the structure.
#[test]
fn the_structure_joins_the_nodes_of_every_stencil_once() {
    let m = chain(6);
    assert_eq!(m.blocks(), 6 + 5 + 4);
    assert!(m.position(0, 2).is_some() && m.position(2, 0).is_none() && m.position(0, 3).is_none());
}

/// Catches a wrong block layout, lanes that leak into their neighbours, a mirrored
/// block that is forgotten or counted twice where two chunks meet, and results that
/// depend on the processor.
#[test]
fn the_product_equals_the_one_by_definition() {
    for n in [1, 9, 9001] {
        let mut m = chain(n);
        m.rows_mut();
        assert_eq!(m.chunks().count() > 1, n > 9000);
        let entry = |i: usize, j: usize, r: usize, c: usize| {
            let ((i, r), (j, c)) = if (i, r) < (j, c) { ((i, r), (j, c)) } else { ((j, c), (i, r)) };
            ((i * 81 + j * 9 + 3 * r + c) as f64 * 0.37).sin()
        };
        for row in 0..n {
            for k in 0..9 {
                for p in m.row_range(row) {
                    m.values[9 * p + k] = entry(row, m.columns[p] as usize, k / 3, k % 3);
                }
                m.diagonal[9 * row + k] = entry(row, row, k / 3, k % 3);
            }
        }
        let x: Vec<DVec3> = (0..n).map(|i| DVec3::new(i as f64, 1.0 - i as f64, 0.3 * i as f64)).collect();
        let mut free = vec![true; n];
        free[n / 2] = false;
        let mut y = vec![DVec3::ONE; n];
        let dot = m.product(&free, &x, &mut y);
        let mut expected_dot = 0.0;
        for i in 0..n {
            let mut expected = DVec3::ZERO;
            for j in (i.saturating_sub(2)..(i + 3).min(n)).filter(|_| free[i]) {
                for r in 0..3 {
                    expected[r] += (0..3).map(|c| entry(i, j, r, c) * x[j][c]).sum::<f64>();
                }
            }
            assert!((y[i] - expected).length() < 1e-12 * (1.0 + i as f64), "{n} {i}");
            expected_dot += x[i].dot(expected);
        }
        assert!((dot - expected_dot).abs() <= 1e-12 * (n as f64).powi(3));
        let mut plain = vec![[7.0; 3]; n];
        for c in 0..m.chunks().count() {
            let rows = m.chunks().range(c);
            let x: &[[f64; 3]] = bytemuck::cast_slice(&x);
            m.product_rows_by::<[f64; WIDE]>(rows.clone(), &free, x, &mut plain[rows]);
        }
        assert!((0..n).all(|i| plain[i].map(f64::to_bits) == y[i].to_array().map(f64::to_bits)));
    }
}
