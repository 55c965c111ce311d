//! The table of `docs/models.md` is the registry's. `PORF_BLESS=1` writes it.

use std::path::Path;

const BEGIN: &str = "<!-- models -->\n";
const END: &str = "<!-- /models -->";

#[test]
fn the_table_of_the_documentation_is_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the beginning of the table is marked");
    let (table, after) = rest.split_once(END).expect("the end of the table is marked");
    let wanted = porf_report::models::markdown();
    if std::env::var_os("PORF_BLESS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).unwrap();
    } else {
        assert_eq!(table, wanted, "run this test with PORF_BLESS=1");
    }
}
