"""Publishing: whole or not at all, resumed without sending twice, and never over what is published."""

import random
import time

import fake_hub
import fsspec
import orjson
import pytest
from release_samples import KILLS, command, copy_of, files_of, keeper, many_memories, names_in, release_of, small_tables

from releases.manifest import encode, sealed
from releases.opening import open_release
from releases.publishing.publish import payload, publish, target
from releases.verify import verify
from schemas.errors import MachineError, RequestError


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("publish"), "heart@0.1.0", small_tables())


@pytest.fixture(scope="module")
def next_release(release):
    tables = {**small_tables(), "memories": [*small_tables()["memories"], many_memories(999)[-1]]}
    return release_of(release.folder.parents[2], "heart@1.0.0", tables)


def impostor(release, folder):
    """Another release under the same name, which verifies."""
    copy = copy_of(release, folder)
    manifest = orjson.loads((copy / "manifest.json").read_bytes())
    manifest["tables"]["mcqs"]["roles"]["metadata"].append("stage")
    (copy / "manifest.json").write_bytes(encode(sealed(manifest)))
    return open_release(copy)


def test_without_yes_nothing_is_sent(release, tmp_path):
    done = command("publish", release.folder, "--to", f"file://{tmp_path}/shelf", "--json")
    document = orjson.loads(done.stdout)
    assert done.returncode == 0 and document["state"] == "not sent"
    assert document["files"] == payload(release) and document["files"][-1] == "manifest.json"
    assert not (tmp_path / "shelf").exists()


def test_a_folder_gets_the_same_bytes_read_only_and_a_second_time_nothing(release, tmp_path):
    to = f"file://{tmp_path}/shelf"
    assert command("publish", release.folder, "--to", to, "--yes").returncode == 0
    there = tmp_path / "shelf/heart/0.1.0"
    assert files_of(there) == files_of(release.folder) and verify(there).problems == ()
    assert names_in(there.parent) == ["0.1.0"]
    again = command("publish", release.folder, "--to", to, "--yes", "--json")
    assert again.returncode == 0 and orjson.loads(again.stdout)["state"] == "already there"


@pytest.mark.parametrize("words", [["--yes"], []])
def test_a_published_version_is_never_changed(release, tmp_path, words):
    to = f"file://{tmp_path}/shelf"
    publish(release, target(to))
    other = impostor(release, tmp_path / "other")
    done = command("publish", other.folder, "--to", to, *words)
    assert done.returncode == 2 and "another heart@0.1.0 is published" in done.stderr
    assert done.stderr.count("\n") == 1
    assert files_of(tmp_path / "shelf/heart/0.1.0") == files_of(release.folder)


def test_what_is_in_the_way_stays(release, tmp_path):
    (tmp_path / "heart/0.1.0").mkdir(parents=True)
    (tmp_path / "heart/0.1.0/thesis.txt").write_text("mine")
    with pytest.raises(RequestError, match="something else is there"):
        publish(release, target(f"file://{tmp_path}"))
    assert (tmp_path / "heart/0.1.0/thesis.txt").read_text() == "mine"


def test_a_release_that_does_not_verify_is_not_published(release, tmp_path):
    copy = copy_of(release, tmp_path / "copy")
    opened = open_release(copy)
    (copy / "README.md").write_text("edited")
    with pytest.raises(RequestError, match=r"release does not verify in README\.md"):
        publish(opened, target(f"file://{tmp_path}/shelf"))
    assert not (tmp_path / "shelf").exists()


PUBLISH = """
import pyarrow.parquet
from releases.opening import open_release
from releases.publishing.publish import publish, target

def work(argument):
    folder, url = argument.split("|")
    publish(open_release(folder), target(url))
"""


def test_killed_at_any_instant_it_leaves_a_whole_copy_or_none_and_the_next_run_makes_it(tmp_path):
    release = release_of(tmp_path, "heart@0.1.0", {**small_tables(), "memories": many_memories(1500)})
    expected = files_of(release.folder)
    with keeper(PUBLISH) as process:
        start = time.monotonic()
        assert process.run(f"{release.folder}|file://{tmp_path}/calm")
        length = time.monotonic() - start
        chance, broken = random.Random(7), 0
        for number in range(KILLS):
            argument = f"{release.folder}|file://{tmp_path}/{number}"
            finished = process.run(argument, seconds=chance.uniform(0.0, 1.05) * length)
            there = tmp_path / str(number) / "heart/0.1.0"
            if there.exists():
                assert verify(there).problems == ()
            else:
                assert not finished
                broken += 1
                assert process.run(argument)
            assert files_of(there) == expected
            assert names_in(there.parent) == ["0.1.0"]
    assert broken >= 3


def test_a_copy_that_was_interrupted_goes_on_where_it_stopped_and_trusts_no_half_file(release, tmp_path):
    staging = tmp_path / "heart/.0.1.0.part"
    staging.mkdir(parents=True)
    (staging / "README.md").write_bytes((release.folder / "README.md").read_bytes())
    kept = (staging / "README.md").stat().st_ino
    (staging / "croissant.json").write_bytes((release.folder / "croissant.json").read_bytes()[:100])
    publish(release, target(f"file://{tmp_path}"))
    assert files_of(tmp_path / "heart/0.1.0") == files_of(release.folder)
    assert (tmp_path / "heart/0.1.0/README.md").stat().st_ino == kept


@pytest.fixture
def store():
    """fsspec's in-memory object store, empty."""
    made = fsspec.filesystem("memory")
    made.store.clear()
    made.pseudo_dirs[:] = [""]
    return made


def objects(store):
    return {path.removeprefix("/bucket/data/heart/0.1.0/"): store.cat_file(path) for path in store.find("/bucket")}


def test_an_object_store_gets_every_file_and_the_manifest_last(release, store, monkeypatch):
    order = []
    put = type(store).put_file

    def noted(self, source, path, **options):
        order.append(path.rpartition("0.1.0/")[2])
        return put(self, source, path, **options)

    monkeypatch.setattr(type(store), "put_file", noted)
    assert publish(release, target("memory://bucket/data")) is True
    assert objects(store) == files_of(release.folder)
    assert order == payload(release) and order[-1] == "manifest.json"
    assert publish(release, target("memory://bucket/data")) is False


def test_a_store_that_fails_leaves_no_manifest_and_the_next_run_sends_only_the_rest(release, store, monkeypatch):
    put, sent = type(store).put_file, []

    def failing(self, source, path, **options):
        if len(sent) == 7:
            raise OSError("connection reset")
        sent.append(path)
        return put(self, source, path, **options)

    monkeypatch.setattr(type(store), "put_file", failing)
    with pytest.raises(MachineError, match=r"the object store failed .* connection reset\. Publish again to go on"):
        publish(release, target("memory://bucket/data"))
    assert not store.exists("/bucket/data/heart/0.1.0/manifest.json")
    sent.append("the eighth")
    assert publish(release, target("memory://bucket/data")) is True
    assert len(sent) - 1 == len(payload(release)) == len(set(sent)) - 1
    assert objects(store) == files_of(release.folder)


def test_a_version_in_an_object_store_is_never_changed(release, store, tmp_path):
    publish(release, target("memory://bucket/data"))
    with pytest.raises(RequestError, match=r"another heart@0\.1\.0 is published"):
        publish(impostor(release, tmp_path / "other"), target("memory://bucket/data"))
    assert objects(store) == files_of(release.folder)


@pytest.fixture
def hub():
    with fake_hub.running() as made:
        yield made


def to_hub(hub, release, home, *words):
    return command(
        "publish",
        release.folder,
        "--to",
        "hf://lab/heart",
        *words,
        HF_ENDPOINT=hub.address,
        HF_HOME=str(home),
        HF_TOKEN="hf_token_of_the_tests",
        HF_HUB_DISABLE_XET="1",
        HF_HUB_OFFLINE="0",
    )


def without_attributes(files):
    return {name: data for name, data in files.items() if name != ".gitattributes"}


def test_a_hub_gets_one_commit_and_the_tag_with_the_same_bytes(hub, release, tmp_path):
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 0, done.stderr
    repo = hub.repos["lab/heart"]
    assert len(repo.commits) == 2 and repo.tags == {"v0.1.0": repo.head}
    assert without_attributes(repo.files("v0.1.0")) == files_of(release.folder)
    assert release.digest in repo.commits[-1][2]
    assert "hf_token_of_the_tests" not in done.stderr + done.stdout
    again = to_hub(hub, release, tmp_path, "--yes", "--json")
    assert again.returncode == 0 and orjson.loads(again.stdout)["state"] == "already there"
    assert len(repo.commits) == 2


def test_a_dry_run_asks_the_hub_and_changes_nothing(hub, release, tmp_path):
    done = to_hub(hub, release, tmp_path, "--json")
    assert done.returncode == 0 and orjson.loads(done.stdout)["state"] == "not sent"
    assert hub.repos == {} and {method for method, _ in hub.asked} <= {"GET", "HEAD"}


def test_the_next_version_replaces_the_files_in_one_commit_and_the_old_tag_stays(hub, release, next_release, tmp_path):
    assert to_hub(hub, release, tmp_path, "--yes").returncode == 0
    sent = hub.uploads()
    done = to_hub(hub, next_release, tmp_path, "--yes")
    assert done.returncode == 0, done.stderr
    repo = hub.repos["lab/heart"]
    assert len(repo.commits) == 3
    assert without_attributes(repo.files("v0.1.0")) == files_of(release.folder)
    assert without_attributes(repo.files("v1.0.0")) == without_attributes(repo.files("main"))
    assert without_attributes(repo.files("main")) == files_of(next_release.folder)
    assert hub.uploads() - sent == 2  # memories, and the prompts with what may be remembered
    older = to_hub(hub, impostor(release, tmp_path / "other"), tmp_path, "--yes")
    assert older.returncode == 2 and "another heart@0.1.0 is published" in older.stderr


def test_a_version_older_than_main_does_not_go_back_over_it(hub, release, next_release, tmp_path):
    assert to_hub(hub, next_release, tmp_path, "--yes").returncode == 0
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 2 and "main holds heart@1.0.0" in done.stderr
    assert len(hub.repos["lab/heart"].commits) == 2


@pytest.mark.parametrize("step", ["/upload/", "/commit/", "/tag/", "/preupload/", "/repos/create"])
def test_interrupted_at_any_step_the_hub_shows_no_version_and_the_next_run_completes_it(hub, release, tmp_path, step):
    hub.failing.append(step)
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("error: the hub failed in lab/heart") and done.stderr.count("\n") == 1
    assert not any(repo.tags for repo in hub.repos.values())
    sent = hub.uploads()
    assert to_hub(hub, release, tmp_path, "--yes").returncode == 0
    repo = hub.repos["lab/heart"]
    assert len(repo.commits) == 2 and without_attributes(repo.files("v0.1.0")) == files_of(release.folder)
    if step in ("/commit/", "/tag/"):
        assert hub.uploads() == sent


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "Log in with a token that may write"),
        (403, "Use a token that may write"),
        (409, "Somebody else"),
        (500, ""),
    ],
)
def test_what_a_hub_refuses_is_named_by_its_status_and_the_next_run_goes_on(hub, release, tmp_path, status, advice):
    hub.failing += [f"/commit/ {status}"] * 9  # the client asks again after some of them
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 3 and str(status) in done.stderr, done.stderr
    assert done.stderr.startswith("error: the hub failed in lab/heart") and done.stderr.count("\n") == 1
    assert "told to fail at" in done.stderr and advice in done.stderr and "Publish again to go on" in done.stderr
    hub.failing.clear()
    sent = hub.uploads()
    assert to_hub(hub, release, tmp_path, "--yes").returncode == 0
    assert hub.uploads() == sent


def test_an_answer_that_is_none_of_a_hubs_is_a_failure_in_one_line(hub, release, tmp_path):
    hub.failing.append("/repos/create 409")  # of a repository whose address it does not tell
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    assert "an answer that is none of a hub's" in done.stderr


def test_a_repository_that_holds_something_else_is_left_alone(hub, release, tmp_path):
    files = {".gitattributes": b"", "thesis.tex": b"mine"}
    hub.repos["lab/heart"] = fake_hub.Repo([("1" * 40, files, "by hand")])
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 2 and "the repository holds something else" in done.stderr
    assert hub.repos["lab/heart"].commits == [("1" * 40, files, "by hand")]


def test_a_hub_that_does_not_answer_is_a_failure_in_one_line(release, tmp_path):
    with fake_hub.running() as hub:
        pass
    done = to_hub(hub, release, tmp_path, "--yes")
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    "url",
    ["heart", "file://host/path", "file:path", "hf://name", "hf://a/b/c", "://x", "s4://bucket/x", "gopher:x", ""],
)
def test_a_target_that_names_nothing_is_refused_in_one_line(release, url):
    with pytest.raises(RequestError) as refused:
        publish(release, target(url))
    assert "\n" not in str(refused.value)
