"""``croissant.json``: the release as the Croissant vocabulary (MLCommons, 1.1 with RAI 1.0) describes it.

Every Parquet file stands in it with size and SHA-256, every column with its type, nested ones as
sub-fields. A table in one file is read from that file, which makes a reader compare the checksum; one
in several is read as a set of files. Written without the ``mlcroissant`` package, which a test uses
to read it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from releases.cards.texts import Texts
from releases.manifest import Manifest

if TYPE_CHECKING:
    import pyarrow as pa

_CONTEXT = Path(__file__).with_name("croissant_context.json")
_CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]

# Other names of this type validate, and then fail to load.
_PARQUET = "application/x-parquet"

_TYPES = {"string": "sc:Text", "int64": "cr:Int64", "double": "cr:Float64", "bool": "sc:Boolean"}


Described = Mapping[str, Mapping[str, Any]]


def croissant(manifest: Manifest, said: Texts, schemas: Described, columns: Mapping[str, pa.Schema]) -> bytes:
    """The document; ``manifest`` has to list the Parquet files with bytes and SHA-256.

    ``schemas`` are the record schemas of the tables, ``columns`` those of tables and configurations.
    """
    configs = {name: {"description": entry["about"], "properties": {}} for name, entry in manifest["configs"].items()}
    document = {
        "@context": orjson.loads(_CONTEXT.read_bytes()),
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_TO,
        "name": manifest["name"].replace("-", "_"),
        "description": " ".join(said["summary"].split()),
        "version": manifest["version"],
        "license": said["license_url"],
        "citeAs": f"{said['citation']['title']}, {manifest['version']}, content sha256:{manifest['content_digest']}",
        "creator": [{"@type": "sc:Organization", "name": name} for name in said["authors"]],
        **({"url": said["homepage"]} if said["homepage"] else {}),
        **({"identifier": f"https://doi.org/{manifest['doi']}"} if manifest["doi"] else {}),
        "isLiveDataset": False,
        **({"datePublished": manifest["released"]} if manifest["released"] else {}),
        **_responsible(manifest, said),
        "distribution": _distribution(manifest),
        "recordSet": [
            _record_set(manifest, name, columns[name], described)
            for name, described in [*((name, schemas[name]) for name in manifest["tables"]), *configs.items()]
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _responsible(manifest: Manifest, said: Texts) -> dict[str, Any]:
    rai = said["rai"]
    models = sorted({group["model"] for group in manifest["built"]["rows"] if group["model"]})
    reviews = [f"{t}: {', '.join(f'{s} {n}' for s, n in c.items())}" for t, c in manifest["review"].items()]
    return {
        "rai:dataCollection": rai["collection"],
        "rai:dataCollectionType": rai["collection_type"],
        "rai:dataAnnotationProtocol": rai["annotation"],
        "rai:dataAnnotationAnalysis": reviews or ["No table records reviews."],
        "rai:machineAnnotationTools": models or ["none; composed by the built-in writer or imported"],
        "rai:dataPreprocessingProtocol": rai["preprocessing"],
        "rai:dataManipulationProtocol": rai["manipulation"],
        "rai:dataBiases": rai["biases"],
        "rai:dataUseCases": [*said["intended"], *(f"Not: {use}" for use in said["unintended"])],
        "rai:dataLimitations": said["limits"],
        "rai:dataSocialImpact": rai["social_impact"],
        "rai:personalSensitiveInformation": rai["sensitive"],
        "rai:dataReleaseMaintenancePlan": said["maintenance"],
    }


def _distribution(manifest: Manifest) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for name, table in {**manifest["tables"], **manifest["configs"]}.items():
        for file in table["files"]:
            listed = manifest["files"][file["path"]]
            made.append(
                {
                    "@type": "cr:FileObject",
                    "@id": file["path"],
                    "name": file["path"],
                    "contentUrl": file["path"],
                    "contentSize": f"{listed['bytes']} B",
                    "encodingFormat": _PARQUET,
                    "sha256": listed["sha256"],
                }
            )
        if len(table["files"]) > 1:
            made.append(
                {
                    "@type": "cr:FileSet",
                    "@id": f"{name}-files",
                    "name": f"{name}-files",
                    "encodingFormat": _PARQUET,
                    "includes": f"{name}/*.parquet",
                }
            )
    return made


def _record_set(manifest: Manifest, name: str, schema: pa.Schema, described: Mapping[str, Any]) -> dict[str, Any]:
    table = {**manifest["tables"], **manifest["configs"]}[name]
    if len(table["files"]) == 1:
        source = {"fileObject": {"@id": table["files"][0]["path"]}}
    else:
        source = {"fileSet": {"@id": f"{name}-files"}}
    keys = [{"@id": f"{name}/{column}"} for column in table.get("key", ())]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": described["description"],
        **({"key": keys[0] if len(keys) == 1 else keys} if keys else {}),
        "field": [_field(name, field, described["properties"].get(field.name, {}), source) for field in schema],
    }


def _field(table: str, field: pa.Field[Any], described: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    import pyarrow as pa

    made = {**_named(f"{table}/{field.name}"), "description": described.get("description", field.name)}
    column = {**source, "extract": {"column": field.name}}
    kind = field.type
    kind, shape = _element(kind)
    made |= shape
    if pa.types.is_struct(kind):
        return made | {"subField": _sub_fields(made["@id"], kind, column, "$[*]" if "isArray" in made else "$")}
    return made | {"dataType": _TYPES[str(kind)], "source": column}


def _sub_fields(parent: str, struct: pa.StructType, column: Mapping[str, Any], path: str) -> list[dict[str, Any]]:
    return [_sub_field(parent, struct.field(index), column, path) for index in range(struct.num_fields)]


def _sub_field(parent: str, field: pa.Field[Any], column: Mapping[str, Any], path: str) -> dict[str, Any]:
    """A field inside a struct: its values are found by their path in the column's."""
    import pyarrow as pa

    made, path, kind = _named(f"{parent}/{field.name}"), f"{path}.{field.name}", field.type
    kind, shape = _element(kind)
    made |= shape
    path += "[*]" if shape else ""
    if pa.types.is_struct(kind):
        return made | {"subField": _sub_fields(made["@id"], kind, column, path)}
    return made | {"dataType": _TYPES[str(kind)], "source": {**column, "transform": {"jsonPath": path}}}


def _element(kind: pa.DataType) -> tuple[pa.DataType, dict[str, Any]]:
    """What a list holds, however deep it is nested, and how Croissant says that it is one."""
    import pyarrow as pa

    depth = 0
    while pa.types.is_list(kind):
        kind, depth = kind.value_type, depth + 1
    return kind, {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}


def _named(identity: str) -> dict[str, Any]:
    return {"@type": "cr:Field", "@id": identity, "name": identity}
