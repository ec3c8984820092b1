//! The general simplex method in exact fractions (Dutertre and de Moura, "A fast linear-arithmetic solver for DPLL(T)",
//! 2006), with Bland's rule, so that it ends. The budget bounds it further.

use crate::interval::Interval;
use crate::limits;
use crate::rational::Ratio;

/// A tableau: each basic variable is a combination of the nonbasic ones, and each variable has bounds.
///
/// Variables are numbered: first the columns, then the rows. Every method that returns None gave up.
#[derive(Clone, Debug)]
pub(crate) struct Simplex {
    bounds: Vec<(Option<Ratio>, Option<Ratio>)>,
    values: Vec<Ratio>,
    /// The variable of each row.
    basic: Vec<usize>,
    /// The variable of each column.
    nonbasic: Vec<usize>,
    table: Vec<Vec<Ratio>>,
    work: usize,
}

/// The outcome of minimising.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Minimum {
    /// The smallest value.
    Finite(Ratio),
    /// There is none.
    Unbounded,
}

/// In which direction a variable moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

impl Simplex {
    /// Columns with their bounds, and no rows.
    pub(crate) fn new(columns: &[Interval]) -> Self {
        let bounds: Vec<_> = columns.iter().copied().map(ends).collect();
        let start = |(min, max): &(Option<Ratio>, Option<Ratio>)| min.or(*max).unwrap_or(Ratio::ZERO);
        Self {
            values: bounds.iter().map(start).collect(),
            nonbasic: (0..bounds.len()).collect(),
            basic: Vec::new(),
            table: Vec::new(),
            work: 0,
            bounds,
        }
    }

    /// Adds a combination of the columns with its bounds, and returns its variable. Only before solving.
    pub(crate) fn add_row(&mut self, terms: &[(usize, i128)], bounds: Interval) -> Option<usize> {
        let mut row = vec![Ratio::ZERO; self.nonbasic.len()];
        let mut value = Ratio::ZERO;
        for (column, coefficient) in terms {
            row[*column] = Ratio::integer(*coefficient);
            value = value.add(row[*column].mul(self.values[*column])?)?;
        }
        let variable = self.bounds.len();
        self.bounds.push(ends(bounds));
        self.values.push(value);
        self.basic.push(variable);
        self.table.push(row);
        Some(variable)
    }

    /// The current value of a variable.
    pub(crate) fn value(&self, variable: usize) -> Ratio {
        self.values[variable]
    }

    /// Looks for values within all bounds.
    pub(crate) fn feasible(&mut self) -> Option<bool> {
        loop {
            let Some((row, target, direction)) = self.violated()? else {
                return Some(true);
            };
            let Some(column) = self.entering(row, direction)? else {
                return Some(false);
            };
            let step = target
                .sub(self.values[self.basic[row]])?
                .div(self.table[row][column])?;
            self.shift(column, step)?;
            self.pivot(row, column)?;
        }
    }

    /// Minimises a row without bounds, starting from values within all bounds.
    pub(crate) fn minimise(&mut self, objective: usize) -> Option<Minimum> {
        loop {
            let row = self.basic.iter().position(|variable| *variable == objective)?;
            let Some(column) = self.entering(row, Direction::Down)? else {
                return Some(Minimum::Finite(self.values[objective]));
            };
            let direction = if self.table[row][column].sign() > 0 {
                Direction::Down
            } else {
                Direction::Up
            };
            let Some((step, leaving)) = self.longest_step(column, direction, objective)? else {
                return Some(Minimum::Unbounded);
            };
            let signed = if direction == Direction::Up {
                step
            } else {
                Ratio::ZERO.sub(step)?
            };
            self.shift(column, signed)?;
            match leaving {
                Some(row) => self.pivot(row, column)?,
                None => self.pay(self.basic.len())?,
            }
        }
    }

    /// The first basic variable out of bounds, with the bound to reach.
    fn violated(&self) -> Option<Option<(usize, Ratio, Direction)>> {
        let mut found: Option<(usize, Ratio, Direction)> = None;
        for (row, variable) in self.basic.iter().enumerate() {
            if found.is_some_and(|(other, ..)| self.basic[other] < *variable) {
                continue;
            }
            let (min, max) = self.bounds[*variable];
            let value = self.values[*variable];
            if let Some(min) = min
                && value.less_than(min)?
            {
                found = Some((row, min, Direction::Up));
            }
            if let Some(max) = max
                && max.less_than(value)?
            {
                found = Some((row, max, Direction::Down));
            }
        }
        Some(found)
    }

    /// The first column that can move the row's variable in a direction.
    fn entering(&self, row: usize, direction: Direction) -> Option<Option<usize>> {
        let mut found: Option<usize> = None;
        for (column, variable) in self.nonbasic.iter().enumerate() {
            if found.is_some_and(|other| self.nonbasic[other] < *variable) {
                continue;
            }
            let sign = self.table[row][column].sign();
            let up = (sign > 0) == (direction == Direction::Up);
            if sign != 0 && self.can_move(*variable, if up { Direction::Up } else { Direction::Down })? {
                found = Some(column);
            }
        }
        Some(found)
    }

    fn can_move(&self, variable: usize, direction: Direction) -> Option<bool> {
        let (min, max) = self.bounds[variable];
        let value = self.values[variable];
        match direction {
            Direction::Up => max.map_or(Some(true), |max| value.less_than(max)),
            Direction::Down => min.map_or(Some(true), |min| min.less_than(value)),
        }
    }

    /// How far a column can move until a bound stops it, and the row whose bound that is (None: its own).
    fn longest_step(
        &self,
        column: usize,
        direction: Direction,
        objective: usize,
    ) -> Option<Option<(Ratio, Option<usize>)>> {
        let mut best = self
            .distance(self.nonbasic[column], direction)?
            .map(|step| (step, None));
        for (row, variable) in self.basic.iter().enumerate() {
            let rate = self.table[row][column];
            if *variable == objective || rate.sign() == 0 {
                continue;
            }
            let up = (rate.sign() > 0) == (direction == Direction::Up);
            let Some(room) = self.distance(*variable, if up { Direction::Up } else { Direction::Down })?
            else {
                continue;
            };
            let magnitude = if rate.sign() > 0 {
                rate
            } else {
                Ratio::ZERO.sub(rate)?
            };
            let step = room.div(magnitude)?;
            let better = match best {
                None => true,
                Some((least, _)) if step.less_than(least)? => true,
                Some((least, Some(other))) => step == least && *variable < self.basic[other],
                Some((_, None)) => false,
            };
            if better {
                best = Some((step, Some(row)));
            }
        }
        Some(best)
    }

    /// The distance of a variable to its bound in a direction, if there is a bound.
    fn distance(&self, variable: usize, direction: Direction) -> Option<Option<Ratio>> {
        let (min, max) = self.bounds[variable];
        let value = self.values[variable];
        match direction {
            Direction::Up => max.map_or(Some(None), |max| max.sub(value).map(Some)),
            Direction::Down => min.map_or(Some(None), |min| value.sub(min).map(Some)),
        }
    }

    /// Moves a nonbasic variable and with it the basic ones.
    fn shift(&mut self, column: usize, step: Ratio) -> Option<()> {
        let moved = self.nonbasic[column];
        self.values[moved] = self.values[moved].add(step)?;
        for (row, variable) in self.basic.iter().enumerate() {
            let change = self.table[row][column].mul(step)?;
            self.values[*variable] = self.values[*variable].add(change)?;
        }
        Some(())
    }

    /// Exchanges the variables of a row and a column.
    fn pivot(&mut self, row: usize, column: usize) -> Option<()> {
        let affected = self
            .table
            .iter()
            .filter(|entries| entries[column].sign() != 0)
            .count();
        self.pay(affected * self.nonbasic.len())?;
        let inverse = Ratio::ONE.div(self.table[row][column])?;
        let negative = Ratio::ZERO.sub(inverse)?;
        for (other, entry) in self.table[row].iter_mut().enumerate() {
            *entry = if other == column {
                inverse
            } else {
                entry.mul(negative)?
            };
        }
        let pivot_row = self.table[row].clone();
        for (other, entries) in self.table.iter_mut().enumerate() {
            let factor = entries[column];
            if other == row || factor.sign() == 0 {
                continue;
            }
            entries[column] = Ratio::ZERO;
            for (entry, pivot) in entries.iter_mut().zip(&pivot_row) {
                if pivot.sign() != 0 {
                    *entry = entry.add(factor.mul(*pivot)?)?;
                }
            }
        }
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        Some(())
    }

    fn pay(&mut self, entries: usize) -> Option<()> {
        self.work += entries;
        (self.work <= limits::PIVOT_WORK).then_some(())
    }
}

fn ends(interval: Interval) -> (Option<Ratio>, Option<Ratio>) {
    (
        interval.min.finite().map(Ratio::integer),
        interval.max.finite().map(Ratio::integer),
    )
}
