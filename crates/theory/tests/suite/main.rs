//! Compares closed forms with simulations and enumerations.

mod closed_forms;
mod hit_rates;
mod residuals;

#[expect(clippy::print_stdout, reason = "the table is what one runs this test for by hand")]
fn show(table: &str) {
    println!("{table}");
}
