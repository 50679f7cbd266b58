"""The table of cases is complete."""

from __future__ import annotations

from bench import decode, decoders, encoded
from bench.case import FASTEST
from bench.cases import BY_NAME, CASES, covered_ops
from bench.images import BAGS


def test_every_native_op_is_timed() -> None:
    from fastaug import _C

    assert {name for name, _ in _C.OPS if not name.startswith("V2_")} == covered_ops()


def test_every_class_and_function_is_timed() -> None:
    """Names of other things than operations, and functions whose class is timed, need no row of their own."""
    import fastaug.transforms as T
    from fastaug.transforms import functional as F

    rows = " ".join(BY_NAME).lower().replace("_", "")
    others = {"AutoAugmentPolicy", "InterpolationMode", "functional", "pil_modes_mapping"}
    others.add("Decode")  # bench.decode times it
    containers = {"Compose", "RandomApply", "RandomChoice", "RandomOrder"}
    questions = {"get_dimensions", "get_image_num_channels", "get_image_size"}
    same = {
        "convert_image_dtype": "ConvertImageDtype",
        "erase": "RandomErasing",
        "rgb_to_grayscale": "Grayscale",
        "to_grayscale": "Grayscale",
        "resized_crop": "RandomResizedCrop",
    }
    for name in {*T.__all__, *F.__all__} - others - containers - questions:
        assert same.get(name, name).lower().replace("_", "") in rows, name


def test_names_are_unique_and_bags_exist() -> None:
    assert len(BY_NAME) == len(CASES)
    assert {case.bag for case in CASES} <= BAGS.keys()


def test_rows_of_decoding_have_bags_and_columns() -> None:
    cases = list(encoded.CASES)
    assert len(encoded.BY_NAME) == len(cases)
    assert {case.bag for case in cases} <= encoded.BAGS.keys()
    labels = {column.label for column in decode.columns_for(cases, peers=False)}
    assert labels <= decoders.LIBRARIES.keys()
    asked = {name for case in cases for label, goal in case.asked for name in (label, goal.against)}
    assert asked <= labels | {FASTEST}
