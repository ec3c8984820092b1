//! How products are cut into tasks: by their sizes alone.

use crate::product::Sizes;

/// Multiplications that one task does, at least, where there are so many.
const TASK_MIN: usize = 1 << 21;
/// Multiplications that one task does, at most, about.
const TASK_MAX: usize = 1 << 24;
/// Tasks that a product is cut into where those bounds allow.
const TASKS: usize = 64;
/// Rows and columns of a tile are multiples of this, except for the last.
const UNIT: usize = 16;

/// The tiles of equally large matrices.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tiles {
    matrices: usize,
    sizes: Sizes,
    tile_rows: usize,
    tile_columns: usize,
    /// Tiles of a task: those of several matrices, when matrices are small.
    per_task: usize,
}

impl Tiles {
    /// `matrices` products of some sizes, each of which is done `sums` times.
    pub(super) fn new(matrices: usize, sizes: Sizes, sums: usize) -> Self {
        let work = |rows: usize, columns: usize| {
            [columns, sizes.depth.max(1), sums]
                .into_iter()
                .fold(rows, usize::saturating_mul)
        };
        let each = work(sizes.rows, sizes.columns);
        let target = (matrices.saturating_mul(each) / TASKS).clamp(TASK_MIN, TASK_MAX);
        let (mut tile_rows, mut tile_columns) = (sizes.rows, sizes.columns);
        while work(tile_rows, tile_columns) > target && tile_rows.max(tile_columns) > UNIT {
            let longer = if tile_rows > tile_columns {
                &mut tile_rows
            } else {
                &mut tile_columns
            };
            *longer = longer.div_ceil(2).next_multiple_of(UNIT.min(*longer / 2));
        }
        Self {
            matrices,
            sizes,
            tile_rows,
            tile_columns,
            per_task: (target / work(tile_rows, tile_columns).max(1)).max(1),
        }
    }

    /// Elements of the largest tile.
    pub(super) const fn area(&self) -> usize {
        self.tile_rows * self.tile_columns
    }

    const fn per_matrix(&self) -> [usize; 2] {
        [
            self.sizes.rows.div_ceil(self.tile_rows),
            self.sizes.columns.div_ceil(self.tile_columns),
        ]
    }

    const fn count(&self) -> usize {
        let [rows, columns] = self.per_matrix();
        self.matrices * rows * columns
    }

    pub(super) const fn tasks(&self) -> usize {
        self.count().div_ceil(self.per_task)
    }

    /// Calls `visit` with matrix, first row, first column and sizes of each tile of a task.
    pub(super) fn for_each(&self, task: usize, mut visit: impl FnMut(usize, usize, usize, Sizes)) {
        let [rows, columns] = self.per_matrix();
        let start = task * self.per_task;
        for index in start..self.count().min(start + self.per_task) {
            let (matrix, tile) = (index / (rows * columns), index % (rows * columns));
            let row = tile / columns * self.tile_rows;
            let column = tile % columns * self.tile_columns;
            let sizes = Sizes {
                rows: self.tile_rows.min(self.sizes.rows - row),
                columns: self.tile_columns.min(self.sizes.columns - column),
                depth: self.sizes.depth,
            };
            visit(matrix, row, column, sizes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(matrices: usize, [rows, columns, depth]: [usize; 3], tasks: usize) {
        let sizes = Sizes { rows, columns, depth };
        let tiles = Tiles::new(matrices, sizes, 1);
        assert_eq!(tiles.tasks(), tasks);
        let mut covered = vec![0_u8; matrices * rows * columns];
        for task in 0..tasks {
            tiles.for_each(task, |matrix, row, column, tile| {
                assert!(tile.rows * tile.columns <= tiles.area());
                for row in row..row + tile.rows {
                    for column in column..column + tile.columns {
                        covered[(matrix * rows + row) * columns + column] += 1;
                    }
                }
            });
        }
        assert!(covered.iter().all(|times| *times == 1));
    }

    #[test]
    fn every_element_is_in_one_tile() {
        check(1, [256, 256, 256], 8);
        check(1, [7, 5, 3], 1);
        check(64, [128, 128, 128], 64);
        check(1000, [4, 4, 4], 1);
        check(1, [1, 100_000, 64], 4);
        check(3, [1, 1, 1 << 22], 3);
        check(1, [2, 3, 0], 1);
    }
}
