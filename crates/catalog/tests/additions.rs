//! Tests of variants from other crates: their positions in a catalog, and the reasons for which a catalog rejects them.

use catalog::{AdditionError, Build, Catalog, Origin, Variant, laws, origin};
use lsmbench_catalog as catalog;
use serde::{Deserialize, Serialize};
use toml::Value;

/// The component of a test axis.
trait Shape {
    fn corners(&self) -> u32;
}

struct Polygon(u32);

impl Shape for Polygon {
    fn corners(&self) -> u32 {
        self.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    corners: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { corners: 3 }
    }
}

impl Build<dyn Shape> for Polygon {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Shape>, String> {
        Ok(Box::new(Self(params.corners)))
    }
}

const fn polygon(kind: &'static str) -> Variant<dyn Shape> {
    Variant::new::<Polygon>(kind, "a polygon", "corners = 3\n")
}

static MINE: Variant<dyn Shape> = polygon("mine").from(origin!());
static YOURS: Variant<dyn Shape> = polygon("yours").from(Origin { package: "yours", version: "2.0.0" });
static STRAY: Variant<dyn Shape> = polygon("stray");

#[test]
fn additions_stand_before_the_oracles_in_the_order_in_which_they_came() {
    static CATALOG: Catalog<dyn Shape> = Catalog::new(
        origin!(),
        "shape",
        "a made-up axis",
        &[polygon("first"), polygon("second"), polygon("bound").oracle(), polygon("limit").oracle()],
    );
    CATALOG.add(&MINE).unwrap();
    CATALOG.add(&YOURS).unwrap();
    let (axis, kind) = ("shape", "mine");
    assert_eq!(CATALOG.add(&MINE), Err(AdditionError::Taken { axis, kind }));
    assert_eq!(CATALOG.add(&STRAY), Err(AdditionError::NoOrigin { axis, kind: "stray" }));
    let kinds: Vec<&str> = CATALOG.kinds().collect();
    assert_eq!(kinds, ["first", "second", "mine", "yours", "bound", "limit"]);
    assert_eq!(CATALOG.origin_of(CATALOG.variant("first").unwrap()).package, "lsmbench-catalog");
    assert_eq!(CATALOG.origin_of(CATALOG.variant("yours").unwrap()).to_string(), "yours 2.0.0");
    let choice = CATALOG.choose(&Value::from("yours(corners=5)")).unwrap();
    assert_eq!(CATALOG.build(&choice).unwrap().corners(), 5);
}

#[test]
fn a_catalog_is_closed_by_the_first_look_up() {
    static CATALOG: Catalog<dyn Shape> =
        Catalog::new(origin!(), "shape", "a made-up axis", &[polygon("first")]);
    assert_eq!(CATALOG.kinds().count(), 1);
    assert_eq!(CATALOG.add(&MINE), Err(AdditionError::Closed { axis: "shape", kind: "mine" }));
    assert_eq!(CATALOG.kinds().count(), 1);
}

#[test]
fn one_code_of_two_crates_is_rejected() {
    static ALONE: Catalog<dyn Shape> =
        Catalog::new(origin!(), "shape", "a made-up axis", &[polygon("first"), polygon("second")]);
    static TOGETHER: Catalog<dyn Shape> =
        Catalog::new(origin!(), "shape", "a made-up axis", &[polygon("first")]);
    let code = |shape: &(dyn Shape + 'static)| u8::try_from(shape.corners()).ok();
    assert_eq!(ALONE.check_codes(code), Ok(()), "variants of one crate may share a code");
    TOGETHER.add(&YOURS).unwrap();
    let error = TOGETHER.check_codes(code).unwrap_err();
    let text = "shape: \"first\" and \"yours\" both have the file code 3; give one of them another code";
    assert_eq!(error.to_string(), text);
    assert_eq!(TOGETHER.check_codes(|_| None), Ok(()));
}

#[test]
fn an_oracle_at_the_head_stays_there() {
    static CATALOG: Catalog<dyn Shape> =
        Catalog::new(origin!(), "shape", "a made-up axis", &[polygon("none").oracle(), polygon("textbook")]);
    CATALOG.add(&MINE).unwrap();
    assert_eq!(CATALOG.kinds().collect::<Vec<_>>(), ["none", "textbook", "mine"]);
}

#[test]
fn a_variant_is_added_once_before_and_after_the_catalog_closes() {
    static CATALOG: Catalog<dyn Shape> = Catalog::new(
        origin!(),
        "shape",
        "a made-up axis",
        &[polygon("first"), polygon("mine").from(FOREIGN)],
    );
    const FOREIGN: Origin = Origin { package: "foreign", version: "1.0.0" };
    let (axis, kind) = ("shape", "mine");
    assert_eq!(CATALOG.add_once(&MINE), Err(AdditionError::Taken { axis, kind }), "another has the name");
    assert_eq!(CATALOG.add_once(&STRAY), Err(AdditionError::NoOrigin { axis, kind: "stray" }));
    CATALOG.add_once(&YOURS).unwrap();
    CATALOG.add_once(&YOURS).unwrap();
    assert_eq!(CATALOG.kinds().collect::<Vec<_>>(), ["first", "mine", "yours"]);
    CATALOG.add_once(&YOURS).unwrap();
    CATALOG.add_once(CATALOG.variant("first").unwrap()).unwrap();
    assert_eq!(CATALOG.add_once(&LATE), Err(AdditionError::Closed { axis, kind: "late" }));
}

static LATE: Variant<dyn Shape> = polygon("late").from(origin!());

#[test]
fn a_component_is_checked_against_every_invariant_and_each_broken_one_is_named() {
    let invariants: &[laws::Invariant<u32>] = &[
        ("it has three corners", |corners| laws::ensure(*corners == 3, || format!("it has {corners}"))),
        ("it has four corners", |corners| laws::ensure(*corners == 4, || format!("it has {corners}"))),
        ("it is round", |_| Err("it has corners".to_owned())),
    ];
    let checked = laws::check_component("shape", &MINE, |shape| shape.corners(), invariants);
    let expected = "mine: \"it has four corners\": it has 3\nmine: \"it is round\": it has corners";
    assert_eq!(checked, Err(expected.to_owned()));
    assert_eq!(laws::check_component("shape", &MINE, |shape| shape.corners(), &invariants[..1]), Ok(()));
    let misnamed = laws::check_component("shape", &MISNAMED, |shape| shape.corners(), invariants);
    assert!(
        misnamed.unwrap_err().starts_with("shape: Mis named: a name must consist"),
        "those of every axis are checked too"
    );
}

static MISNAMED: Variant<dyn Shape> = polygon("Mis named").from(origin!());
