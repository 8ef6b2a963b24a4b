//! Queries that are nested in each other at random: each is compiled by calls of another shape.

use std::fmt::Write;

/// How deep they are.
const DEPTH: u32 = 5;

/// A script of queries of a small table, for the driver of sqlite.
pub fn script(queries: usize) -> String {
    let mut text = String::from(
        "CREATE TABLE t (x INTEGER PRIMARY KEY, y INTEGER);\n\
         WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 5)\n\
         INSERT INTO t SELECT n, n * 7 % 5 FROM i;\n",
    );
    let mut draw = Draw(20161);
    for _ in 0..queries {
        let query = draw.query(DEPTH);
        // Writing to a string does not fail.
        let _ = writeln!(text, "SELECT count(*), total(a), total(b) FROM ({query});");
    }
    text
}

/// Draws numbers: the state of a generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0 * 16807 % 2_147_483_647;
        (self.0 % limit as u64) as usize
    }

    /// An expression of some columns.
    fn expression(&mut self, depth: u32, columns: &[&str]) -> String {
        let kind = if depth == 0 { 0 } else { self.below(11) };
        let below = depth.saturating_sub(1);
        let mut part = || self.expression(below, columns);
        match kind {
            2 => format!("({} + {})", part(), part()),
            3 => format!("coalesce({}, {})", part(), part()),
            4 => format!("({} AND {})", part(), part()),
            5 => format!("CASE WHEN {} > 3 THEN {} ELSE {} END", part(), part(), part()),
            6 => {
                let value = self.expression(below, &["a", "b"]);
                format!("(SELECT {value} FROM ({}) LIMIT 1)", self.query(below))
            }
            7 => format!("({} IN ({}, 3))", part(), part()),
            8 => format!("({} IN (SELECT a FROM ({})))", part(), self.query(below)),
            9 => format!("(abs({}) % 91)", part()),
            10 => format!("({} - {})", part(), part()),
            1 => columns[self.below(columns.len())].to_string(),
            _ => self.below(100).to_string(),
        }
    }

    /// A query with the columns `a` and `b`.
    fn query(&mut self, depth: u32) -> String {
        let Some(below) = depth.checked_sub(1) else {
            return "SELECT x AS a, y AS b FROM t".to_string();
        };
        let further = below.saturating_sub(1);
        match self.below(5) {
            0 => {
                let from = self.query(below);
                let condition = self.expression(below, &["a", "b"]);
                format!("SELECT a, b + 1 AS b FROM ({from}) WHERE {condition}")
            }
            1 => {
                let from = self.query(below);
                let value = self.expression(further, &["x", "y"]);
                format!("SELECT a, b FROM ({from}) UNION ALL SELECT {value}, x FROM t")
            }
            2 => {
                let [a, b] = [(); 2].map(|()| self.expression(below, &["x", "y"]));
                format!("SELECT {a} AS a, {b} AS b FROM t WHERE x < 3")
            }
            3 => {
                let from = self.query(below);
                let condition = self.expression(further, &["a"]);
                format!("SELECT a, count(*) AS b FROM ({from}) GROUP BY a HAVING {condition}")
            }
            _ => {
                let value = self.expression(below, &["u.a", "u.b", "y"]);
                let from = self.query(below);
                format!("SELECT u.a AS a, {value} AS b FROM ({from}) u JOIN t ON u.a = t.x")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::script;

    #[test]
    fn queries_are_the_same_each_time_and_balanced() {
        let text = script(50);
        assert_eq!(text, script(50));
        for line in text.lines() {
            assert_eq!(line.matches('(').count(), line.matches(')').count(), "{line}");
        }
    }
}
