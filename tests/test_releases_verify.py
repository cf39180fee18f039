"""Verifying: every damage is found, with its place."""

import os
import random
import shutil
import subprocess
import sys

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_samples import codes, command, copy_of, release_of, small_tables

from releases import load, open_release
from releases.manifest import encode, sealed
from releases.verify import verify
from schemas.errors import RequestError


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("verify"), "heart@0.1.0", small_tables())


@pytest.fixture
def folder(release, tmp_path):
    return copy_of(release, tmp_path / "copy")


def places(checked):
    return {problem.place for problem in checked.problems}


def reseal(folder, change):
    """Edit the manifest and put its digests right again, as somebody would who wants it to go unnoticed."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    change(manifest)
    (folder / "manifest.json").write_bytes(encode(sealed(manifest)))


def listed(path):
    import hashlib

    return {"bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


MCQS = "mcqs/test-00000-of-00001.parquet"
KEYS = "mcq_keys/test-00000-of-00001.parquet"


def test_an_untouched_release_and_its_copy_verify(release, folder):
    for place in (release.folder, folder):
        checked = verify(place, expect=release.digest)
        assert checked.problems == ()
        assert checked.rows == sum(len(rows) for rows in small_tables().values())
        assert checked.files == len(release.manifest["files"])


def test_a_flipped_bit_is_found_in_its_file(folder):
    data = bytearray((folder / MCQS).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / MCQS).write_bytes(data)
    checked = verify(folder)
    assert places(checked) == {MCQS} and codes(checked.problems) == {"file.bytes"}


@pytest.mark.parametrize("name", [MCQS, "README.md", "croissant.json", "figures/answers-by-letter.svg"])
def test_a_missing_file_is_found(folder, name):
    (folder / name).unlink()
    checked = verify(folder)
    assert places(checked) == {name} and codes(checked.problems) == {"file.missing"}


@pytest.mark.parametrize("name", ["mcqs/test-00001-of-00001.parquet", "notes.txt", ".hidden", "empty/"])
def test_something_extra_is_found(folder, name):
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        (folder / name).write_bytes(b"x")
    checked = verify(folder)
    assert places(checked) == {name.rstrip("/")} and codes(checked.problems) == {"file.extra"}


def test_a_renamed_file_is_found_at_both_names(folder):
    (folder / MCQS).rename(folder / "mcqs/test.parquet")
    assert places(verify(folder)) == {MCQS, "mcqs/test.parquet"}


def test_swapped_tables_are_found(folder):
    (folder / MCQS).rename(folder / "aside")
    (folder / KEYS).rename(folder / MCQS)
    (folder / "aside").rename(folder / KEYS)
    assert places(verify(folder)) == {MCQS, KEYS}


def test_swapped_tables_are_found_when_the_manifest_was_swapped_with_them(folder):
    (folder / MCQS).rename(folder / "aside")
    (folder / KEYS).rename(folder / MCQS)
    (folder / "aside").rename(folder / KEYS)
    reseal(folder, lambda manifest: manifest["files"].update({name: listed(folder / name) for name in (MCQS, KEYS)}))
    checked = verify(folder)
    assert places(checked) == {MCQS, KEYS} and codes(checked.problems) == {"table.schema"}


def test_rows_changed_under_an_adapted_manifest_are_found_by_their_content(folder):
    table = pq.read_table(folder / MCQS)
    rows = table.to_pylist()
    rows[0]["options"][0]["content"] = "Something else."
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / MCQS)
    reseal(folder, lambda manifest: manifest["files"].update({MCQS: listed(folder / MCQS)}))
    checked = verify(folder)
    assert places(checked) == {"mcqs"} and codes(checked.problems) == {"table.content"}


@pytest.mark.parametrize("change", [lambda rows: rows[::-1], lambda rows: [rows[0], *rows]])
def test_rows_out_of_order_or_twice_are_found_at_the_row(folder, change):
    table = pq.read_table(folder / MCQS)
    rows = change(table.to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), folder / MCQS)

    def adapt(manifest):
        manifest["files"][MCQS] = listed(folder / MCQS)
        manifest["tables"]["mcqs"].update(rows=len(rows), files=[{"path": MCQS, "rows": len(rows)}])

    reseal(folder, adapt)
    (problem,) = verify(folder).problems
    assert problem.code == "table.order" and problem.place.startswith(f"{MCQS}, row Q_CHAR_")


def test_a_row_too_few_is_found(folder):
    table = pq.read_table(folder / MCQS)
    pq.write_table(table.slice(1), folder / MCQS)
    reseal(folder, lambda manifest: manifest["files"].update({MCQS: listed(folder / MCQS)}))
    assert codes(verify(folder).problems) == {"table.rows"}


def test_a_file_that_is_no_parquet_under_an_adapted_manifest_is_found(folder):
    (folder / MCQS).write_bytes(b"PAR1 no, not really PAR1")
    reseal(folder, lambda manifest: manifest["files"].update({MCQS: listed(folder / MCQS)}))
    checked = verify(folder)
    assert places(checked) == {"mcqs"} and codes(checked.problems) == {"table.unreadable"}


@pytest.mark.parametrize(
    ("old", "new"), [(b'"license": "cc-by-4.0"', b'"license": "cc0-1.0"'), (b'"rows": 4', b'"rows": 5')]
)
def test_an_edited_manifest_is_found(folder, old, new):
    data = (folder / "manifest.json").read_bytes()
    assert old in data
    (folder / "manifest.json").write_bytes(data.replace(old, new, 1))
    assert codes(verify(folder).problems) & {"manifest.edited", "manifest.rows"}


def test_a_resealed_manifest_is_found_by_the_digest_one_has_written_down(release, folder):
    reseal(folder, lambda manifest: manifest["tables"]["mcqs"]["roles"]["metadata"].append("stage"))
    assert verify(folder).problems == ()
    assert codes(verify(folder, expect=release.digest).problems) == {"manifest.unexpected"}


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "mcqs/../../outside", "a//b", "", ".", "mcqs/", "a\\b"])
def test_a_path_that_leaves_the_folder_is_refused_before_anything_is_read(folder, path):
    (folder.parent / "outside").write_bytes(b"")
    reseal(folder, lambda manifest: manifest["files"].update({path: {"bytes": 0, "sha256": "0" * 64}}))
    checked = verify(folder)
    assert checked.manifest is None
    assert codes(checked.problems) == {"manifest.malformed"}


@pytest.mark.parametrize("name", [MCQS, "mcqs", "manifest.json", "README.md"])
def test_a_symbolic_link_is_refused_even_to_the_same_bytes(folder, name):
    target = folder.parent / "elsewhere"
    (folder / name).rename(target)
    (folder / name).symlink_to(target)
    found = {problem.place: problem.code for problem in verify(folder).problems}
    assert found[name] == "file.symlink"


def test_a_release_that_is_a_link_itself_is_refused(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert codes(verify(tmp_path / "link").problems) == {"file.symlink"}


def test_a_pipe_in_place_of_a_file_is_refused_without_reading_it(folder):
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")
    assert codes(verify(folder).problems) == {"file.kind"}


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"{}", b'{"manifest_version": 3}', b"\xff", b"[" * 99999])
def test_a_manifest_that_is_none_is_reported(folder, data):
    (folder / "manifest.json").write_bytes(data)
    checked = verify(folder)
    assert checked.manifest is None and len(checked.problems) >= 1


def test_five_hundred_random_mutations_are_all_found(release, folder):
    """Bytes, files and the manifest, 500 times; what is not found would be listed."""
    chance = random.Random(7)
    original = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    missed = []
    for number in range(500):
        reported, undo = mutate(folder, original, chance)
        if not verify(folder).problems:
            missed.append((number, reported))
        undo()
    assert missed == []
    assert verify(folder, expect=release.digest).problems == ()


def mutate(folder, original, chance):
    """Change one thing; what it was, and a function that takes it back."""
    name = chance.choice(sorted(original))
    path, data = folder / name, original[name]
    kind = chance.choice(["flip", "cut", "append", "insert", "delete", "move", "extra", "swap", "manifest"])

    def restore():
        path.write_bytes(data)

    if kind == "flip":
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
    elif kind == "cut":
        path.write_bytes(data[: chance.randrange(len(data))])
    elif kind == "append":
        path.write_bytes(data + chance.randbytes(chance.randint(1, 9)))
    elif kind == "insert":
        at = chance.randrange(len(data))
        path.write_bytes(data[:at] + chance.choice([b" ", b"\n", b"0", b"\0"]) + data[at:])
    elif kind == "delete":
        path.unlink()
    elif kind == "move":
        other = path.with_name(f"{path.name}.old")
        path.rename(other)
        return (kind, name), lambda: other.rename(path)
    elif kind == "extra":
        other = path.with_name(f"{chance.randrange(10**6)}.parquet")
        other.write_bytes(data)
        return (kind, name), other.unlink
    elif kind == "swap":
        second = chance.choice([n for n in sorted(original) if original[n] != data])
        path.write_bytes(original[second])
        (folder / second).write_bytes(data)
        return (kind, name, second), lambda: (path.write_bytes(data), (folder / second).write_bytes(original[second]))
    else:
        return mutate_manifest(folder, chance)
    return (kind, name), restore


def mutate_manifest(folder, chance):
    """Change one value somewhere in the manifest, written as manifests are."""
    path = folder / "manifest.json"
    data = path.read_bytes()
    document = orjson.loads(data)
    node, key = document, None
    while True:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if not isinstance(node[key], dict | list) or not node[key]:
            break
        node = node[key]
    value = node[key]
    node[key] = value + 1 if isinstance(value, int) else f"{value}x" if isinstance(value, str) else "x"
    path.write_bytes(encode(document))
    return ("manifest", key, value), lambda: path.write_bytes(data)


def test_the_verb_prints_the_place_and_exits_with_one(folder):
    (folder / MCQS).unlink()
    done = command("verify", folder, "--json")
    document = orjson.loads(done.stdout)
    assert done.returncode == 1 and document["ok"] is False
    assert document["problems"] == [{"place": MCQS, "code": "file.missing", "message": "declared, not there"}]
    reported = command("verify", folder)
    assert reported.returncode == 1 and reported.stdout == "" and f"{MCQS}: declared, not there" in reported.stderr


def test_a_release_asked_for_by_name_has_to_bear_it(release, tmp_path):
    moved = tmp_path / "frozen/heart/0.2.0"
    moved.parent.mkdir(parents=True)
    shutil.copytree(release.folder, moved)
    done = command("verify", "heart@0.2.0", "--frozen", tmp_path / "frozen")
    assert done.returncode == 1 and "is heart@0.1.0, expected heart@0.2.0" in done.stderr
    with pytest.raises(RequestError, match=r"is heart@0\.1\.0, expected heart@0\.2\.0"):
        open_release("heart@0.2.0", tmp_path / "frozen")


def test_opening_refuses_what_does_not_verify_and_reads_what_does(release, folder, tmp_path):
    frozen = release.folder.parents[1]
    assert load("heart", "0.1.0", "mcqs", frozen).to_pylist() == small_tables()["mcqs"]
    assert list(open_release("heart@0.1.0", frozen).rows("memories")) == small_tables()["memories"]
    (folder / MCQS).write_bytes(b"x")
    with pytest.raises(RequestError, match=f"release does not verify in {folder}, {MCQS}"):
        open_release(folder)
    with pytest.raises(RequestError, match="unknown table 'mcq'"):
        load("heart", "0.1.0", "mcq", frozen)


def test_a_signature_is_accepted_from_its_key_alone_and_only_over_this_manifest(folder, tmp_path):
    pytest.importorskip("cryptography")
    for name in ("mine", "other"):
        make_key(tmp_path / name)
    assert command("sign", folder, "--key", tmp_path / "mine.pem").returncode == 0
    signature = (folder / "manifest.sig").read_bytes()
    assert command("sign", folder, "--key", tmp_path / "mine.pem").returncode == 0
    assert (folder / "manifest.sig").read_bytes() == signature
    assert verify(folder).problems == ()
    assert verify(folder, public_key=tmp_path / "mine.pub.pem").problems == ()
    assert codes(verify(folder, public_key=tmp_path / "other.pub.pem").problems) == {"signature.invalid"}
    reseal(folder, lambda manifest: manifest.update(title="Another title"))
    assert codes(verify(folder, public_key=tmp_path / "mine.pub.pem").problems) == {"signature.invalid"}
    (folder / "manifest.sig").unlink()
    assert codes(verify(folder, public_key=tmp_path / "mine.pub.pem").problems) == {"signature.missing"}
    wrong = command("verify", folder, "--signature", tmp_path / "mine.pem")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: unusable key") and wrong.stderr.count("\n") == 1


def test_every_flipped_bit_of_a_signature_is_found(folder, tmp_path):
    pytest.importorskip("cryptography")
    from releases.publishing.sign import sign, signature_problem

    make_key(tmp_path / "mine")
    path = sign(folder, tmp_path / "mine.pem")
    data = path.read_bytes()
    path.chmod(0o644)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        assert signature_problem(folder, tmp_path / "mine.pub.pem") is not None, place


def make_key(path):
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    path.with_suffix(".pem").write_bytes(
        key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    )
    path.with_suffix(".pub.pem").write_bytes(
        key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    )


def test_without_cryptography_signing_says_what_to_install(folder, tmp_path):
    blocked = "import sys, importlib.util as u; find = u.find_spec\n"
    blocked += "u.find_spec = lambda name, *rest: None if name == 'cryptography' else find(name, *rest)\n"
    blocked += "from releases.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", blocked, "sign", str(folder), "--key", str(tmp_path / "x.pem")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "pip install 'anamnesis[sign]'" in done.stderr and done.stderr.count("\n") == 1
