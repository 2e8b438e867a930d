//! Products of row-major matrices through the `gemm` crate, the only unsafe code of this crate.

use gemm::Parallelism;

/// Which operands are read transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `c[m,n] = a[m,k] · b[k,n]`
    Nn,
    /// `c[m,n] = a[m,k] · b[n,k]ᵀ`
    Nt,
    /// `c[m,n] = a[k,m]ᵀ · b[k,n]`
    Tn,
}

/// A window into a row-major matrix: values and the distance of two rows.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// From the first element of the window on.
    pub data: &'a [f32],
    /// Elements from one row to the next.
    pub stride: usize,
}

/// [`View`] for writing.
#[derive(Debug)]
pub struct ViewMut<'a> {
    /// From the first element of the window on.
    pub data: &'a mut [f32],
    /// Elements from one row to the next.
    pub stride: usize,
}

fn fits(len: usize, rows: usize, cols: usize, stride: usize) -> bool {
    rows == 0 || cols == 0 || (cols <= stride && (rows - 1) * stride + cols <= len)
}

/// `c = keep·c + scale·(a ∘ b)` for the product `op` of size `[m, n]` over `k`, with `keep` 0 or 1.
///
/// # Panics
/// When a window does not hold its matrix: a mistake of the caller's, never of data.
#[allow(unsafe_code)] // SIMD kernels behind a pointer interface; the assertion below is what they require
pub fn matmul(op: Op, [m, n, k]: [usize; 3], c: ViewMut<'_>, keep: bool, scale: f32, a: View<'_>, b: View<'_>) {
    let (a_rows, a_cols) = if op == Op::Tn { (k, m) } else { (m, k) };
    let (b_rows, b_cols) = if op == Op::Nt { (n, k) } else { (k, n) };
    assert!(
        fits(c.data.len(), m, n, c.stride)
            && fits(a.data.len(), a_rows, a_cols, a.stride)
            && fits(b.data.len(), b_rows, b_cols, b.stride),
        "matmul {op:?} {m}x{n}x{k} outside its buffers"
    );
    let (a_cs, a_rs) = if op == Op::Tn { (a.stride as isize, 1) } else { (1, a.stride as isize) };
    let (b_cs, b_rs) = if op == Op::Nt { (b.stride as isize, 1) } else { (1, b.stride as isize) };
    // SAFETY: all accesses stay inside the three slices (asserted above); `c` is borrowed mutably, so nothing aliases it.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.data.as_mut_ptr(),
            1,
            c.stride as isize,
            keep,
            a.data.as_ptr(),
            a_cs,
            a_rs,
            b.data.as_ptr(),
            b_cs,
            b_rs,
            1.0,
            scale,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// [`matmul`] of whole matrices without gaps between the rows.
pub fn dense(op: Op, [m, n, k]: [usize; 3], c: &mut [f32], keep: bool, a: &[f32], b: &[f32]) {
    let a_stride = if op == Op::Tn { m } else { k };
    let b_stride = if op == Op::Nt { k } else { n };
    let (a, b) = (View { data: a, stride: a_stride }, View { data: b, stride: b_stride });
    matmul(op, [m, n, k], ViewMut { data: c, stride: n }, keep, 1.0, a, b);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_agree_with_the_definition() {
        let (m, n, k) = (5, 7, 3);
        let at = |i: usize| ((i * 37 % 11) as f32) - 5.0;
        let a: Vec<f32> = (0..m * k).map(at).collect();
        let b: Vec<f32> = (0..k * n).map(at).collect();
        let transpose = |x: &[f32], r: usize, c: usize| (0..r * c).map(|i| x[(i % r) * c + i / r]).collect::<Vec<_>>();
        let mut want = vec![1.0; m * n];
        for i in 0..m {
            for j in 0..n {
                want[i * n + j] += (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f32>();
            }
        }
        for (op, a, b) in [
            (Op::Nn, a.clone(), b.clone()),
            (Op::Nt, a.clone(), transpose(&b, k, n)),
            (Op::Tn, transpose(&a, m, k), b.clone()),
        ] {
            let mut c = vec![1.0; m * n];
            dense(op, [m, n, k], &mut c, true, &a, &b);
            assert_eq!(c, want, "{op:?}");
        }
    }
}
