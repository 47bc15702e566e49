//! One table for everything.

/// Rows of: what, measured, baseline, its name, ratio, limit.
#[derive(Default)]
pub struct Table(Vec<[String; 6]>);

impl Table {
    /// Adds a figure and its ratio to a baseline of the same run.
    pub fn ratio(
        &mut self,
        what: &str,
        ours: f64,
        base: f64,
        baseline: &str,
        unit: &str,
        wanted: &str,
    ) {
        self.0.push([
            what.to_owned(),
            format!("{ours:.3} {unit}"),
            format!("{base:.3} {unit}"),
            baseline.to_owned(),
            format!("{:.3}x", ours / base),
            wanted.to_owned(),
        ]);
    }

    /// Adds a figure that stands for itself.
    pub fn figure(&mut self, what: &str, value: String, wanted: &str) {
        let none = String::new;
        self.0.push([
            what.to_owned(),
            value,
            none(),
            none(),
            none(),
            wanted.to_owned(),
        ]);
    }

    /// Prints everything.
    pub fn print(&self) {
        let head = [
            "what",
            "measured",
            "baseline",
            "baseline is",
            "ratio",
            "wanted",
        ];
        let mut rows = vec![head.map(str::to_owned)];
        rows.extend(self.0.iter().cloned());
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
        for row in &rows {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            println!("{}", cells.join("  ").trim_end());
        }
    }
}
