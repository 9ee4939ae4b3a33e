//! The banded system of linear equations over GF(2) (values of one bit) that a ribbon filter solves.
//!
//! Each key has an equation with 64 coefficients of one bit. The first coefficient belongs to the start row of the key,
//! and the other coefficients belong to the following rows. The coefficients that are 1 select rows of the solution.
//! The sum (XOR) of the selected rows must be the fingerprint of the key. Equations are added in the order of their
//! start rows, so the rows that elimination reads are in the CPU caches. Source: Dillinger & Walzer, "Ribbon filter:
//! practically smaller than Bloom and Xor" (2021), sections 2 and 4.

use crate::position::{mix, reduce, remix};

/// The number of adjacent rows of the solution that the equation of a key can select. A block of the stored solution
/// has the same number of rows.
pub(crate) const WIDTH: usize = 64;

/// The linear equation of a key in the system that a ribbon filter solves. The equation selects some of 64 adjacent
/// rows of the solution. The sum (XOR) of these rows must be the fingerprint of the key.
#[derive(Clone, Copy)]
pub(crate) struct Equation {
    /// The first of the 64 rows that the equation can select.
    pub(crate) start: usize,
    /// One bit for each of the 64 rows: whether the equation selects the row. The lowest bit, for the first row, is 1.
    pub(crate) coefficients: u64,
    /// The fingerprint of the key, with one bit for each column of the solution. The sum of the selected rows must
    /// equal the fingerprint.
    pub(crate) fingerprint: u64,
}

impl Equation {
    /// Creates the equation of a key in a system of `rows` rows. `mixed` is the hash of the key, mixed with a seed. The
    /// larger the hash, the later the first row of the equation. Similar hashes can have the same first row.
    #[inline]
    pub(crate) fn of(mixed: u64, rows: usize) -> Self {
        let (coefficients, fingerprint) = (remix(mixed).swap_bytes(), remix(mixed ^ mixed >> 32));
        Self {
            start: reduce(mixed, rows - (WIDTH - 1)),
            coefficients: coefficients | 1,
            fingerprint: fingerprint.swap_bytes(),
        }
    }
}

/// The system of linear equations of a ribbon filter in echelon form: at most one equation begins at each row.
pub(crate) struct Banding {
    coefficients: Vec<u64>,
    fingerprints: Vec<u64>,
}

impl Banding {
    /// Creates a system of linear equations, which has no equation at first. The number of rows is a multiple of
    /// [`WIDTH`], and is not 0.
    pub(crate) fn new(rows: usize) -> Self {
        Self { coefficients: vec![0; rows], fingerprints: vec![0; rows] }
    }

    /// Adds an equation to the system. Returns `false` if the equation contradicts earlier equations.
    #[inline]
    pub(crate) fn add(&mut self, equation: Equation) -> bool {
        let Equation { start: row, coefficients, fingerprint } = self.reduced(equation);
        if coefficients == 0 {
            return fingerprint == 0;
        }
        self.coefficients[row] = coefficients;
        self.fingerprints[row] = fingerprint;
        true
    }

    /// Returns whether the equations added so far already determine the result of `equation`. If they do, a key with
    /// this equation may be a false positive.
    #[inline]
    pub(crate) fn spans(&self, equation: Equation) -> bool {
        self.reduced(equation).coefficients == 0
    }

    /// Subtracts equations of the system from `equation`, until none of them begins at the same row. The result may
    /// select no rows.
    #[inline]
    fn reduced(&self, mut equation: Equation) -> Equation {
        while equation.coefficients != 0 && self.coefficients[equation.start] != 0 {
            equation.coefficients ^= self.coefficients[equation.start];
            equation.fingerprint ^= self.fingerprints[equation.start];
            let empty = equation.coefficients.trailing_zeros() % WIDTH as u32;
            equation.coefficients >>= empty;
            equation.start += empty as usize;
        }
        equation
    }

    /// Solves the system from its last row to its first row, and passes each block of 64 rows to `take`, from the last
    /// block to the first. A block consists of `columns(block)` 64-bit words, one for each column. `columns` must never
    /// decrease from one block to the next.
    ///
    /// A row where no equation begins can have any value, and gets a random value. Otherwise, a system whose
    /// fingerprints are all 0 would have only the solution 0.
    pub(crate) fn solve(&self, columns: impl Fn(usize) -> usize, mut take: impl FnMut(usize, &[u64])) {
        let mut state = [0u64; u64::BITS as usize];
        for block in (0..self.coefficients.len() / WIDTH).rev() {
            let state = &mut state[..columns(block)];
            for row in (block * WIDTH..(block + 1) * WIDTH).rev() {
                let coefficients = self.coefficients[row];
                let bits =
                    if coefficients == 0 { mix(row as u64, WIDTH as u64) } else { self.fingerprints[row] };
                for (column, word) in state.iter_mut().enumerate() {
                    let below = *word << 1;
                    let sum = u64::from((below & coefficients).count_ones());
                    *word = below | (sum ^ bits >> column) & 1;
                }
            }
            take(block, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_fulfils_every_equation() {
        const ROWS: usize = 40 * WIDTH;
        const COLUMNS: usize = 9;
        let mut keys: Vec<u64> = (0..2000).map(|i| mix(i, 1)).collect();
        keys.sort_unstable();
        let equations: Vec<Equation> = keys.into_iter().map(|key| Equation::of(key, ROWS)).collect();
        let mut banding = Banding::new(ROWS);
        assert!(equations.iter().all(|equation| banding.add(*equation)));
        let mut solution = vec![[0u64; COLUMNS]; ROWS / WIDTH + 1];
        banding.solve(|_| COLUMNS, |block, words| solution[block].copy_from_slice(words));
        for Equation { start, coefficients, fingerprint } in equations {
            let (block, shift) = (start / WIDTH, start % WIDTH);
            for (column, (here, next)) in solution[block].iter().zip(solution[block + 1]).enumerate() {
                let rows = (u128::from(next) << 64 | u128::from(*here)) >> shift;
                let sum = (rows as u64 & coefficients).count_ones();
                assert_eq!(u64::from(sum) & 1, fingerprint >> column & 1);
            }
        }
    }

    #[test]
    fn a_contradiction_is_refused_and_a_repetition_is_not() {
        let mut banding = Banding::new(WIDTH);
        let equation = Equation { start: 0, coefficients: 0b1011, fingerprint: 5 };
        assert!(banding.add(equation) && banding.add(equation));
        assert!(!banding.add(Equation { fingerprint: 4, ..equation }));
        assert!(banding.spans(equation) && !banding.spans(Equation { coefficients: 0b11, ..equation }));
    }
}
