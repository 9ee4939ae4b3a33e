//! Tests of a catalog with two test variants: reading, labels and rejection of choices. Also tests that each check can
//! fail.

use catalog::{Build, ByteSize, Catalog, Choice, Variant, laws};
use lsmbench_catalog as catalog;
use serde::{Deserialize, Serialize};
use toml::Value;

/// The component of a test axis, which reports its parameters.
trait Shape {
    fn describe(&self) -> String;
}

struct Plain;

impl Shape for Plain {
    fn describe(&self) -> String {
        "plain".to_owned()
    }
}

struct Fancy(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    page: ByteSize,
    hasher: String,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, page: ByteSize(4096), hasher: "xxh3".to_owned() }
    }
}

impl Shape for Fancy {
    fn describe(&self) -> String {
        format!("{} bits, {} bytes, {}", self.0.bits_per_key, self.0.page.0, self.0.hasher)
    }
}

impl Build<dyn Shape> for Fancy {
    type Params = Params;
    fn build(params: Params) -> Result<Box<dyn Shape>, String> {
        if params.bits_per_key <= 0.0 {
            return Err(format!("bits_per_key is {}; it must be above 0", params.bits_per_key));
        }
        Ok(Box::new(Self(params)))
    }
}

const FANCY_REFERENCE: &str = "bits_per_key = 10\npage = \"4KiB\"\nhasher = \"xxh3\"\n";

static CATALOG: Catalog<dyn Shape> = Catalog::new(
    catalog::origin!(),
    "shape",
    "a made-up axis",
    &[
        Variant::plain("plain", "nothing to set", || Box::new(Plain)),
        Variant::new::<Fancy>("fancy", "three parameters", FANCY_REFERENCE),
    ],
);

fn choose(toml: &str) -> Result<Choice, String> {
    let value = toml::from_str::<toml::Table>(&format!("x = {toml}")).unwrap().remove("x").unwrap();
    CATALOG.choose(&value).map_err(|error| error.to_string())
}

#[test]
fn the_laws_hold() {
    laws::check(&CATALOG).unwrap();
}

#[test]
fn a_reference_that_differs_from_the_defaults_breaks_a_law() {
    static WRONG: Catalog<dyn Shape> = Catalog::new(
        catalog::origin!(),
        "shape",
        "",
        &[
            Variant::new::<Fancy>(
                "fancy",
                "wrong default",
                "bits_per_key = 12\npage = \"4KiB\"\nhasher = \"xxh3\"\n",
            ),
            Variant::new::<Fancy>("fancy", "a name twice", FANCY_REFERENCE),
            Variant::new::<Fancy>("Not_A_Name", "a bad name", "bits_per_key = 10\n"),
        ],
    );
    let broken = laws::check(&WRONG).unwrap_err();
    for law in [
        "bits_per_key = 12",
        "two variants have the name",
        "lower-case words",
        "Not_A_Name: the reference text has the parameters",
    ] {
        assert!(broken.contains(law), "{law} is not among\n{broken}");
    }
}

#[test]
fn a_variant_without_parameters_rejects_every_parameter() {
    let plain = CATALOG.variant("plain").unwrap();
    assert_eq!(plain.reference, "");
    assert!(plain.defaults().is_empty());
    assert_eq!(plain.build(toml::Table::new()).unwrap().describe(), "plain");
    let given = toml::Table::from_iter([("bits".to_owned(), Value::from(1))]);
    let errors = [plain.build(given.clone()).err().unwrap(), plain.normalize(given).unwrap_err()];
    for error in errors {
        assert_eq!(error.key.as_deref(), Some("bits"));
        assert_eq!(error.message, "unknown field \"bits\", there are no fields");
    }
}

#[test]
fn all_spellings_of_a_choice_are_one_choice() {
    let spellings = [
        r#""fancy(bits_per_key=12)""#,
        r#"{ kind = "fancy", bits_per_key = 12 }"#,
        r#"{ kind = "fancy", bits_per_key = 12.0, page = 4096 }"#,
        r#""fancy(page=4KiB, bits_per_key=12.0)""#,
    ];
    for spelling in spellings {
        let choice = choose(spelling).unwrap();
        assert_eq!(choice.label(), "fancy(bits_per_key=12)");
        assert_eq!(CATALOG.build(&choice).unwrap().describe(), "12 bits, 4096 bytes, xxh3");
    }
    assert_eq!(choose(r#""fancy""#).unwrap().label(), "fancy");
    let kept = ["page", "bits"].map(str::to_owned).into();
    let with_default = choose(r#""fancy(bits_per_key=12)""#).unwrap().label_with(&kept);
    assert_eq!(with_default, "fancy(bits_per_key=12, page=4KiB)");
    assert_eq!(choose(&format!("{with_default:?}")).unwrap(), choose(r#""fancy(bits_per_key=12)""#).unwrap());
    assert_eq!(CATALOG.baseline().label(), "plain");
    assert_eq!(CATALOG.build(&CATALOG.baseline()).unwrap().describe(), "plain");
}

#[test]
fn errors_name_the_valid_values() {
    let cases = [
        (r#""fanzy""#, r#"unknown variant "fanzy"; did you mean "fancy"? Valid: "plain", "fancy""#),
        (
            r#"{ kind = "fancy", bits_per_kei = 1 }"#,
            r#"no parameter "bits_per_kei"; did you mean "bits_per_key"?"#,
        ),
        (r#"{ kind = "plain", bits = 1 }"#, "this variant has no parameters"),
        (
            r#"{ kind = "fancy", bits_per_key = "many" }"#,
            "fancy: bits_per_key: expected a number, not \"many\"",
        ),
        (r#"{ kind = "fancy", page = "4 parsecs" }"#, "is not a size"),
        (r#""fancy(bits_per_key=-1)""#, "bits_per_key is -1; it must be above 0"),
        (r"{ bits_per_key = 1 }", "the table has no key kind"),
        ("3", "expected a variant, not a value of type integer"),
        (r#""fancy(bits_per_key""#, "lacks the closing parenthesis"),
    ];
    for (toml, message) in cases {
        let error = choose(toml).unwrap_err();
        assert!(error.contains(message), "{toml}: {error}");
    }
}

#[test]
fn the_key_at_fault_is_known() {
    let value: Value =
        toml::from_str::<toml::Table>(r#"x = { kind = "fancy", page = true }"#).unwrap()["x"].clone();
    assert_eq!(CATALOG.choose(&value).unwrap_err().key.as_deref(), Some("page"));
}
